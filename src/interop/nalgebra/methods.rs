//! The methods of `nalgebra`, for kernels: `use sarek::interop::nalgebra::methods::*;`.
//!
//! On the host, `a.dot(&b)` is the method of `nalgebra`, which Rust prefers to a trait's. What
//! `nalgebra` writes as operators has names here: `plus`, `minus`, `mul_vec`, `mul_mat` and
//! `mul_quat`.

use ::nalgebra::{Matrix2, Matrix3, Matrix4, Quaternion, Vector2, Vector3, Vector4};
use sarek_macros::device;

/// A trait of vectors, and its impls: `Trait Type (components) { Number constant, … }`.
macro_rules! vectors {
    ($($of:ident $ty:ident $cs:tt { $($lane:ident $zero:ident),+ } $more:tt $body:tt)*) => {$(
        vectors! { @trait $of $ty $cs $more }
        $(vectors! { @impl $of $ty $cs $lane $zero $body })+
    )*};
    (@trait $of:ident $ty:ident ($($c:ident)+) { $($more:tt)* }) => {
        #[doc = concat!("Methods of [`", stringify!($ty), "`](::nalgebra::", stringify!($ty), ") for kernels.")]
        #[device]
        pub trait $of<T> {
            /// The vector with these components.
            fn new($($c: T),+) -> Self;
            /// The sum.
            fn plus(&self, rhs: &$ty<T>) -> Self;
            /// The difference.
            fn minus(&self, rhs: &$ty<T>) -> Self;
            /// The product with a number.
            fn scale(&self, real: T) -> Self;
            /// The quotient by a number.
            fn unscale(&self, real: T) -> Self;
            /// The product of each component.
            fn component_mul(&self, rhs: &$ty<T>) -> Self;
            /// The quotient of each component.
            fn component_div(&self, rhs: &$ty<T>) -> Self;
            /// The absolute value of each component.
            fn abs(&self) -> Self;
            /// The dot product.
            fn dot(&self, rhs: &$ty<T>) -> T;
            /// The length.
            fn norm(&self) -> T;
            /// The square of the length.
            fn norm_squared(&self) -> T;
            /// The distance of two points.
            fn metric_distance(&self, rhs: &$ty<T>) -> T;
            /// The vector of length 1 in the same direction.
            fn normalize(&self) -> Self;
            /// The point between two points: `self` at 0 and `rhs` at 1.
            fn lerp(&self, rhs: &$ty<T>, t: T) -> Self;
            /// The sum of the components.
            fn sum(&self) -> T;
            $($more)*
        }
    };
    (@zero $c:ident) => { 0.0 };
    (@impl $of:ident $ty:ident ($($c:ident)+) $lane:ident $zero:ident { $($body:tt)* }) => {
        const $zero: $ty<$lane> = $ty::new($(vectors!(@zero $c)),+);

        #[device]
        impl $of<$lane> for $ty<$lane> {
            fn new($($c: $lane),+) -> Self {
                let mut v: $ty<$lane> = $zero;
                $(v.$c = $c;)+
                v
            }

            fn plus(&self, rhs: &$ty<$lane>) -> Self {
                let mut v = *self;
                $(v.$c = self.$c + rhs.$c;)+
                v
            }

            fn minus(&self, rhs: &$ty<$lane>) -> Self {
                let mut v = *self;
                $(v.$c = self.$c - rhs.$c;)+
                v
            }

            fn scale(&self, real: $lane) -> Self {
                let mut v = *self;
                $(v.$c = self.$c * real;)+
                v
            }

            fn unscale(&self, real: $lane) -> Self {
                let mut v = *self;
                $(v.$c = self.$c / real;)+
                v
            }

            fn component_mul(&self, rhs: &$ty<$lane>) -> Self {
                let mut v = *self;
                $(v.$c = self.$c * rhs.$c;)+
                v
            }

            fn component_div(&self, rhs: &$ty<$lane>) -> Self {
                let mut v = *self;
                $(v.$c = self.$c / rhs.$c;)+
                v
            }

            fn abs(&self) -> Self {
                let mut v = *self;
                $({ let x: $lane = self.$c; v.$c = x.abs(); })+
                v
            }

            fn dot(&self, rhs: &$ty<$lane>) -> $lane {
                let mut sum: $lane = 0.0;
                $(sum += self.$c * rhs.$c;)+
                sum
            }

            fn norm(&self) -> $lane {
                let mut square: $lane = 0.0;
                $(square += self.$c * self.$c;)+
                square.sqrt()
            }

            fn norm_squared(&self) -> $lane {
                let mut square: $lane = 0.0;
                $(square += self.$c * self.$c;)+
                square
            }

            fn metric_distance(&self, rhs: &$ty<$lane>) -> $lane {
                let mut square: $lane = 0.0;
                $({ let x: $lane = self.$c - rhs.$c; square += x * x; })+
                square.sqrt()
            }

            fn normalize(&self) -> Self {
                let mut square: $lane = 0.0;
                $(square += self.$c * self.$c;)+
                let norm = square.sqrt();
                let mut v = *self;
                $(v.$c = self.$c / norm;)+
                v
            }

            fn lerp(&self, rhs: &$ty<$lane>, t: $lane) -> Self {
                let mut v = *self;
                $(v.$c = self.$c * (1.0 - t) + rhs.$c * t;)+
                v
            }

            fn sum(&self) -> $lane {
                let mut sum: $lane = 0.0;
                $(sum += self.$c;)+
                sum
            }

            $($body)*
        }
    };
}

vectors! {
    Vector2Methods Vector2 (x y) { f32 VECTOR2_F32, f64 VECTOR2_F64 } {} {}
    Vector3Methods Vector3 (x y z) { f32 VECTOR3_F32, f64 VECTOR3_F64 } {
        /// The cross product.
        fn cross(&self, b: &Vector3<T>) -> Self;
    } {
        fn cross(&self, b: &Self) -> Self {
            let mut v = *self;
            v.x = self.y * b.z - self.z * b.y;
            v.y = self.z * b.x - self.x * b.z;
            v.z = self.x * b.y - self.y * b.x;
            v
        }
    }
    Vector4Methods Vector4 (x y z w) { f32 VECTOR4_F32, f64 VECTOR4_F64 } {} {}
}

/// A trait of square matrices, and its impls: `Trait Type Vector (numbers by row) { Number constant, … }`,
/// followed by the products with a vector and with a matrix, and the pairs that transposing exchanges.
macro_rules! matrices {
    ($(
        $of:ident $ty:ident $vector:ident $ms:tt { $($lane:ident $zero:ident),+ }
        $rows:tt $products:tt $pairs:tt
    )*) => {$(
        matrices! { @trait $of $ty $vector $ms }
        $(matrices! { @impl $of $ty $vector $ms $lane $zero $rows $products $pairs })+
    )*};
    (@trait $of:ident $ty:ident $vector:ident ($($m:ident)+)) => {
        #[doc = concat!("Methods of [`", stringify!($ty), "`](::nalgebra::", stringify!($ty), ") for kernels.")]
        #[device]
        pub trait $of<T> {
            /// The matrix with these numbers, row by row.
            fn new($($m: T),+) -> Self;
            /// The sum.
            fn plus(&self, rhs: &$ty<T>) -> Self;
            /// The difference.
            fn minus(&self, rhs: &$ty<T>) -> Self;
            /// The product with a number.
            fn scale(&self, real: T) -> Self;
            /// The product with a vector.
            fn mul_vec(&self, rhs: &$vector<T>) -> $vector<T>;
            /// The product of two matrices.
            fn mul_mat(&self, rhs: &$ty<T>) -> Self;
            /// The transposed matrix.
            fn transpose(&self) -> Self;
        }
    };
    (@zero $m:ident) => { 0.0 };
    (
        @impl $of:ident $ty:ident $vector:ident ($($m:ident)+) $lane:ident $zero:ident
        { $($to:ident($($by:ident $at:ident),+))+ } { $($product:ident($($a:ident $b:ident),+))+ } { $(($first:ident $second:ident))+ }
    ) => {
        const $zero: $ty<$lane> = $ty::new($(matrices!(@zero $m)),+);

        #[device]
        impl $of<$lane> for $ty<$lane> {
            fn new($($m: $lane),+) -> Self {
                let mut m: $ty<$lane> = $zero;
                $(m.$m = $m;)+
                m
            }

            fn plus(&self, rhs: &$ty<$lane>) -> Self {
                let mut m = *self;
                $(m.$m = self.$m + rhs.$m;)+
                m
            }

            fn minus(&self, rhs: &$ty<$lane>) -> Self {
                let mut m = *self;
                $(m.$m = self.$m - rhs.$m;)+
                m
            }

            fn scale(&self, real: $lane) -> Self {
                let mut m = *self;
                $(m.$m = self.$m * real;)+
                m
            }

            fn mul_vec(&self, rhs: &$vector<$lane>) -> $vector<$lane> {
                let mut v = *rhs;
                $({
                    let mut sum: $lane = 0.0;
                    $(sum += self.$by * rhs.$at;)+
                    v.$to = sum;
                })+
                v
            }

            fn mul_mat(&self, rhs: &$ty<$lane>) -> Self {
                let mut m = *self;
                $({
                    let mut sum: $lane = 0.0;
                    $(sum += self.$a * rhs.$b;)+
                    m.$product = sum;
                })+
                m
            }

            fn transpose(&self) -> Self {
                let mut m = *self;
                $(m.$first = self.$second;)+
                m
            }
        }
    };
}

matrices! {
    Matrix2Methods Matrix2 Vector2 (m11 m12 m21 m22) { f32 MATRIX2_F32, f64 MATRIX2_F64 } {
        x(m11 x, m12 y)
        y(m21 x, m22 y)
    } {
        m11(m11 m11, m12 m21)
        m21(m21 m11, m22 m21)
        m12(m11 m12, m12 m22)
        m22(m21 m12, m22 m22)
    } {
        (m21 m12) (m12 m21)
    }
    Matrix3Methods Matrix3 Vector3 (m11 m12 m13 m21 m22 m23 m31 m32 m33) { f32 MATRIX3_F32, f64 MATRIX3_F64 } {
        x(m11 x, m12 y, m13 z)
        y(m21 x, m22 y, m23 z)
        z(m31 x, m32 y, m33 z)
    } {
        m11(m11 m11, m12 m21, m13 m31)
        m21(m21 m11, m22 m21, m23 m31)
        m31(m31 m11, m32 m21, m33 m31)
        m12(m11 m12, m12 m22, m13 m32)
        m22(m21 m12, m22 m22, m23 m32)
        m32(m31 m12, m32 m22, m33 m32)
        m13(m11 m13, m12 m23, m13 m33)
        m23(m21 m13, m22 m23, m23 m33)
        m33(m31 m13, m32 m23, m33 m33)
    } {
        (m21 m12) (m31 m13) (m12 m21) (m32 m23) (m13 m31) (m23 m32)
    }
    Matrix4Methods Matrix4 Vector4 (m11 m12 m13 m14 m21 m22 m23 m24 m31 m32 m33 m34 m41 m42 m43 m44) { f32 MATRIX4_F32, f64 MATRIX4_F64 } {
        x(m11 x, m12 y, m13 z, m14 w)
        y(m21 x, m22 y, m23 z, m24 w)
        z(m31 x, m32 y, m33 z, m34 w)
        w(m41 x, m42 y, m43 z, m44 w)
    } {
        m11(m11 m11, m12 m21, m13 m31, m14 m41)
        m21(m21 m11, m22 m21, m23 m31, m24 m41)
        m31(m31 m11, m32 m21, m33 m31, m34 m41)
        m41(m41 m11, m42 m21, m43 m31, m44 m41)
        m12(m11 m12, m12 m22, m13 m32, m14 m42)
        m22(m21 m12, m22 m22, m23 m32, m24 m42)
        m32(m31 m12, m32 m22, m33 m32, m34 m42)
        m42(m41 m12, m42 m22, m43 m32, m44 m42)
        m13(m11 m13, m12 m23, m13 m33, m14 m43)
        m23(m21 m13, m22 m23, m23 m33, m24 m43)
        m33(m31 m13, m32 m23, m33 m33, m34 m43)
        m43(m41 m13, m42 m23, m43 m33, m44 m43)
        m14(m11 m14, m12 m24, m13 m34, m14 m44)
        m24(m21 m14, m22 m24, m23 m34, m24 m44)
        m34(m31 m14, m32 m24, m33 m34, m34 m44)
        m44(m41 m14, m42 m24, m43 m34, m44 m44)
    } {
        (m21 m12) (m31 m13) (m41 m14) (m12 m21) (m32 m23) (m42 m24) (m13 m31) (m23 m32) (m43 m34) (m14 m41) (m24 m42) (m34 m43)
    }
}

/// Methods of [`Quaternion`] for kernels.
#[device]
pub trait QuaternionMethods<T> {
    /// The quaternion with these components, the real one first.
    fn new(w: T, i: T, j: T, k: T) -> Self;
    /// The product: the rotation by `rhs`, followed by that by `self`.
    fn mul_quat(&self, rhs: &Quaternion<T>) -> Self;
    /// The conjugate: for a rotation, the opposite one.
    fn conjugate(&self) -> Self;
    /// The dot product.
    fn dot(&self, rhs: &Quaternion<T>) -> T;
    /// The length.
    fn norm(&self) -> T;
    /// The square of the length.
    fn norm_squared(&self) -> T;
    /// The quaternion of length 1 in the same direction.
    fn normalize(&self) -> Self;
}

macro_rules! quaternions {
    ($($lane:ident $zero:ident)+) => {$(
        const $zero: Quaternion<$lane> = Quaternion::new(0.0, 0.0, 0.0, 0.0);

        #[device]
        impl QuaternionMethods<$lane> for Quaternion<$lane> {
            fn new(w: $lane, i: $lane, j: $lane, k: $lane) -> Self {
                let mut q: Quaternion<$lane> = $zero;
                q.i = i;
                q.j = j;
                q.k = k;
                q.w = w;
                q
            }

            fn mul_quat(&self, rhs: &Quaternion<$lane>) -> Self {
                let mut q = *self;
                q.i = self.w * rhs.i + self.i * rhs.w + self.j * rhs.k - self.k * rhs.j;
                q.j = self.w * rhs.j - self.i * rhs.k + self.j * rhs.w + self.k * rhs.i;
                q.k = self.w * rhs.k + self.i * rhs.j - self.j * rhs.i + self.k * rhs.w;
                q.w = self.w * rhs.w - self.i * rhs.i - self.j * rhs.j - self.k * rhs.k;
                q
            }

            fn conjugate(&self) -> Self {
                let mut q = *self;
                q.i = -self.i;
                q.j = -self.j;
                q.k = -self.k;
                q
            }

            fn dot(&self, rhs: &Quaternion<$lane>) -> $lane {
                self.i * rhs.i + self.j * rhs.j + self.k * rhs.k + self.w * rhs.w
            }

            fn norm(&self) -> $lane {
                let square: $lane = self.i * self.i + self.j * self.j + self.k * self.k + self.w * self.w;
                square.sqrt()
            }

            fn norm_squared(&self) -> $lane {
                self.i * self.i + self.j * self.j + self.k * self.k + self.w * self.w
            }

            fn normalize(&self) -> Self {
                let square: $lane = self.i * self.i + self.j * self.j + self.k * self.k + self.w * self.w;
                let norm = square.sqrt();
                let mut q = *self;
                q.i = self.i / norm;
                q.j = self.j / norm;
                q.k = self.k / norm;
                q.w = self.w / norm;
                q
            }
        }
    )+};
}

quaternions! {
    f32 QUATERNION_F32
    f64 QUATERNION_F64
}
