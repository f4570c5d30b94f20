//! Prints the text of an optimized kernel, to judge it by eye or by a target's tools:
//! `cargo run -p sarek-ir --example staged -- product cuda 2048 2048 2048`.
//!
//! The arguments are a kernel (`product`, `bodies`, `rows`, `transpose`), a dialect, and sizes: rows, columns and turns.

use sarek_ir::optimize::{Merge, Optimization, Spread, Stage};
use sarek_ir::sketch::Sketch;
use sarek_ir::write::{IndexWidth, default_variant, dialect, render};
use sarek_ir::{Axis, Builtin, Intrinsic, Kernel, ParamId, Scalar};

/// `c[y][x]`: the sum of `a[y][k] * b[k][x]` over `k`. The matrices have `n` and `k` columns.
fn product() -> Kernel {
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
fn bodies() -> Kernel {
    let s = Sketch::new("bodies");
    let all = s.slice("all", Scalar::F32);
    let force = s.slice_mut("force", Scalar::F32);
    let (_, n) = (
        s.scalar("unused", Scalar::Usize),
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
fn rows() -> Kernel {
    let s = Sketch::new("rows");
    let (a, v) = (s.slice("a", Scalar::F32), s.slice("v", Scalar::F32));
    let out = s.slice_mut("out", Scalar::F32);
    let n = s.scalar("n", Scalar::Usize);
    let x = s.let_("x", s.id(Builtin::GlobalIdx(Axis::X)));
    let sum = s.let_mut("sum", s.f32(0.0));
    s.for_("k", s.n(0), s.arg(n), |k, _| {
        let product = s.load(a, x.get() * s.arg(n) + k.get()) * s.load(v, k.get());
        s.set(sum, sum.get() + product);
    });
    s.store(out, x.get(), sum.get());
    s.finish()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, other: &str| args.get(at).cloned().unwrap_or_else(|| other.to_owned());
    let size = |at: usize| word(at, "2048").parse::<u64>().expect("a size is a number");
    let [high, wide, turns] = [2, 3, 4].map(size);
    let (kernel, tile, factors, chunk, extent) = match &*word(0, "product") {
        "product" => (product(), [128, 128, 1], [8, 8], 8, [wide, high, 1]),
        "middle" => (product(), [64, 128, 1], [8, 4], 16, [wide, high, 1]),
        "bodies" => (bodies(), [256, 1, 1], [1, 1], 256, [high, 1, 1]),
        "rows" => (rows(), [32, 1, 1], [1, 1], 64, [high, 1, 1]),
        other => panic!("no kernel is called {other}"),
    };
    let mut block = tile;
    let merges = [(Axis::Y, factors[1]), (Axis::X, factors[0])];
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
    let params = (0..kernel.params.len() as u32).map(ParamId);
    let is_slice = |param: &ParamId| param.index() < kernel.params.len() - 1 && param.index() < 3;
    let multiples = [(3, wide), (4, turns)].into_iter();
    let multiples =
        multiples.filter(|(param, n)| *param < kernel.params.len() as u32 && n % 4 == 0);
    let plan = Optimization {
        aligned: params.filter(is_slice).collect(),
        multiples: multiples.map(|(param, _)| (ParamId(param), 4)).collect(),
        stage: Some(Stage {
            rest: turns % u64::from(chunk) != 0,
            ..Stage::new(tile, block, chunk, extent)
        }),
        merges: merges.collect(),
        ..Optimization::default()
    };
    eprintln!("{plan}; {:?} threads", plan.threads(extent));
    let kernel = plan.apply(&kernel).expect("the plan fits");
    let dialect = dialect(&word(1, "cuda")).expect("a dialect is cuda, opencl or wgsl");
    let mut variant = default_variant(&kernel, dialect);
    variant.index = IndexWidth::Bits32;
    let source = render(&kernel, dialect, &variant).expect("every dialect can write it");
    println!("{}", source.text);
}
