use sarek::prelude::*;

#[device]
fn clear(out: &mut [f32]) {
    out[0] = 0.0;
}

#[kernel]
fn wrong(out: &mut [f32]) {
    clear(out);
}

fn main() {}
