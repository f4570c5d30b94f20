use sarek::prelude::*;

#[kernel]
fn wrong<T: Num>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = x[i].sqrt();
}

fn main() {}
