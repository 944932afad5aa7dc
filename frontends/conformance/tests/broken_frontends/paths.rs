//! Flaws with paths.

use percent_encoding::percent_decode_str;

use crate::broken::Broken;
use crate::flaws;

/// Replaces the path by the result of `alter`; the query is unchanged.
fn path(alter: impl Fn(&str) -> String + Send + Sync + 'static) -> Broken {
    Broken::target(move |target| match target.split_once('?') {
        Some((path, query)) => format!("{}?{query}", alter(path)),
        None => alter(target),
    })
}

/// Refuses with a 404 the paths for which `refused` returns `true`.
fn refuses(refused: impl Fn(&str) -> bool + Send + Sync + 'static) -> Broken {
    Broken::refuses(404, move |head| refused(head.uri.path()))
}

/// Decodes the escapes of the ASCII characters for which `selected` returns `true`.
fn decoded(path: &str, selected: impl Fn(char) -> bool) -> String {
    (0..=0x7f_u8).filter(|byte| selected(char::from(*byte))).fold(path.to_owned(), |path, byte| {
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
    docs_mount_is_missing: refuses(|path| path.starts_with("/docs")) => path::operations_and_documents_are_found, "both of";
    prefix_is_stripped: path(|path| path.strip_prefix("/api/v1").unwrap_or(path).to_owned())
        => path::operations_and_documents_are_found, "both of";
    prefix_is_doubled: path(|path| format!("/api/v1{path}")) => path::operations_and_documents_are_found, "both of";
    mount_without_slash_is_refused: refuses(|path| matches!(path, "/api/v1" | "/docs"))
        => path::mount_paths_are_routed, "a mount itself";
    mount_with_slash_is_refused: refuses(|path| matches!(path, "/api/v1/" | "/docs/"))
        => path::mount_paths_are_routed, "a mount itself";
    host_responds_outside_mounts: refuses(|path| !path.starts_with("/api/v1") && !path.starts_with("/docs"))
        => path::paths_outside_mounts_return_404, "outside of its mounts";
    prefix_is_optional: path(|path| match path {
        "/me" => "/api/v1/me".to_owned(),
        path => path.to_owned(),
    }) => path::paths_outside_mounts_return_404, "outside of its mounts";
    escaped_text_is_dropped: path(|path| {
        percent_decode_str(path).decode_utf8_lossy().chars().filter(char::is_ascii).collect()
    }) => path::escaped_text_is_preserved, "of a path are preserved";
    escaped_percent_is_decoded: path(|path| decoded(path, |c| c == '%'))
        => path::escapes_are_decoded_once, "only once";
    percent_is_encoded_again: path(|path| path.replace('%', "%25")) => path::escapes_are_decoded_once, "only once";
    escaped_slash_is_decoded: path(|path| decoded(path, |c| c == '/'))
        => path::escaped_slash_is_not_a_separator, "does not separate segments";
    escaped_letters_are_decoded: path(|path| decoded(path, |c| c.is_ascii_alphanumeric()))
        => path::escapes_are_not_normalized, "is another path";
    invalid_escape_is_refused: Broken::refuses(400, |head| percent_decode_str(head.uri.path()).decode_utf8().is_err())
        => path::invalid_escapes_are_preserved, "Only the catalogue refuses";
    trailing_percent_is_refused: Broken::refuses(400, |head| head.uri.path().ends_with('%'))
        => path::invalid_escapes_are_preserved, "Only the catalogue refuses";
    non_ascii_path_is_refused: Broken::refuses(400, |head| !head.uri.path().is_ascii())
        => path::unescaped_text_is_preserved, "non-ASCII text is preserved";
    plus_is_decoded_as_space: path(|path| path.replace('+', "%20"))
        => path::reserved_characters_are_preserved, "Reserved characters";
    segment_parameters_are_cut: path(|path| path.split(';').next().unwrap().to_owned())
        => path::reserved_characters_are_preserved, "Reserved characters";
    trailing_slash_is_trimmed: path(|path| match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }) => path::trailing_slash_is_preserved, "a trailing slash";
    double_slashes_are_merged: path(|path| path.replace("//", "/")) => path::double_slashes_are_preserved, "two slashes in a row";
    path_is_rebuilt_from_segments: path(|path| {
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        format!("/{}", segments.collect::<Vec<_>>().join("/"))
    }) => path::double_slashes_are_preserved, "two slashes in a row";
    double_slash_after_mount_is_merged: path(|path| path.replace("/api/v1//", "/api/v1/"))
        => path::double_slash_after_mount_is_preserved, "even with a second slash";
    dot_segments_are_resolved: path(without_dots) => path::dot_segments_are_preserved, "not resolved";
    path_is_lowercased: path(str::to_ascii_lowercase) => path::path_case_is_preserved, "in upper case";
    long_path_is_refused: Broken::refuses(431, |head| head.uri.path().len() > 4_096)
        => path::long_path_is_preserved, "8,000 octets";
}
