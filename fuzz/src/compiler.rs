//! Runs rustc without cargo, on a crate that links the libraries of this program's own build.
//!
//! With cargo, the crate would be another workspace, for which cargo compiles all of sarek again.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A handle to rustc, with the libraries to link.
pub struct Compiler {
    /// The folder of the libraries' dependencies.
    dependencies: PathBuf,
    /// The name and file of each library.
    libraries: Vec<(&'static str, PathBuf)>,
}

/// The folder in the target directory that holds this program, which has the name of its profile.
fn folder_of_this_program() -> Result<String, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut folders = program
        .iter()
        .rev()
        .skip(1)
        .filter(|folder| *folder != "deps");
    let folder = folders.next().and_then(|folder| folder.to_str());
    folder
        .map(str::to_owned)
        .ok_or_else(|| format!("{} lies in no folder of a profile", program.display()))
}

/// The output to request from rustc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Only type checking, to get the errors.
    Check,
    /// A program, compiled at this optimisation level.
    Program(u64),
}

impl Compiler {
    /// Finds the libraries in a target directory, in the profile of this program.
    ///
    /// # Errors
    /// cargo fails, or does not report a library.
    pub fn new(target: &Path) -> Result<Compiler, String> {
        let folder = folder_of_this_program()?;
        let profile = match folder.as_str() {
            "debug" => "dev",
            named => named,
        };
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "-p", "sarek-fuzz", "--profile", profile])
            .args(["--offline", "--quiet", "--message-format=json"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .env("CARGO_TARGET_DIR", target)
            .output()
            .map_err(|e| e.to_string())?;
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).into_owned());
        }
        let messages = String::from_utf8_lossy(&built.stdout);
        let find = |name: &'static str| {
            let found = library(&messages, name).ok_or(format!("no library `{name}`"))?;
            Ok::<_, String>((name, found))
        };
        Ok(Compiler {
            dependencies: target.join(&folder).join("deps"),
            libraries: vec![find("sarek")?, find("sarek_fuzz")?],
        })
    }

    /// Compiles the crate in a folder. Returns `None` on success, else rustc's messages.
    ///
    /// # Errors
    /// rustc cannot be started.
    pub fn compile(&self, folder: &Path, goal: Goal) -> Result<Option<String>, String> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let mut command = Command::new(rustc);
        command
            .current_dir(folder)
            .args([
                MAIN,
                "--edition=2024",
                "--crate-type=bin",
                "--cap-lints=allow",
            ])
            .args([
                "-Ccodegen-units=1",
                "-Coverflow-checks=off",
                "-Cdebug-assertions=off",
            ])
            .arg("-L")
            .arg(flag("dependency", &self.dependencies));
        for (name, file) in &self.libraries {
            command.arg("--extern").arg(flag(name, file));
        }
        match goal {
            Goal::Check => command.args(["--emit=metadata", "-o", "checked.rmeta"]),
            Goal::Program(level) => command.args([&format!("-Copt-level={level}"), "-o", PROGRAM]),
        };
        let done = command.output().map_err(|e| e.to_string())?;
        let log = String::from_utf8_lossy(&done.stderr).into_owned();
        Ok((!done.status.success()).then_some(log))
    }
}

/// The file name of the crate root.
pub const MAIN: &str = "main.rs";

/// The file name of the compiled program.
pub const PROGRAM: &str = "program";

fn flag(name: &str, path: &Path) -> std::ffi::OsString {
    let mut flag = std::ffi::OsString::from(name);
    flag.push("=");
    flag.push(path);
    flag
}

/// Finds the file of a library in cargo's messages.
fn library(messages: &str, name: &str) -> Option<PathBuf> {
    let is_it = |text: &&str| {
        let file = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = file
            .strip_suffix(".rlib")
            .and_then(|s| s.strip_prefix("lib"));
        let of_name = stem.and_then(|s| s.strip_prefix(name));
        of_name.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let found = messages.split('"').find(is_it)?;
    Some(found.replace("\\\\", "\\").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_by_their_names() {
        let messages = r#"{"filenames":["/t/release/deps/libsarek_ir-1.rlib"]}
{"filenames":["/t/release/deps/libsarek-2.rlib","/t/release/deps/libsarek-2.rmeta"]}
{"filenames":["/t/release/libsarek_fuzz.rlib"]}"#;
        let file = |name| library(messages, name);
        assert_eq!(
            file("sarek"),
            Some("/t/release/deps/libsarek-2.rlib".into())
        );
        assert_eq!(
            file("sarek_fuzz"),
            Some("/t/release/libsarek_fuzz.rlib".into())
        );
        assert_eq!(file("syn"), None);
    }
}
