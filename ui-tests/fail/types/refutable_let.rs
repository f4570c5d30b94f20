use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let found = if x[i] > 0 { Some(x[i]) } else { None };
    let Some(value) = found;
    out[i] = value;
}

fn main() {}
