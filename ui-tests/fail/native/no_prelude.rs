use sarek::prelude::*;

const HELPERS: &str = "#include <cuda_fp16.h>";

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = unsafe { native!("cuda", "1u" as u32, use HELPERS) };
}

fn main() {}
