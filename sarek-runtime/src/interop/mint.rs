//! The types of `mint` as types of kernels, and conversions of `f32x4` and its kin from and to its
//! vectors and points.

use mint::{
    ColumnMatrix2, ColumnMatrix3, ColumnMatrix4, IntoMint, Point2, Point3, Quaternion, RowMatrix2,
    RowMatrix3, RowMatrix4, Vector2, Vector3, Vector4,
};

use crate::simd;

super::elements::elements! {
    [T] Vector2<T> as "Vector2" { x: T, y: T }
    [T] Vector3<T> as "Vector3" { x: T, y: T, z: T }
    [T] Vector4<T> as "Vector4" { x: T, y: T, z: T, w: T }
    [T] Point2<T> as "Point2" { x: T, y: T }
    [T] Point3<T> as "Point3" { x: T, y: T, z: T }
    [T] Quaternion<T> as "Quaternion" { v: Vector3<T>, s: T }
    [T] ColumnMatrix2<T> as "ColumnMatrix2" { x: Vector2<T>, y: Vector2<T> }
    [T] ColumnMatrix3<T> as "ColumnMatrix3" { x: Vector3<T>, y: Vector3<T>, z: Vector3<T> }
    [T] ColumnMatrix4<T> as "ColumnMatrix4" { x: Vector4<T>, y: Vector4<T>, z: Vector4<T>, w: Vector4<T> }
    [T] RowMatrix2<T> as "RowMatrix2" { x: Vector2<T>, y: Vector2<T> }
    [T] RowMatrix3<T> as "RowMatrix3" { x: Vector3<T>, y: Vector3<T>, z: Vector3<T> }
    [T] RowMatrix4<T> as "RowMatrix4" { x: Vector4<T>, y: Vector4<T>, z: Vector4<T>, w: Vector4<T> }
}

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
