//! glam's own methods, for kernels: `use sarek::interop::glam::methods::*;`.
//!
//! A kernel that calls `a.dot(b)` needs the trait of `a`'s type in scope. On the host, the call is
//! glam's method of that name, which Rust prefers to a trait's.

use ::glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use sarek_macros::device;

use super::{dmat3, dmat4, dquat, dvec2, dvec3, dvec4, mat3, mat4, quat, vec2, vec3, vec4};

/// Traits of vectors: `Trait Type module Number (components)`.
macro_rules! vectors {
    ($($of:ident $ty:ident $module:ident $lane:ident ($($c:ident)+) { $($more:tt)* } { $($body:tt)* })*) => {$(
        #[doc = concat!("Methods of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        #[device]
        pub trait $of {
            /// The vector with these components.
            fn new($($c: $lane),+) -> Self;
            /// The vector with the same number in all components.
            fn splat(v: $lane) -> Self;
            /// The dot product.
            fn dot(self, rhs: $ty) -> $lane;
            /// The length.
            fn length(self) -> $lane;
            /// The square of the length.
            fn length_squared(self) -> $lane;
            /// `1 / length`
            fn length_recip(self) -> $lane;
            /// The distance of two points.
            fn distance(self, rhs: $ty) -> $lane;
            /// The square of the distance.
            fn distance_squared(self, rhs: $ty) -> $lane;
            /// The vector of length 1 in the same direction.
            fn normalize(self) -> Self;
            /// The point between two points: `self` at 0 and `rhs` at 1.
            fn lerp(self, rhs: $ty, s: $lane) -> Self;
            /// The smaller of each component.
            fn min(self, rhs: $ty) -> Self;
            /// The larger of each component.
            fn max(self, rhs: $ty) -> Self;
            /// Each component, but at least that of `min` and at most that of `max`.
            fn clamp(self, min: $ty, max: $ty) -> Self;
            /// The absolute value of each component.
            fn abs(self) -> Self;
            /// The largest integer of at most each component.
            fn floor(self) -> Self;
            /// The smallest integer of at least each component.
            fn ceil(self) -> Self;
            /// `self * a + b` of each component.
            fn mul_add(self, a: $ty, b: $ty) -> Self;
            /// The sum of the components.
            fn element_sum(self) -> $lane;
            /// The reflection at a plane whose normal has length 1.
            fn reflect(self, normal: $ty) -> Self;
            $($more)*
        }

        #[device]
        impl $of for $ty {
            fn new($($c: $lane),+) -> Self {
                $module::new($($c),+)
            }

            fn splat(v: $lane) -> Self {
                $module::splat(v)
            }

            fn dot(self, rhs: $ty) -> $lane {
                $module::dot(self, rhs)
            }

            fn length(self) -> $lane {
                $module::length(self)
            }

            fn length_squared(self) -> $lane {
                $module::dot(self, self)
            }

            fn length_recip(self) -> $lane {
                1.0 / $module::length(self)
            }

            fn distance(self, rhs: $ty) -> $lane {
                $module::distance(self, rhs)
            }

            fn distance_squared(self, rhs: $ty) -> $lane {
                $module::length_squared($module::sub(self, rhs))
            }

            fn normalize(self) -> Self {
                $module::normalize(self)
            }

            fn lerp(self, rhs: $ty, s: $lane) -> Self {
                $module::lerp(self, rhs, s)
            }

            fn min(self, rhs: $ty) -> Self {
                $module::min(self, rhs)
            }

            fn max(self, rhs: $ty) -> Self {
                $module::max(self, rhs)
            }

            fn clamp(self, min: $ty, max: $ty) -> Self {
                $module::min($module::max(self, min), max)
            }

            fn abs(self) -> Self {
                $module::abs(self)
            }

            fn floor(self) -> Self {
                let mut v = self;
                $({ let x: $lane = self.$c; v.$c = x.floor(); })+
                v
            }

            fn ceil(self) -> Self {
                let mut v = self;
                $({ let x: $lane = self.$c; v.$c = x.ceil(); })+
                v
            }

            fn mul_add(self, a: $ty, b: $ty) -> Self {
                let mut v = self;
                $({ let (x, y, z): ($lane, $lane, $lane) = (self.$c, a.$c, b.$c); v.$c = x.mul_add(y, z); })+
                v
            }

            fn element_sum(self) -> $lane {
                let mut sum: $lane = 0.0;
                $(sum += self.$c;)+
                sum
            }

            fn reflect(self, normal: $ty) -> Self {
                $module::sub(self, $module::scale(normal, 2.0 * $module::dot(self, normal)))
            }

            $($body)*
        }
    )*};
}

vectors! {
    Vec2Methods Vec2 vec2 f32 (x y) {
        /// The vector turned to the left by 90 degrees.
        fn perp(self) -> Self;
        /// The component `z` of the cross product.
        fn perp_dot(self, rhs: Vec2) -> f32;
    } {
        fn perp(self) -> Self {
            vec2::new(-self.y, self.x)
        }

        fn perp_dot(self, rhs: Vec2) -> f32 {
            self.x * rhs.y - self.y * rhs.x
        }
    }
    Vec3Methods Vec3 vec3 f32 (x y z) {
        /// The cross product.
        fn cross(self, rhs: Vec3) -> Self;
    } {
        fn cross(self, rhs: Vec3) -> Self {
            vec3::cross(self, rhs)
        }
    }
    Vec4Methods Vec4 vec4 f32 (x y z w) {} {}
    DVec2Methods DVec2 dvec2 f64 (x y) {
        /// The vector turned to the left by 90 degrees.
        fn perp(self) -> Self;
        /// The component `z` of the cross product.
        fn perp_dot(self, rhs: DVec2) -> f64;
    } {
        fn perp(self) -> Self {
            dvec2::new(-self.y, self.x)
        }

        fn perp_dot(self, rhs: DVec2) -> f64 {
            self.x * rhs.y - self.y * rhs.x
        }
    }
    DVec3Methods DVec3 dvec3 f64 (x y z) {
        /// The cross product.
        fn cross(self, rhs: DVec3) -> Self;
    } {
        fn cross(self, rhs: DVec3) -> Self {
            dvec3::cross(self, rhs)
        }
    }
    DVec4Methods DVec4 dvec4 f64 (x y z w) {} {}
}

/// Traits of matrices: `Trait Type module Column column_module Number names_of_methods (columns)`.
macro_rules! matrices {
    ($(
        $of:ident $ty:ident $module:ident $column:ident $columns:ident $lane:ident
        $mul_vec:ident $mul_mat:ident $add_mat:ident $sub_mat:ident ($($axis:ident)+)
        { $($more:tt)* } { $($body:tt)* }
    )*) => {$(
        #[doc = concat!("Methods of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        #[device]
        pub trait $of {
            /// The matrix with these columns.
            fn from_cols($($axis: $column),+) -> Self;
            /// The product with a vector.
            fn $mul_vec(&self, rhs: $column) -> $column;
            /// The product of two matrices.
            fn $mul_mat(&self, rhs: &$ty) -> Self;
            /// The sum of two matrices.
            fn $add_mat(&self, rhs: &$ty) -> Self;
            /// The difference of two matrices.
            fn $sub_mat(&self, rhs: &$ty) -> Self;
            /// The product with a number.
            fn mul_scalar(&self, rhs: $lane) -> Self;
            /// The transposed matrix.
            fn transpose(&self) -> Self;
            $($more)*
        }

        #[device]
        impl $of for $ty {
            fn from_cols($($axis: $column),+) -> Self {
                let mut m: $ty = $ty::ZERO;
                $(m.$axis = $axis;)+
                m
            }

            fn $mul_vec(&self, rhs: $column) -> $column {
                $module::mul_vec(*self, rhs)
            }

            fn $mul_mat(&self, rhs: &$ty) -> Self {
                $module::mul_mat(*self, *rhs)
            }

            fn $add_mat(&self, rhs: &$ty) -> Self {
                let mut m = *self;
                $(m.$axis = $columns::add(self.$axis, rhs.$axis);)+
                m
            }

            fn $sub_mat(&self, rhs: &$ty) -> Self {
                let mut m = *self;
                $(m.$axis = $columns::sub(self.$axis, rhs.$axis);)+
                m
            }

            fn mul_scalar(&self, rhs: $lane) -> Self {
                let mut m = *self;
                $(m.$axis = $columns::scale(self.$axis, rhs);)+
                m
            }

            fn transpose(&self) -> Self {
                $module::transpose(*self)
            }

            $($body)*
        }
    )*};
}

/// Calls [`matrices`] with the methods that only matrices of one size have.
macro_rules! matrices_by_size {
    (
        three { $($of:ident $ty:ident $module:ident $column:ident $columns:ident $lane:ident
            $mul_vec:ident $mul_mat:ident $add_mat:ident $sub_mat:ident;)* }
        four { $($of4:ident $ty4:ident $module4:ident $column4:ident $columns4:ident $lane4:ident
            $mul_vec4:ident $mul_mat4:ident $add_mat4:ident $sub_mat4:ident $point:ident $points:ident;)* }
    ) => {
        matrices! {
            $($of $ty $module $column $columns $lane $mul_vec $mul_mat $add_mat $sub_mat (x_axis y_axis z_axis) {
                /// The determinant.
                fn determinant(&self) -> $lane;
                /// The inverse. Its numbers are not finite if the determinant is 0.
                fn inverse(&self) -> Self;
            } {
                fn determinant(&self) -> $lane {
                    $columns::dot(self.z_axis, $columns::cross(self.x_axis, self.y_axis))
                }

                fn inverse(&self) -> Self {
                    let x = $columns::cross(self.y_axis, self.z_axis);
                    let y = $columns::cross(self.z_axis, self.x_axis);
                    let z = $columns::cross(self.x_axis, self.y_axis);
                    let by = 1.0 / $columns::dot(self.z_axis, z);
                    let mut m = *self;
                    m.x_axis = $columns::scale(x, by);
                    m.y_axis = $columns::scale(y, by);
                    m.z_axis = $columns::scale(z, by);
                    $module::transpose(m)
                }
            })*
            $($of4 $ty4 $module4 $column4 $columns4 $lane4 $mul_vec4 $mul_mat4 $add_mat4 $sub_mat4 (x_axis y_axis z_axis w_axis) {
                /// The image of a point, for a matrix whose last row is `0 0 0 1`.
                fn transform_point3(&self, rhs: $point) -> $point;
                /// The image of a direction, which is not translated.
                fn transform_vector3(&self, rhs: $point) -> $point;
            } {
                fn transform_point3(&self, rhs: $point) -> $point {
                    let v = $module4::mul_vec(*self, $columns4::new(rhs.x, rhs.y, rhs.z, 1.0));
                    $points::new(v.x, v.y, v.z)
                }

                fn transform_vector3(&self, rhs: $point) -> $point {
                    let v = $module4::mul_vec(*self, $columns4::new(rhs.x, rhs.y, rhs.z, 0.0));
                    $points::new(v.x, v.y, v.z)
                }
            })*
        }
    };
}

matrices_by_size! {
    three {
    Mat3Methods Mat3 mat3 Vec3 vec3 f32 mul_vec3 mul_mat3 add_mat3 sub_mat3;
    DMat3Methods DMat3 dmat3 DVec3 dvec3 f64 mul_vec3 mul_mat3 add_mat3 sub_mat3;
    }
    four {
    Mat4Methods Mat4 mat4 Vec4 vec4 f32 mul_vec4 mul_mat4 add_mat4 sub_mat4 Vec3 vec3;
    DMat4Methods DMat4 dmat4 DVec4 dvec4 f64 mul_vec4 mul_mat4 add_mat4 sub_mat4 DVec3 dvec3;
    }
}

/// Traits of quaternions: `Trait Type module Vector Number`.
macro_rules! quaternions {
    ($($of:ident $ty:ident $module:ident $vector:ident $lane:ident;)*) => {$(
        #[doc = concat!("Methods of [`", stringify!($ty), "`](::glam::", stringify!($ty), ") for kernels.")]
        #[device]
        pub trait $of {
            /// The quaternion with these components.
            fn from_xyzw(x: $lane, y: $lane, z: $lane, w: $lane) -> Self;
            /// The conjugate: for a rotation, the opposite one.
            fn conjugate(self) -> Self;
            /// The inverse of a quaternion of length 1.
            fn inverse(self) -> Self;
            /// The product: the rotation by `rhs`, followed by that by `self`.
            fn mul_quat(self, rhs: $ty) -> Self;
            /// The rotated vector. The length of the quaternion is 1.
            fn mul_vec3(self, rhs: $vector) -> $vector;
            /// The dot product.
            fn dot(self, rhs: $ty) -> $lane;
            /// The length.
            fn length(self) -> $lane;
            /// The square of the length.
            fn length_squared(self) -> $lane;
            /// The quaternion of length 1 in the same direction.
            fn normalize(self) -> Self;
        }

        #[device]
        impl $of for $ty {
            fn from_xyzw(x: $lane, y: $lane, z: $lane, w: $lane) -> Self {
                let mut q: $ty = $ty::IDENTITY;
                q.x = x;
                q.y = y;
                q.z = z;
                q.w = w;
                q
            }

            fn conjugate(self) -> Self {
                $module::conjugate(self)
            }

            fn inverse(self) -> Self {
                $module::conjugate(self)
            }

            fn mul_quat(self, rhs: $ty) -> Self {
                $module::mul_quat(self, rhs)
            }

            fn mul_vec3(self, rhs: $vector) -> $vector {
                $module::mul_vec3(self, rhs)
            }

            fn dot(self, rhs: $ty) -> $lane {
                self.x * rhs.x + self.y * rhs.y + self.z * rhs.z + self.w * rhs.w
            }

            fn length(self) -> $lane {
                let square: $lane = self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w;
                square.sqrt()
            }

            fn length_squared(self) -> $lane {
                self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w
            }

            fn normalize(self) -> Self {
                let square: $lane = self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w;
                let by = 1.0 / square.sqrt();
                let mut q = self;
                q.x = self.x * by;
                q.y = self.y * by;
                q.z = self.z * by;
                q.w = self.w * by;
                q
            }
        }
    )*};
}

quaternions! {
    QuatMethods Quat quat Vec3 f32;
    DQuatMethods DQuat dquat DVec3 f64;
}
