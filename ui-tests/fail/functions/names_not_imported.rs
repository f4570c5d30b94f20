//! Ids and similar functions that are not imported.
use sarek::kernel;

#[kernel]
fn ids(y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 1.0;
}

#[kernel]
fn barriers(y: &mut [f32]) {
    let tile = sarek::shared_array::<f32, 64>();
    tile[sarek::thread_idx_x()] = 1.0;
    barrier();
    y[sarek::global_idx_x()] = tile[0];
}

fn main() {}
