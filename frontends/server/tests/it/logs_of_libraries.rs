//! Log lines of libraries about clients, which must not fill the log.

use std::io::{Read as _, Write as _};

use crate::https::{self, SERVE};
use crate::observed::Observed;

/// Returns the bytes of an HTTP/2 connection (RFC 9113) that resets all its streams before the responses.
fn resetting() -> Vec<u8> {
    const SETTINGS: u8 = 4;
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const CANCEL: [u8; 4] = [0, 0, 0, 8];
    // GET, https, the path `/` and the authority `a` in HPACK (RFC 7541).
    const FIELDS: [u8; 6] = [0x82, 0x87, 0x84, 0x41, 1, b'a'];

    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        bytes.extend_from_slice(&[0, 0, payload.len() as u8, kind, flags]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(payload);
    };
    frame(SETTINGS, 0, 0, &[]);
    for stream in (1..2_000).step_by(2) {
        frame(HEADERS, 0b101, stream, &FIELDS);
        frame(RST_STREAM, 0, stream, &CANCEL);
    }
    bytes
}

#[test]
fn stream_resets_cause_no_log_lines_of_libraries() {
    let dir = https::dir_with_certificate();
    let log = |level: &str| {
        let serve = format!("{SERVE} --admin-listen 127.0.0.1:0 --log {level},catalogue::access=off");
        let observed = Observed::start_with(&dir, &mut dir.command(&serve));
        let mut stream = https::connect(&dir, &observed.server, &[b"h2"]);
        let _ = stream.write_all(&resetting());
        // Reads to the end, so that the server has handled all frames.
        let _ = stream.read_to_end(&mut Vec::new());
        observed.stop_and_read_log()
    };
    for level in ["info", "debug"] {
        let log = log(level);
        assert!(log.contains("stopped") && !log.contains(" h2::"), "{log}");
    }
    assert!(log("info,h2=debug").contains(" h2::"));
}
