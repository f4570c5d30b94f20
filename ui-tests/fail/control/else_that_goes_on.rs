use sarek::prelude::*;

#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let found = if x[i] > 4 { Some(x[i]) } else { None };
    let Some(n) = found else {
        y[i] = 0;
    };
    y[i] = n;
}

fn main() {}
