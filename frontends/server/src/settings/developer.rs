//! [`DeveloperOptions`]: options of the developer settings, and [`OwnerHeader`]: a proxy that authenticates owners.

use std::net::{IpAddr, SocketAddr};

use catalogue_core::storage::MemoryStorage;
use catalogue_core::{AccountId, MountUrl};
use catalogue_hyper::{Networks, PeerAddress};
use catalogue_settings::{DeveloperSettings, SettingsBuilder, SettingsError};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};

use super::Settings;
use super::table::*;

/// Options of `serve` about the developer settings.
#[derive(Debug)]
pub(crate) struct DeveloperOptions {
    pub(crate) url: MountUrl,
    base_url: String,
    docs_url: String,
    title: Option<String>,
    cross_origin_tryout: bool,
    pub(crate) owner_header: Option<OwnerHeader>,
}

/// A proxy that authenticates owners, the header in which it names them, and how it is recognized.
#[derive(Clone, Debug)]
pub(crate) struct OwnerHeader {
    pub(crate) name: HeaderName,
    proxies: Networks,
    secret: Option<HeaderValue>,
}

impl DeveloperOptions {
    /// Creates options for settings at `url`, next to an API and its documents, with sign-in by links.
    pub(crate) fn at(url: MountUrl, base_url: &str, docs_url: &str) -> Self {
        let (base_url, docs_url) = (base_url.to_owned(), docs_url.to_owned());
        Self { url, base_url, docs_url, title: None, cross_origin_tryout: false, owner_header: None }
    }

    /// Reads the options; scripts of `origins` may call the API.
    pub(super) fn read(settings: &Settings, base_url: &str, docs_url: &str, origins: &[String]) -> Option<Self> {
        let owner_header = owner_header(settings);
        let Some(url) = settings.given(&SETTINGS_URL) else {
            if owner_header.is_some() {
                let idle = "no effect without the developer settings; set their URL, like --settings-url /settings";
                settings.conflict(&[&SETTINGS_OWNER_HEADER], &idle);
            }
            return None;
        };
        let cross_origin_tryout = origins.iter().any(|origin| origin == "*" || *origin == url.origin());
        let title = settings.given(&DOCS_TITLE);
        let options = Self { title, cross_origin_tryout, owner_header, ..Self::at(url, base_url, docs_url) };
        options.check_paths(settings);
        Some(options)
    }

    /// Refuses a URL that hides the API or its documents.
    pub(crate) fn check_paths(&self, settings: &Settings) {
        if let Err(error) = self.apply_to(DeveloperSettings::builder(MemoryStorage::new())).build() {
            settings.conflict(&[&SETTINGS_URL], &error);
        }
    }

    pub(crate) fn apply_to(&self, builder: SettingsBuilder) -> SettingsBuilder {
        let builder = builder.settings_url(self.url.as_str()).base_url(&*self.base_url).docs_url(&*self.docs_url);
        let builder = self.title.iter().fold(builder, |builder, title| builder.brand(title, self.url.path()));
        if self.cross_origin_tryout { builder.cross_origin_tryout() } else { builder }
    }

    /// Refuses a bare path without TLS, unless `listen` is on loopback without a proxy: sessions could travel in cleartext.
    pub(super) fn check_listener(&self, settings: &Settings, listen: SocketAddr, secured: bool, proxies: &Networks) {
        let is_this_machine_only = listen.ip().to_canonical().is_loopback() && proxies.is_empty();
        if self.url.origin().is_empty() && !secured && !is_this_machine_only {
            let what = format!("plain HTTP would expose sessions; use https://HOST{}", self.url.path());
            settings.conflict(&[&SETTINGS_URL], &what);
        }
    }

    /// Returns a warning if all local users can act as any owner, or, with sign-in links, if a local URL has another port.
    pub(crate) fn warning(&self, listen: SocketAddr) -> Option<String> {
        let Some(OwnerHeader { name, proxies, secret }) = &self.owner_header else {
            return self.other_port(listen.port());
        };
        let is_local = secret.is_none() && proxies.single_addresses()?.iter().all(IpAddr::is_loopback);
        is_local.then(|| format!("all local users can send {name} and act as any owner; set --settings-owner-secret"))
    }

    fn other_port(&self, listening: u16) -> Option<String> {
        let origin = self.url.origin().parse::<Uri>().ok()?;
        let port = origin.port_u16().unwrap_or(if origin.scheme_str() == Some("https") { 443 } else { 80 });
        let is_this_machine_only = matches!(origin.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        // Port 0 stands for a free port, which is not known yet.
        (is_this_machine_only && ![0, port].contains(&listening)).then(|| {
            let what = format!("--settings-url has port {port}, but this server listens on {listening}");
            format!("{what}; unless a proxy is in between, use {listening}, or forms are refused as cross-site")
        })
    }
}

/// Header in which the proxy sends its secret.
const PROXY_SECRET: HeaderName = HeaderName::from_static("catalogue-proxy-secret");
const MIN_SECRET_LEN: usize = 32;
const MAX_ACCOUNT_LEN: usize = 200;

impl OwnerHeader {
    /// Returns the account that a request's proxy names, or why the request is refused.
    pub(crate) fn account<B>(&self, request: &Request<B>) -> Result<AccountId, &'static str> {
        let headers = request.headers();
        let (is_trusted, reason) = match &self.secret {
            Some(secret) => (single(headers, &PROXY_SECRET).is_some_and(|sent| is_same(sent, secret)), "wrong_secret"),
            None => {
                let peer = request.extensions().get::<PeerAddress>();
                (peer.is_some_and(|peer| self.proxies.contain(peer.0)), "unknown_proxy")
            }
        };
        let account = single(headers, &self.name).ok_or("no_header")?;
        let account = str::from_utf8(account.as_bytes()).ok().filter(|_| is_trusted).ok_or(reason)?;
        let has_length = (1..=MAX_ACCOUNT_LEN).contains(&account.len());
        has_length.then(|| AccountId::new(account)).ok_or("unknown_account")
    }
}

/// Returns the value of a header that occurs exactly once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Compares in a time that depends only on the lengths.
fn is_same(sent: &HeaderValue, secret: &HeaderValue) -> bool {
    let pairs = sent.as_bytes().iter().zip(secret.as_bytes());
    sent.len() == secret.len() && pairs.fold(0, |difference, (a, b)| std::hint::black_box(difference | (a ^ b))) == 0
}

fn owner_header(settings: &Settings) -> Option<OwnerHeader> {
    let (name, secret) = (settings.given(&SETTINGS_OWNER_HEADER), settings.given(&SETTINGS_OWNER_SECRET));
    let proxies = settings.given(&TRUSTED_PROXIES).unwrap_or_default();
    let Some(name) = name else {
        if secret.is_some() {
            let idle = "no effect without a header; set one, like --settings-owner-header Remote-User";
            settings.conflict(&[&SETTINGS_OWNER_SECRET], &idle);
        }
        return None;
    };
    if secret.is_none() && proxies.is_empty() {
        let what = "no proxy is trusted to send it; set --trusted-proxies or --settings-owner-secret";
        settings.conflict(&[&SETTINGS_OWNER_HEADER], &what);
    } else if secret.is_none() && proxies.single_addresses().is_none() {
        let what = "a whole network could act as any owner; list single addresses, or set --settings-owner-secret";
        settings.conflict(&[&SETTINGS_OWNER_HEADER, &TRUSTED_PROXIES], &what);
    }
    Some(OwnerHeader { name, proxies, secret })
}

/// Parses the URL of the settings. Whether it hides the API or its documents is checked once their URLs are known.
pub(super) fn url(text: &str) -> Result<MountUrl, String> {
    match DeveloperSettings::builder(MemoryStorage::new()).settings_url(text).build() {
        Err(error @ (SettingsError::SettingsUrl(_) | SettingsError::PlainHttp(_))) => Err(error.to_string()),
        _ => match MountUrl::parse(text) {
            Ok(url) if url.path().is_empty() => Err(format!("{text:?} has no path; add one, like /settings")),
            url => url.map_err(|error| error.to_string()),
        },
    }
}

/// Parses the name of a header that has no other meaning.
pub(super) fn owner_header_name(text: &str) -> Result<HeaderName, String> {
    const RESERVED_HEADERS: &str = "accept accept- authorization cache-control catalogue-proxy-secret connection content- cookie date expect \
        forwarded host if- keep-alive origin pragma proxy- range referer sec- set-cookie te traceparent tracestate trailer \
        transfer-encoding upgrade user-agent via x-forwarded- x-real-ip x-request-id";
    const HINT: &str = "use the header in which the proxy names the owner, like Remote-User";
    let name = text.parse::<HeaderName>().map_err(|_| format!("invalid header name {text:?}; {HINT}"))?;
    let is = |reserved: &str| name == reserved || reserved.ends_with('-') && name.as_str().starts_with(reserved);
    if RESERVED_HEADERS.split(' ').any(is) {
        return Err(format!("{text:?} is a reserved header; {HINT}"));
    }
    Ok(name)
}

/// Parses the secret by which the proxy authenticates. Messages repeat none of it.
pub(super) fn owner_secret(text: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii() && text.len() >= MIN_SECRET_LEN);
    let invalid = || format!("invalid secret; use a file with one line of at least {MIN_SECRET_LEN} ASCII characters");
    let mut value = value.ok_or_else(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}
