use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = unsafe { native!("cuda", "{v}" as u32, v = 1u32, v = 2u32) };
}

fn main() {}
