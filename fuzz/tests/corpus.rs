//! Regression test: runs the kernels that once gave different results on all backends.
//!
//! rustc compiles each file of `corpus/` as a module of this test.

use std::path::{Path, PathBuf};

use sarek_fuzz::case::Case;
use sarek_fuzz::judge::Comparison;
use sarek_runtime::KernelDef;

macro_rules! corpus {
    ($($name:ident $(<$($argument:tt),*>)?)*) => {
        $(
            #[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]
            mod $name {
                include!(concat!("../corpus/", stringify!($name), ".rs"));
            }
        )*

        /// Every file of the corpus, compiled by rustc.
        const COMPILED: &[(&str, &KernelDef)] = &[
            $((stringify!($name), const { &<$name::k $(<$($argument),*>)? as sarek::Kernel>::DEF }),)*
        ];
    };
}

corpus! {
    generic_strided<i16, 3>
    interpreter_broadcast_of_no_lane
    native_start_wraps
    native_strip_needs
    opencl_left_loop
    opencl_nan
    rustc_index_of_own_array
    rustc_vector_assign
    vector_compared
    wgsl_block_dim
    wgsl_ceil_of_infinity
    wgsl_constant_arithmetic
    wgsl_constant_let
    wgsl_divisor_zero
    wgsl_low_word_of_float
    wgsl_rotate_by_half
    wgsl_sign_of_abs
    wgsl_small_arrays
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[test]
fn every_corpus_kernel_is_listed() {
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
fn devices_agree_with_the_source() {
    let comparison = Comparison::of_compiled(&[]);
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    for name in ["native", "interpreter", "opencl", "wgpu", "cuda", "nvrtc"] {
        let is_required = required.split(',').any(|r| r.trim() == name);
        let is_here = comparison.names().contains(&name);
        assert!(is_here || !is_required, "`{name}` is required");
        if !is_here {
            eprintln!("not compared: {name}");
        }
    }
    for (name, def) in COMPILED {
        let file = folder().join(name).with_extension("rs");
        let text = std::fs::read_to_string(&file).expect("a file of the corpus");
        let case = Case::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let verdict = comparison.verdict(def, &case.launch);
        assert!(verdict.has_no_findings(), "{name}: {verdict:?}");
    }
}
