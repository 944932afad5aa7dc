//! Lists the cases: the public async functions in the folders of `src`. The macros expand the list to tests.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let (mut arms, mut table) = (String::new(), String::new());
    for folder in entries(Path::new("src"))?.into_iter().filter(|entry| entry.is_dir()) {
        let (group, mut topics) = (name(&folder), String::new());
        for file in entries(&folder)? {
            let (topic, source) = (name(&file), fs::read_to_string(&file)?);
            let cases = source.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split(['(', '<']).next());
            let cases: Vec<_> = cases.collect();
            if !cases.is_empty() {
                topics += &format!("{topic} {{ {} }} ", cases.join(" "));
                table += &format!("({group:?}, {topic:?}, &{cases:?}),\n");
            }
        }
        arms += &format!("($then:ident, {group}) => {{ $crate::$then! {{ {group}: {topics} }} }};\n");
    }
    let list = format!(
        "/// Calls a macro with every case of a group, by topic.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __cases {{ {arms} }}

        /// All cases by group and topic.
        #[doc(hidden)]
        pub const CASES: &[(&str, &str, &[&str])] = &[{table}];"
    );
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("cases.rs"), list)
}

/// Returns the paths in a folder, sorted.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
