use sarek::prelude::*;

#[device]
fn staged(x: View2<f32>, tile: &mut [f32], last: usize) {
    if last < x.cols() {
        tile[thread_idx_x()] = x[[0, last]];
        barrier();
    }
    barrier();
}

#[kernel]
fn wrong(x: View2<f32>, out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    staged(x, tile, thread_idx_x());
    out[global_idx_x()] = tile[thread_idx_x()];
}

fn main() {}
