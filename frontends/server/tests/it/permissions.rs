//! A database that may not be used says to whom, and whose it is.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use crate::program::TestDir;

/// Of the user `nobody`, where the tests' own may do everything.
const NOBODY: u32 = 65534;

#[test]
fn who_may_not_use_a_database_is_told() {
    let dir = TestDir::with_courses();
    let database = dir.path("catalogue.db");
    let mode = |name: &str, mode| fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
    let is_root = fs::metadata(&database).unwrap().uid() == 0;
    // The program itself may stand where others do not come.
    let program = dir.path("program");
    fs::copy(env!("CARGO_BIN_EXE_catalogue"), &program).unwrap();
    let run = |arguments: &str| {
        let mut command = std::process::Command::new(&program);
        command.args(arguments.split(' ')).current_dir(dir.path("")).env_clear();
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    mode("program", 0o755);
    mode("catalogue.db", 0o200);
    mode("", 0o755);
    for command in ["export", "serve --listen 0", "doctor", "import --dry-run /dev/null"] {
        let message = run(command);
        let piece = "\"catalogue.db\" may not be read by the user ";
        assert!(message.contains(piece) && message.contains(" (mode 200, "), "{command}: {message}");
    }
    fs::remove_file(database).unwrap();
    mode("", 0o555);
    let message = run("migrate");
    let piece = "the directory \".\" may not be written into by the user ";
    assert!(message.contains(piece) && message.contains(" (mode 555, "), "{message}");
    mode("", 0o755);
    if is_root {
        assert!(message.contains("(mode 555, owner 0:0)"), "{message}");
    }
}
