use sarek::prelude::*;

#[kernel]
fn k(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x.windows(2).map(|w| w[0] * w[1]).sum::<u32>();
    y[i] += x.chunks_exact(2).any(|c| c[0] == c[1]) as u32;
}

fn main() {}
