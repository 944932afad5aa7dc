//! Flaws with paths.

use percent_encoding::percent_decode_str;

use crate::broken::Broken;
use crate::flaws;

/// The path becomes what `alter` makes of it; the query stays.
fn path(alter: impl Fn(&str) -> String + Send + Sync + 'static) -> Broken {
    Broken::target(move |target| match target.split_once('?') {
        Some((path, query)) => format!("{}?{query}", alter(path)),
        None => alter(target),
    })
}

/// Refuses requests for such paths with 404.
fn refuses(refused: impl Fn(&str) -> bool + Send + Sync + 'static) -> Broken {
    Broken::refuses(404, move |head| refused(head.uri.path()))
}

/// Decodes the escapes of those characters.
fn decoded(path: &str, characters: impl Fn(char) -> bool) -> String {
    (0..=0x7f_u8).filter(|byte| characters(char::from(*byte))).fold(path.to_owned(), |path, byte| {
        let (upper, lower) = (format!("%{byte:02X}"), format!("%{byte:02x}"));
        path.replace(&upper, &char::from(byte).to_string()).replace(&lower, &char::from(byte).to_string())
    })
}

fn without_dots(path: &str) -> String {
    let mut retained = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." => drop(retained.pop()),
            _ => retained.push(segment),
        }
    }
    retained.join("/")
}

flaws! {
    one_mount_only: refuses(|path| path.starts_with("/docs")) => path::operations_and_documents_are_found, "both of";
    prefix_lost: path(|path| path.strip_prefix("/api/v1").unwrap_or(path).to_owned())
        => path::operations_and_documents_are_found, "both of";
    prefix_doubled: path(|path| format!("/api/v1{path}")) => path::operations_and_documents_are_found, "both of";
    only_below_mounts: refuses(|path| matches!(path, "/api/v1" | "/docs"))
        => path::mount_paths_are_routed, "an address itself";
    only_at_mounts_without_slash: refuses(|path| matches!(path, "/api/v1/" | "/docs/"))
        => path::mount_paths_are_routed, "an address itself";
    other_paths_go_to_host: refuses(|path| !path.starts_with("/api/v1") && !path.starts_with("/docs"))
        => path::paths_outside_mounts_return_404, "outside of the addresses";
    prefix_presumed: path(|path| match path {
        "/me" => "/api/v1/me".to_owned(),
        path => path.to_owned(),
    }) => path::paths_outside_mounts_return_404, "outside of the addresses";
    text_beyond_ascii_lost: path(|path| {
        percent_decode_str(path).decode_utf8_lossy().chars().filter(char::is_ascii).collect()
    }) => path::escaped_text_is_preserved, "stay what they are";
    decoded_before_the_catalogue: path(|path| decoded(path, |c| c == '%'))
        => path::escapes_are_decoded_once, "only once";
    encoded_after_all: path(|path| path.replace('%', "%25")) => path::escapes_are_decoded_once, "only once";
    escaped_slashes_decoded: path(|path| decoded(path, |c| c == '/'))
        => path::escaped_slash_is_not_a_separator, "separates no segments";
    letters_decoded: path(|path| decoded(path, |c| c.is_ascii_alphanumeric()))
        => path::escapes_are_not_normalized, "is another path";
    broken_escapes_refused: Broken::refuses(400, |head| percent_decode_str(head.uri.path()).decode_utf8().is_err())
        => path::invalid_escapes_are_preserved, "for the catalogue to refuse";
    lone_percent_signs_refused: Broken::refuses(400, |head| head.uri.path().ends_with('%'))
        => path::invalid_escapes_are_preserved, "for the catalogue to refuse";
    text_beyond_ascii_refused: Broken::refuses(400, |head| !head.uri.path().is_ascii())
        => path::unescaped_text_is_preserved, "beyond ASCII is kept";
    plus_as_space: path(|path| path.replace('+', "%20"))
        => path::reserved_characters_are_preserved, "with a meaning elsewhere";
    parameters_of_segments_cut: path(|path| path.split(';').next().unwrap().to_owned())
        => path::reserved_characters_are_preserved, "with a meaning elsewhere";
    trailing_slashes_trimmed: path(|path| match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }) => path::trailing_slash_is_preserved, "a slash at its end";
    slashes_merged: path(|path| path.replace("//", "/")) => path::double_slashes_are_preserved, "two slashes in a row";
    rebuilt_from_segments: path(|path| {
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        format!("/{}", segments.collect::<Vec<_>>().join("/"))
    }) => path::double_slashes_are_preserved, "two slashes in a row";
    one_slash_too_many_stripped: path(|path| path.replace("/api/v1//", "/api/v1/"))
        => path::double_slash_after_mount_is_preserved, "a second slash too";
    dots_resolved: path(without_dots) => path::dot_segments_are_preserved, "not resolved";
    small_letters: path(str::to_ascii_lowercase) => path::path_case_is_preserved, "in capitals";
    long_paths_refused: Broken::refuses(431, |head| head.uri.path().len() > 4_096)
        => path::long_path_is_preserved, "8,000 octets";
}
