//! Compares generated texts with `tests/snapshots`. `SAREK_BLESS=1` rewrites the files.

mod common;

use std::path::Path;

use common::blocks;
use common::build::{Build, saxpy};
use common::staged::{self, Sizes};
use sarek_ir::optimize::Optimization;
use sarek_ir::write::{DIALECTS, Dialect, IndexWidth, Variant, default_variant, render};
use sarek_ir::{Axis, BinaryOp, Builtin, DivideOp, Intrinsic, Kernel, Scalar, SiteId, Stmt, Value};

/// A bit of everything: a search with a labelled exit, casts, methods, a division, an assertion.
fn mixture() -> Kernel {
    let mut b = Build::new("mixture");
    let (n, strict) = (b.scalar("n", Scalar::I32), b.scalar("strict", Scalar::Bool));
    let x = b.slice("x", Scalar::F32);
    let out = b.slice_mut("out", Scalar::I32);
    let zero = b.lit(Value::I32(0));
    let best = b.bind("best", true, zero);
    let (start, end) = (b.lit(Value::Usize(0)), b.len(x));
    b.count("row", start, end, |b, rows, row| {
        let at = b.get(row);
        let value = b.load_site(x, at, false);
        let value = b.call(Intrinsic::Round, &[value]);
        let whole = b.cast(value, Scalar::I32);
        let v = b.bind("value", true, whole);
        let (lhs, one) = (b.get(v), b.lit(Value::I32(1)));
        let more = b.bin(BinaryOp::Gt, lhs, one);
        b.repeat(Some(more), |b, _| {
            let (value, n) = (b.get(v), b.arg(n));
            let quotient = b.div(DivideOp::Div, value, n, false);
            b.set(v, quotient);
            let (value, best_read) = (b.get(v), b.get(best));
            let found = b.bin(BinaryOp::Eq, value, best_read);
            b.branch(
                found,
                |b| b.stmt(Stmt::Break { label: rows }),
                |b| {
                    let (value, best_read) = (b.get(v), b.get(best));
                    let sum = b.bin(BinaryOp::Add, best_read, value);
                    b.set(best, sum);
                },
            );
        });
    });
    let strict = b.arg(strict);
    b.assert(strict, "not strict");
    let (value, index) = (b.get(best), b.get(best));
    let at = b.cast(index, Scalar::Usize);
    b.store_site(out, at, value, false);
    b.finish()
}

/// Operations that targets fuse or approximate, on both float types.
fn sums_of_products() -> Kernel {
    let s = sarek_ir::sketch::Sketch::new("sums_of_products");
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    for (x, ty) in [("x", Scalar::F32), ("y", Scalar::F64)] {
        let x = s.slice_mut(x, ty);
        let load = || s.load(x, i.get());
        let root = s.call(Intrinsic::Sqrt, &[load() * load() + load() / load()]);
        let fused = s.call(Intrinsic::MulAdd, &[load(), load(), root]);
        let rest = s.call(Intrinsic::Fract, &[load() * load()]);
        s.store(x, i.get(), fused * load() - rest);
    }
    s.finish()
}

fn extension(dialect: &dyn Dialect) -> &'static str {
    match dialect.name() {
        "cuda" => "cu",
        "opencl" => "cl",
        "wgsl" => "wgsl",
        other => panic!("no snapshots of {other}"),
    }
}

fn check(kernel: &Kernel, name: &str, dialect: &dyn Dialect, variant: &Variant) {
    common::compile(kernel, dialect.name(), variant);
    let text = render(kernel, dialect, variant).expect("renders").text;
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(format!("{name}.{}", extension(dialect)));
    if std::env::var_os("SAREK_BLESS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{} differs from the text", path.display());
}

#[test]
fn texts_are_as_kept() {
    for dialect in DIALECTS {
        let plain = default_variant(&saxpy(), dialect);
        check(&saxpy(), "saxpy", dialect, &plain);
        let mut full = plain;
        full.checked = (0..saxpy().sites.len() as u32).map(SiteId).collect();
        (full.dims, full.folded, full.index) = (2, true, IndexWidth::Bits32);
        check(&saxpy(), "saxpy-checked-folded", dialect, &full);
        full.strided = true;
        check(&saxpy(), "saxpy-checked-strided", dialect, &full);
        let variant = default_variant(&mixture(), dialect);
        check(&mixture(), "mixture", dialect, &variant);
    }
}

/// All arithmetic that a debug build checks, on types held in their own width and in a wider one.
fn overflowing() -> Kernel {
    let s = sarek_ir::sketch::Sketch::new("overflowing");
    let (x, count) = (
        s.slice_mut("x", Scalar::I32),
        s.scalar("count", Scalar::U64),
    );
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let load = || s.load(x, i.get());
    s.store(
        x,
        i.get(),
        -(load() + load() * load() - (load() << s.arg(count))),
    );
    let raised = s.call(Intrinsic::Pow, &[load(), s.u32(3)]);
    s.store(x, i.get(), s.call(Intrinsic::Abs, &[raised]));
    let small = || load().cast(Scalar::I8);
    let sum = small() + small() * small();
    s.store(x, i.get(), sum.cast(Scalar::I32));
    s.store(x, i.get() + s.n(1), load() >> s.i32(3));
    let mut kernel = s.finish();
    kernel.check_overflows();
    kernel
}

#[test]
fn texts_that_check_overflows_are_as_kept() {
    for dialect in DIALECTS {
        let kernel = overflowing();
        let mut variant = default_variant(&kernel, dialect);
        assert!(
            !render(&kernel, dialect, &variant)
                .expect("renders")
                .text
                .contains("exact")
        );
        variant
            .checked
            .extend(kernel.overflows.iter().map(|(_, site)| *site));
        check(&kernel, "overflowing", dialect, &variant);
    }
}

/// NVIDIA's Vulkan compiler fails on some divisions by a constant, which the overflow test of a product would have.
#[test]
fn a_constant_is_the_second_factor_where_products_are_checked() {
    let s = sarek_ir::sketch::Sketch::new("scaled");
    let x = s.slice_mut("x", Scalar::I32);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.store(x, i.get(), s.i32(100) * s.load(x, i.get()));
    let mut kernel = s.finish();
    kernel.check_overflows();
    for dialect in DIALECTS {
        let mut variant = default_variant(&kernel, dialect);
        let sites = kernel.overflows.iter().map(|(_, site)| *site);
        variant.checked.extend(sites);
        let text = render(&kernel, dialect, &variant).expect("renders").text;
        let called = text.lines().rfind(|line| line.contains("exact_mul"));
        let called = called.unwrap_or_else(|| panic!("no call in {text}"));
        assert!(!called.contains("(100"), "{called}");
        assert!(called.contains(", 100"), "{called}");
    }
}

/// A target that guarantees strict floats writes a strict text; the others refuse.
#[test]
fn strict_texts_are_as_kept() {
    let mut kernel = sums_of_products();
    for dialect in DIALECTS {
        kernel.strict = true;
        let variant = default_variant(&kernel, dialect);
        if dialect.strict_head().is_ok() {
            check(&kernel, "strict", dialect, &variant);
        } else {
            let lacking = render(&kernel, dialect, &variant).expect_err("nothing is promised");
            assert!(lacking.to_string().contains("same to the bit"), "{lacking}");
        }
        kernel.strict = false;
        check(&kernel, "strict-not", dialect, &variant);
    }
}

#[test]
fn texts_of_blocks_are_as_kept() {
    for dialect in DIALECTS {
        for kernel in [
            blocks::reduction(),
            blocks::transpose(),
            blocks::launch_sized(),
            blocks::local_arrays(&Scalar::ALL),
            blocks::large(),
            blocks::float_atomics(),
        ] {
            let variant = default_variant(&kernel, dialect);
            check(&kernel, &kernel.name, dialect, &variant);
        }
        // With every check: an access out of bounds changes nothing, and a loop with a barrier ends.
        for kernel in [
            blocks::histogram(),
            blocks::endless(),
            blocks::float_atomics(),
        ] {
            let mut full = default_variant(&kernel, dialect);
            full.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
            check(&kernel, &format!("{}-checked", kernel.name), dialect, &full);
        }
        if dialect.name() != "opencl" {
            let kernel = blocks::subgroup_sum();
            check(
                &kernel,
                &kernel.name,
                dialect,
                &default_variant(&kernel, dialect),
            );
        }
    }
}

/// Staged products with whole tiles and with ragged ones, and loops over shared elements and over rows.
#[test]
fn texts_of_staged_loops_are_as_kept() {
    let product = Sizes {
        tile: [32, 16, 1],
        factors: [8, 4],
        chunk: 4,
        extent: [64, 64, 1],
        turns: 64,
    };
    let ragged = Sizes {
        extent: [61, 50, 1],
        turns: 77,
        ..product
    };
    let flat = Sizes {
        tile: [32, 1, 1],
        factors: [1, 1],
        chunk: 32,
        extent: [1000, 1, 1],
        turns: 1000,
    };
    let pair = Sizes {
        tile: [64, 1, 1],
        factors: [2, 1],
        ..flat
    };
    for (name, kernel, sizes) in [
        ("staged-product", staged::product(), product),
        ("staged-product-ragged", staged::product(), ragged),
        ("staged-bodies", staged::bodies(), pair),
        ("staged-rows", staged::rows(), flat),
    ] {
        check_plan(name, &kernel, &staged::plan(&kernel, sizes));
    }
    for (name, extent) in [
        ("staged-transpose", [64, 32, 1]),
        ("staged-transpose-ragged", [61, 50, 1]),
    ] {
        check_plan(name, &staged::transpose(), &staged::turned(16, extent));
    }
}

fn check_plan(name: &str, kernel: &Kernel, plan: &Optimization) {
    let kernel = plan.apply(kernel).expect("the plan fits");
    for dialect in DIALECTS {
        let mut variant = default_variant(&kernel, dialect);
        variant.index = IndexWidth::Bits32;
        check(&kernel, name, dialect, &variant);
    }
}
