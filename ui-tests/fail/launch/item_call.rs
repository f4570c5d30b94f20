use sarek::prelude::*;

#[kernel]
fn double(#[item] x: u32, #[item] out: &mut u32) {
    *out = 2 * x;
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1u32]);
    let mut out = Vector::from_vec(vec![1u32]);
    double(&x, &mut out).over(1).run()?;
    double(1, &mut out).run()
}
