use sarek::prelude::*;

#[device]
fn halved(x: f32) -> f32 {
    let half = x * 0.5
    half
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn doubled(self) -> f32 {
        self.x *
    }

    fn plain(self) -> f32 {
        self.x
    }
}

#[kernel]
fn scale(x: &mut [f32]) {
    let i = global_idx_x()
    x[i] = halved(x[i]) + Point { x: x[i] }.doubled() + Point { x: x[i] }.plain();
}

fn main() -> sarek::Result<()> {
    let mut x = Vector::<f32>::zeros(4);
    scale(&mut x).over(4).run()
}
