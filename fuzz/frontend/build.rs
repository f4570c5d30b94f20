//! Concatenates all files with kernels into one text, which the program embeds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The folders with kernels, relative to the repository's root.
const FOLDERS: [&str; 6] = [
    "sarek-conformance",
    "ui-tests/fail",
    "ui-tests/pass",
    "examples",
    "fuzz/corpus",
    "tests",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    for folder in FOLDERS {
        let folder = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        for file in files(&folder) {
            let content = std::fs::read_to_string(&file).expect("a text");
            let _ = writeln!(text, "{content}\n{END}");
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("seeds.txt"), text).expect("the output folder is writable");
}

/// The line that ends each file, the same as in `src/seeds.rs`.
const END: &str = "//// end of file";

/// The Rust files in a folder and its subfolders, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![];
    };
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let mut found = vec![];
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}
