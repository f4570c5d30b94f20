use sarek::prelude::*;

#[kernel(strict)]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let v = x[i];
    let root: f32 = unsafe {
        native! { "cuda" => "__fsqrt_rz({v})" as f32, _ => { v.sqrt() } }
    };
    out[i] = root;
}

fn main() {}
