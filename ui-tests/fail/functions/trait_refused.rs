//! Methods that `#[device]` traits cannot have, and types that cannot have such impls.
use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self) -> f32;

    fn twice(&self) -> f32 {
        2.0 * self.area()
    }
}

#[device]
impl Shape for f32 {
    fn area(&self) -> f32 {
        *self
    }
}

fn main() {}
