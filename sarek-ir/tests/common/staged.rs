//! Plain kernels whose loops are staged, and their plans.

use sarek_ir::optimize::{Merge, Optimization, Spread, Square, Stage};
use sarek_ir::sketch::Sketch;
use sarek_ir::{Axis, Builtin, Intrinsic, Kernel, ParamId, ParamKind, Scalar};

/// `c[y][x]`: the sum of `a[y][k] * b[k][x]` over `k`. The matrices have `n` and `k` columns.
pub fn product() -> Kernel {
    let s = Sketch::new("product");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let c = s.slice_mut("c", Scalar::F32);
    let (n, turns) = (s.scalar("n", Scalar::Usize), s.scalar("k", Scalar::Usize));
    let [x, y] = [(Axis::X, "x"), (Axis::Y, "y")]
        .map(|(axis, name)| s.let_(name, s.id(Builtin::GlobalIdx(axis))));
    let sum = s.let_mut("sum", s.f32(0.0));
    s.for_("i", s.n(0), s.arg(turns), |i, _| {
        let left = s.load(a, y.get() * s.arg(turns) + i.get());
        let right = s.load(b, i.get() * s.arg(n) + x.get());
        s.set(sum, sum.get() + left * right);
    });
    s.store(c, y.get() * s.arg(n) + x.get(), sum.get());
    s.finish()
}

/// The force of all bodies on each, where a body is four numbers.
pub fn bodies() -> Kernel {
    let s = Sketch::new("bodies");
    let all = s.slice("all", Scalar::F32);
    let force = s.slice_mut("force", Scalar::F32);
    let (_, n) = (
        s.scalar("threads", Scalar::Usize),
        s.scalar("n", Scalar::Usize),
    );
    let x = s.let_("x", s.id(Builtin::GlobalIdx(Axis::X)));
    let part = |at: sarek_ir::sketch::SketchLocal<'_>, unit| all_part(&s, all, at.id, unit);
    let own = [0, 1, 2].map(|unit| s.let_("own", part(x, unit)));
    let sums = [0, 1, 2].map(|_| s.let_mut("sum", s.f32(0.0)));
    s.for_("k", s.n(0), s.arg(n), |k, _| {
        let other = [0, 1, 2, 3].map(|unit| s.let_("other", part(k, unit)));
        let d = [0, 1, 2].map(|i| s.let_("d", other[i].get() - own[i].get()));
        let square = d[0].get() * d[0].get() + d[1].get() * d[1].get() + d[2].get() * d[2].get();
        let square = s.let_("square", square + s.f32(0.01));
        let inverse = s.let_("inverse", s.call(Intrinsic::Sqrt, &[square.get()]));
        let cube = s.let_("cube", other[3].get() / (square.get() * inverse.get()));
        for i in 0..3 {
            s.set(sums[i], sums[i].get() + d[i].get() * cube.get());
        }
    });
    for (i, sum) in sums.iter().enumerate() {
        s.store(force, x.get() * s.n(4) + s.n(i as u64), sum.get());
    }
    s.finish()
}

fn all_part<'s>(
    s: &'s Sketch,
    all: ParamId,
    at: sarek_ir::LocalId,
    unit: u64,
) -> sarek_ir::sketch::SketchExpr<'s> {
    s.load(all, s.read(at) * s.n(4) + s.n(unit))
}

/// The product of a matrix and a vector, a row a thread.
pub fn rows() -> Kernel {
    let s = Sketch::new("rows");
    let (a, v) = (s.slice("a", Scalar::F32), s.slice("v", Scalar::F32));
    let out = s.slice_mut("out", Scalar::F32);
    let (_, n) = (
        s.scalar("threads", Scalar::Usize),
        s.scalar("n", Scalar::Usize),
    );
    let x = s.let_("x", s.id(Builtin::GlobalIdx(Axis::X)));
    let sum = s.let_mut("sum", s.f32(0.0));
    s.for_("k", s.n(0), s.arg(n), |k, _| {
        let product = s.load(a, x.get() * s.arg(n) + k.get()) * s.load(v, k.get());
        s.set(sum, sum.get() + product);
    });
    s.store(out, x.get(), sum.get());
    s.finish()
}

/// The transposition of a matrix with `wide` columns and `high` rows.
pub fn transpose() -> Kernel {
    let s = Sketch::new("transpose");
    let (from, to) = (s.slice("from", Scalar::F32), s.slice_mut("to", Scalar::F32));
    let (wide, high) = (
        s.scalar("wide", Scalar::Usize),
        s.scalar("high", Scalar::Usize),
    );
    let [x, y] = [(Axis::X, "x"), (Axis::Y, "y")]
        .map(|(axis, name)| s.let_(name, s.id(Builtin::GlobalIdx(axis))));
    let value = s.load(from, y.get() * s.arg(wide) + x.get());
    s.store(to, x.get() * s.arg(high) + y.get(), value);
    s.finish()
}

/// The plan of a transposition, in which a thread does the work of four.
pub fn turned(tile: u32, extent: [u64; 3]) -> Optimization {
    let rows = tile / 4;
    let spread = Spread {
        block: rows,
        run: 1,
    };
    Optimization {
        square: Some(Square::new(tile, [tile, rows], true, extent)),
        merges: vec![Merge::staged(Axis::Y, 4, spread)],
        ..Optimization::default()
    }
}

/// The sizes of a staged launch.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub tile: [u32; 3],
    pub factors: [u32; 2],
    pub chunk: u32,
    pub extent: [u64; 3],
    pub turns: u64,
}

/// The plan of a launch whose slices are aligned. Its scalar parameters are the extent along x and the turns.
pub fn plan(kernel: &Kernel, sizes: Sizes) -> Optimization {
    let mut block = sizes.tile;
    let merges = [(Axis::Y, sizes.factors[1]), (Axis::X, sizes.factors[0])];
    for (axis, factor) in merges {
        block[axis.index()] /= factor;
    }
    let merges = merges.into_iter().filter(|(_, factor)| *factor > 1);
    let merges = merges.map(|(axis, factor)| {
        let spread = Spread {
            block: block[axis.index()],
            run: factor.min(4),
        };
        Merge::staged(axis, factor, spread)
    });
    let params = (0..).map(ParamId).zip(kernel.params.iter());
    let is_scalar = |param: &sarek_ir::Param| matches!(param.kind, ParamKind::Scalar(_));
    let (scalars, slices): (Vec<_>, Vec<_>) = params.partition(|(_, param)| is_scalar(param));
    let values = scalars
        .into_iter()
        .map(|(id, _)| id)
        .zip([sizes.extent[0], sizes.turns]);
    let multiples = values.filter(|(_, value)| value.is_multiple_of(4));
    Optimization {
        aligned: slices.into_iter().map(|(id, _)| id).collect(),
        multiples: multiples.map(|(id, _)| (id, 4)).collect(),
        stage: Some(Stage {
            rest: !sizes.turns.is_multiple_of(sizes.chunk.into()),
            ..Stage::new(sizes.tile, block, sizes.chunk, sizes.extent)
        }),
        merges: merges.collect(),
        ..Optimization::default()
    }
}
