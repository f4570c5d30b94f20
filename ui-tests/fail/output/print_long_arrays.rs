use sarek::prelude::*;

#[kernel]
fn wrong<const N: usize>(out: &mut [u32]) {
    let long = [0u32; 2000];
    let open = [1u32; N];
    println!("{long:?} {:?}", open);
    out[global_idx_x()] = long[0] + open[0];
}

fn main() {}
