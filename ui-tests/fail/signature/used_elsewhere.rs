//! A kernel with an error: its callers get no error of their own.
use sarek::prelude::*;

#[kernel]
fn wrong(by: &f32, x: &mut [f32]) {
    let i = global_idx_x();
    x[i] *= *by;
}

fn main() -> sarek::Result<()> {
    let mut x = Vector::zeros(4);
    wrong(&1.0, &mut x).over(4).run()?;
    println!("{} {}", wrong::explain(), wrong::source("cuda")?);
    Ok(())
}
