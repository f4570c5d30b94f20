//! Vectors, and `f32x4` and its kin, as sequences of serde.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::{Element, Vector, simd};

/// Writes the elements. It fails for a vector that a failed launch made unreadable.
impl<T: Element + Serialize> Serialize for Vector<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let elements = self.as_slice().map_err(S::Error::custom)?;
        elements.serialize(to)
    }
}

impl<'de, T: Element + Deserialize<'de>> Deserialize<'de> for Vector<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Vector<T>, D::Error> {
        Vec::deserialize(from).map(Vector::from_vec)
    }
}

macro_rules! arrays {
    ($($ty:ident $lane:ident $n:literal)*) => {$(
        impl Serialize for simd::$ty {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.to_array().serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for simd::$ty {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <[$lane; $n]>::deserialize(from).map(Self::from)
            }
        }
    )*};
}

arrays! {
    f32x2 f32 2 f32x3 f32 3 f32x4 f32 4
    f64x2 f64 2 f64x3 f64 3 f64x4 f64 4
    i32x2 i32 2 i32x3 i32 3 i32x4 i32 4
    u32x2 u32 2 u32x3 u32 3 u32x4 u32 4
}
