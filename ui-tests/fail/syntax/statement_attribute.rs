use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    #[cfg(unix)]
    let x = 1.0;
    out[i] = x;
}

fn main() {}
