use sarek::prelude::*;

#[kernel]
fn wrong<const N: usize>(out: &mut [u32]) {
    out[global_idx_x()] = N as u32;
}

fn main() {
    let mut out = Vector::zeros(4);
    let _ = wrong(&mut out).over(4usize).run();
}
