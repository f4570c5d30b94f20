use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = match x[i] {
        0 => 1,
        1..=9 => 2,
    };
}

fn main() {}
