//! The page that asks before a key is revoked.

use catalogue_core::admin::CredentialRecord;
use maud::{Markup, html};

use super::frame::{last_use, name, prefix};
use crate::call::Call;
use crate::input::DAY;

pub(super) fn page(call: Call<'_>, key: &CredentialRecord) -> Markup {
    let (urls, now) = (&call.inner.urls, call.now);
    let id = &key.identity.credential_id;
    let content = html! {
        p { "Revoke " strong { (name(key)) } ", " (prefix(key)) "? Programs that use it are refused from the next request on. This cannot be undone." }
        @if key.last_used_at.and_then(|used| used.checked_add(DAY)).is_some_and(|end| end > now) {
            p.warning { span aria-hidden="true" { "! " } (last_use(key, now)) }
        } @else { p.muted { (last_use(key, now)) } }
        form.row method="post" action=(urls.key(id, "/revoke")) {
            button.bad { "Revoke key" }
            a.button href=(urls.key(id, "")) { "Cancel" }
        }
    };
    call.frame().page("Revoke a key", &content)
}
