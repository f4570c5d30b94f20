//! All pairs of bodies, tile by tile.

use super::{in_blocks, small};
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/nbody", &[], nbody)];

#[kernel]
fn nbody_kernel(place: &[f32], mass: &[f32], pull: &mut [f32]) {
    let places = shared_array::<f32, 1024>();
    let masses = shared_array::<f32, 1024>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let n = place.len();
    let own = if i < n { place[i] } else { 0.0 };
    let mut sum = 0.0;
    let mut first = 0;
    while first < n {
        let there = first + t < n;
        places[t] = if there { place[first + t] } else { 0.0 };
        masses[t] = if there { mass[first + t] } else { 0.0 };
        barrier();
        for k in 0..block_dim_x().min(n - first) {
            sum += masses[k] * (places[k] - own);
        }
        barrier();
        first += block_dim_x();
    }
    if i < n {
        pull[i] = sum;
    }
}

fn nbody(device: &Device) -> Check {
    in_blocks(device, |n, _, block| {
        let n = n.min(130);
        let grid = n.div_ceil(block);
        let (place, mass) = (small(1, n), small(2, n));
        let of = |i: usize| (0..n).map(|k| mass[k] * (place[k] - place[i])).sum();
        let expected: Vec<f32> = (0..n).map(of).collect();
        let mut pull = sentinel_filled(n);
        nbody_kernel(
            &Vector::from_slice(&place),
            &Vector::from_slice(&mass),
            &mut pull,
        )
        .grid(grid)
        .block(block)
        .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &pull, &expected)
    })
}
