use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
struct Tri(u32);

#[device]
impl Tri {
    fn unwrap_or(self, other: u32) -> u32 {
        self.0 + other
    }
}

#[device]
fn of(x: u32) -> Tri {
    Tri(x)
}

#[device]
fn half(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn zero() -> u32 {
    0
}

#[kernel]
fn of_an_own_type(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = of(y[i]).unwrap_or(1);
}

#[kernel]
fn by_a_function(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = half(y[i]).unwrap_or_else(zero);
}

#[kernel]
fn of_a_character(y: &mut [f32]) {
    y[global_idx_x()] = 'a' as f32;
}

fn main() {}
