//! The page that asks before a key is revoked.

use catalogue_core::admin::CredentialRecord;
use maud::{Markup, html};

use super::frame::{Frame, last_use, name, prefix};
use crate::call::Call;
use crate::input::DAY;
use crate::times::time;

pub(super) fn page(call: Call<'_>, key: &CredentialRecord) -> Markup {
    let Call { inner, owner, now } = call;
    let id = &key.identity.credential_id;
    let recent = key.last_used_at.filter(|used| used.checked_add(DAY).is_some_and(|end| end > now));
    let content = html! {
        p { "Revoke \"" (name(key)) "\", " (prefix(key)) "? Programs that use it are refused from the next request on. This cannot be undone." }
        @match recent {
            Some(used) => { p.warning { span aria-hidden="true" { "! " } "It was used " (time(used, now)) "." } },
            None => { p { (last_use(key, now)) "." } },
        }
        p.hint { "Uses are recorded at most once a minute." }
        form.row method="post" action=(inner.urls.key(id, "/revoke")) {
            button.bad { "Revoke key" }
            a.button href=(inner.urls.key(id, "")) { "Keep it" }
        }
    };
    Frame { inner, owner: Some(owner) }.page("Revoke a key", &content)
}
