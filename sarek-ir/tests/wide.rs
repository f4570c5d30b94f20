//! Checks that adjacent loads or stores of neighbouring elements become one access.

mod common;

use common::compile_everywhere;
use sarek_ir::sketch::Sketch;
use sarek_ir::write::{default_variant, dialect, render};
use sarek_ir::{Axis, Builtin, Kernel, ParamId, Scalar};

fn text(kernel: &Kernel, target: &str) -> String {
    let dialect = dialect(target).expect("built in");
    let variant = default_variant(kernel, dialect);
    render(kernel, dialect, &variant).expect("renders").text
}

/// Copies `count` elements from `per * i + first` on. `align` is the alignment of the slices' elements in bytes.
fn copy(ty: Scalar, align: u32, per: u64, first: u64, count: u64) -> Kernel {
    let s = Sketch::new("copy");
    let (x, y) = (s.slice("x", ty), s.slice_mut("y", ty));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let at = |k: u64| match first + k {
        0 => i.get() * s.n(per),
        k => i.get() * s.n(per) + s.n(k),
    };
    let parts: Vec<_> = (0..count).map(|_| s.let_uninit("part", ty)).collect();
    for (k, part) in parts.iter().enumerate() {
        s.set(*part, s.load(x, at(k as u64)));
    }
    for (k, part) in parts.iter().enumerate() {
        s.store(y, at(k as u64), part.get());
    }
    let mut kernel = s.finish();
    for param in kernel.params.to_mut() {
        param.align = align;
    }
    kernel
}

#[test]
fn four_words_are_one_access_in_every_target() {
    let kernel = copy(Scalar::F32, 16, 4, 0, 4);
    let cuda = text(&kernel, "cuda");
    assert!(
        cuda.contains("const float4 wide = ((const float4*)x)[i];"),
        "{cuda}"
    );
    assert!(
        cuda.contains("((float4*)y)[i] = float4{ part, part_0, part_1, part_2 };"),
        "{cuda}"
    );
    let opencl = text(&kernel, "opencl");
    assert!(
        opencl.contains("= ((__global const float4*)x)[i];"),
        "{opencl}"
    );
    let wgsl = text(&kernel, "wgsl");
    assert!(wgsl.contains("x: array<vec4<f32>>;"), "{wgsl}");
    assert!(wgsl.contains("let wide: vec4<f32> = x[i];"), "{wgsl}");
    compile_everywhere(&kernel);
}

#[test]
fn groups_are_as_wide_as_alignment_and_16_bytes_allow() {
    let found = |kernel: &Kernel, what: &str| text(kernel, "cuda").matches(what).count();
    // Eight words are two loads and two stores.
    assert_eq!(found(&copy(Scalar::U32, 16, 8, 0, 8), "uint4*"), 4);
    assert_eq!(found(&copy(Scalar::I64, 16, 2, 0, 2), "longlong2*"), 2);
    assert_eq!(found(&copy(Scalar::I32, 8, 2, 0, 2), "int2*"), 2);
    // Three words and one: the last of each four is accessed alone.
    assert_eq!(found(&copy(Scalar::F32, 16, 4, 0, 3), "float2*"), 2);
    // A run that begins in the middle of a group ends with the group.
    assert_eq!(found(&copy(Scalar::F32, 16, 4, 1, 3), "float2*"), 2);
    for ty in [
        Scalar::F32,
        Scalar::I32,
        Scalar::U32,
        Scalar::F64,
        Scalar::I64,
        Scalar::U64,
    ] {
        compile_everywhere(&copy(ty, 16, 4, 0, 4));
        compile_everywhere(&copy(ty, 16, 4, 1, 3));
    }
}

#[test]
fn what_may_be_misaligned_stays_narrow() {
    for kernel in [
        copy(Scalar::F32, 4, 4, 0, 4),
        copy(Scalar::F32, 0, 4, 0, 4),
        copy(Scalar::F32, 16, 3, 0, 4),
        copy(Scalar::U16, 2, 8, 0, 4),
    ] {
        let cuda = text(&kernel, "cuda");
        assert!(!cuda.contains("wide") && !cuda.contains("4*"), "{cuda}");
    }
}

/// Swaps two neighbours. If `late`, the stores read the elements that they overwrite.
fn swap(late: bool) -> Kernel {
    let s = Sketch::new("swap");
    let x = s.slice_mut("x", Scalar::F32);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let at = |k: u64| match k {
        0 => i.get() * s.n(2),
        k => i.get() * s.n(2) + s.n(k),
    };
    if late {
        s.store(x, at(0), s.load(x, at(1)));
        s.store(x, at(1), s.load(x, at(0)));
    } else {
        let a = s.let_("a", s.load(x, at(0)));
        let b = s.let_("b", s.load(x, at(1)));
        s.store(x, at(0), b.get());
        s.store(x, at(1), a.get());
    }
    let mut kernel = s.finish();
    kernel.params.to_mut()[0].align = 8;
    kernel
}

#[test]
fn stores_that_read_what_they_change_stay_apart() {
    let early = text(&swap(false), "cuda");
    assert!(early.contains("const f32 a = wide.x;"), "{early}");
    assert!(
        early.contains("((float2*)x)[i] = float2{ b, a };"),
        "{early}"
    );
    let late = text(&swap(true), "cuda");
    assert!(!late.contains("float2"), "{late}");
    compile_everywhere(&swap(false));
}

#[test]
fn a_buffer_of_wgsl_is_wide_only_where_every_access_is() {
    let s = Sketch::new("mixed");
    let x = s.slice_mut("x", Scalar::U32);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let a = s.let_("a", s.load(x, i.get() * s.n(2)));
    let b = s.let_("b", s.load(x, i.get() * s.n(2) + s.n(1)));
    s.store(x, i.get() * s.n(2), a.get() + b.get());
    let mut kernel = s.finish();
    kernel.params.to_mut()[ParamId(0).index()].align = 8;
    assert!(text(&kernel, "opencl").contains("uint2"));
    assert!(!text(&kernel, "wgsl").contains("vec2"));
    compile_everywhere(&kernel);
}
