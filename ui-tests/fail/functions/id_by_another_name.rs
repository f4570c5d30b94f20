use sarek::{global_idx_y as global_idx_x, kernel};

#[kernel]
fn ids(#[item] y: &mut u32) {
    *y = global_idx_x() as u32;
}

fn main() {}
