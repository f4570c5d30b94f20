//! Tests of the transformations, one file for each.

mod merge;
mod privatize;
mod random;
mod square;
mod stage;
mod window;

use crate::interp::{Host, Machine};
use crate::nodes::Ids;
use crate::sketch::Sketch;
use crate::{Axis, Builtin, Kernel, Scalar};

/// Runs a launch of whole blocks, or of blocks of one thread.
fn run_blocks(kernel: &Kernel, threads: [u64; 3], host: &mut impl Host) {
    let block = kernel.block.unwrap_or([1; 3]).map(u64::from);
    let grid = [0, 1, 2].map(|axis| threads[axis] / block[axis]);
    assert_eq!([0, 1, 2].map(|axis| grid[axis] * block[axis]), threads);
    let mut machine = Machine::new(kernel);
    for at in 0..grid.iter().product() {
        let ids = Ids {
            thread_idx: [0; 3],
            block_idx: [at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]],
            block_dim: block,
            grid_dim: grid,
            global_dim: threads,
        };
        machine.run(&ids, block, host).expect("no check is left");
    }
}

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
