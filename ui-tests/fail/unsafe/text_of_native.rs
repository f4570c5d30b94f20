#![forbid(unsafe_code)]

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Number {
    n: u32,
}

#[device]
impl Number {
    fn written(self) -> u32 {
        let mut x = self.n;
        x += 1;
        unsafe { native!("cuda", "{x} = 2u;") }
        x
    }
}

#[device]
fn yielded(x: u32) -> u32 {
    unsafe { native! { "cuda" => "2u * {x}" as u32, _ => { 2 * x } } }
}

#[kernel]
fn fill(y: &mut [u32]) {
    let i = global_idx_x();
    let number = Number { n: i as u32 };
    let mut x = yielded(number.written());
    unsafe {
        native! { "cuda" => "{x} = 2u;", _ => { x = 3; } }
    }
    y[i] = x;
}

fn main() {}
