use sarek::prelude::*;

#[kernel]
fn k(times: u32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    for _ in times {
        y[i] += x[i];
    }
    let often = 3;
    for _ in often {
        y[i] += x[i];
    }
}

fn main() {}
