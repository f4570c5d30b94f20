//! Rust calls the trait's `get(self)`, which takes precedence over the type's own `get(&self)`.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Cell {
    v: u32,
}

#[device]
impl Cell {
    fn get(&self) -> u32 {
        self.v
    }
}

trait Get {
    fn get(self) -> u32;
}

impl Get for Cell {
    fn get(self) -> u32 {
        99
    }
}

#[kernel]
fn read(x: &[Cell], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[i].get();
}

fn main() {}
