//! Completions and manual pages, generated from the definitions of the command line.

use std::fs;
use std::process::Command;

use crate::program::TestDir;

/// Returns what bash completes after `words`, or `None` without bash.
#[cfg(unix)]
fn complete_in_bash(dir: &TestDir, words: &str) -> Option<Vec<String>> {
    let script = r#"source "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE=$2; COMP_POINT=${#2}
        _catalogue catalogue "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, "bash"]).arg(dir.path("completions")).arg(words);
    let output = bash.output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[cfg(unix)]
#[test]
fn bash_completions_work() {
    let dir = TestDir::new();
    dir.write("completions", dir.run("completions bash").succeeds());
    let Some(options) = complete_in_bash(&dir, "catalogue serve --rate") else { return };
    assert_eq!(options, ["--rate-limit", "--rate-limit-store"]);
    assert_eq!(complete_in_bash(&dir, "catalogue keys ro").unwrap(), ["rotate"]);
    for (words, values) in [
        ("catalogue serve --log-format j", &["json"][..]),
        ("catalogue serve --accept o", &["oauth"]),
        ("catalogue export --log w", &["warn"]),
    ] {
        assert_eq!(complete_in_bash(&dir, words).unwrap(), values, "{words}");
    }
    assert!(complete_in_bash(&dir, "catalogue openapi --format j").unwrap().contains(&"json-3.0".to_owned()));
}

/// Values that completions do not offer are valid too. The help names the values in its text, not in a separate list.
#[test]
fn completions_contain_commands_options_and_known_values() {
    let dir = TestDir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.run(&format!("completions {shell}")).succeeds();
        let offers_values = ["bash", "fish", "zsh"].contains(&shell);
        let values = ["oauth", "trace", "json", "courses"].into_iter().filter(|_| offers_values);
        for piece in ["serve", "rotate", "rate-limit"].into_iter().chain(values) {
            assert!(script.contains(piece), "{shell}: {piece}");
        }
    }
    dir.run("completions csh").fails(2, &["csh", "bash"]);
    for command in ["serve", "keys create"] {
        let help = dir.run(&format!("{command} --help")).succeeds();
        assert!(!help.contains("possible values"), "{help}");
    }
    dir.run("serve --log-format yaml --listen 127.0.0.1:0").fails(2, &["use text or json"]);
    dir.run("config check --log info,catalogue::access=off --accept api-key,oauth").succeeds();
}

#[test]
fn each_command_has_manual_page() {
    let dir = TestDir::new();
    let page = dir.run("man").succeeds();
    assert!(page.contains(".TH catalogue 1") && page.contains("catalogue\\-serve(1)"), "{page}");
    fs::create_dir(dir.path("man1")).unwrap();
    dir.run("man --out man1").succeeds();
    for name in ["catalogue", "catalogue-serve", "catalogue-keys", "catalogue-keys-rotate", "catalogue-config-check"] {
        let page = fs::read_to_string(dir.path("man1").join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page}");
    }
    let serve = fs::read_to_string(dir.path("man1").join("catalogue-serve.1")).unwrap();
    assert!(serve.contains("\\-\\-rate\\-limit") && serve.contains("CATALOGUE_RATE_LIMIT"), "{serve}");
    dir.run("man --out made/man1").succeeds();
    assert!(dir.path("made/man1/catalogue.1").is_file());
    dir.write("file", "");
    dir.run("man --out file/man1").fails(1, &["cannot write the manual pages to file/man1"]);
}
