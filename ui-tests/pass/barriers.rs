//! Every legal place of a barrier: after an early return, in uniform loops and branches, and in `superstep!`.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn after_a_return(n: usize, x: &[i32], out: &mut [i32]) {
    let tile = shared_array::<i32, 64>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = 0;
    if i >= n {
        return;
    }
    tile[t] = x[i];
    barrier();
    out[i] = tile[63 - t];
}

#[kernel]
fn halves(x: &[i32], out: &mut [i32]) {
    let tile = shared_slice::<i32>(block_dim_x());
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut stride = block_dim_x() / 2;
    while stride > 0 {
        superstep! {
            if t < stride {
                tile[t] += tile[t + stride];
            }
        }
        stride /= 2;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

#[kernel]
fn uniform_branch(steps: usize, out: &mut [i32]) {
    let i = global_idx_x();
    for k in 0..steps {
        if k > 1 {
            break;
        }
        out[i] += 1;
        barrier();
        block_fence();
        device_fence();
    }
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec((0..128).collect());
    let mut out = Vector::zeros(128);
    after_a_return(128, &x, &mut out).grid(2).block(64).run()?;
    let due: Vec<i32> = (0..64).rev().chain((64..128).rev()).collect();
    assert_eq!(out.to_vec()?, due);
    let mut sums = Vector::zeros(2);
    halves(&x, &mut sums).grid(2).block(64).run()?;
    assert_eq!(sums.to_vec()?, [2016, 6112]);
    let mut out = Vector::zeros(128);
    uniform_branch(5, &mut out).grid(2).block(64).run()?;
    assert_eq!(out.to_vec()?, [2; 128]);
    Ok(())
}
