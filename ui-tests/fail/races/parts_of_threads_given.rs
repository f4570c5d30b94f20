use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Place {
    at: u32,
    value: u32,
}

#[device]
impl Place {
    fn put(&self, tile: &mut [u32]) {
        tile[thread_idx_x() + self.at as usize] = self.value;
        barrier();
    }

    fn put_at(self, tile: &mut [u32], more: u32) {
        tile[thread_idx_x() + more as usize] = self.value;
        barrier();
    }
}

#[device]
fn place(tile: &mut [u32], p: Place) {
    tile[thread_idx_x() + p.at as usize] = p.value;
    barrier();
}

#[device]
fn pair(tile: &mut [u32], p: (u32, u32)) {
    tile[thread_idx_x() + p.0 as usize] = p.1;
    barrier();
}

#[device]
fn perhaps(tile: &mut [u32], at: Option<u32>) {
    if let Some(at) = at {
        tile[thread_idx_x() + at as usize] = 1;
    }
    barrier();
}

#[device]
fn element(tile: &mut [u32], at: &[u32]) {
    tile[thread_idx_x() + at[0] as usize] = 1;
    barrier();
}

#[kernel(block = 8)]
fn wrong(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x() as u32;
    let own: Place = Place { at: 7 - t, value: 1 };
    own.put(tile);
    own.put_at(tile, t);
    place(tile, own);
    pair(tile, (7 - t, 1u32));
    perhaps(tile, Some(7 - t));
    element(tile, &[7 - t, 0]);
    y[global_idx_x()] = tile[0];
}

fn main() {}
