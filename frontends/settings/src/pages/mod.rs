//! Responses with pages. Each page has a file; `frame` has the parts that they share.

mod activity;
mod check;
mod created_key;
mod failure;
mod frame;
mod key;
mod list;
mod new_key;
mod revoke;
pub(crate) mod sign_in;

use bytes::Bytes;
use catalogue_core::admin::CredentialState;
use http::{Response, StatusCode};
use maud::Markup;

pub(crate) use self::failure::page as failure;
pub(crate) use self::frame::{Frame, SCRIPT, STYLE};
use crate::call::{Call, MAX_EVENTS};
use crate::failure::Failure;
use crate::form::Form;
use crate::nonce::Nonce;
use crate::response::{html, see_other, with_media_type};
use crate::route::{Action, RouteMatch};
use crate::urls::segment;
use crate::{calendar, input};

/// Responds to a request for a page, or to a form that was sent.
pub(crate) async fn respond(call: Call<'_>, found: &RouteMatch, form: &Form) -> Result<Response<Bytes>, Failure> {
    let id = found.id.as_str();
    let page = match found.action {
        Action::ListKeys => list::page(call, &call.keys().await?, form),
        Action::NewKey => new_key::from_link(call, form),
        Action::CreateKey => return create(call, form).await,
        Action::ShowKey => key_page(call, id, None).await?,
        Action::RenameKey => return rename(call, id, form).await,
        Action::RotateKey => return rotate(call, id, form).await,
        Action::AskRevoke => {
            let key = call.key(id).await?;
            if key.state(call.now) == CredentialState::Revoked {
                return Ok(see_other(&call.inner.urls.key(id, "")));
            }
            revoke::page(call, &key)
        }
        Action::RevokeKey => {
            call.revoke(id).await?;
            return Ok(see_list(call, "revoked", id));
        }
        Action::Reminder => return reminder(call, id).await,
        Action::Check => {
            let text = form.one("token")?.trim();
            check::page(call, &call.check(text).await?, text)
        }
        Action::Activity => activity::page(call, &call.events(MAX_EVENTS).await?),
        Action::ShowSignIn | Action::SignIn | Action::SignOut => return Err(Failure::NotFound),
    };
    Ok(html(StatusCode::OK, page))
}

async fn create(call: Call<'_>, form: &Form) -> Result<Response<Bytes>, Failure> {
    match new_key::parse(form, call.now) {
        Ok((new, nonce)) => {
            let created = call.create(new, nonce).await?;
            Ok(html(StatusCode::CREATED, created_key::page(call, &created)))
        }
        Err(errors) => Ok(html(StatusCode::BAD_REQUEST, new_key::page(call, form, &errors))),
    }
}

async fn rename(call: Call<'_>, id: &str, form: &Form) -> Result<Response<Bytes>, Failure> {
    match form.one("name").and_then(input::name) {
        Ok(name) => {
            call.rename(id, &name).await?;
            Ok(see_list(call, "renamed", id))
        }
        Err(error) => Ok(html(StatusCode::BAD_REQUEST, key_page(call, id, Some((form, &error))).await?)),
    }
}

async fn rotate(call: Call<'_>, id: &str, form: &Form) -> Result<Response<Bytes>, Failure> {
    let overlap = form.one("overlap").and_then(input::overlap);
    let nonce = form.one("nonce").and_then(|text| Nonce::parse(text, call.now));
    match overlap.and_then(|overlap| Ok((overlap, nonce?))) {
        Ok((overlap, nonce)) => {
            let created = call.rotate(id, overlap, nonce).await?;
            Ok(html(StatusCode::CREATED, created_key::page(call, &created)))
        }
        Err(error) => Ok(html(StatusCode::BAD_REQUEST, key_page(call, id, Some((form, &error))).await?)),
    }
}

/// Returns the key's page, with an invalid form and its error, if any.
async fn key_page(call: Call<'_>, id: &str, refused: key::RefusedForm<'_>) -> Result<Markup, Failure> {
    let (key, keys) = (call.key(id).await?, call.keys().await?);
    Ok(key::page(call, &key, &keys, &call.events(key::MAX_EVENTS).await?, refused))
}

async fn reminder(call: Call<'_>, id: &str) -> Result<Response<Bytes>, Failure> {
    let key = call.key(id).await?;
    let end = key.expires_at.ok_or(Failure::NotFound)?;
    let origin = call.inner.urls.settings.origin();
    let page = (!origin.is_empty()).then(|| format!("{origin}{}", call.inner.urls.key(id, "")));
    let name = frame::name_of(&key);
    let file = calendar::reminder(id, name, end, page.as_deref(), call.now);
    let mut response = with_media_type(StatusCode::OK, "text/calendar; charset=utf-8", file);
    let disposition = http::HeaderValue::from_static("attachment; filename=\"key-reminder.ics\"");
    response.headers_mut().insert(http::header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// Redirects to the list, with a sentence about what was done.
fn see_list(call: Call<'_>, what: &str, id: &str) -> Response<Bytes> {
    see_other(&format!("{}?done={what}&key={}", call.inner.urls.page(""), segment(id)))
}
