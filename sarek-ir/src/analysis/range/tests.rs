use std::collections::BTreeSet;

use super::{ArgFact, LaunchFacts, Ranges, analyse};
use crate::sketch::{E, Sketch};
use crate::{Axis, Builtin, Expr, Intrinsic, Kernel, Precondition, Scalar, SiteId, Value};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const Y: Builtin = Builtin::GlobalIdx(Axis::Y);

/// A launch over `extent` threads with blocks of 64 by 1 by 1.
fn over(kernel: &Kernel, extent: [u64; 3], args: &[ArgFact]) -> Ranges {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let block = [64, 1, 1];
    let grid = [extent[0].div_ceil(64), extent[1], extent[2]];
    analyse(
        kernel,
        &LaunchFacts {
            grid,
            block,
            extent,
            args,
        },
    )
}

/// The sites that were not proved.
fn unproved(kernel: &Kernel, extent: [u64; 3], args: &[ArgFact]) -> Vec<u32> {
    let ranges = over(kernel, extent, args);
    (0..kernel.sites.len() as u32)
        .filter(|&s| !ranges.proved(SiteId(s)))
        .collect()
}

fn len(n: u64) -> ArgFact {
    ArgFact::Len(n)
}

fn scalar(v: u64) -> ArgFact {
    ArgFact::Scalar(Value::Usize(v))
}

#[test]
fn a_guard_by_the_length_proves_the_access() {
    let s = Sketch::new("guarded");
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().lt(s.len(y)), || {
        s.store(y, i.get(), s.load(y, i.get()))
    });
    let k = s.finish();
    assert_eq!(unproved(&k, [1000, 1, 1], &[len(10)]), []);
    assert_eq!(unproved(&k, [1000, 1, 1], &[len(0)]), []);
}

#[test]
fn without_a_guard_the_extent_decides() {
    let s = Sketch::new("exact");
    let y = s.slice_mut("y", Scalar::F32);
    s.store(y, s.id(X), s.f32(0.0));
    let k = s.finish();
    assert_eq!(unproved(&k, [100, 1, 1], &[len(100)]), []);
    assert_eq!(unproved(&k, [100, 1, 1], &[len(99)]), [0]);
    assert_eq!(
        unproved(&k, [0, 1, 1], &[len(0)]),
        [],
        "no threads, no faults"
    );
}

#[test]
fn an_early_return_guards_the_rest() {
    let s = Sketch::new("early");
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().ge(s.len(y)), || s.return_());
    s.store(y, i.get(), s.f32(1.0));
    assert_eq!(unproved(&s.finish(), [1000, 1, 1], &[len(7)]), []);
    let off_by_one = Sketch::new("early");
    let s = &off_by_one;
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().gt(s.len(y)), || s.return_());
    s.store(y, i.get(), s.f32(1.0));
    assert_eq!(unproved(&off_by_one.finish(), [1000, 1, 1], &[len(7)]), [0]);
}

/// `for k in 0..n { c += a[row * n + k] * b[k * m + col] }` under `row < h && col < m`.
#[test]
fn matmul() {
    let s = Sketch::new("matmul");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let c = s.slice_mut("c", Scalar::F32);
    let (h, n, m) = (
        s.scalar("h", Scalar::Usize),
        s.scalar("n", Scalar::Usize),
        s.scalar("m", Scalar::Usize),
    );
    let (row, col) = (s.let_("row", s.id(Y)), s.let_("col", s.id(X)));
    let inside = row.get().lt(s.arg(h)).and(col.get().lt(s.arg(m)));
    s.if_(inside, || {
        let acc = s.let_mut("acc", s.f32(0.0));
        s.for_("k", s.n(0), s.arg(n), |k, _| {
            let x = s.load(a, row.get() * s.arg(n) + k.get());
            let y = s.load(b, k.get() * s.arg(m) + col.get());
            s.set(acc, acc.get() + x * y);
        });
        s.store(c, row.get() * s.arg(m) + col.get(), acc.get());
    });
    let k = s.finish();
    let args = |la, lb, lc| {
        [
            len(la),
            len(lb),
            len(lc),
            scalar(30),
            scalar(20),
            scalar(50),
        ]
    };
    assert_eq!(unproved(&k, [64, 32, 1], &args(600, 1000, 1500)), []);
    assert_eq!(unproved(&k, [64, 32, 1], &args(599, 1000, 1500)), [0]);
    assert_eq!(unproved(&k, [64, 32, 1], &args(600, 999, 1499)), [1, 2]);
    assert!(over(&k, [64, 32, 1], &args(600, 1000, 1500)).fits_u32());
}

/// The interior of a five-point stencil.
fn stencil(guard: impl for<'s> Fn(&'s Sketch, [E<'s>; 4], [E<'s>; 2]) -> E<'s>) -> Kernel {
    let s = Sketch::new("stencil");
    let a = s.slice("a", Scalar::F32);
    let b = s.slice_mut("b", Scalar::F32);
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    let (x, y) = (s.let_("x", s.id(X)), s.let_("y", s.id(Y)));
    let one = || s.n(1);
    let cond = guard(
        &s,
        [x.get(), x.get(), y.get(), y.get()],
        [s.arg(w), s.arg(h)],
    );
    s.if_(cond, || {
        let at = |dy: E<'_>, dx: E<'_>| s.load(a, dy.id_mul(&s, w) + dx);
        let sum = at(clone(&s, y.get() - one()), x.get())
            + at(y.get() + one(), x.get())
            + at(y.get(), x.get() - one())
            + at(y.get(), x.get() + one());
        s.store(b, y.get() * s.arg(w) + x.get(), sum);
    });
    s.finish()
}

fn clone<'s>(_: &'s Sketch, e: E<'s>) -> E<'s> {
    e
}

trait IdMul<'s> {
    fn id_mul(self, s: &'s Sketch, w: crate::ParamId) -> E<'s>;
}

impl<'s> IdMul<'s> for E<'s> {
    fn id_mul(self, s: &'s Sketch, w: crate::ParamId) -> E<'s> {
        self * s.arg(w)
    }
}
