//! What libraries say of clients does not fill the log.

use std::io::{Read as _, Write as _};

use crate::https::{self, SERVE};
use crate::observed::Observed;

/// A connection of HTTP/2 (RFC 9113) whose streams are all reset before they are answered.
fn resetting() -> Vec<u8> {
    const SETTINGS: u8 = 4;
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const CANCEL: [u8; 4] = [0, 0, 0, 8];
    // GET, https, the path `/` and the authority `a`, as RFC 7541 writes them.
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
fn a_client_that_resets_all_its_streams_leaves_no_line_of_a_library() {
    let dir = https::dir_with_certificate();
    let log = |level: &str| {
        let serve = format!("{SERVE} --admin-listen 127.0.0.1:0 --log {level},catalogue::access=off");
        let observed = Observed::by(&dir, &mut dir.command(&serve));
        let mut stream = https::connect(&dir, &observed.server, &[b"h2"]).unwrap();
        let _ = stream.write_all(&resetting());
        // To the end: the server has done what it does about it.
        let _ = stream.read_to_end(&mut Vec::new());
        observed.ended_log()
    };
    for level in ["info", "debug"] {
        let log = log(level);
        assert!(log.contains("stopped") && !log.contains(" h2::"), "{log}");
    }
    assert!(log("info,h2=debug").contains(" h2::"));
}
