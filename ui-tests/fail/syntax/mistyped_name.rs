use sarek::prelude::*;

#[device]
fn shifted(amount: f32) -> f32 {
    amuont + 1.0
}

#[kernel]
fn scale(x: &mut [f32], factor: f32) {
    let index = global_idx_x();
    x[index] *= facter + shifted(1.0);
    x[index] += indx as f32;
}

fn main() {}
