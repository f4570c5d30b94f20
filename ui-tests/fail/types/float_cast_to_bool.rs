use sarek::prelude::*;

#[kernel]
fn test(x: &[f32], y: &mut [u32]) {
    let i = global_idx_x();
    if x[i] as bool {
        y[i] = 1;
    }
}

fn main() {}
