//! The guide's configurations of nginx and Caddy, in front of the server that the guide starts.
//!
//! If nginx or Caddy is not installed, its test is skipped with a message, unless `CATALOGUE_TEST_REQUIRE` names it.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use crate::background::Background;
use crate::observed::Observed;
use crate::program::{DEADLINE, TestDir, TestResponse};
use crate::skip::or_skip_unless;

const GUIDE: &str = include_str!("../../guide/configure.md");
const BASE_URL: &str = "https://www.example.com/catalogue/api/v1";

/// Returns the first block of the guide's section in `language`.
fn block(language: &str) -> &'static str {
    let section = GUIDE.split("\n## ").find(|section| section.starts_with("Behind a proxy\n")).unwrap();
    section.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap()
}

/// A proxy in front of the guide's server.
struct Proxied {
    dir: TestDir,
    server: Observed,
    address: SocketAddrV4,
    _proxy: Background,
}

impl Proxied {
    /// Writes a configuration file `proxy.conf`, and starts the proxy `command` with it. `configuration` returns the file for
    /// the proxy's address and the guide's block in `language`.
    fn start(
        command: &[&str],
        port: u16,
        language: &str,
        configuration: impl FnOnce(SocketAddrV4, &str, &str) -> String,
    ) -> Self {
        // No other process uses this address of the machine, because it contains the number of the process.
        let [_, a, b, c] = std::process::id().to_be_bytes();
        let address = SocketAddrV4::new(Ipv4Addr::new(127, a, b, c), port);
        let dir = TestDir::with_courses();
        let serve = block("sh").replace("\\\n", " ").split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
        let server = "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --rate-limit 4/1h";
        let server = Observed::start_with(&dir, &mut dir.command(&format!("{serve} {server}")));
        let block = block(language).replace("127.0.0.1:8080", &server.server.address);
        let folder = dir.path("").display().to_string();
        dir.write("proxy.conf", configuration(address, &folder, &block));
        let command: Vec<_> = command.iter().map(|argument| argument.replace("FOLDER", &folder)).collect();
        let (proxy, lines) = Background::start(&command.iter().map(|argument| &**argument).collect::<Vec<_>>());
        let log = thread::spawn(|| lines.collect::<Vec<_>>());
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if log.is_finished() || began.elapsed() > DEADLINE {
                drop(proxy);
                panic!("{:?}", log.join());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Self { dir, server, address, _proxy: proxy }
    }

    /// Sends a request of the client at the address `client`, with `fields`.
    fn get(&self, client: [u8; 4], path: &str, token: &str, fields: &str) -> TestResponse {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddrV4::new(client.into(), 0).into()).unwrap();
        socket.connect(&self.address.into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let fields = format!("Host: www.example.com\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{fields}");
        write!(stream, "GET {path} HTTP/1.1\r\n{fields}\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        TestResponse { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Paths reach the server with their prefix, so all pages of a list and the other pages are found at the guide's URLs.
    fn keeps_prefix_and_passes_responses_on(&self) {
        let client = [127, 0, 0, 1];
        let (_, token) = self.dir.key("a");
        let list = "/catalogue/api/v1/courses?limit=1";
        let first = self.get(client, list, &token, "");
        assert_eq!(first.status, 200, "{first:?}");
        let (next, _) = first.field("link").unwrap().strip_prefix('<').unwrap().split_once(">; rel=\"next\"").unwrap();
        assert!(next.starts_with(BASE_URL), "{next}");
        let second = self.get(client, next.strip_prefix("https://www.example.com").unwrap(), &token, "");
        let slugs =
            [&first, &second].map(|page| serde_json::from_str::<Value>(&page.body).unwrap()["data"][0]["slug"].clone());
        assert_eq!((second.status, slugs), (200, ["zwei".into(), "one".into()]), "{second:?}");
        let tag = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
        let unchanged = self.get(client, list, &token, &tag);
        assert_eq!((unchanged.status, &*unchanged.body), (304, ""), "{unchanged:?}");
        let reference = self.get(client, "/catalogue/docs", "", "");
        assert!(reference.status == 200 && reference.body.contains(BASE_URL), "{reference:?}");
        let settings = self.get(client, "/catalogue/settings", "", "");
        assert!(settings.field("location").unwrap().starts_with("/catalogue/settings/sign-in?"), "{settings:?}");
    }

    /// The proxy reports each client's address. Clients cannot claim another one.
    fn reports_addresses_of_clients(&self) {
        let forged = "X-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.8\r\n";
        let guess = |client| self.get([127, 0, 0, client], "/catalogue/api/v1/me", "guess", forged).status;
        let guesses: Vec<_> = [2, 2, 2, 2, 2, 3].into_iter().map(guess).collect();
        assert_eq!(guesses, [401, 401, 401, 401, 429, 401]);
        self.server.wait_for_log("client=127.0.0.3 ");
        let log = self.server.log();
        assert_eq!((log.matches("client=127.0.0.2 ").count(), log.matches("192.0.2.").count()), (5, 0), "{log}");
    }
}

/// Returns whether a program is installed: `version` is the option that prints its version.
fn or_skip(name: &str, version: &str) -> Option<()> {
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(name).arg(version).env("PATH", path).output();
    or_skip_unless(name, output.map(drop).map_err(|error| format!("{name} cannot be run: {error}")))
}

#[test]
fn nginx_passes_clients_on() {
    let Some(()) = or_skip("nginx", "-v") else { return };
    let command = ["nginx", "-p", "FOLDER", "-e", "stderr", "-c", "FOLDER/proxy.conf"];
    let proxied = Proxied::start(&command, 8001, "nginx", |address, folder, block| {
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let folders = folders.map(|name| format!("{name}_temp_path {folder}/{name};\n")).concat();
        format!(
            "daemon off; master_process off; pid {folder}/nginx.pid; events {{}}\n\
             http {{ access_log off; {folders} server {{ listen {address};\n{block} }} }}"
        )
    });
    proxied.keeps_prefix_and_passes_responses_on();
    proxied.reports_addresses_of_clients();
}

#[test]
fn caddy_passes_clients_on() {
    let Some(()) = or_skip("caddy", "version") else { return };
    let command = ["env", "HOME=FOLDER", "caddy", "run", "--adapter", "caddyfile", "--config", "FOLDER/proxy.conf"];
    let proxied = Proxied::start(&command, 8002, "caddyfile", |address, _, block| {
        format!("{{\nadmin off\n}}\nhttp://:{} {{\nbind {}\n{block} }}", address.port(), address.ip())
    });
    proxied.keeps_prefix_and_passes_responses_on();
    proxied.reports_addresses_of_clients();
}
