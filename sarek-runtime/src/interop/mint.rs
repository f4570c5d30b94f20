//! Conversions of `f32x4` and its kin from and to the vectors and points of `mint`.

use mint::{IntoMint, Point2, Point3, Vector2, Vector3, Vector4};

use crate::simd;

macro_rules! same_fields {
    ($($ty:ident $lane:ident $mint:ident ($($c:ident)+);)*) => {$(
        impl From<$mint<$lane>> for simd::$ty {
            fn from(of: $mint<$lane>) -> simd::$ty {
                simd::$ty { $($c: of.$c),+ }
            }
        }

        impl From<simd::$ty> for $mint<$lane> {
            fn from(of: simd::$ty) -> $mint<$lane> {
                $mint { $($c: of.$c),+ }
            }
        }
    )*};
}

macro_rules! all {
    ($($lane:ident $two:ident $three:ident $four:ident)*) => {$(
        same_fields! {
            $two $lane Vector2 (x y);
            $two $lane Point2 (x y);
            $three $lane Vector3 (x y z);
            $three $lane Point3 (x y z);
            $four $lane Vector4 (x y z w);
        }

        impl IntoMint for simd::$two {
            type MintType = Vector2<$lane>;
        }
        impl IntoMint for simd::$three {
            type MintType = Vector3<$lane>;
        }
        impl IntoMint for simd::$four {
            type MintType = Vector4<$lane>;
        }
    )*};
}

all! {
    f32 f32x2 f32x3 f32x4
    f64 f64x2 f64x3 f64x4
    i32 i32x2 i32x3 i32x4
    u32 u32x2 u32x3 u32x4
}
