//! The sum of each block of 256 elements, by a tree reduction in shared memory.

use sarek::prelude::*;

#[kernel(block = 256)]
fn sums(x: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 256>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { 0.0 };
    barrier();
    let mut s = 128;
    while s > 0 {
        if t < s {
            tile[t] += tile[t + s];
        }
        barrier();
        s /= 2;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

fn main() -> sarek::Result<()> {
    let x: Vec<f32> = (0..1000u16).map(|i| f32::from(i % 7)).collect();
    let blocks = x.len().div_ceil(256);
    let expected: Vec<f32> = x.chunks(256).map(|block| block.iter().sum()).collect();
    let x = Vector::from_vec(x);
    let mut out = Vector::zeros(blocks);
    sums(&x, &mut out).grid(blocks).run()?;
    let found = out.to_vec()?;
    println!("{found:?} on {}", Device::best()?);
    assert_eq!(found, expected, "the same as plain Rust");
    Ok(())
}
