//! `new`: a project with a first kernel and its tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::report::{Outcome, Output};

/// Arguments of `new`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the project; its last part is the name of the package
    folder: PathBuf,
    /// Use the sources of sarek in this folder, in place of the published package
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// Only these backends, separated by commas; by default all. Fewer backends take less time to compile
    #[arg(long, value_delimiter = ',', value_parser = BACKENDS)]
    backends: Vec<String>,
}

const BACKENDS: [&str; 5] = ["native", "interpreter", "cuda", "opencl", "wgpu"];

const MAIN: &str = include_str!("new/main.rs.txt");

/// Writes the project.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let name = package_name(&args.folder)?;
    let sarek = dependency(args)?;
    if args.folder.exists() {
        return Err(Error::Argument {
            what: format!("`{}` exists", args.folder.display()),
            help: "give a folder that does not exist; to add sarek to a project, run `cargo add sarek-kernel` there".into(),
        });
    }
    let source = args.folder.join("src");
    fs::create_dir_all(&source).map_err(Error::file("created", &source))?;
    for (file, text) in [
        ("Cargo.toml", manifest(&name, &sarek)),
        ("src/main.rs", MAIN.to_owned()),
        (".gitignore", "/target\n".to_owned()),
    ] {
        let file = args.folder.join(file);
        fs::write(&file, text).map_err(Error::file("written", &file))?;
    }
    let folder = args.folder.display().to_string();
    let text = format!(
        "created `{name}` in {folder}\n\nnext:\n  cd {folder}\n  cargo run\n  cargo test\n  cargo run --release\n"
    );
    output.print(
        &serde_json::json!({ "name": name, "folder": folder }),
        &text,
    )?;
    Ok(Outcome::Good)
}

/// The name of the package: as cargo accepts it.
fn package_name(folder: &Path) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let first = name.chars().next();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let reserved = [
        "sarek",
        "sarek-kernel",
        "test",
        "core",
        "std",
        "alloc",
        "proc-macro",
    ];
    match first {
        Some(first)
            if first.is_ascii_alphabetic()
                && name.chars().all(plain)
                && !reserved.contains(&name) =>
        {
            Ok(name.to_owned())
        }
        Some(_) | None => Err(Error::Argument {
            what: format!("`{name}` cannot be the name of a package"),
            help: "use letters, digits, `-` and `_`, a letter first, and no name of a library"
                .into(),
        }),
    }
}

/// The value of the dependency in the manifest.
fn dependency(args: &Args) -> Result<String> {
    let mut parts = vec![];
    match &args.path {
        None => parts.push(format!("version = {:?}", env!("CARGO_PKG_VERSION"))),
        Some(path) => {
            let manifest = path.join("Cargo.toml");
            let text = fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?;
            if !text.contains("name = \"sarek-kernel\"") {
                return Err(Error::Argument {
                    what: format!("`{}` has no package `sarek-kernel`", path.display()),
                    help: "give the root folder of sarek's repository".into(),
                });
            }
            let full = fs::canonicalize(path).map_err(Error::file("read", path))?;
            // A literal string, in which backslashes stand for themselves.
            parts.push(format!("path = '{}'", full.display()));
        }
    }
    if !args.backends.is_empty() {
        parts.push(format!(
            "default-features = false, features = {:?}",
            args.backends
        ));
    }
    Ok(format!("{{ {} }}", parts.join(", ")))
}

fn manifest(name: &str, sarek: &str) -> String {
    format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[dependencies]
# Code says `sarek`.
sarek-kernel = {sarek}

# Without optimization, kernels on the CPU take several times as long. Overflow checks and debug assertions stay.
[profile.dev]
opt-level = 1
"#
    )
}
