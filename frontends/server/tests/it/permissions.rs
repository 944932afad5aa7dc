//! Errors about missing file permissions, which name the user and the owner.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;

use crate::program::TestDir;

/// ID of the user `nobody`. The program runs as this user if the tests run as root.
const UNPRIVILEGED_USER: u32 = 65534;

#[test]
fn permission_error_names_user_and_owner() {
    let dir = TestDir::with_courses();
    let database = dir.path("catalogue.db");
    let is_root = fs::metadata(&database).unwrap().uid() == 0;
    // Other users may be unable to reach the built program, so they run a copy.
    let program = dir.copy_program("program");
    let run = |arguments: &str| {
        let mut command = std::process::Command::new(&program);
        command.args(arguments.split(' ')).current_dir(dir.path("")).env_clear();
        if is_root {
            command.uid(UNPRIVILEGED_USER).gid(UNPRIVILEGED_USER);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    dir.set_mode("program", 0o755);
    dir.set_mode("catalogue.db", 0o200);
    dir.set_mode("", 0o755);
    for command in ["export", "serve --listen 0", "doctor", "import --dry-run /dev/null"] {
        let message = run(command);
        let piece = "\"catalogue.db\" cannot be read by the user ";
        assert!(message.contains(piece) && message.contains(" (mode 200, "), "{command}: {message}");
    }
    fs::remove_file(database).unwrap();
    dir.set_mode("", 0o555);
    let message = run("migrate");
    let piece = "the directory \".\" cannot be written into by the user ";
    assert!(message.contains(piece) && message.contains(" (mode 555, "), "{message}");
    dir.set_mode("", 0o755);
    if is_root {
        assert!(message.contains("(mode 555, owner 0:0)"), "{message}");
    }
}
