use sarek::prelude::*;

#[kernel]
async fn wrong(by: &f32, x: &mut [i128], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1.5;
    y[i] = "text";
}

fn main() {}
