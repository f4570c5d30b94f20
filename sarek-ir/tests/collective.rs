//! Compiles kernels with shared memory and cooperating threads by the targets' compilers.

mod common;

use common::blocks;
use common::{compile, compile_everywhere};
use sarek_ir::sketch::Sketch;
use sarek_ir::write::{DIALECTS, default_variant, dialect, render};
use sarek_ir::{
    AtomicOp, Axis, Builtin, Kernel, Memory, Scalar, Scope, SiteId, SubgroupOp, Value, validate,
};

const ATOMIC: [Scalar; 6] = [
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F32,
    Scalar::F64,
];

fn is_bitwise(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor)
}

/// Every operation on elements of a type, in a slice and in a shared array, with or without its result.
fn atomics(ty: Scalar, takes_result: bool) -> Kernel {
    let s = Sketch::new("atomics");
    let (slice, out) = (s.atomics("slice", ty), s.slice_mut("out", ty));
    let tile = s.shared_atomics("tile", ty, 64);
    for memory in [Memory::from(slice), tile.into()] {
        for (_, op) in AtomicOp::ALL {
            if ty.is_float() && is_bitwise(op) {
                continue;
            }
            let zero = || s.lit(Value::zero(ty));
            let args: Vec<_> = (0..op.arity()).map(|_| zero()).collect();
            let i = s.id(Builtin::GlobalIdx(Axis::X));
            if takes_result && op != AtomicOp::Store {
                let old = s.atomic(op, memory, i, &args);
                s.store(out, s.n(0), old.get());
            } else {
                s.atomic_discard(op, memory, i, &args);
            }
        }
    }
    s.finish()
}

#[test]
fn every_atomic_operation_compiles() {
    for ty in ATOMIC {
        for takes_result in [true, false] {
            let kernel = atomics(ty, takes_result);
            assert_eq!(validate(&kernel), Ok(()));
            compile_everywhere(&kernel);
        }
    }
}

/// Every subgroup operation on operands of a type.
fn subgroups(ty: Scalar) -> Kernel {
    let s = Sketch::new("subgroups");
    let x = s.slice("x", ty);
    let (out, lanes) = (s.slice_mut("out", ty), s.slice_mut("lanes", Scalar::U64));
    let i = || s.id(Builtin::GlobalIdx(Axis::X));
    let ids = s.id(Builtin::SubgroupSize) + s.id(Builtin::SubgroupLane);
    s.store(lanes, i(), ids.cast(Scalar::U64));
    for (_, op) in SubgroupOp::ALL {
        let Some(result) = op.result(ty) else {
            continue;
        };
        let value = s.load(x, i());
        let joined = match op.takes_lane() {
            true => s.subgroup(op, &[value, s.n(1)]),
            false => s.subgroup(op, &[value]),
        };
        match result == ty {
            true => s.store(out, i(), joined.get()),
            false => s.store(lanes, i(), joined.get()),
        }
    }
    s.finish()
}

#[test]
fn every_subgroup_operation_compiles() {
    for ty in Scalar::ALL {
        if ty == Scalar::Usize || ty.widened().is_some() {
            continue; // no buffer of that type, or no such operation
        }
        let kernel = subgroups(ty);
        assert_eq!(validate(&kernel), Ok(()));
        for (target, bits) in [("cuda", 64), ("wgsl", 32), ("wgsl", 64)] {
            if target == "wgsl" && ty.is_bool() {
                continue; // no buffer of that type
            }
            let mut variant = default_variant(&kernel, dialect(target).expect("built in"));
            variant.index = match bits {
                64 => sarek_ir::write::IndexWidth::Bits64,
                _ => sarek_ir::write::IndexWidth::Bits32,
            };
            compile(&kernel, target, &variant);
        }
    }
}

#[test]
fn bools_pass_between_lanes() {
    let s = Sketch::new("bools");
    let out = s.slice_mut("out", Scalar::U32);
    let odd = (s.id(Builtin::SubgroupLane) & s.n(1)).eq(s.n(1));
    let next = s.subgroup(SubgroupOp::ShuffleDown, &[odd, s.n(1)]);
    s.store(
        out,
        s.id(Builtin::GlobalIdx(Axis::X)),
        next.get().cast(Scalar::U32),
    );
    let kernel = s.finish();
    for target in ["cuda", "wgsl"] {
        let dialect = dialect(target).expect("built in");
        compile(&kernel, target, &default_variant(&kernel, dialect));
    }
}

#[test]
fn what_a_target_lacks_is_told() {
    let refused = |kernel: &Kernel, target: &str| {
        let dialect = dialect(target).expect("built in");
        let refused = render(kernel, dialect, &default_variant(kernel, dialect));
        refused.expect_err("it cannot be said").to_string()
    };
    assert_eq!(
        refused(&subgroups(Scalar::F32), "opencl"),
        "opencl has no subgroups"
    );
    let s = Sketch::new("fences");
    s.fence(Scope::Device);
    assert_eq!(refused(&s.finish(), "wgsl"), "wgsl has no fence");
}

#[test]
fn fences_compile() {
    let s = Sketch::new("fences");
    s.fence(Scope::Device);
    s.fence(Scope::Block);
    let kernel = s.finish();
    for target in ["cuda", "opencl"] {
        let dialect = dialect(target).expect("built in");
        compile(&kernel, target, &default_variant(&kernel, dialect));
    }
}

#[test]
fn blocks_compile() {
    for kernel in [
        blocks::reduction(),
        blocks::transpose(),
        blocks::histogram(),
        blocks::launch_sized(),
        blocks::local_arrays(&Scalar::ALL),
        blocks::endless(),
        blocks::large(),
    ] {
        assert_eq!(validate(&kernel), Ok(()), "{}", kernel.name);
        compile_everywhere(&kernel);
    }
}

#[test]
fn threads_do_not_leave_before_a_barrier() {
    for dialect in DIALECTS {
        let kernel = blocks::reduction();
        let variant = default_variant(&kernel, dialect);
        let text = render(&kernel, dialect, &variant).expect("renders").text;
        let (_, body) = text.split_once(" reduction(").expect("the entry point");
        assert!(!body.contains("return"), "{text}");
    }
}

/// A constant index beyond the end, in a branch that is never taken.
#[test]
fn unreachable_accesses_compile() {
    let s = Sketch::new("beyond");
    let out = s.slice_mut("out", Scalar::F32);
    let tile = s.shared("tile", Scalar::F32, 4);
    let own = s.array("own", Scalar::F32, 4);
    s.if_(s.lit(Value::Bool(false)), || {
        s.store(tile, s.n(4), s.f32(1.0));
        s.store(own, s.len(own), s.load(tile, s.n(9)));
        s.store(out, s.n(0), s.load(own, s.n(7)));
    });
    compile_everywhere(&s.finish());
}

#[test]
fn checks_of_every_memory_compile() {
    for kernel in [blocks::histogram(), blocks::transpose()] {
        for dialect in DIALECTS {
            let mut variant = default_variant(&kernel, dialect);
            variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
            compile(&kernel, dialect.name(), &variant);
        }
    }
}
