use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    std::thread::yield_now();
    out[i] = 1.0;
}

fn main() {}
