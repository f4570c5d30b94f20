use std::sync::atomic::Ordering::Relaxed;

use super::{check, has_word, is_number, of_target, of_value};
use crate::foreign::{ForeignKernel, Text};
use crate::plugin::backend::{Artifact, Compiler, Parts};
use crate::testing::device;
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::axpy_call as axpy;
use crate::{Error, Result, Vector, tag};

/// A compiler that knows one harmless option.
struct Strict;

// SAFETY: nothing is compiled.
unsafe impl Compiler for Strict {
    fn fingerprint(&self) -> String {
        unreachable!("nothing is kept")
    }

    fn is_harmless_flag(&self, flag: &str) -> bool {
        flag == "-O1"
    }

    unsafe fn compile(&self, _: &str, _: &sarek_ir::write::Source, _: &Parts) -> Result<Artifact> {
        unreachable!("nothing is compiled")
    }
}

/// The error message of a launch with these parts, if it is refused.
fn refused(parts: &Parts) -> Option<String> {
    let own = || Ok("kernel void k() { if (gid < y_len) y[gid] = 1; }".to_owned());
    match check(parts, "k", ("opencl", &Strict), own) {
        Ok(()) => None,
        Err(error @ Error::Unchecked { .. }) => Some(error.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_name_and_a_number_are_taken() {
    for (name, value) in [
        ("SCALE", "3"),
        ("SCALE", "-3"),
        ("SCALE", "0x1Fu"),
        ("scale_2", "2.5e-3f"),
        ("ON", "true"),
    ] {
        assert_eq!(
            refused(&Parts::new().define(name, value)),
            None,
            "{name}={value}"
        );
    }
    assert_eq!(refused(&Parts::new().flag("-O1")), None);
}

#[test]
fn any_other_text_is_refused_with_what_to_write() {
    let define = |name: &str, value: &str| Parts::new().define(name, value);
    for (parts, told) in [
        (define("if(x)", "if(0)"), "`if(x)` is no identifier"),
        (define("", "1"), "`` is no identifier"),
        (define("2x", "1"), "`2x` is no identifier"),
        (define("A -DB", "1"), "is no identifier"),
        (define("A\n#define B", "1"), "is no identifier"),
        (define("É", "1"), "is no identifier"),
        (define("if", "1"), "`if` is a name that opencl knows"),
        (
            define("get_global_id", "0"),
            "`get_global_id` is a name that opencl knows",
        ),
        (define("__kernel", "1"), "begin with `_` are reserved"),
        (define("SRK_BLOCK_X", "1"), "begin with `srk_` are reserved"),
        (define("cl_khr_fp64", "0"), "begin with `cl_` are reserved"),
        (define("y_len", "100000"), "own text has the name `y_len`"),
        (define("gid", "7"), "own text has the name `gid`"),
        (define("A", "1) || (1"), "neither a number nor a bool"),
        (define("A", "other"), "neither a number nor a bool"),
        (define("A", ""), "neither a number nor a bool"),
    ] {
        let text = refused(&parts).unwrap_or_else(|| panic!("taken: {parts:?}"));
        assert!(text.contains(told), "{text}");
        assert!(
            text.contains("`k` is not compiled with the definition of"),
            "{text}"
        );
        assert!(text.contains("`unsafe { parts.raw_define(…) }`"), "{text}");
    }
    let text = refused(&Parts::new().flag("-Dif(x)=if(0)")).expect("it is refused");
    assert!(
        text.contains("the option `-Dif(x)=if(0)`") && text.contains("raw_flag"),
        "{text}"
    );
    let text = refused(&Parts::new().library("m")).expect("it is refused");
    assert!(
        text.contains("the library `m`") && text.contains("raw_library"),
        "{text}"
    );
}

#[test]
fn what_somebody_vouches_for_is_taken() {
    // SAFETY: nothing is compiled.
    let parts = unsafe {
        let parts = Parts::new().raw_define("if(x)", "if(0)").raw_flag("-x");
        parts
            .raw_library("m")
            .header("h")
            .file("f", "t")
            .include_dir("/")
    };
    assert_eq!(refused(&parts), None);
    // Safe code that adds the same part makes it refused.
    let mut both = parts.clone();
    both.add(&Parts::new().define("if(x)", "if(0)"));
    assert!(refused(&both).is_some());
    let mut both = Parts::new().define("if(x)", "if(0)");
    both.add(&parts);
    assert!(refused(&both).is_some());
    assert_eq!(refused(&Parts::new().define("if", "1").vouched()), None);
}

#[test]
fn numbers_are_one_token() {
    for number in ["0", "1u", "-1", "1.5", "1e5", "1e-5f", "0x1p+3", "0XfFul"] {
        assert!(is_number(number), "{number}");
        assert_eq!(of_value(number), None);
    }
    for other in [
        "", "-", "--1", "1-1", "0x1e-1", "1 2", "1,2", "1'0", "1_x", "a1", ".5", "1+",
    ] {
        assert!(!is_number(other), "{other}");
    }
}

#[test]
fn names_are_those_of_the_target() {
    assert!(of_target("threadIdx", "cuda").is_some());
    assert_eq!(of_target("threadIdx", "opencl"), None);
    assert!(of_target("workgroupBarrier", "wgsl").is_some());
    assert!(of_target("defined", "cuda").is_some());
    // An unknown target may have the names of any known one.
    assert!(of_target("threadIdx", "fake").is_some());
    assert!(has_word("a(b_c)", "b_c") && !has_word("a(b_c)", "b"));
}

#[test]
fn launches_are_refused_before_they_compile() {
    let (device, stats) = device(&GpuBackend::new("gpu", 100));
    let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 1.0));
    // The fake device's text begins with the kernel's name.
    for parts in [
        Parts::new().define("if(x)", "if(0)"),
        Parts::new().define("axpy", "1"),
        Parts::new().flag("-harm"),
        Parts::new().library("m"),
    ] {
        let launch = axpy(1.0, &x, &mut y).options(parts.clone()).over(4);
        let error = launch.run_on(&device).unwrap_err();
        assert!(
            matches!(error, Error::Unchecked { .. }),
            "{parts:?}: {error}"
        );
    }
    assert_eq!(stats.compiles.load(Relaxed), 0);
    let launch = axpy(1.0, &x, &mut y).options(Parts::new().define("UNUSED", "1"));
    launch.over(4).run_on(&device).unwrap();
    assert_eq!(stats.compiles.load(Relaxed), 1);
}

#[test]
fn a_foreign_kernels_own_parts_are_its_authors_and_others_are_checked() {
    let (device, _) = device(&GpuBackend::new("gpu", 100));
    let text = Text::new(&tag::lookup("fake"), "text of vouched");
    let builder = ForeignKernel::new("vouched").text(text).output::<f32>("y");
    let kernel = builder.options(Parts::new().define("if(x)", "if(0)"));
    let kernel = kernel.build().unwrap();
    let mut y = Vector::filled(1, 1.0f32);
    let mut run = |more: Parts| {
        // SAFETY: the kernel does nothing.
        let launch = unsafe { kernel.call((&mut y,)) };
        launch.options(more).grid(1).block(1).run_on(&device)
    };
    run(Parts::new().define("TILE", "16")).unwrap();
    let error = run(Parts::new().define("while(x)", "if(0)")).unwrap_err();
    assert!(matches!(error, Error::Unchecked { .. }), "{error}");
}
