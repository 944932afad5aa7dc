//! [`extract`]: removes parameters from a connection string, such as the TLS parameters that tokio-postgres does not know.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use crate::open_error::OpenError;
use crate::tls::PARAMETERS;

/// The other parameters, which tokio-postgres knows. Messages name only known ones: an unknown one may be part of a password.
const DRIVER_PARAMETERS: &str = "application_name channel_binding connect_timeout dbname host hostaddr keepalives keepalives_idle keepalives_interval \
    keepalives_retries load_balance_hosts options password port sslnegotiation tcp_user_timeout user";

/// Returns the names of all parameters, for error messages.
pub(crate) fn parameters() -> String {
    format!("{}, target_session_attrs, {}", PARAMETERS.join(", "), DRIVER_PARAMETERS.replace(' ', ", "))
}

/// Removes the parameters `names` from a connection string. Returns the rest, and the values of these parameters.
///
/// # Errors
/// Returns [`OpenError::Address`] if the connection string is invalid, and [`OpenError::DuplicateParameter`] if a parameter
/// occurs twice, because the intent would be ambiguous (`sslmode=verify-full` or `sslmode=disable`?).
pub(crate) fn extract(
    address: &str,
    names: &[&'static str],
) -> Result<(String, HashMap<&'static str, String>), OpenError> {
    let (mut extracted, mut names_so_far, mut repeated) = (HashMap::new(), HashSet::new(), None);
    let mut is_extracted = |name: &str, value: Cow<'_, str>| {
        let extracted_name = names.iter().copied().find(|known| *known == name);
        if let Some(name) = extracted_name.or_else(|| DRIVER_PARAMETERS.split(' ').find(|known| *known == name))
            && !names_so_far.insert(name)
        {
            repeated = Some(name);
        }
        extracted_name.map(|known| extracted.insert(known, value.into_owned())).is_some()
    };
    let rest = match address.split_once("://") {
        Some(("postgres" | "postgresql", _)) => extract_from_url(address, &mut is_extracted),
        _ => extract_from_pairs(address, &mut is_extracted),
    };
    match (rest, repeated) {
        (Some(_), Some(name)) => Err(OpenError::DuplicateParameter(name)),
        (Some(rest), None) => Ok((rest, extracted)),
        (None, _) => Err(OpenError::Address),
    }
}

/// Returns the connection string without its hosts.
pub(crate) fn without_hosts(address: &str) -> Result<String, OpenError> {
    let (mut rest, _) = extract(address, &["host", "hostaddr", "port"])?;
    if let Some(("postgres" | "postgresql", after)) = rest.split_once("://") {
        let begin = rest.find('@').map_or(rest.len() - after.len(), |at| at + 1);
        let end = rest[begin..].find(['/', '?']).map_or(rest.len(), |length| begin + length);
        rest.replace_range(begin..end, "");
    }
    Ok(rest)
}

/// Returns what remains of `postgres://user:password@host/database?name=value&…`.
fn extract_from_url(address: &str, is_extracted: &mut impl FnMut(&str, Cow<'_, str>) -> bool) -> Option<String> {
    // A password may contain a question mark, but no `@`.
    let after_password = address.find('@').unwrap_or(0);
    let Some(query) = address[after_password..].find('?').map(|at| after_password + at) else {
        return Some(address.to_owned());
    };
    let mut remaining = Vec::new();
    for pair in address[query + 1..].split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let [name, value] = [name, value].map(|text| percent_decode_str(text).decode_utf8());
        if !is_extracted(&name.ok()?, value.ok()?) {
            remaining.push(pair);
        }
    }
    let separator = if remaining.is_empty() { "" } else { "?" };
    Some(format!("{}{separator}{}", &address[..query], remaining.join("&")))
}

/// Returns what remains of `name=value name='a value' …`.
fn extract_from_pairs(address: &str, is_extracted: &mut impl FnMut(&str, Cow<'_, str>) -> bool) -> Option<String> {
    let mut remaining = Vec::new();
    let mut rest = address.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let value = after.trim_start();
        let (value, end) = value_of(value)?;
        let pair = &rest[..rest.len() - end.len()];
        if !is_extracted(name.trim_end(), Cow::Owned(value)) {
            remaining.push(pair);
        }
        rest = end.trim_start();
    }
    Some(remaining.join(" "))
}

/// Splits off the value at the start of `text`, which is quoted or ends at a space.
fn value_of(text: &str) -> Option<(String, &str)> {
    let quoted = text.strip_prefix('\'');
    let body = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut characters = body.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if quoted.is_some() => return Some((value, &body[at + 1..])),
            _ if quoted.is_none() && character.is_whitespace() => return Some((value, &body[at..])),
            _ => value.push(character),
        }
    }
    quoted.is_none().then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_extracted(address: &str, rest: &str, root: Option<&str>) {
        let (remaining, extracted) = extract(address, &["sslrootcert", "sslmode"]).unwrap();
        assert_eq!((remaining.as_str(), extracted.get("sslrootcert").map(String::as_str)), (rest, root));
    }

    #[test]
    fn parameters_are_extracted_from_both_formats() {
        assert_extracted("postgres://a:b@c/d", "postgres://a:b@c/d", None);
        assert_extracted("postgres://a:b@c/d?sslrootcert=%2Fa%20b", "postgres://a:b@c/d", Some("/a b"));
        let url = "postgres://a:?sslmode=x&@c/d?port=1&sslrootcert=/r&sslmode=&connect_timeout=2";
        assert_extracted(url, "postgres://a:?sslmode=x&@c/d?port=1&connect_timeout=2", Some("/r"));
        assert_extracted("postgres:///d?host=/tmp&sslrootcert=r", "postgres:///d?host=/tmp", Some("r"));
        assert_extracted(" host=a  sslrootcert = /r\tuser=b", "host=a user=b", Some("/r"));
        assert_extracted("sslrootcert='a \\'b\\\\' host=a", "host=a", Some("a 'b\\"));
        let secret = r"password='sslmode=1 \' sslrootcert=2' user=a\ b";
        assert_extracted(secret, secret, None);
        assert_extracted("", "", None);
    }

    #[test]
    fn hosts_are_removed_from_both_formats() {
        for (address, rest) in [
            ("postgres://a:b%40@c,d:1/e?port=2&user=f", "postgres://a:b%40@/e?user=f"),
            ("postgresql://c?dbname=e", "postgresql://?dbname=e"),
            ("postgres:///e?hostaddr=::1", "postgres:///e"),
            ("host=a,b port = 1 password='postgres://c/d'", "password='postgres://c/d'"),
        ] {
            assert_eq!(without_hosts(address).unwrap(), rest);
        }
    }

    #[test]
    fn incomplete_address_is_rejected() {
        for wrong in ["host='a", "host=a sslmode", "host=a\\", "postgres://a/b?x=%ff"] {
            assert!(matches!(extract(wrong, &["sslmode"]), Err(OpenError::Address)), "{wrong}");
        }
    }

    #[test]
    fn duplicate_parameter_is_rejected() {
        for (wrong, name) in [
            ("postgres://h/n?sslmode=verify-full&sslmode=disable", "sslmode"),
            ("postgres://h/n?sslmode=disable&port=1&ssl%6dode=disable", "sslmode"),
            ("host=h sslmode=verify-full dbname=n sslmode = disable", "sslmode"),
            ("postgres:///n?host=a&host=b", "host"),
            ("user=a password='hunter2' password=hunter3", "password"),
        ] {
            let error = extract(wrong, &["sslmode"]).unwrap_err();
            assert!(matches!(error, OpenError::DuplicateParameter(found) if found == name), "{wrong}: {error}");
            let message = error.to_string();
            assert!(message.contains(name) && message.contains("use it once"), "{message}");
        }
        // A repeated unknown parameter is left for tokio-postgres to refuse, and no message repeats its name.
        assert!(extract("postgres://h/n?hunter2=a&hunter2=b", &["sslmode"]).is_ok());
    }
}
