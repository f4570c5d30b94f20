use sarek::prelude::*;

#[kernel]
fn scale(by: f32, x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = by * x[i];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut out = Vector::<f32>::zeros(4);
    scale(2u32, &x, &mut out).over(4).run()?;
    Ok(())
}
