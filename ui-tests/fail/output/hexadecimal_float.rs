use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    println!("{:x}", 1.5f32);
    out[i] = 1;
}

fn main() {}
