//! Completions and manual pages, which are made from the command line's definitions.

use std::fs;
use std::process::Command;

use crate::program::TestDir;

#[test]
fn every_shell_gets_a_script_with_commands_and_options() {
    let dir = TestDir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.run(&format!("completions {shell}")).succeeds();
        for piece in ["serve", "rotate", "rate-limit"] {
            assert!(script.contains(piece), "{shell}: {piece}");
        }
    }
    dir.run("completions csh").fails(2, &["csh", "bash"]);
}

/// Completes as bash does when somebody presses the tab key after these words.
#[cfg(unix)]
fn completed(dir: &TestDir, words: &str) -> Option<Vec<String>> {
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
fn bash_completes() {
    let dir = TestDir::new();
    dir.write("completions", dir.run("completions bash").succeeds());
    // Where there is no bash, nobody is served wrongly by its completions.
    let Some(options) = completed(&dir, "catalogue serve --rate") else { return };
    assert_eq!(options, ["--rate-limit", "--rate-limit-store"]);
    assert_eq!(completed(&dir, "catalogue keys ro").unwrap(), ["rotate"]);
    for (words, values) in [
        ("catalogue serve --log-format j", &["json"][..]),
        ("catalogue serve --accept o", &["oauth"]),
        ("catalogue export --log w", &["warn"]),
    ] {
        assert_eq!(completed(&dir, words).unwrap(), values, "{words}");
    }
    assert!(completed(&dir, "catalogue openapi --format j").unwrap().contains(&"json-3.0".to_owned()));
}

/// What is offered is not all that can be written, and is not said twice.
#[test]
fn values_that_are_known_are_offered_and_no_more() {
    let dir = TestDir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.run(&format!("completions {shell}")).succeeds();
        if ["bash", "fish", "zsh"].contains(&shell) {
            for piece in ["oauth", "trace", "json", "courses"] {
                assert!(script.contains(piece), "{shell}: {piece}");
            }
        }
    }
    for command in ["serve", "keys create"] {
        let help = dir.run(&format!("{command} --help")).succeeds();
        assert!(!help.contains("possible values"), "{help}");
    }
    dir.run("serve --log-format yaml --listen 127.0.0.1:0").fails(2, &["write text or json"]);
    dir.run("config check --log info,catalogue::access=off --accept api-key,oauth").succeeds();
}

#[test]
fn each_command_has_a_page() {
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
    dir.run("man --out file/man1").fails(1, &["file/man1", "cannot be written"]);
}
