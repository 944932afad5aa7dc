//! Tests of the host application that accepts tokens of an authorization server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::data::{ACCOUNT, Data};
use crate::issuer_packages::packages;
use crate::program::Host;
use crate::tools::{or_skip_unless, run};

const README: &str = include_str!("../../oauth/README.md");

/// The issuer, started by the README's command and killed when this value is dropped.
struct Issuer {
    process: Child,
    address: String,
}

impl Issuer {
    fn start(folder: &str) -> Self {
        let line = README.lines().find_map(|line| line.strip_suffix(" 9000 &")).unwrap();
        let line = line.replace("acc_demo", ACCOUNT).replace("node target/issuer/", &format!("exec node {folder}/"));
        let state = tempfile::tempdir().unwrap();
        let line = line.replace("target/issuer", state.path().to_str().unwrap()) + " 0";
        let mut process =
            Command::new("bash").args(["-c", &line]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut output).unwrap();
        let address = output.split(' ').next().unwrap().to_owned();
        // `state` removes the issuer's directory here: the issuer reads its keys from there only when it starts.
        Self { process, address }
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the README's `sh` block number `block`, without the command that stops the servers: the test stops them.
fn lines(block: usize) -> String {
    README.split("```sh\n").nth(block).unwrap().split("```").next().unwrap().replace("kill %1 %2\n", "")
}

#[tokio::test]
async fn readme_commands_work() {
    let Some(folder) = or_skip_unless("issuer", packages()) else { return };
    let data = Data::new().await;
    let issuer = Issuer::start(folder.to_str().unwrap());
    let options = lines(1).lines().find_map(|line| Some(line.split_once("--example oauth -- ")?.1.to_owned())).unwrap();
    let options = options.trim_end_matches(" &").replace("127.0.0.1:9000", &issuer.address);
    let (options, database) = (options.split(' '), data.database_url());
    let host = Host::start_with("oauth", &options.chain(["--database", &database]).collect::<Vec<_>>());

    let script = lines(2).replace("127.0.0.1:9000", &issuer.address).replace("127.0.0.1:8080", &host.address);
    let output = run(Command::new("bash").args(["-euc", &script]));
    assert!(output.contains(&format!(r#""authorization_servers":["http://{}"]"#, issuer.address)), "{output}");
    assert!(output.contains(r#""slug":"one""#) && output.contains(r#""slug":"two""#), "{output}");
    assert!(output.contains(&format!(r#""userId":"{ACCOUNT}""#)) && output.contains("oauth:"), "{output}");

    // A token for another API is refused. An API key works without the issuer.
    let elsewhere = script.replace("resource=http://", "resource=https://");
    let output = run(Command::new("bash").args(["-euc", &elsewhere]));
    assert!(output.contains("unauthorized") && !output.contains("slug"), "{output}");
    let key = data.key().await;
    drop(issuer);
    assert_eq!(host.get("/api/v1/courses", key.expose()).status, 200);
    host.signal("TERM");
    let (status, _, log) = host.output();
    assert_eq!(status, Some(0), "{log}");
}
