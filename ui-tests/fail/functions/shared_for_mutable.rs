use sarek::prelude::*;

#[device]
fn bump(v: &mut f32) {
    *v += 1.0;
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let v = x[i];
    bump(&v);
    y[i] = v;
}

fn main() {}
