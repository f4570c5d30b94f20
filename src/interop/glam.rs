//! Vectors, matrices and quaternions of `glam` in kernels.
//!
//! They are elements of vectors, parameters and fields, and their components can be read and
//! assigned. glam's methods, such as `a.dot(b)`, are those of the traits in [`methods`]. Its operators
//! are not marked for kernels, so other arithmetic is by the functions here: a module for each
//! type. `Vec3A`, `Mat2`, `Mat3A` and the affine types are not supported.

pub mod methods;

use ::glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use sarek_macros::device;

/// Modules of functions for vectors: `module Type Number (components);`
macro_rules! vectors {
    ($($module:ident $ty:ident $lane:ident ($($c:ident)+) $(+ $more:ident)?;)*) => {$(
        #[doc = concat!("Functions of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        pub mod $module {
            use super::*;

            /// Makes a vector of its components.
            #[device]
            pub fn new($($c: $lane),+) -> $ty {
                let mut v: $ty = $ty::ZERO;
                $(v.$c = $c;)+
                v
            }

            /// Makes a vector with the same number in all components.
            #[device]
            pub fn splat(value: $lane) -> $ty {
                let mut v: $ty = $ty::ZERO;
                $(v.$c = value;)+
                v
            }

            vectors! { @each $ty $lane ($($c)+)
                add "The sum `a + b`." (+);
                sub "The difference `a - b`." (-);
                mul "The product `a * b` of each component." (*);
                div "The quotient `a / b` of each component." (/);
            }

            /// The smaller of each component.
            #[device]
            pub fn min(a: $ty, b: $ty) -> $ty {
                let mut v = a;
                $({ let (x, y): ($lane, $lane) = (a.$c, b.$c); v.$c = x.min(y); })+
                v
            }

            /// The larger of each component.
            #[device]
            pub fn max(a: $ty, b: $ty) -> $ty {
                let mut v = a;
                $({ let (x, y): ($lane, $lane) = (a.$c, b.$c); v.$c = x.max(y); })+
                v
            }

            /// The absolute value of each component.
            #[device]
            pub fn abs(a: $ty) -> $ty {
                let mut v = a;
                $({ let x: $lane = a.$c; v.$c = x.abs(); })+
                v
            }

            /// The negative `-a`.
            #[device]
            pub fn neg(a: $ty) -> $ty {
                let mut v = a;
                $(v.$c = -a.$c;)+
                v
            }

            /// The product with a number, `a * by`.
            #[device]
            pub fn scale(a: $ty, by: $lane) -> $ty {
                let mut v = a;
                $(v.$c = a.$c * by;)+
                v
            }

            /// The dot product.
            #[device]
            pub fn dot(a: $ty, b: $ty) -> $lane {
                let mut sum: $lane = 0.0;
                $(sum += a.$c * b.$c;)+
                sum
            }

            /// The square of the length.
            #[device]
            pub fn length_squared(a: $ty) -> $lane {
                dot(a, a)
            }

            /// The length.
            #[device]
            pub fn length(a: $ty) -> $lane {
                let square: $lane = dot(a, a);
                square.sqrt()
            }

            /// The distance of two points.
            #[device]
            pub fn distance(a: $ty, b: $ty) -> $lane {
                length(sub(a, b))
            }

            /// The vector of length 1 in the same direction.
            #[device]
            pub fn normalize(a: $ty) -> $ty {
                scale(a, 1.0 / length(a))
            }

            /// The point between two points: `a` at 0 and `b` at 1.
            #[device]
            pub fn lerp(a: $ty, b: $ty, at: $lane) -> $ty {
                let mut v = a;
                $(v.$c = a.$c * (1.0 - at) + b.$c * at;)+
                v
            }

            $(vectors! { @$more $ty })?
        }
    )*};
    (@each $ty:ident $lane:ident $cs:tt $($name:ident $doc:literal ($op:tt);)*) => {$(
        vectors! { @one $ty $cs $name $doc $op }
    )*};
    (@one $ty:ident ($($c:ident)+) $name:ident $doc:literal $op:tt) => {
        #[doc = $doc]
        #[device]
        pub fn $name(a: $ty, b: $ty) -> $ty {
            let mut v = a;
            $(v.$c = a.$c $op b.$c;)+
            v
        }
    };
    (@cross $ty:ident) => {
        /// The cross product.
        #[device]
        pub fn cross(a: $ty, b: $ty) -> $ty {
            new(
                a.y * b.z - a.z * b.y,
                a.z * b.x - a.x * b.z,
                a.x * b.y - a.y * b.x,
            )
        }
    };
}

vectors! {
    vec2 Vec2 f32 (x y);
    vec3 Vec3 f32 (x y z) + cross;
    vec4 Vec4 f32 (x y z w);
    dvec2 DVec2 f64 (x y);
    dvec3 DVec3 f64 (x y z) + cross;
    dvec4 DVec4 f64 (x y z w);
}

/// Modules of functions for square matrices: `module Type Column column_module size (columns);`
macro_rules! matrices {
    ($($module:ident $ty:ident $column:ident $of:ident $size:ident ($($c:ident . $axis:ident)+);)*) => {$(
        #[doc = concat!("Functions of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        pub mod $module {
            use super::*;

            /// The product with a vector, `m * v`.
            #[device]
            pub fn mul_vec(m: $ty, v: $column) -> $column {
                let mut sum: $column = $column::ZERO;
                $(sum = $of::add(sum, $of::scale(m.$axis, v.$c));)+
                sum
            }

            /// The product `a * b`.
            #[device]
            pub fn mul_mat(a: $ty, b: $ty) -> $ty {
                let mut m = a;
                $(m.$axis = mul_vec(a, b.$axis);)+
                m
            }

            matrices! { @$size $ty $of }
        }
    )*};
    (@three $ty:ident $of:ident) => {
        /// The transposed matrix.
        #[device]
        pub fn transpose(m: $ty) -> $ty {
            let mut t = m;
            t.x_axis = $of::new(m.x_axis.x, m.y_axis.x, m.z_axis.x);
            t.y_axis = $of::new(m.x_axis.y, m.y_axis.y, m.z_axis.y);
            t.z_axis = $of::new(m.x_axis.z, m.y_axis.z, m.z_axis.z);
            t
        }
    };
    (@four $ty:ident $of:ident) => {
        /// The transposed matrix.
        #[device]
        pub fn transpose(m: $ty) -> $ty {
            let mut t = m;
            t.x_axis = $of::new(m.x_axis.x, m.y_axis.x, m.z_axis.x, m.w_axis.x);
            t.y_axis = $of::new(m.x_axis.y, m.y_axis.y, m.z_axis.y, m.w_axis.y);
            t.z_axis = $of::new(m.x_axis.z, m.y_axis.z, m.z_axis.z, m.w_axis.z);
            t.w_axis = $of::new(m.x_axis.w, m.y_axis.w, m.z_axis.w, m.w_axis.w);
            t
        }
    };
}

matrices! {
    mat3 Mat3 Vec3 vec3 three (x.x_axis y.y_axis z.z_axis);
    mat4 Mat4 Vec4 vec4 four (x.x_axis y.y_axis z.z_axis w.w_axis);
    dmat3 DMat3 DVec3 dvec3 three (x.x_axis y.y_axis z.z_axis);
    dmat4 DMat4 DVec4 dvec4 four (x.x_axis y.y_axis z.z_axis w.w_axis);
}

/// Modules of functions for quaternions: `module Type Vector vector_module Number;`
macro_rules! quaternions {
    ($($module:ident $ty:ident $vector:ident $of:ident $lane:ident;)*) => {$(
        #[doc = concat!("Functions of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        pub mod $module {
            use super::*;

            /// The conjugate: for a rotation, the opposite one.
            #[device]
            pub fn conjugate(q: $ty) -> $ty {
                let mut c = q;
                c.x = -q.x;
                c.y = -q.y;
                c.z = -q.z;
                c
            }

            /// The product `a * b`: the rotation by `b`, followed by that by `a`.
            #[device]
            pub fn mul_quat(a: $ty, b: $ty) -> $ty {
                let mut q = a;
                q.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
                q.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
                q.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
                q.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
                q
            }

            /// The rotated vector. The length of the quaternion is 1.
            #[device]
            pub fn mul_vec3(q: $ty, v: $vector) -> $vector {
                let axis = $of::new(q.x, q.y, q.z);
                let w: $lane = q.w;
                let square: $lane = $of::dot(axis, axis);
                let along: $lane = $of::dot(v, axis);
                let (first, second) = ($of::scale(v, w * w - square), $of::scale(axis, 2.0 * along));
                $of::add($of::add(first, second), $of::scale($of::cross(axis, v), 2.0 * w))
            }
        }
    )*};
}

quaternions! {
    quat Quat Vec3 vec3 f32;
    dquat DQuat DVec3 dvec3 f64;
}
