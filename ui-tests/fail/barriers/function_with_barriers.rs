use sarek::prelude::*;

#[device]
fn wait(x: f32) -> f32 {
    barrier();
    x
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        out[i] = wait(x[i]);
    }
}

fn main() {}
