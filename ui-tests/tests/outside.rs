//! The backends of `examples/outside` compile outside of the workspace, and use public items alone.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the project's folder")
}

/// A program of another workspace that registers both backends.
const PROGRAM: &str = "fn main() -> sarek::Result<()> {
    sarek_outside::mxu::register()?;
    sarek_outside::stack::register()
}
";

#[test]
fn backends_compile_outside_of_the_workspace() {
    let (root, temporary) = (root(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let folder = temporary.join("outside");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"user-of-outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         sarek = {{ package = \"sarek-kernel\", path = {root:?}, default-features = false, features = [\"native\"] }}\n\
         sarek-outside = {{ path = {:?} }}\n",
        root.join("examples/outside")
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    std::fs::write(folder.join("src/main.rs"), PROGRAM).expect("a program");
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let out = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        // What `names.rs` compiled is compiled once.
        .env("CARGO_TARGET_DIR", temporary.join("names"))
        .output()
        .expect("cargo runs");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let inside = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    };
    entries.flat_map(|entry| inside(entry.path())).collect()
}

#[test]
fn they_use_public_items_alone() {
    let crate_folder = root().join("examples/outside");
    let manifest = std::fs::read_to_string(crate_folder.join("Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("\n[workspace]\n") && !manifest.contains("workspace = true"));
    let sources = files(&crate_folder.join("src"));
    assert!(sources.len() >= 8, "{sources:?}");
    for file in sources {
        let text = std::fs::read_to_string(&file).expect("a source");
        for hidden in ["__", "sarek_runtime", "sarek_backends", "sarek_conformance"] {
            let lines = text.lines().filter(|line| line.contains(hidden));
            let lines: Vec<&str> = lines
                .filter(|line| !line.contains("__mxu_scratch"))
                .collect();
            assert_eq!(lines, [] as [&str; 0], "{}", file.display());
        }
    }
}
