use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Counter {
    n: u32,
}

#[device]
impl Counter {
    fn next(&mut self) -> u32 {
        self.n += 1;
        self.n
    }
}

#[kernel]
fn count(counters: &mut [Counter], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = counters[i].next();
}

fn main() {}
