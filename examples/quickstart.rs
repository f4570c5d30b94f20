use sarek::prelude::*;
#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
fn main() -> sarek::Result<()> {
    let n = 1 << 20;
    let x = Vector::from_vec(vec![1.0f32; n]);
    let mut y = Vector::from_vec(vec![2.0f32; n]);
    saxpy(3.0, &x, &mut y).over(n).run()?;
    println!("{}", y.to_vec()?[0]);
    Ok(())
}
