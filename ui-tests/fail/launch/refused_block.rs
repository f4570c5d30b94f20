use sarek::prelude::*;

#[kernel(block = 0.5)]
fn k(y: &mut [u32]) {
    y[global_idx_x()] = 1;
}

fn main() -> sarek::Result<()> {
    let mut y = Vector::zeros(8);
    k(&mut y).grid(1).run()
}
