use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    unsafe {
        native! { "OpenCL" => ";", "wgpu" => ";", _ => {} }
    }
    out[i] = 1;
}

fn main() {}
