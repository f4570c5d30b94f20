use sarek::prelude::*;

#[kernel]
fn wrong(n: i32, x: &mut [f32]) {
    let i = global_idx_x();
    if i < n {
        x[i] = 1.0;
    }
}

fn main() {}
