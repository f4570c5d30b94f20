use sarek::prelude::*;

#[kernel]
fn wrong(x: &[u32], out: &mut [u32]) {
    out[subgroup_lane()] += x[global_idx_x()];
    out[global_idx_x() + subgroup_size()] = 1;
}

fn main() {}
