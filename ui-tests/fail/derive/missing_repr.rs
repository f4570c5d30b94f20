use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
struct Point {
    x: f32,
}

#[derive(Clone, Copy, KernelType)]
enum Shape {
    Circle(f32),
    Point,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Both {
    shape: Shape,
    x: f32,
}

#[kernel]
fn in_a_vector(points: &mut [Point]) {
    points[global_idx_x()].x = 1.0;
}

#[kernel]
fn as_an_argument(shape: Shape, y: &mut [f32]) {
    y[global_idx_x()] = match shape {
        Shape::Circle(r) => r,
        Shape::Point => 0.0,
    };
}

#[kernel]
fn in_a_field(x: &[Both], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i].x;
}

fn main() {
    let _ = Vector::from_vec(vec![Point { x: 1.0 }]);
}
