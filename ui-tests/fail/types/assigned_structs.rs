//! Wrong destructuring assignments of structs.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Item {
    key: u32,
    size: f32,
}

#[kernel]
fn of_another_type(items: &[Item], y: &mut [f32]) {
    let i = global_idx_x();
    let (mut key, mut size) = (0i32, 0.0);
    Item { key, size } = items[i];
    y[i] = size + key as f32;
}

#[kernel]
fn of_no_place(items: &[Item], y: &mut [f32]) {
    let i = global_idx_x();
    let mut size = 0.0;
    Item { key: 3, size } = items[i];
    y[i] = size;
}

#[kernel]
fn without_a_field(items: &[Item], y: &mut [f32]) {
    let i = global_idx_x();
    let mut size = 0.0;
    Item { size } = items[i];
    y[i] = size;
}

fn main() {}
