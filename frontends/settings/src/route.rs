//! [`RouteMatch`]: the action that a path and a method request.

use catalogue_core::MountUrl;
use http::Method;
use percent_encoding::percent_decode_str;

use crate::failure::Failure;

/// Action of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    ListKeys,
    NewKey,
    CreateKey,
    ShowKey,
    RenameKey,
    RotateKey,
    AskRevoke,
    RevokeKey,
    Reminder,
    Check,
    Activity,
    ShowSignIn,
    SignIn,
    SignOut,
}

/// Path below the settings' URL, method, action, and the action's name for logs and metrics.
type Row = (&'static str, Method, Action, &'static str);

static TABLE: [Row; 22] = [
    ("", Method::GET, Action::ListKeys, "list_keys"),
    ("/keys", Method::POST, Action::CreateKey, "create_key"),
    ("/keys/new", Method::GET, Action::NewKey, "new_key"),
    ("/keys/{id}", Method::GET, Action::ShowKey, "show_key"),
    ("/keys/{id}/name", Method::POST, Action::RenameKey, "rename_key"),
    ("/keys/{id}/rotate", Method::POST, Action::RotateKey, "rotate_key"),
    ("/keys/{id}/revoke", Method::GET, Action::AskRevoke, "ask_revoke"),
    ("/keys/{id}/revoke", Method::POST, Action::RevokeKey, "revoke_key"),
    ("/keys/{id}/reminder.ics", Method::GET, Action::Reminder, "reminder"),
    ("/check", Method::POST, Action::Check, "check"),
    ("/activity", Method::GET, Action::Activity, "list_events"),
    ("/sign-in", Method::GET, Action::ShowSignIn, "show_sign_in"),
    ("/sign-in", Method::POST, Action::SignIn, "sign_in"),
    ("/sign-out", Method::POST, Action::SignOut, "sign_out"),
    ("/api/keys", Method::GET, Action::ListKeys, "list_keys"),
    ("/api/keys", Method::POST, Action::CreateKey, "create_key"),
    ("/api/keys/{id}", Method::GET, Action::ShowKey, "show_key"),
    ("/api/keys/{id}", Method::PATCH, Action::RenameKey, "rename_key"),
    ("/api/keys/{id}/rotate", Method::POST, Action::RotateKey, "rotate_key"),
    ("/api/keys/{id}/revoke", Method::POST, Action::RevokeKey, "revoke_key"),
    ("/api/check", Method::POST, Action::Check, "check"),
    ("/api/events", Method::GET, Action::Activity, "list_events"),
];

/// Returns the names of all actions, by row.
pub(crate) fn action_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.3)
}

/// An action with its name for logs and metrics, and the id of its key, which is empty if the action is not about one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteMatch {
    pub(crate) action: Action,
    pub(crate) name: &'static str,
    pub(crate) id: String,
    /// Whether the request is for the JSON API.
    pub(crate) is_api: bool,
}

impl Action {
    pub(crate) const fn is_sign_in(self) -> bool {
        matches!(self, Self::ShowSignIn | Self::SignIn | Self::SignOut)
    }
}

/// Returns the action of `method` at `path`, below the settings' URL. For OPTIONS, fails with [`Failure::Options`].
pub(crate) fn find(path: &str, method: &Method) -> Result<RouteMatch, Failure> {
    let path = if path == "/" { "" } else { path };
    let is_literal = TABLE.iter().any(|row| row.0 == path);
    let rows: Vec<_> = TABLE
        .iter()
        // A literal path, such as `/keys/new`, does not match `/keys/{id}`.
        .filter(|row| !is_literal || row.0 == path)
        .filter_map(|row| Some((row, match_path(row.0, path)?)))
        .collect();
    if rows.is_empty() {
        return Err(Failure::NotFound);
    }
    let lookup_method = if *method == Method::HEAD { &Method::GET } else { method };
    match rows.iter().find(|(row, _)| row.1 == *lookup_method) {
        Some(((_, _, action, name), id)) => {
            Ok(RouteMatch { action: *action, name, id: id.clone(), is_api: is_api(path) })
        }
        None => {
            let mut allowed: Vec<&str> = rows.iter().map(|(row, _)| row.1.as_str()).collect();
            if allowed.contains(&"GET") {
                allowed.insert(1, "HEAD");
            }
            allowed.push("OPTIONS");
            let allow = allowed.join(", ");
            Err(if *method == Method::OPTIONS { Failure::Options(allow) } else { Failure::Method(allow) })
        }
    }
}

/// Returns whether `next`, which came with a request, is the path and query of a page to show after signing in.
pub(crate) fn is_page(settings: &MountUrl, next: &str) -> bool {
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    let path = next.split('?').next().unwrap_or_default();
    let is_page =
        |matched: RouteMatch| !matched.is_api && !matched.action.is_sign_in() && matched.action != Action::Reminder;
    is_plain && settings.below(path).is_some_and(|below| find(below, &Method::GET).is_ok_and(is_page))
}

/// Returns whether `path`, below the settings' URL, is that of the JSON API.
pub(crate) fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

fn match_path(pattern: &str, path: &str) -> Option<String> {
    let (mut expected, mut actual) = (pattern.split('/'), path.split('/'));
    let mut id = String::new();
    loop {
        match (expected.next(), actual.next()) {
            (None, None) => return Some(id),
            (Some("{id}"), Some(segment)) if !segment.is_empty() => {
                id = percent_decode_str(segment).decode_utf8_lossy().into_owned();
            }
            (Some(expected), Some(actual)) if expected == actual => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_match_paths_and_methods() {
        let matched = |path, method: Method| find(path, &method).map(|matched| (matched.action, matched.id));
        assert_eq!(matched("", Method::GET).unwrap().0, Action::ListKeys);
        assert_eq!(matched("/", Method::HEAD).unwrap().0, Action::ListKeys);
        assert_eq!(matched("/keys/new", Method::GET).unwrap().0, Action::NewKey);
        assert_eq!(matched("/keys/oauth%3A1", Method::GET).unwrap(), (Action::ShowKey, "oauth:1".to_owned()));
        // The path matches: the lookup of the key responds with 404, as for any other unknown id.
        assert_eq!(matched("/keys/%ff", Method::GET).unwrap().0, Action::ShowKey);
        for path in ["//", "/keys/", "/keys//revoke", "/keys/a/b", "/api", "/activity/", "/nothing"] {
            assert!(matches!(matched(path, Method::GET), Err(Failure::NotFound)), "{path}");
        }
    }

    #[test]
    fn next_accepts_only_own_pages() {
        let is_page = |next: &str| is_page(&MountUrl::parse("/s").unwrap(), next);
        for own in ["/s", "/s/", "/s?done=revoked", "/s/keys/new?name=Acme&scope=read:courses", "/s/keys/key_1/revoke"]
        {
            assert!(is_page(own), "{own}");
        }
        for other in [
            "",
            "/",
            "//evil",
            "/\\evil",
            "/s\\evil",
            "//s",
            "https://evil/s",
            "/settings",
            "/s/sign-in",
            "/s/keys",
            "/s/api/keys",
            "/s/../x",
            "/s/keys/a b",
            "/s\r\nx",
            "/s#x",
            "s",
            "/s//evil",
            "/s/check",
            "/s/keys/key_1/reminder.ics",
        ] {
            assert!(!is_page(other), "{other}");
        }
    }
}
