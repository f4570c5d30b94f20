use sarek::prelude::*;

#[kernel]
fn k(n: usize, y: &mut [u32]) {
    let flags = shared_slice::<[bool; 2]>(n);
    let rows = shared_slice::<[u32; 3]>(thread_idx_x());
    let good = shared_slice::<[u32; 3]>(n);
    good[0][3] = 1;
    good[0] = [1, 2, 3];
    y[0] = good[1].len() as u32 + good[1][0][2];
}

fn main() {}
