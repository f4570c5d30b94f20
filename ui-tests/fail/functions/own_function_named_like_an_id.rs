use sarek::prelude::{Vector, kernel};

/// A function of the user's with the name of an id.
fn global_idx_x() -> usize {
    0
}

#[kernel]
fn store(out: &mut [f32]) {
    out[global_idx_x()] = 1.0;
}

fn main() {
    let _ = store(&mut Vector::zeros(1)).over(1usize).run();
}
