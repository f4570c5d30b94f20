use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair<T: sarek::Element> {
    a: T,
    b: T,
}

impl<T: sarek::Element> Pair<T> {
    fn first(self) -> T {
        self.a
    }
}

#[kernel]
fn wrong<T: sarek::Element>(pair: Pair<T>, out: &mut [T]) {
    let i = global_idx_x();
    out[i] = pair.first();
}

fn main() {}
