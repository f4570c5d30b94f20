//! Compiles and runs a kernel given as data with a device's renderer and compiler. Checks that the writer and the
//! backend agree on the passing of arguments and the place of fault records.

use sarek_ir::write::{FAULT_WORDS, IndexWidth, SlotKind, Source, Variant};
use sarek_ir::{
    Access, Axis, BinaryOp, Builtin, Expr, Kernel, Loc, Memory, Param, ParamId, ParamKind, Scalar,
    Site, SiteId, SiteKind, Stmt,
};
use sarek_runtime::backend::{Arg, Codegen, Slice};

use crate::rig::{BLOCK, Rig, buffer, scalar};

const LOC: Loc = Loc::new(1, 1);
const X: ParamId = ParamId(1);
const Y: ParamId = ParamId(2);

/// `fn axpy(a: f32, x: &[f32], y: &mut [f32]) { let i = global_idx_x(); y[i] = a * x[i] + y[i] }`. The load of `x` and
/// the store are sites 0 and 1.
pub fn axpy() -> Kernel {
    let mut k = Kernel::new("axpy");
    let param = |name: &'static str, kind| Param {
        name: name.into(),
        kind,
        align: 0,
    };
    let slice = |access| ParamKind::Slice {
        elem: Scalar::F32.into(),
        access,
    };
    k.params = vec![
        param("a", ParamKind::Scalar(Scalar::F32)),
        param("x", slice(Access::Read)),
        param("y", slice(Access::Write)),
    ]
    .into();
    let [load, store] = [X, Y].map(|param| {
        k.push_site(Site {
            kind: SiteKind::Index(param.into()),
            loc: LOC,
            provable: true,
        })
    });
    let index = |k: &mut Kernel| {
        let id = Expr::Builtin(Builtin::GlobalIdx(Axis::X));
        k.push_expr(id, Scalar::Usize, LOC)
    };
    let a = k.push_expr(Expr::Param(ParamId(0)), Scalar::F32, LOC);
    let [x, y] = [(X, Some(load)), (Y, None)].map(|(buffer, site)| {
        let index = index(&mut k);
        let load = Expr::Load {
            memory: Memory::Slice(buffer),
            index,
            site,
        };
        k.push_expr(load, Scalar::F32, LOC)
    });
    let binary =
        |k: &mut Kernel, op, lhs, rhs| k.push_expr(Expr::Binary { op, lhs, rhs }, Scalar::F32, LOC);
    let product = binary(&mut k, BinaryOp::Mul, a, x);
    let value = binary(&mut k, BinaryOp::Add, product, y);
    let index = index(&mut k);
    let store = k.push_stmt(
        Stmt::Store {
            memory: Memory::Slice(Y),
            index,
            value,
            site: Some(store),
        },
        LOC,
    );
    k.body = k.push_block(&[store]);
    k
}

/// The values for the slots of [`axpy`].
struct Values {
    a: f32,
    x: (Slice, u64),
    y: (Slice, u64),
    threads: u64,
    faults: Slice,
}

impl Values {
    fn args(&self, source: &Source) -> Vec<Arg> {
        let of = |param| if param == X { &self.x } else { &self.y };
        source
            .slots
            .iter()
            .map(|slot| {
                let index = |value: u64| match slot.ty {
                    Scalar::U64 => scalar(value),
                    _ => scalar(u32::try_from(value).expect("a small index")),
                };
                match slot.kind {
                    SlotKind::Buffer { param, .. } => buffer(&of(param).0),
                    SlotKind::Len(Memory::Slice(param)) => index(of(param).1),
                    SlotKind::Len(Memory::Shared(_) | Memory::Local(_) | Memory::Table(_))
                    | SlotKind::Shared(_) => {
                        panic!("it has neither")
                    }
                    SlotKind::Scalar(_) => scalar(self.a),
                    SlotKind::Extent(_) => index(self.threads),
                    SlotKind::Grid(_) => panic!("the grid is not folded"),
                    SlotKind::Output(_) => panic!("nothing is printed"),
                    SlotKind::Faults => buffer(&self.faults),
                }
            })
            .collect()
    }
}

/// Runs [`axpy`] over `threads`, where `x` has `x_len` elements. Returns `y` and the fault record.
fn run(rig: &Rig, index: IndexWidth, checked: &[u32], x_len: u32) -> (Vec<f32>, Vec<u32>) {
    const THREADS: u32 = 100;
    let Codegen::Jit(renderer, _) = rig.device.codegen() else {
        panic!("{} compiles source", rig.backend);
    };
    let variant = Variant {
        dims: 1,
        folded: false,
        strided: false,
        index,
        checked: checked.iter().copied().map(SiteId).collect(),
        dense: true,
    };
    let source = renderer.render(&axpy(), &variant).expect("it renders");
    let x: Vec<f32> = (0..x_len).map(|i| i as f32).collect();
    let values = Values {
        a: 2.0,
        x: (rig.upload(&x), u64::from(x_len)),
        y: (rig.upload(&vec![1.0f32; THREADS as usize]), THREADS.into()),
        threads: THREADS.into(),
        faults: rig.upload(&[0u32; FAULT_WORDS]),
    };
    let program = rig.program(&source, BLOCK);
    let args = values.args(&source);
    rig.launch(&program, THREADS, &args).expect("it launches");
    (rig.download(&values.y.0), rig.download(&values.faults))
}

fn widths(rig: &Rig) -> Vec<IndexWidth> {
    match rig.device.info().features.i64 {
        true => vec![IndexWidth::Bits32, IndexWidth::Bits64],
        false => vec![IndexWidth::Bits32],
    }
}

pub fn rendered_kernels_run(rig: &Rig) {
    for index in widths(rig) {
        for checked in [&[][..], &[0], &[0, 1]] {
            let (y, faults) = run(rig, index, checked, 100);
            let expected: Vec<f32> = (0..100).map(|i| 2.0 * i as f32 + 1.0).collect();
            assert_eq!(y, expected, "{index:?} {checked:?}");
            assert_eq!(faults, [0; FAULT_WORDS]);
        }
    }
}

pub fn faults_are_recorded(rig: &Rig) {
    for index in widths(rig) {
        let (y, faults) = run(rig, index, &[0, 1], 99);
        assert_eq!(y[98], 197.0, "threads within bounds are not disturbed");
        // Claimed, site 0, index 99, thread (99, 0, 0).
        assert_eq!(faults[0..6], [1, 0, 99, 0, 99, 0], "{index:?}");
        assert_eq!(faults[6..], [0; 4]);
    }
}
