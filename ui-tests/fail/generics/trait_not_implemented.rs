use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self) -> f32;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Square {
    a: f32,
}

#[device]
impl Shape for Square {
    fn area(&self) -> f32 {
        self.a * self.a
    }
}

#[device]
fn twice<S: Shape + KernelType>(s: S) -> f32 {
    2.0 * s.area()
}

#[kernel]
fn wrong(d: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = twice(d);
}

#[kernel]
fn over<S: Shape + sarek::Element>(d: S, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = d.area();
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::from(vec![0.0f32; 4]);
    over(Disc { r: 1.0 }, &mut out).over(4usize).run()?;
    Ok(())
}
