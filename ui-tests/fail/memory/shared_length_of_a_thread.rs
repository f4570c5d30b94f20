use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let n = x[0] as usize;
    let read = shared_slice::<f32>(n);
    let own = shared_slice::<f32>(thread_idx_x() + 1);
    out[global_idx_x()] = 1.0;
}

fn main() {}
