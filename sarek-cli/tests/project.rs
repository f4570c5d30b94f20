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
pub fn unused<T: Float>(y: &mut [T]) {
    let i = global_idx_x();
    y[i] = y[i].exp();
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

const RACE: &str = r#"
use sarek::prelude::*;

#[kernel]
unsafe fn race(y: &mut [u32]) {
    y[0] = global_idx_x() as u32;
}

fn main() -> sarek::Result<()> {
    let mut y = Vector::<u32>::zeros(1);
    // SAFETY: none; this is what the sanitizer is to find.
    unsafe { race(&mut y) }.over(4).run()?;
    println!("{:?}", y.to_vec()?);
    Ok(())
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
    commands_are_profiled(&project);
    races_are_found(&project);
    broken_texts_are_found(&project);
}

fn all_kernels_are_found(project: &Project) {
    // WGSL has no elementary functions of `f64`: a problem where the target is named.
    let mut named = vec!["check", "--target", "wgsl"];
    for instance in ["unused::<f32>", "unused::<f64>", "scaled::<i32, { 2 + 2 }>"] {
        named.extend(["--instance", instance]);
    }
    let (code, report) = project.json(&named);
    assert_eq!(
        (code, report["problems"].as_u64()),
        (1, Some(1)),
        "{report:#}"
    );
    let text = report.to_string();
    for path in ["unused<f32>", "unused<f64>", "scaled<i32, 4>"] {
        assert!(text.contains(path), "{report:#}");
    }
    assert_eq!(report["without_instance"].as_array().unwrap().len(), 0);
    assert_eq!(project.sarek(&["check", "--instance", "unused"]).0, 2);

    let (code, report) = project.json(&["check"]);
    assert_eq!(code, 0, "{report:#}");
    let kernels = report["kernels"].as_array().unwrap();
    let paths: Vec<&str> = kernels
        .iter()
        .map(|kernel| kernel["kernel"].as_str().unwrap())
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
    assert_eq!(kernels[3]["line"], 6, "{report:#}");
    assert_eq!(
        report["without_instance"][0]["path"],
        "first_kernels::unused"
    );
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    for (at, target, compiler) in [
        (0, "cuda", "nvrtc"),
        (1, "opencl", "opencl"),
        (2, "wgsl", ""),
    ] {
        let must_compile = compiler.is_empty() || required.split(',').any(|name| name == compiler);
        for kernel in kernels {
            let state = &kernel["targets"][at];
            assert_eq!(state[0], target);
            assert!(!must_compile || state[1]["state"] == "good", "{kernel:#}");
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

fn commands_are_profiled(project: &Project) {
    let program = project.executable("first-kernels");
    let trace = project.folder.join("trace.json");
    let (code, report) = project.json(&["profile", "--trace", trace.to_str().unwrap(), &program]);
    assert_eq!(code, 0);
    let work = &report["work"][0];
    assert_eq!(
        (work["name"].as_str(), work["calls"].as_u64()),
        (Some("saxpy"), Some(1)),
        "{report:#}"
    );
    assert!(
        work["gb_per_s"].as_f64().unwrap() > 0.0 && work["share"].as_f64().unwrap() > 0.0,
        "{report:#}"
    );
    let trace: Value = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    assert!(
        trace["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .any(|e| e["name"] == "saxpy")
    );

    let record = project.folder.join("record.json");
    let record = record.to_str().unwrap();
    let (code, text) = project.sarek(&["bench", "--runs", "2", "--save", record, &program]);
    assert!(
        code == 0 && text.contains("saxpy on ") && text.contains("(native:0): "),
        "{text}"
    );
    let compare = [
        "bench",
        "--runs",
        "1",
        "--tolerance",
        "100000",
        "--compare",
        record,
        &program,
    ];
    assert_eq!(project.sarek(&compare).0, 0);
    let mut faster: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    faster["kernels"][0]["best_us"] = 0.01.into();
    fs::write(record, faster.to_string()).unwrap();
    let (code, text) = project.sarek(&["bench", "--runs", "1", "--compare", record, &program]);
    assert!(code == 1 && text.contains("REGRESSION"), "{text}");
    fs::write(record, "{}").unwrap();
    assert_eq!(project.sarek(&compare).0, 2);
}

fn races_are_found(project: &Project) {
    project.write("src/bin/race.rs", RACE);
    project.cargo(&["build", "--quiet"]);
    assert_eq!(
        project
            .sarek(&["sanitize", &project.executable("first-kernels")])
            .0,
        0
    );
    let program = project.executable("race");
    assert!(project.command(&program, &[]).status.success());
    assert_eq!(project.sarek(&["sanitize", &program]).0, 1);
}

fn broken_texts_are_found(project: &Project) {
    project.write("src/bin/broken.rs", BROKEN);
    let (code, text) = project.sarek(&["check", "--target", "wgsl"]);
    assert!(
        code == 1 && text.contains("wgsl: ERROR") && text.contains("no such statement"),
        "{text}"
    );
}
