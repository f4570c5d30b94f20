use sarek::prelude::*;

#[kernel]
fn copy(x: View2<f32>, mut y: ViewMut2<f32>) {
    y[[global_idx_y(), global_idx_x()]] = x[[global_idx_x(), global_idx_y()]];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut y = Vector::from_vec(vec![0.0f32; 4]);
    copy(&x, y.view2(2, 2)?).over((2, 2)).run()
}
