//! Commands that need no package: `doctor`, `devices`, `errors`, `cache`, and the form of output and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sarek::cache::Disk;
use serde_json::Value;

fn cargo_sarek(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-sarek"));
    command.args(arguments);
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The entry of a backend in the report of `doctor`.
fn backend<'a>(report: &'a Value, name: &str) -> &'a Value {
    let backends = report["backends"].as_array().unwrap();
    backends.iter().find(|b| b["name"] == name).unwrap()
}

#[test]
fn the_cpu_always_works() {
    let output = cargo_sarek(&[
        "sarek",
        "doctor",
        "--json",
        "--require",
        "native,interpreter",
    ])
    .output()
    .unwrap();
    let report = json(&output);
    for name in ["native", "interpreter"] {
        assert_eq!(backend(&report, name)["status"], "works", "{report:#}");
    }
    let output = cargo_sarek(&["devices", "--json"]).output().unwrap();
    let devices = json(&output);
    let names: Vec<&str> = devices
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["backend"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["cuda", "opencl", "wgpu", "native", "interpreter"]);
    let text = cargo_sarek(&["devices", "--verbose"]).output().unwrap();
    assert!(String::from_utf8_lossy(&text.stdout).contains("blocks of up to"));
}

/// No OpenCL driver, no Vulkan driver, no NVRTC: that is a problem only if they are required.
#[test]
#[cfg(target_os = "linux")]
fn missing_drivers_are_told_with_the_commands_that_install_them() {
    let empty = folder("no-drivers");
    let doctor = |more: &[&str]| {
        cargo_sarek(&[&["doctor", "--json"], more].concat())
            .env("OCL_ICD_VENDORS", &empty)
            .env("OCL_ICD_FILENAMES", "")
            .env_remove("SAREK_NVRTC")
            .output()
            .unwrap()
    };
    let output = doctor(&[]);
    let report = json(&output);
    let opencl = backend(&report, "opencl");
    assert_eq!(opencl["status"], "missing", "{report:#}");
    assert!(
        !opencl["steps"].as_array().unwrap().is_empty(),
        "{report:#}"
    );
    assert_eq!(code(&doctor(&["--require", "opencl"])), 1);
    assert_eq!(code(&doctor(&["--require", "opencel"])), 2);
}

/// A driver whose library does not exist, and loaders that are no libraries or end the process.
#[test]
#[cfg(target_os = "linux")]
fn broken_drivers_are_told_and_do_no_harm() {
    let bad = folder("broken-drivers");
    std::fs::write(bad.join("gone.icd"), "/nowhere/libgone.so\n").unwrap();
    let doctor = |name: &str, value: &Path| {
        let output = cargo_sarek(&["doctor", "--json"])
            .env(name, value)
            .output()
            .unwrap();
        (code(&output), json(&output))
    };
    let (code, report) = doctor("OCL_ICD_VENDORS", &bad);
    let opencl = backend(&report, "opencl");
    assert_eq!(
        (code, opencl["status"].as_str()),
        (1, Some("broken")),
        "{report:#}"
    );
    assert!(
        opencl
            .to_string()
            .contains("/nowhere/libgone.so does not exist")
    );

    std::fs::write(bad.join("libOpenCL.so.1"), "no library").unwrap();
    let (code, report) = doctor("LD_LIBRARY_PATH", &bad);
    let opencl = backend(&report, "opencl");
    assert_eq!(
        (code, opencl["status"].as_str()),
        (1, Some("broken")),
        "{report:#}"
    );
    assert!(opencl.to_string().contains("file too short"), "{report:#}");

    let source = bad.join("crash.rs");
    std::fs::write(
        &source,
        "extern \"C\" fn end() { std::process::abort() }
        #[used]
        #[unsafe(link_section = \".init_array\")]
        static END: extern \"C\" fn() = end;",
    )
    .unwrap();
    let built = Command::new("rustc")
        .args(["--crate-type", "cdylib", "--edition", "2024", "-o"])
        .args([&bad.join("libOpenCL.so.1"), &source])
        .status()
        .unwrap();
    assert!(built.success());
    let (code, report) = doctor("LD_LIBRARY_PATH", &bad);
    let opencl = backend(&report, "opencl");
    assert_eq!(
        (code, opencl["status"].as_str()),
        (1, Some("broken")),
        "{report:#}"
    );
    assert!(
        opencl["problems"][0]
            .as_str()
            .unwrap()
            .contains("ended the process"),
        "{report:#}"
    );
    assert_eq!(backend(&report, "native")["status"], "works");
}

#[test]
fn errors_have_the_text_of_their_pages() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sarek-frontend/errors/SRK0601.md");
    let page = std::fs::read_to_string(page).unwrap();
    for asked in ["SRK0601", "srk0601", "0601", "SRK0601:"] {
        let output = cargo_sarek(&["errors", asked]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), page);
        assert_eq!(code(&output), 0);
    }
    let all = cargo_sarek(&["errors", "--json"]).output().unwrap();
    assert!(json(&all).as_array().unwrap().len() > 50);
    let unknown = cargo_sarek(&["errors", "SRK9999"]).output().unwrap();
    assert_eq!(code(&unknown), 2);
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        told.contains("SRK9999") && told.contains("help: "),
        "{told}"
    );
    let unknown = cargo_sarek(&["--json", "errors", "SRK9999"])
        .output()
        .unwrap();
    assert!(
        json(&unknown)["error"]
            .as_str()
            .unwrap()
            .contains("SRK9999")
    );
}

#[test]
fn the_cache_is_listed_verified_and_cleared() {
    let folder = folder("cache").join("sarek");
    let disk = Disk::at(folder.clone(), 1 << 20);
    disk.put("compiler 1\nkernel", b"program");
    disk.put("compiler 2\nkernel", b"program");
    let cache = |arguments: &[&str]| {
        cargo_sarek(&[&["--json", "cache"], arguments].concat())
            .env("SAREK_CACHE", &folder)
            .output()
            .unwrap()
    };
    let list = json(&cache(&["list"]));
    let compilers: Vec<_> = list["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["compiler"].clone())
        .collect();
    assert!(compilers.contains(&"compiler 1".into()), "{list:#}");
    assert_eq!(code(&cache(&["verify"])), 0);

    let file = folder.join(list["entries"][0]["file"].as_str().unwrap());
    std::fs::write(&file, "damaged").unwrap();
    let output = cache(&["verify"]);
    assert_eq!(
        (code(&output), json(&output)["damaged"][0].clone()),
        (1, list["entries"][0]["file"].clone())
    );
    let removed = cache(&["verify", "--remove"]);
    assert_eq!(
        (code(&removed), json(&removed)["removed"].clone()),
        (0, 1.into())
    );
    assert!(!file.exists());

    assert!(json(&cache(&["clear"]))["removed_bytes"].as_u64().unwrap() > 0);
    assert!(
        json(&cache(&["list"]))["entries"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn wrong_arguments_are_code_2() {
    for arguments in [
        &["nonsense"][..],
        &["errors", "a", "b"],
        &["new", "1st"],
        &["emit", "k"],
        &["bench"],
    ] {
        let output = cargo_sarek(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
    }
    assert_eq!(
        code(&cargo_sarek(&["sarek", "--version"]).output().unwrap()),
        0
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = cargo_sarek(&["completions", shell]).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("doctor"),
            "{shell}"
        );
    }
}

/// The codes of commands are passed on.
#[test]
#[cfg(unix)]
fn commands_keep_their_exit_codes() {
    for command in ["sanitize", "profile"] {
        let output = cargo_sarek(&[command, "sh", "-c", "exit 7"])
            .output()
            .unwrap();
        assert_eq!(code(&output), 7, "{command}");
        let output = cargo_sarek(&[command, "true"]).output().unwrap();
        assert_eq!(code(&output), 0, "{command}");
    }
    let output = cargo_sarek(&[
        "sanitize",
        "--overflow",
        "--",
        "sh",
        "-c",
        "echo $SAREK_SANITIZE",
    ])
    .output()
    .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1,overflow");
    let absent = cargo_sarek(&["profile", "no-such-program"])
        .output()
        .unwrap();
    assert_eq!(code(&absent), 3);
    let nothing = cargo_sarek(&["bench", "true"]).output().unwrap();
    assert_eq!(code(&nothing), 3);
}
