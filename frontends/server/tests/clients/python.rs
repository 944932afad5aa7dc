//! A client in Python, by openapi-python-client.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::service::Service;
use crate::tools::{installed, or_skip, output_of, run};

const REQUIREMENTS: [(&str, &str); 1] = [("requirements.txt", include_str!("python/requirements.txt"))];

/// The programs of a virtual environment with the packages.
fn programs() -> Result<PathBuf, String> {
    let folder = installed("python", &REQUIREMENTS, |folder| {
        output_of(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(folder))?;
        let mut pip = Command::new(folder.join("venv/bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]);
        output_of(pip.args(["--requirement", "requirements.txt"]).current_dir(folder)).map(|_| ())
    })?;
    Ok(folder.join("venv/bin"))
}

/// As in an activated environment: the generator runs a formatter that it finds there.
fn search_path(programs: &Path) -> OsString {
    let inherited = env::var_os("PATH").unwrap_or_default();
    env::join_paths([programs.to_owned()].into_iter().chain(env::split_paths(&inherited))).unwrap()
}

#[test]
fn a_client_in_python_reads_the_whole_catalogue() {
    let Some(programs) = or_skip(programs()) else { return };
    let service = Service::start();
    let project = service.dir.path("");
    service.dir.write("main.py", include_str!("python/main.py"));
    let (url, path) = (service.document_url(), search_path(&programs));
    for (source, document, output) in [("--url", &*url, "client"), ("--path", "openapi-3.0.json", "client_3_0")] {
        let mut generator = Command::new(programs.join("openapi-python-client"));
        generator.args(["generate", "--fail-on-warning", "--meta", "none", source, document, "--output-path", output]);
        run(generator.env("PATH", &path).env("NO_PROXY", "127.0.0.1").current_dir(&project));
    }
    let python = programs.join("python");
    let mut compiler = Command::new(&python);
    compiler.args(["-W", "error", "-m", "compileall", "-q", "client", "client_3_0", "main.py"]);
    run(compiler.current_dir(&project));
    service.assert_read_by(Command::new(&python).arg("main.py").current_dir(&project));
}
