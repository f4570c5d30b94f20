//! Methods of a trait of one's own for types of another crate, as users write them.
#![deny(warnings, missing_docs, clippy::pedantic)]
#![forbid(unsafe_code)]

use sarek::prelude::*;
use sarek_test_library::{Place, Tagged};

/// Values that have a middle.
#[device]
trait Middle {
    /// The middle of two values.
    fn middle(self, other: Self) -> Self;
    /// Moves the value to the middle.
    fn approach(&mut self, other: Self);
}

#[device]
impl Middle for Place {
    fn middle(self, other: Self) -> Self {
        Self {
            x: (self.x + other.x) * 0.5,
            y: (self.y + other.y) * 0.5,
        }
    }

    fn approach(&mut self, other: Self) {
        *self = self.middle(other);
    }
}

#[device]
impl<T: Num, const N: usize> Middle for Tagged<T, N> {
    fn middle(self, other: Self) -> Self {
        Self {
            at: self.at.middle(other.at),
            ..self
        }
    }

    fn approach(&mut self, other: Self) {
        *self = self.middle(other);
    }
}

#[kernel]
fn k(#[item] place: &mut Place, #[item] tagged: &mut Tagged<u32, 2>) {
    place.approach(tagged.at);
    let other = Tagged::<u32, 2> {
        at: Place::ORIGIN,
        ..*tagged
    };
    *tagged = tagged.middle(other);
}

fn main() {
    let mut places = Vector::filled(4, Place { x: 2.0, y: 4.0 });
    let tagged = Tagged {
        tag: 7,
        of: [1, 2],
        at: Place { x: 0.0, y: 8.0 },
    };
    let mut all = Vector::filled(4, tagged);
    k(&mut places, &mut all).run().unwrap();
    assert_eq!(places.get(3).unwrap(), Place { x: 1.0, y: 6.0 });
    assert_eq!(all.get(3).unwrap().at, Place { x: 0.0, y: 4.0 });
}
