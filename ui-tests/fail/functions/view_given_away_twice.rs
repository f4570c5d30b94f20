use sarek::prelude::*;

#[device]
fn clear(mut out: ViewMut2<f32>, row: usize) {
    out[[row, 0]] = 0.0;
}

#[kernel]
unsafe fn wrong(out: ViewMut2<f32>) {
    clear(out, global_idx_x());
    clear(out, global_idx_x() + 1);
}

fn main() {}
