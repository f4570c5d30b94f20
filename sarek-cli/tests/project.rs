//! A package from `new`, and the commands that examine it. It is built once, with the backends that take the least time to compile.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A library with kernels in places where a search of texts would miss them.
const LIBRARY: &str = r#"
//! Kernels in many places.
#![allow(dead_code)]
use sarek::prelude::*;

mod private {
    use sarek::prelude::*;

    #[kernel]
    fn hidden(y: &mut [u32]) {
        let i = global_idx_x();
        y[i] = 1;
    }
}

macro_rules! make {
    ($name:ident, $value:literal) => {
        #[kernel]
        fn $name(y: &mut [u32]) {
            let i = global_idx_x();
            y[i] = $value;
        }
    };
}
make!(made, 7);

#[kernel]
pub fn scaled<T: Num, const N: usize>(factor: T, y: &mut [T]) {
    let i = global_idx_x();
    if i < N {
        y[i] = y[i] * factor;
    }
}

/// Nothing calls it.
fn of_floats(y: &mut Vector<f32>) -> sarek::Result<()> {
    scaled::<f32, 16>(2.0, y).over(16).run()?;
    Ok(())
}

#[kernel]
pub fn unused<T: Num>(y: &mut [T]) {
    let i = global_idx_x();
    y[i] = y[i] + y[i];
}

pub fn inside(y: &mut Vector<u32>) -> sarek::Result<()> {
    #[kernel]
    fn local(y: &mut [u32]) {
        let i = global_idx_x();
        y[i] += 1;
    }
    let n = y.len();
    local(y).over(n).run()?;
    Ok(())
}
"#;

const TEST: &str = r#"
use sarek::prelude::*;

#[test]
fn adds() -> sarek::Result<()> {
    #[kernel]
    fn of_a_test(y: &mut [u32]) {
        let i = global_idx_x();
        y[i] = 5;
    }
    let mut y = Vector::zeros(4);
    of_a_test(&mut y).over(4).run()?;
    assert_eq!(y.to_vec()?, [5; 4]);
    Ok(())
}
"#;

const BROKEN: &str = r#"
use sarek::prelude::*;

#[kernel]
fn broken(y: &mut [u32]) {
    let i = global_idx_x();
    // SAFETY: the text is not compiled.
    unsafe {
        native! {
            "wgsl" => "no such statement;",
            _ => {}
        }
    }
    y[i] = 1;
}

fn main() {
    panic!("`main` must not run: {:?}", broken::source("wgsl"));
}
"#;

/// The package.
struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    /// Makes the package, with the versions of this workspace's lock file.
    fn new() -> Project {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = temporary.join("first-kernels");
        let _ = fs::remove_dir_all(&folder);
        let project = Project {
            target: temporary.join("first-kernels-target"),
            folder: folder.clone(),
        };
        let new = Command::new(env!("CARGO_BIN_EXE_cargo-sarek"))
            .args(["sarek", "new", "--backends", "native,interpreter", "--path"])
            .args([&root, &folder])
            .output()
            .unwrap();
        assert!(new.status.success(), "{new:?}");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        // It may not be a member of the workspace in which it stands.
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("opt-level = 1"));
        fs::write(folder.join("Cargo.toml"), manifest + "\n[workspace]\n").unwrap();
        project
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            // Dependencies without optimization take half of the time.
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .output()
            .unwrap()
    }

    /// Runs cargo, and returns what the program prints.
    fn cargo(&self, arguments: &[&str]) -> String {
        let output = self.command("cargo", arguments);
        let [out, err] = texts(&output);
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// Runs a command of this crate. Returns its exit code and output.
    fn sarek(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(env!("CARGO_BIN_EXE_cargo-sarek"), arguments);
        let [out, err] = texts(&output);
        eprintln!("{arguments:?}: {err}");
        (output.status.code().unwrap(), out)
    }

    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, text) = self.sarek(&[&["--json"], arguments].concat());
        let value = serde_json::from_str(&text);
        (
            code,
            value.unwrap_or_else(|error| panic!("{error}: {text}")),
        )
    }

    /// The path of an executable.
    fn executable(&self, name: &str) -> String {
        self.target.join("debug").join(name).display().to_string()
    }
}

fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// One test, since its steps share a build.
#[test]
fn a_new_package_runs_and_all_its_kernels_are_found() {
    let project = Project::new();
    assert!(project.cargo(&["run", "--quiet"]).contains("y[3] = 7"));
    assert!(project.cargo(&["test", "--quiet"]).contains("1 passed"));
    let (code, _) = project.sarek(&["new", "."]);
    assert_eq!(code, 2, "a folder that exists");

    project.write("src/lib.rs", LIBRARY);
    project.write("tests/it.rs", TEST);
    all_kernels_are_found(&project);
    texts_are_emitted(&project);
    broken_texts_are_found(&project);
}

fn all_kernels_are_found(project: &Project) {
    let (code, report) = project.json(&["check"]);
    assert_eq!(code, 0, "{report:#}");
    let paths: Vec<&str> = report["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k["kernel"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "first_kernels::inside::local",
            "first_kernels::made",
            "first_kernels::private::hidden",
            "first_kernels::saxpy",
            "first_kernels::scaled<f32, 16>",
            "it::adds::of_a_test",
        ]
    );
    assert_eq!(report["kernels"][3]["line"], 6, "{report:#}");
    assert_eq!(
        report["without_instance"][0]["path"],
        "first_kernels::unused"
    );
    let wgsl = |kernel: &Value| kernel["targets"][2].clone();
    let kernels = report["kernels"].as_array().unwrap();
    assert!(
        kernels
            .iter()
            .all(|k| wgsl(k)[0] == "wgsl" && wgsl(k)[1]["state"] == "good"),
        "{report:#}"
    );

    let named = [
        "check",
        "--target",
        "wgsl",
        "--instance",
        "unused::<u32>",
        "--instance",
        "scaled::<i32, { 2 + 2 }>",
    ];
    let (code, report) = project.json(&named);
    assert_eq!(code, 0, "{report:#}");
    let text = report.to_string();
    assert!(
        text.contains("unused<u32>") && text.contains("scaled<i32, 4>"),
        "{report:#}"
    );
    assert_eq!(report["without_instance"].as_array().unwrap().len(), 0);
    // WGSL has no 8-bit memory: a problem only where the target is named.
    let (code, _) = project.sarek(&["check", "--target", "wgsl", "--instance", "unused::<u8>"]);
    assert_eq!(code, 1);
    let (code, _) = project.sarek(&["check", "--instance", "absent::<f64>"]);
    assert_eq!(code, 2);
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    for (compiler, target) in [("nvrtc", "cuda"), ("opencl", "opencl")] {
        if required.split(',').any(|name| name == compiler) {
            let (code, text) = project.sarek(&["check", "--target", target]);
            assert_eq!(code, 0, "{text}");
        }
    }
}

fn texts_are_emitted(project: &Project) {
    let (code, text) = project.sarek(&["emit", "scaled", "--target", "wgsl"]);
    assert!(code == 0 && text.contains("fn scaled("), "{text}");
    let (code, text) = project.sarek(&[
        "emit",
        "first_kernels::saxpy",
        "--target",
        "cuda",
        "--lines",
    ]);
    assert!(code == 0 && text.contains("\"src/main.rs\""), "{text}");
    let (code, text) = project.sarek(&["emit", "saxpy", "--target", "ir"]);
    assert!(
        code == 0 && text.contains("kernel saxpy(a: f32, x: &[f32], y: &mut [f32])"),
        "{text}"
    );
    let file = project.folder.join("saxpy.spv");
    let (code, _) = project.sarek(&[
        "emit",
        "saxpy",
        "--target",
        "spirv",
        "--out",
        file.to_str().unwrap(),
    ]);
    assert_eq!(
        (code, fs::read(&file).unwrap()[..4].to_vec()),
        (0, vec![3, 2, 0x23, 7])
    );
    let (code, text) = project.json(&["emit", "nothing", "--target", "ir"]);
    assert!(
        code == 2 && text["help"].as_str().unwrap().contains("saxpy"),
        "{text:#}"
    );
    let (code, text) = project.sarek(&["explain", "saxpy"]);
    assert!(
        code == 0 && text.contains("needs: ") && text.contains("native"),
        "{text}"
    );
}

fn broken_texts_are_found(project: &Project) {
    project.write("src/bin/broken.rs", BROKEN);
    let (code, text) = project.sarek(&["check", "--target", "wgsl"]);
    assert!(
        code == 1 && text.contains("wgsl: ERROR") && text.contains("no such statement"),
        "{text}"
    );
}
