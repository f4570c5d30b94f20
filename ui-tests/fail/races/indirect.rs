use sarek::prelude::*;

#[kernel]
fn wrong(at: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    out[at[i] as usize] = 1.0;
}

fn main() {}
