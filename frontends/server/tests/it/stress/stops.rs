//! SIGTERM under load: every response that has begun is completed.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::program::TestDir;

const STOPS: usize = 100;

/// Sends a request on a new connection and returns the response.
fn get(address: &str, token: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close");
    write!(stream, "GET /api/v1/courses HTTP/1.1\r\n{head}\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

fn is_whole(response: &str) -> bool {
    let Some((head, body)) = response.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    head.starts_with("HTTP/1.1 200 ") && length == Some(&body.len().to_string())
}

#[test]
#[ignore = "a stress test"]
fn sigterm_under_load_cuts_no_response() {
    let dir = TestDir::with_courses();
    let (_, token) = dir.key("a");
    let (complete, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for _ in 0..STOPS {
        let server = dir.serve("--log off");
        let (address, ends, enough) = (server.address.clone(), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let is_late = ends.load(Ordering::SeqCst);
                        match get(&address, &token) {
                            Ok(response) if is_whole(&response) => {
                                complete.fetch_add(1, Ordering::SeqCst);
                                enough.fetch_add(1, Ordering::SeqCst);
                            }
                            // The server no longer accepts connections.
                            Ok(response) if response.is_empty() && ends.load(Ordering::SeqCst) => break,
                            Err(_) if ends.load(Ordering::SeqCst) => break,
                            other => panic!("late {is_late}: {other:?}"),
                        }
                    }
                    refused.fetch_add(1, Ordering::SeqCst);
                });
            }
            while enough.load(Ordering::SeqCst) < 20 {
                thread::sleep(Duration::from_millis(1));
            }
            ends.store(true, Ordering::SeqCst);
            assert_eq!(server.stop_with("TERM").0, Some(0));
        });
    }
    println!(
        "{STOPS} stops: {complete:?} complete responses, {refused:?} connections refused afterwards, no response cut"
    );
}
