//! Tests of the transformations, one file for each.

mod merge;
mod random;
mod square;
mod stage;

use crate::sketch::Sketch;
use crate::{Axis, Builtin, Kernel, Scalar};

/// `y[i] = a * x[i] + y[i]`
fn saxpy() -> Kernel {
    let s = Sketch::new("saxpy");
    let (a, x, y) = (
        s.scalar("a", Scalar::F32),
        s.slice("x", Scalar::F32),
        s.slice_mut("y", Scalar::F32),
    );
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.store(
        y,
        i.get(),
        s.arg(a) * s.load(x, i.get()) + s.load(y, i.get()),
    );
    s.finish()
}

/// `c[y][x]`: the sum of `a[y][k] * b[k][x]` over `k`.
fn product() -> Kernel {
    let s = Sketch::new("product");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let (c, n) = (s.slice_mut("c", Scalar::F32), s.scalar("n", Scalar::Usize));
    let (x, y) = (
        s.let_("x", s.id(Builtin::GlobalIdx(Axis::X))),
        s.let_("y", s.id(Builtin::GlobalIdx(Axis::Y))),
    );
    let sum = s.let_mut("sum", s.f32(0.0));
    s.for_("k", s.n(0), s.arg(n), |k, _| {
        let left = s.load(a, y.get() * s.arg(n) + k.get());
        let right = s.load(b, k.get() * s.arg(n) + x.get());
        s.set(sum, sum.get() + left * right);
    });
    s.store(c, y.get() * s.arg(n) + x.get(), sum.get());
    s.finish()
}
