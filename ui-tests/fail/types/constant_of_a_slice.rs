use sarek::prelude::*;

const WEIGHTS: &[f32] = &[0.25, 0.5];
const T: [(char, u32); 2] = [('a', 1), ('b', 2)];

#[kernel]
fn weigh(y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = WEIGHTS[i % 2];
    }
}

#[kernel]
fn spell(y: &mut [u32]) {
    const OWN: usize = 2;
    let t = global_idx_x();
    if t < y.len() {
        y[t] = T[t % OWN].1;
    }
}

fn main() {}
