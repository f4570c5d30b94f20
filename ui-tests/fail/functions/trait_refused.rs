//! Methods that `#[device]` traits do not have, and types that such impls are not of.
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
