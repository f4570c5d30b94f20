use sarek::prelude::*;

#[device]
fn put<const MORE: usize>(tile: &mut [u32], at: usize) {
    tile[thread_idx_x() + at + MORE] = 1;
    barrier();
}

#[device]
fn mirrored(tile: &mut [u32]) {
    put::<1>(tile, 7 - thread_idx_x());
}

#[device]
fn passed_on(tile: &mut [u32], at: usize) {
    let more = at + 1;
    put::<0>(tile, more);
}

#[device]
trait Puts: KernelType {
    fn put(self, tile: &mut [u32], at: usize);
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Straight {
    value: u32,
}

#[device]
impl Puts for Straight {
    fn put(self, tile: &mut [u32], at: usize) {
        tile[thread_idx_x() + at] = self.value;
        barrier();
    }
}

#[device]
fn through<P: Puts>(puts: P, tile: &mut [u32], at: usize) {
    puts.put(tile, at);
}

#[kernel(block = 8)]
fn wrong(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    mirrored(tile);
    let t = thread_idx_x();
    for k in 0..2 {
        passed_on(tile, 7 - t + k);
    }
    let straight: Straight = Straight { value: 1 };
    straight.put(tile, 7 - t);
    through(straight, tile, 7 - t);
    y[global_idx_x()] = tile[0];
}

fn main() {}
