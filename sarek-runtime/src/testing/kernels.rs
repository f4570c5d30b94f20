//! Kernels for tests: their IR, and hand-written compiled bodies.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use sarek_ir::{
    Access, Axis, BinaryOp, Builtin, Expr, Kernel, Loc, Memory, Param, ParamId, ParamKind, Scalar,
    Site, SiteId, SiteKind, Stmt,
};

use super::gpu::Run;
use crate::host::{Direct, DirectArg, IndexSpace, RawFault, RunBlocks};
use crate::{KernelDef, Launch, Vector};

/// `fn axpy(a: f32, x: &[f32], y: &mut [f32]) { y[i] = a * x[i] + y[i] }` for `i = global_idx_x()`.
pub(crate) fn axpy() -> KernelDef {
    axpy_named("axpy")
}

/// The same kernel with another name; the fake GPU runs nothing for it.
pub(crate) fn axpy_named(name: &'static str) -> KernelDef {
    let mut k = Kernel::new(name);
    k.file = Cow::Borrowed("axpy.rs");
    let slice = |access| ParamKind::Slice {
        elem: Scalar::F32.into(),
        access,
    };
    k.params = Cow::Owned(vec![
        param("a", ParamKind::Scalar(Scalar::F32)),
        param("x", slice(Access::Read)),
        param("y", slice(Access::Write)),
    ]);
    let (a, x, y) = (ParamId(0), ParamId(1), ParamId(2));
    let at = Loc::new(3, 9);
    let load = |k: &mut Kernel, buffer, line| {
        let index = k.push_expr(
            Expr::Builtin(Builtin::GlobalIdx(Axis::X)),
            Scalar::Usize,
            at,
        );
        let site = Some(site(k, buffer, line));
        let load = Expr::Load {
            memory: Memory::Slice(buffer),
            index,
            site,
        };
        k.push_expr(load, Scalar::F32, at)
    };
    let factor = k.push_expr(Expr::Param(a), Scalar::F32, at);
    let lhs = load(&mut k, x, 3);
    let product = binary(&mut k, BinaryOp::Mul, factor, lhs);
    let rhs = load(&mut k, y, 4);
    let value = binary(&mut k, BinaryOp::Add, product, rhs);
    let index = k.push_expr(
        Expr::Builtin(Builtin::GlobalIdx(Axis::X)),
        Scalar::Usize,
        at,
    );
    let store = Stmt::Store {
        memory: Memory::Slice(y),
        index,
        value,
        site: Some(site(&mut k, y, 5)),
    };
    let store = k.push_stmt(store, at);
    k.body = k.push_block(&[store]);
    def(k, axpy_body)
}

/// A call of [`axpy`]; all calls share one kernel.
pub(crate) fn axpy_call<'a>(a: f32, x: &'a Vector<f32>, y: &'a mut Vector<f32>) -> Launch<'a> {
    static AXPY: LazyLock<KernelDef> = LazyLock::new(axpy);
    // SAFETY: the arguments are those of `axpy`, which the definition runs.
    unsafe { Launch::of(&AXPY, [a.into(), x.into(), y.into()]) }
}

/// A definition that lives until the test run ends; to the caches, each one is a different kernel.
pub(crate) fn def(ir: Kernel, run: RunBlocks) -> KernelDef {
    KernelDef {
        ir: Box::leak(Box::new(ir.into())),
        links: sarek_ir::link::Links::default,
        sources: &[],
        direct: Direct {
            run,
            #[cfg(feature = "reference")]
            reference: KernelDef::BROKEN.direct.reference,
            cost: 1,
            row_wise: false,
            any_block: false,
            tall: false,
            arrays: 0,
            constants: 0,
        },
        environments: &[],
        optimize: false,
    }
}

pub(crate) fn leak(def: KernelDef) -> &'static KernelDef {
    Box::leak(Box::new(def))
}

pub(crate) fn param(name: &'static str, kind: ParamKind) -> Param {
    Param {
        name: Cow::Borrowed(name),
        kind,
        align: 0,
    }
}

fn site(k: &mut Kernel, param: ParamId, line: u32) -> SiteId {
    k.push_site(Site {
        kind: SiteKind::Index(Memory::Slice(param)),
        loc: Loc::new(line, 9),
        provable: true,
    })
}

fn binary(
    k: &mut Kernel,
    op: BinaryOp,
    lhs: sarek_ir::ExprId,
    rhs: sarek_ir::ExprId,
) -> sarek_ir::ExprId {
    k.push_expr(Expr::Binary { op, lhs, rhs }, Scalar::F32, Loc::default())
}

/// # Safety
/// As for [`RunBlocks`].
unsafe fn axpy_body(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    _checked: bool,
) -> Result<(), RawFault> {
    let [
        DirectArg::Scalar(sarek_ir::Value::F32(a)),
        DirectArg::Slice {
            ptr: x, len: x_len, ..
        },
        DirectArg::Slice {
            ptr: y, len: y_len, ..
        },
    ] = args
    else {
        panic!("{args:?}");
    };
    // SAFETY: the launch lends `x_len` floats for reading and `y_len` others for writing.
    let (x, y) = unsafe {
        (
            std::slice::from_raw_parts(x.cast_const().cast::<f32>(), *x_len),
            std::slice::from_raw_parts_mut(y.cast::<f32>(), *y_len),
        )
    };
    let width = u64::from(space.block[0]);
    for i in blocks.start * width..(blocks.end * width).min(space.extent[0]) {
        let fault = |site| RawFault {
            site: SiteId(site),
            detail: i,
            thread: [i, 0, 0],
        };
        let from = x.get(i as usize).ok_or(fault(0))?;
        let to = y.get_mut(i as usize).ok_or(fault(1))?;
        *to += f32::from_bits(*a) * from;
    }
    Ok(())
}

/// The function that the fake GPU runs for a kernel of this name.
pub(crate) fn on_gpu(name: &str) -> fn(&Run) {
    match name {
        "axpy" => axpy_on_gpu,
        _ => |_| (),
    }
}

fn axpy_on_gpu(run: &Run) {
    let a = f32::from_bits(run.scalar(0) as u32);
    let floats = |bytes: &[u8]| -> Vec<f32> {
        let words = bytes.chunks_exact(4).map(|w| w.try_into().unwrap());
        words.map(f32::from_ne_bytes).collect()
    };
    let x = run.with_buffer(1, |bytes| floats(bytes));
    let (x_len, y_len) = (run.len(1), run.len(2));
    run.with_buffer(2, |y| {
        for i in 0..run.space.extent[0] {
            if i >= x_len || i >= y_len {
                run.fault(u32::from(i < x_len), i);
                continue;
            }
            let at = 4 * i as usize;
            let old = floats(&y[at..at + 4])[0];
            y[at..at + 4].copy_from_slice(&(old + a * x[i as usize]).to_ne_bytes());
        }
    });
}
