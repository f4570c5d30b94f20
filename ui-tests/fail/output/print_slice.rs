use sarek::prelude::*;

#[kernel(block = 4)]
fn wrong(x: &[u32]) {
    let tile = shared_array::<u32, 4>();
    tile[thread_idx_x()] = 1;
    println!("{:?} {tile:?}", x);
}

fn main() {}
