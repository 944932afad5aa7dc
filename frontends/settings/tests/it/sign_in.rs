//! Sign-in links and sessions.

use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::limit::ClientAddress;
use catalogue_core::storage::{Actor, SignInStorage, StorageErrorKind};
use catalogue_core::{AccountId, MountUrl};
use catalogue_settings::{DEFAULT_LINK_LIFETIME, SignInLink, SignInSettings};
use http::Request;

use crate::app::{App, Clock, TestResponse, form, get, json_request, limiter, new_key, with_body};
use crate::host::HostStorage;

/// Settings with sign-in.
pub(crate) struct Site {
    pub(crate) settings: SignInSettings,
    pub(crate) storage: HostStorage,
    pub(crate) clock: Clock,
}

/// Name of the session cookie if the settings' URL is `/settings` and the request has no `Host`.
pub(crate) const COOKIE_NAME: &str = "__Host-catalogue-settings-2c56bef4";

impl Site {
    pub(crate) async fn new() -> Self {
        Self::of(App::new().await)
    }

    pub(crate) fn of(app: App) -> Self {
        Self { settings: app.settings.with_sign_in(app.storage.calls.clone()), storage: app.storage, clock: app.clock }
    }

    async fn at(url: &str) -> Self {
        Self::of(App::with(|builder| builder.settings_url(url)).await)
    }

    /// Creates a site that allows a client this number of sign-in attempts per minute.
    async fn with_attempts(attempts: u32) -> Self {
        let site = Self::new().await;
        Self { settings: site.settings.rate_limiter(limiter(attempts)), ..site }
    }

    pub(crate) async fn call(&self, request: Request<String>) -> TestResponse {
        TestResponse::of(self.settings.call(with_body(request)).await)
    }

    /// Creates a code for the owner of an account.
    pub(crate) async fn code(&self, account: &str) -> String {
        let url = MountUrl::parse("https://a.example/settings").unwrap();
        let (link, stored_link) =
            SignInLink::mint(&named(account, "School of é"), &url, self.clock.now(), DEFAULT_LINK_LIFETIME);
        self.storage.calls.create_link(&stored_link, &Actor::OPERATOR).await.unwrap();
        assert_eq!(link.url(), format!("https://a.example/settings/sign-in#{}", link.code()));
        assert_eq!(format!("{link:?}"), "SignInLink(..)");
        assert!(!format!("{stored_link:?}").contains(link.code()));
        link.code().to_owned()
    }

    pub(crate) async fn send_code(&self, code: &str) -> TestResponse {
        self.call(form("/settings/sign-in", &[("code", code)])).await
    }

    /// Signs an owner in, and returns the session cookie.
    pub(crate) async fn sign_in(&self, account: &str) -> String {
        cookie(&self.send_code(&self.code(account).await).await)
    }

    pub(crate) async fn sign_out(&self, cookie: &str) -> TestResponse {
        self.call(with_cookie(form("/settings/sign-out", &[]), cookie)).await
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> TestResponse {
        self.call(with_cookie(get(path), cookie)).await
    }

    /// Returns the status of the settings' page for a session.
    async fn status(&self, cookie: &str) -> u16 {
        self.get("/settings", cookie).await.status
    }

    /// Returns why a session is refused by the JSON API.
    async fn refusal(&self, cookie: &str) -> String {
        let (status, code, reason) = self.get("/settings/api/keys", cookie).await.failure();
        assert_eq!((status, &*code), (401, "unauthorized"));
        reason.unwrap()
    }
}

fn named(account: &str, name: &str) -> Account {
    Account { id: AccountId::new(account), name: name.to_owned(), email: String::new() }
}

pub(crate) fn with_cookie(mut request: Request<String>, cookie: &str) -> Request<String> {
    request.headers_mut().append("cookie", cookie.parse().unwrap());
    request
}

fn from(mut request: Request<String>, address: [u8; 4]) -> Request<String> {
    request.extensions_mut().insert(ClientAddress(address.into()));
    request
}

#[track_caller]
pub(crate) fn cookie(response: &TestResponse) -> String {
    assert_eq!(response.status, 303, "{}", response.body);
    response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Returns a session cookie with a well-formed secret that no sign-in has created.
fn unknown_cookie(number: u32) -> String {
    format!("{COOKIE_NAME}={}{number}", "a".repeat(42))
}

#[tokio::test]
async fn code_starts_session_until_sign_out() {
    let site = Site::new().await;
    let code = site.code("anna").await;
    assert!(code.starts_with("csin_") && &code[48..] == ".School~20of~20~C3~A9", "{code}");
    let response = site.send_code(&format!(" {code} ")).await;
    assert_eq!((response.status, response.header("location")), (303, Some("/settings")));
    let set = response.header("set-cookie").unwrap();
    let (secret, attributes) = set.strip_prefix(&format!("{COOKIE_NAME}=")).unwrap().split_once("; ").unwrap();
    assert_eq!((secret.len(), attributes), (43, "Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200"));
    assert_eq!((response.labels.action, response.labels.account.as_ref().unwrap().as_str()), ("sign_in", "anna"));
    // The whole link is accepted too.
    let link = format!(" https://a.example/settings/sign-in#{}\n", site.code("anna").await);
    let session = cookie(&site.send_code(&link).await);
    let page = site.get("/settings", &session).await;
    assert_eq!(page.status, 200);
    page.shows("School of anna");
    page.shows("action=\"/settings/sign-out\"");
    let activity = site.get("/settings/activity", &session).await;
    activity.shows("Signed in");
    activity.shows("Sign-in link created");
    activity.hides(&code);
    activity.hides(secret);
    let out = site.sign_out(&session).await;
    assert_eq!((out.status, out.header("location")), (303, Some("/settings/sign-in?why=signed_out")));
    site.call(get("/settings/sign-in?why=signed_out")).await.shows("role=\"status\">You are signed out.");
    let cleared = format!("{COOKIE_NAME}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    assert_eq!(out.header("set-cookie"), Some(&*cleared));
    let after = site.get("/settings", &session).await;
    assert_eq!(after.header("location"), Some("/settings/sign-in?next=%2Fsettings&why=revoked"));
    assert_eq!(after.header("set-cookie"), None);
    site.get("/settings/activity", &site.sign_in("anna").await).await.shows("Signed out");
}

#[tokio::test]
async fn link_lifetime_has_default_and_maximum() {
    let (url, now) = (MountUrl::parse("https://a.example/settings").unwrap(), Clock::new().now());
    let day = Duration::from_secs(86_400);
    for (lifetime, expected) in [
        (DEFAULT_LINK_LIFETIME, Duration::from_secs(900)),
        (day, day),
        (day * 7, day * 7),
        (day * 7 + Duration::from_secs(1), day * 7),
    ] {
        // Without a name, the account's id is shown; a long name is cut.
        let (link, stored_link) = SignInLink::mint(&named("anna", ""), &url, now, lifetime);
        assert!(link.code().ends_with(".anna"), "{}", link.code());
        let (long, _) = SignInLink::mint(&named("anna", &"a".repeat(200)), &url, now, lifetime);
        assert_eq!(long.code().len(), 48 + ".".len() + 60);
        assert_eq!((stored_link.created_at, Some(stored_link.expires_at)), (now, now.checked_add(expected)));
    }
}

#[tokio::test]
async fn unusable_codes_get_same_response() {
    let site = Site::new().await;
    let used = site.code("anna").await;
    site.send_code(&used).await;
    let old = site.code("anna").await;
    site.clock.advance(15 * 60);
    let session = site.sign_in("anna").await;
    let secret = session.split_once('=').unwrap().1;
    // The page names the account by its link, so a link with another name must not work.
    let renamed = site.code("anna").await.replace("School", "Studio");
    let mut bodies = Vec::new();
    for code in [&*used, &renamed, &*old, "", "csin_", &format!("csin_{}", "a".repeat(43)), secret] {
        let response = site.send_code(code).await;
        assert_eq!((response.status, response.header("set-cookie")), (401, None));
        response.shows("This code is invalid, expired or already used. Request a new one");
        bodies.push(response.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[tokio::test]
async fn code_works_once_when_sent_concurrently() {
    let site = Site::new().await;
    let code = site.code("anna").await;
    let (one, two, three) = tokio::join!(site.send_code(&code), site.send_code(&code), site.send_code(&code));
    let mut statuses = [one.status, two.status, three.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 401, 401]);
}

#[tokio::test]
async fn session_ends_after_12_hours_or_revocation() {
    let site = Site::new().await;
    let session = site.sign_in("anna").await;
    let other = site.sign_in("bert").await;
    site.clock.advance(12 * 60 * 60 - 1);
    assert_eq!(site.status(&session).await, 200);
    assert_eq!(site.storage.calls.end_sign_ins(&AccountId::new("anna"), &Actor::OPERATOR).await.unwrap(), 1);
    assert_eq!(site.refusal(&session).await, "revoked");
    site.clock.advance(1);
    assert_eq!(site.refusal(&other).await, "expired");
    let api = site.get("/settings/api/keys", &other).await;
    assert!(api.header("set-cookie").unwrap().ends_with("Max-Age=0"));
    assert_eq!(site.call(get("/settings/api/keys")).await.reason(), "missing");
    // Changes that were sent with an expired session are not made.
    let new = json_request("POST", "/settings/api/keys", &new_key("a"));
    assert_eq!(site.call(with_cookie(new, &other)).await.status, 401);
    let page = site.call(with_cookie(form("/settings/keys", &[("name", "a")]), &other)).await;
    assert_eq!((page.status, page.header("location")), (303, Some("/settings/sign-in?why=expired")));
    let page = site.call(get("/settings/sign-in?why=expired")).await;
    page.shows("Your session has expired. Sign in again. Nothing was done.");
    site.call(get("/settings/sign-in?why=%3Cscript%3E")).await.hides("role=\"alert\"");
    // After a read, the sign-in page need not mention changes.
    let sign_in_url = site.get("/settings", &other).await.header("location").unwrap().to_owned();
    let page = site.call(get(&sign_in_url)).await;
    page.shows("Your session has expired. Sign in again.");
    page.hides("Nothing was done.");
}

#[tokio::test]
async fn sign_in_replaces_earlier_session() {
    let site = Site::new().await;
    let planted = site.sign_in("bert").await;
    let sign_in = form("/settings/sign-in", &[("code", &site.code("anna").await)]);
    let fresh = cookie(&site.call(with_cookie(sign_in, &planted)).await);
    assert_ne!(fresh, planted);
    site.get("/settings", &fresh).await.shows("School of anna");
    assert_eq!(site.refusal(&planted).await, "revoked");
    assert_eq!(site.refusal(&unknown_cookie(0)).await, "revoked");
}

/// Cookies of more than 16 KiB are ignored, and so are two session cookies, even if one is malformed.
#[tokio::test]
async fn session_is_read_from_one_cookie_among_16_kib() {
    let site = Site::new().await;
    let session = site.sign_in("anna").await;
    let other = format!("{COOKIE_NAME}=a");
    let padded = |length: usize| format!("{session};{}", ";".repeat(length - session.len() - 1));
    let padding = |length: usize| ";".repeat(length - session.len());
    for (cookies, is_accepted) in [
        (vec![format!("{session}; {session}")], false),
        (vec![format!("{other}; {session}")], false),
        (vec![session.clone(), other], false),
        (vec![format!("{COOKIE_NAME}=é; {session}")], false),
        (vec![format!("a=b; x{COOKIE_NAME}=c;{session}"), "d=e".to_owned()], true),
        // Other applications' cookies may contain any bytes.
        (vec![format!("lang=café; {session}")], true),
        (vec![padded(16 << 10)], true),
        (vec![padded((16 << 10) + 1)], false),
        (vec![session.clone(), padding(16 << 10)], true),
        (vec![session.clone(), padding((16 << 10) + 1)], false),
    ] {
        let request = cookies.iter().fold(get("/settings/api/keys"), |request, line| with_cookie(request, line));
        let response = site.call(request).await;
        if is_accepted {
            assert_eq!(response.status, 200, "{cookies:?}");
        } else {
            assert_eq!(response.reason(), "missing", "{cookies:?}");
        }
    }
}

/// Cookies ignore the port, and these have `Path=/`: a browser sends them to all servers on the host name.
#[tokio::test]
async fn servers_on_one_host_keep_separate_sessions() {
    for (urls, hosts) in [
        (["https://a.example/settings", "https://a.example:8443/settings"], ["a.example"; 2]),
        (["https://a.example/one/settings", "https://a.example/two/settings"], ["a.example"; 2]),
        (["/settings", "/settings"], ["a.example:8080", "a.example:8081"]),
        (["/one/settings", "/two/settings"], ["a.example:8080"; 2]),
    ] {
        let mut sites = Vec::new();
        for (url, host) in urls.into_iter().zip(hosts) {
            let path = url.strip_prefix("https://").map_or(url, |url| &url[url.find('/').unwrap()..]);
            sites.push((Site::at(url).await, path, host));
        }
        let with_host = |mut request: Request<String>, host: &str| {
            request.headers_mut().insert("host", host.parse().unwrap());
            request
        };
        let mut cookies: Vec<String> = Vec::new();
        for (site, path, host) in &sites {
            let sign_in = form(&format!("{path}/sign-in"), &[("code", &site.code("anna").await)]);
            let response = site.call(with_cookie(with_host(sign_in, host), &cookies.join("; "))).await;
            cookies.push(cookie(&response));
        }
        assert_ne!(cookies[0].split('=').next(), cookies[1].split('=').next());
        let both = cookies.join("; ");
        for _ in 0..2 {
            for (site, path, host) in &sites {
                let response = site.call(with_cookie(with_host(get(path), host), &both)).await;
                assert_eq!((response.status, response.header("set-cookie")), (200, None), "{urls:?} {path} {host}");
            }
        }
        let (site, path, host) = &sites[0];
        let sign_out = with_cookie(with_host(form(&format!("{path}/sign-out"), &[]), host), &both);
        let name = cookies[0].split('=').next().unwrap();
        assert!(site.call(sign_out).await.header("set-cookie").unwrap().starts_with(name));
        let (site, path, host) = &sites[1];
        assert_eq!(site.call(with_cookie(with_host(get(path), host), &both)).await.status, 200);
    }
}

/// The URL may be spelled differently in the options of servers behind one load balancer.
#[tokio::test]
async fn equivalent_urls_have_same_cookie_name() {
    for url in ["https://a.example/settings", "HTTPS://A.example/settings", "https://a.example:443/settings/"] {
        let session = Site::at(url).await.sign_in("anna").await;
        assert_eq!(session.split('=').next(), Some("__Host-catalogue-settings-62abb396"), "{url}");
    }
}

#[tokio::test]
async fn cookie_has_no_prefix_without_tls() {
    let Site { settings, storage, clock } = Site::new().await;
    for (site, digest) in [
        (Site { settings: settings.without_tls(), storage, clock }, "2c56bef4"),
        (Site::at("http://localhost:1/settings").await, "32d32be7"),
    ] {
        let response = site.send_code(&site.code("anna").await).await;
        let set = response.header("set-cookie").unwrap();
        assert!(set.starts_with(&format!("catalogue-settings-{digest}=")) && !set.contains("Secure"), "{set}");
        assert_eq!(site.status(&cookie(&response)).await, 200);
    }
}

#[tokio::test]
async fn unknown_session_cookie_is_not_cleared() {
    let site = Site::new().await;
    for unknown in [unknown_cookie(0), format!("{COOKIE_NAME}=é"), format!("{COOKIE_NAME}=")] {
        for request in [get("/settings"), get("/settings/api/keys"), form("/settings/sign-out", &[])] {
            assert_eq!(site.call(with_cookie(request, &unknown)).await.header("set-cookie"), None, "{unknown}");
        }
    }
}

/// The unit test of `is_page` has all forms of other pages.
#[tokio::test]
async fn next_redirects_only_to_own_pages() {
    let site = Site::new().await;
    let link = "/settings/keys/new?name=Acme&scope=read:courses";
    let redirect = site.call(get(link)).await;
    let sign_in = redirect.header("location").unwrap().to_owned();
    assert_eq!((redirect.status, redirect.header("set-cookie")), (303, None));
    site.call(get(&sign_in)).await.shows("name=\"next\" value=\"/settings/keys/new?name=Acme&amp;scope=read:courses\"");
    for (next, target) in [(link, link), ("//evil.example", "/settings"), ("/settings\r\nset-cookie: a=b", "/settings")]
    {
        let code = site.code("anna").await;
        let response = site.call(form("/settings/sign-in", &[("code", &code), ("next", next)])).await;
        assert_eq!(response.header("location"), Some(target), "{next}");
    }
}

#[tokio::test]
async fn anonymous_request_is_redirected_to_sign_in() {
    let site = Site::new().await;
    for path in ["/settings", "/settings/keys/key_1", "/settings/activity"] {
        let response = site.call(get(path)).await;
        assert_eq!(response.status, 303, "{path}");
        assert_eq!(response.labels.account, None);
    }
    // Sign-in does not return to a file.
    let file = site.call(get("/settings/keys/key_1/reminder.ics")).await;
    assert_eq!((file.status, file.header("location")), (303, Some("/settings/sign-in")));
    assert_eq!(site.call(get("/settings/nothing")).await.status, 404);
    assert_eq!(site.call(get("/settings/sign-in")).await.status, 200);
    let mut cross_site = form("/settings/sign-in", &[("code", &site.code("anna").await)]);
    cross_site.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert_eq!(site.call(cross_site).await.status, 403);
}

#[tokio::test]
async fn sign_in_attempts_are_limited_by_client_address() {
    let site = Site::with_attempts(2).await;
    let code = site.code("anna").await;
    let attempt = |address, code: &str| site.call(from(form("/settings/sign-in", &[("code", code)]), address));
    for status in [401, 401, 429] {
        assert_eq!(attempt([192, 0, 2, 1], "csin_guess").await.status, status);
    }
    let refused = attempt([192, 0, 2, 1], &code).await;
    assert_eq!(refused.status, 429);
    refused.shows("<a href=\"/settings/sign-in\">Back to sign-in</a>");
    refused.hides("Back to the keys");
    assert_eq!(attempt([192, 0, 2, 2], &code).await.status, 303);
}

/// A lookup queries the database's primary, and any client can send a cookie.
#[tokio::test]
async fn unknown_sessions_count_as_sign_in_attempts() {
    let site = Site::with_attempts(3).await;
    let session = site.sign_in("anna").await;
    let revoked = site.sign_in("bert").await;
    site.storage.calls.end_sign_ins(&AccountId::new("bert"), &Actor::OPERATOR).await.unwrap();
    let send = |request: Request<String>, address, cookie: &str| site.call(with_cookie(from(request, address), cookie));
    let (client, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    // A malformed secret is not looked up.
    for _ in 0..5 {
        assert_eq!(send(get("/settings/api/keys"), client, &format!("{COOKIE_NAME}=é")).await.status, 401);
        assert_eq!(send(get("/settings/api/keys"), client, &session).await.status, 200);
    }
    for (request, cookie, status) in [
        (get("/settings/api/keys"), &unknown_cookie(0), 401),
        (get("/settings"), &revoked, 303),
        (form("/settings/sign-out", &[]), &unknown_cookie(1), 303),
    ] {
        assert_eq!(send(request, client, cookie).await.status, status);
    }
    let lookups = || site.storage.calls.count(&["find_session", "exchange_link"]);
    let before = lookups();
    for request in [get("/settings/api/keys"), get("/settings"), form("/settings/sign-out", &[])] {
        let refused = send(request, client, &unknown_cookie(2)).await;
        assert!(refused.status == 429 && refused.header("retry-after").is_some(), "{refused:?}");
    }
    let guess = send(form("/settings/sign-in", &[("code", "csin_guess")]), client, "a=b").await;
    assert_eq!(guess.status, 429, "guesses of codes and of sessions are counted together");
    assert_eq!(lookups(), before, "the storage is not queried");
    assert_eq!(send(get("/settings"), other, &session).await.status, 200);
}

#[tokio::test]
async fn storage_failure_does_not_count_as_attempt() {
    let site = Site::with_attempts(1).await;
    site.storage.fail(&["find_session"], StorageErrorKind::Other);
    for _ in 0..3 {
        let request = with_cookie(get("/settings"), &unknown_cookie(0));
        assert_eq!(site.call(from(request, [192, 0, 2, 1])).await.status, 500);
    }
}

#[tokio::test]
async fn account_has_at_most_10_sessions() {
    let site = Site::new().await;
    let first = site.sign_in("anna").await;
    for _ in 0..9 {
        site.clock.advance(1);
        site.sign_in("anna").await;
    }
    assert_eq!(site.status(&first).await, 200);
    site.clock.advance(1);
    let last = site.sign_in("anna").await;
    assert_eq!((site.status(&first).await, site.status(&last).await), (303, 200));
}

/// Ending a session is a write, which costs more than the lookup that any client can cause.
#[tokio::test]
async fn invalid_session_costs_no_write() {
    let site = Site::new().await;
    let session = site.sign_in("anna").await;
    let expired = site.sign_in("bert").await;
    let ends = || site.storage.calls.count(&["end_session"]);
    for cookie in [format!("{COOKIE_NAME}=a"), unknown_cookie(0), "a=b".to_owned()] {
        let out = site.sign_out(&cookie).await;
        assert_eq!((out.status, out.header("location")), (303, Some("/settings/sign-in?why=signed_out")));
        let code = site.code("anna").await;
        assert_eq!(site.call(with_cookie(form("/settings/sign-in", &[("code", &code)]), &cookie)).await.status, 303);
    }
    assert_eq!(ends(), 0);
    site.sign_out(&session).await;
    assert_eq!(ends(), 1);
    site.clock.advance(12 * 60 * 60);
    site.sign_out(&expired).await;
    assert_eq!(ends(), 1);
}

#[tokio::test]
async fn sign_outs_count_as_changes_of_account() {
    let site = Site::of(App::with(|builder| builder.rate_limiter(limiter(1))).await);
    let sessions = [site.sign_in("anna").await, site.sign_in("anna").await, site.sign_in("bert").await];
    for (session, status) in sessions.iter().zip([303, 429, 303]) {
        let out = site.sign_out(session).await;
        assert_eq!((out.status, out.header("set-cookie").is_some()), (status, status == 303));
    }
}
