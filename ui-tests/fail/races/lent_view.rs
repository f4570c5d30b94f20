use sarek::prelude::*;

#[device]
fn clear(out: &mut ViewMut2<f32>) {
    out[[0, 0]] = 0.0;
}

#[kernel]
fn wrong(mut out: ViewMut2<f32>) {
    clear(&mut out);
}

fn main() {}
