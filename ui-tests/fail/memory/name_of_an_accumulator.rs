use sarek::prelude::*;

#[kernel]
fn k(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let __total = 5;
    y[i] = x.iter().map(|v| v + __total).sum::<u32>();
    let __v = 3;
    y[i] += Some(4).map_or(0, |w: u32| w + __v);
}

fn main() {}
