use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    const NONE: usize = 0;
    let i = global_idx_x();
    let n = x.len();
    let mut sum = 0.0;
    #[unroll(0)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll(5000)]
    while sum > 1.0 {
        sum /= 2.0;
    }
    #[unroll(NONE)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll(n)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll("4")]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll = 4]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll(2, 3)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll]
    #[unroll(2)]
    for k in 0..4 {
        sum += x[k];
    }
    out[i] = sum;
}

fn main() {}
