//! The kernels that once differed, on all backends.
//!
//! Each file of `corpus/` is lowered as the command does it, and compiled by rustc as a module of this test.

use std::path::{Path, PathBuf};

use sarek::Device;
use sarek_fuzz::batch::host_devices;
use sarek_fuzz::case::Case;
use sarek_fuzz::judge::{self, Verdict};
use sarek_runtime::KernelDef;

macro_rules! corpus {
    ($($name:ident)*) => {
        $(
            #[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]
            mod $name {
                include!(concat!("../corpus/", stringify!($name), ".rs"));
            }
        )*

        /// Every file of the corpus, as rustc compiles it.
        const COMPILED: &[(&str, &KernelDef)] = &[
            $((stringify!($name), const { &<$name::k as sarek::Kernel>::DEF }),)*
        ];
    };
}

corpus! {
    native_strip_needs
    opencl_left_loop
    opencl_nan
    wgsl_block_dim
    wgsl_constant_arithmetic
    wgsl_constant_let
    wgsl_small_arrays
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn case(name: &str) -> Case {
    let file = folder().join(name).with_extension("rs");
    let text = std::fs::read_to_string(&file).expect("a file of the corpus");
    Case::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn assert_agreed(name: &str, verdict: Verdict) {
    assert!(
        matches!(verdict, Verdict::Agreed { .. }),
        "{name}: {verdict:?}"
    );
}

#[test]
fn every_kept_kernel_is_listed() {
    let files = std::fs::read_dir(folder()).expect("the corpus");
    let mut files: Vec<_> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let listed: Vec<_> = COMPILED.iter().map(|(name, _)| *name).collect();
    assert_eq!(files, listed, "list them in `corpus!`, sorted");
}

#[test]
fn what_rustc_compiles_agrees_with_the_source() {
    for (name, def) in COMPILED {
        let verdict = judge::compare(def, &case(name).launch, &host_devices());
        assert_agreed(name, verdict);
    }
}

#[test]
fn devices_agree_with_the_interpreter() {
    let devices = judge::devices();
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    let required: Vec<_> = required.split(',').map(str::trim).collect();
    for name in ["opencl", "wgpu", "cuda"] {
        let is_here = devices
            .iter()
            .any(|device: &Device| device.backend() == name);
        assert!(is_here || !required.contains(&name), "`{name}` is required");
        if !is_here {
            eprintln!("not compared: {name}");
        }
    }
    let nvrtc = sarek_backends::cuda::nvrtc::version();
    assert!(nvrtc.is_ok() || !required.contains(&"nvrtc"), "{nvrtc:?}");
    for (name, _) in COMPILED {
        let verdict = judge::judge(&case(name), &devices, nvrtc.is_ok());
        assert_agreed(name, verdict);
    }
}
