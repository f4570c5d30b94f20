use sarek::prelude::*;

#[allow(non_upper_case_globals)]
const limit: i32 = 3;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = match x[i] {
        limit => 1,
        _ => 2,
    };
}

fn main() {}
