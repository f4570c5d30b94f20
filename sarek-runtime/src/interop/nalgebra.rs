//! The vectors, matrices and quaternions of `nalgebra` as types of kernels.
//!
//! Numbers are stored column by column. `nalgebra` gives their names by `Deref`.

use nalgebra::{Matrix2, Matrix3, Matrix4, Quaternion, Vector2, Vector3, Vector4};

super::elements::elements! {
    [T] Vector2<T> as "Vector2" { x: T, y: T }
    [T] Vector3<T> as "Vector3" { x: T, y: T, z: T }
    [T] Vector4<T> as "Vector4" { x: T, y: T, z: T, w: T }
    [T] Matrix2<T> as "Matrix2" { m11: T, m21: T, m12: T, m22: T }
    [T] Matrix3<T> as "Matrix3" {
        m11: T, m21: T, m31: T, m12: T, m22: T, m32: T, m13: T, m23: T, m33: T
    }
    [T] Matrix4<T> as "Matrix4" {
        m11: T, m21: T, m31: T, m41: T, m12: T, m22: T, m32: T, m42: T,
        m13: T, m23: T, m33: T, m43: T, m14: T, m24: T, m34: T, m44: T
    }
    [T] Quaternion<T> as "Quaternion" { i: T, j: T, k: T, w: T }
}
