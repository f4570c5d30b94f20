use sarek::prelude::*;

#[kernel]
fn wrong(steps: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    for _ in 0..steps[i] {
        superstep! {
            out[i] = 1.0;
        }
    }
}

fn main() {}
