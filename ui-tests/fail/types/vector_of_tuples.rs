use sarek::prelude::*;

fn main() {
    let _ = Vector::from_vec(vec![(1.0f32, 2.0f32)]);
}
