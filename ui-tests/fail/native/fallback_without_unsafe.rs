use sarek::prelude::*;

#[device]
fn doubled(x: u32) -> u32 {
    let mut y = x;
    native! { "cuda" => "{y} = 2u * {x};", _ => { y = 2 * x; } }
    y
}

#[device]
fn tripled(x: u32) -> u32 {
    native! { "cuda" => "3u * {x}" as u32, _ => { 3 * x } }
}

#[kernel]
fn fill(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = doubled(i as u32) + tripled(i as u32);
}

fn main() {}
