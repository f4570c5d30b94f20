//! A trait of another crate for a type of another crate.
use sarek::prelude::*;
use sarek_test_library::{HasSize, Tagged};

#[device]
impl HasSize for Tagged<u32, 2> {
    const DIMENSIONS: u32 = 2;

    fn size<U: Num>(&self, times: U) -> f32 {
        self.at.x * times.to_f32()
    }
}

fn main() {}
