use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    let x: u32 = unsafe { native!("cuda", "threadIdx.x") };
    out[i] = x;
}

fn main() {}
