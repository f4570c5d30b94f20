use sarek::prelude::*;

#[derive(Clone, Copy, Debug, KernelType)]
#[repr(C)]
struct Long {
    rows: [[f32; 33]; 32],
}

#[kernel]
fn wrong<const N: usize>(x: &[Long], out: &mut [u32]) {
    let long = x[0];
    println!("{long:?}");
    println!("{:?}", (1u32, Some(x[1])));
    println!("{:?}", [[0u8; 200]; 6]);
    println!("{:?}", long.rows[0]);
    out[global_idx_x()] = 1;
}

fn main() {}
