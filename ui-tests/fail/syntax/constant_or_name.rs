use sarek::prelude::*;

const LIMIT: u32 = 3;

#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = match x[i] {
        LIMIT => 1,
        _ => 0,
    };
}

fn main() {}
