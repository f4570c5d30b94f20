use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if let Some(v) = x.get(i..) {
        out[i] = v[0];
    }
}

fn main() {}
