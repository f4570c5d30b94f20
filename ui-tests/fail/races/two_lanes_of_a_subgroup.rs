use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    if subgroup_lane() < 2 {
        y[global_idx_x() / 32] = 1;
    }
}

fn main() {}
