use sarek::prelude::*;

fn touch(x: f32) {}

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    touch(1.0);
    out[i] = 1.0;
}

fn main() {}
