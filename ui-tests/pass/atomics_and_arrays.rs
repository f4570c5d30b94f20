//! Atomics in both memory spaces, local arrays, subgroup operations, and a tile of two dimensions.
#![deny(warnings, unsafe_op_in_unsafe_fn)]

use sarek::prelude::*;

#[kernel]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, 4>();
    let t = thread_idx_x();
    if t < 4 {
        own[t].store(0);
    }
    barrier();
    own[x[global_idx_x()] as usize % 4].fetch_add(1);
    barrier();
    if t < 4 {
        bins[t].fetch_add(own[t].load());
    }
}

#[kernel]
fn local_array(out: &mut [f32]) {
    let mut sums = [0.0f32; 4];
    for k in 0..8 {
        sums[k % 4] += k as f32;
    }
    out[global_idx_x()] = sums[0] + sums[1] + sums[2] + sums[3];
}

#[kernel]
fn largest(x: &[i32], out: &[Atomic<i32>]) {
    let most = subgroup_max(x[global_idx_x()]);
    out[0].fetch_max(most);
}

/// # Safety
/// The extents are multiples of 16.
#[kernel(block = (16, 16))]
unsafe fn transpose(width: usize, height: usize, x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<[f32; 17], 16>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    tile[ty][tx] = x[global_idx_y() * width + global_idx_x()];
    barrier();
    y[(block_idx_x() * 16 + ty) * height + block_idx_y() * 16 + tx] = tile[tx][ty];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec((0..128).collect());
    let mut bins = Vector::zeros(4);
    histogram(&x, &mut bins).grid(2).block(64).run()?;
    assert_eq!(bins.to_vec()?, [32; 4]);
    let mut out = Vector::zeros(3);
    local_array(&mut out).over(3).run()?;
    assert_eq!(out.to_vec()?, [28.0; 3]);
    let mut most = Vector::zeros(1);
    let x = Vector::from_vec((0..128).collect());
    largest(&x, &mut most).grid(2).block(64).run()?;
    assert_eq!(most.to_vec()?, [127]);
    let x = Vector::from_vec((0..32 * 16).map(|i| i as f32).collect());
    let mut y = Vector::zeros(32 * 16);
    // SAFETY: the extents are multiples of 16.
    unsafe { transpose(32, 16, &x, &mut y) }.grid((2, 1)).run()?;
    assert_eq!(y.to_vec()?[..3], [0.0, 32.0, 64.0]);
    Ok(())
}
