use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = unsafe { native! { "cuda" => "threadIdx.x" as u32, _ => {} } };
}

fn main() {}
