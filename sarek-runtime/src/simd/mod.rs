//! Vectors of two to four components, such as `f32x4`.
//!
//! The operations here define their meaning in kernels. The frontend knows them by name, and splits
//! them into operations on components.

mod swizzle;

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Index, Mul, MulAssign, Neg, Not, Rem, RemAssign, Sub, SubAssign,
};

use sarek_ir::{FieldInfo, StructInfo, TypeInfo};

pub use swizzle::{Swizzle2, Swizzle3, Swizzle4};

use crate::host::Plain;
use crate::{Element, Float, KernelType};

/// A vector type, for [`Swizzle2`] and the other swizzle traits.
#[doc(hidden)]
pub trait Packed: Copy {
    /// A component.
    type Lane: Copy;
    /// The vector type with two such components.
    type Two;
    /// The vector type with three such components.
    type Three;
    /// The vector type with four such components.
    type Four;

    fn lane(self, at: usize) -> Self::Lane;
    fn two(x: Self::Lane, y: Self::Lane) -> Self::Two;
    fn three(x: Self::Lane, y: Self::Lane, z: Self::Lane) -> Self::Three;
    fn four(x: Self::Lane, y: Self::Lane, z: Self::Lane, w: Self::Lane) -> Self::Four;
}

/// The methods of lanes, by the rows of `sarek_ir::numeric`, for vectors of some lanes.
macro_rules! lanes {
    ([$of:ident $vector:ident $cs:tt] $(
        $(#[$doc:meta])*
        $variant:ident $name:ident $group:ident $class:ident $args:tt -> $result:ident $(($type:ident))?,
            $exactness:ident, $of_trait:tt, $flags:tt { $($columns:tt)* }
    )*) => {
        $(lane! { $of $class $flags {$(#[$doc])*} $vector $cs $name $args })*
    };
}

/// Selects the methods of vectors.
macro_rules! lane {
    (numbers Number [lanes $($flag:ident)*] $($method:tt)*) => { each_lane! { $($method)* } };
    (floats Float [lanes $($flag:ident)*] $($method:tt)*) => { each_lane! { $($method)* } };
    (floats Signed [lanes $($flag:ident)*] $($method:tt)*) => { each_lane! { $($method)* } };
    (signed Signed [lanes $($flag:ident)*] $($method:tt)*) => { each_lane! { $($method)* } };
    ($($other:tt)*) => {};
}

macro_rules! each_lane {
    ({$($doc:tt)*} $vector:ident ($($c:ident)+) $name:ident ()) => {
        /// For each component:
        $($doc)*
        #[inline(always)]
        pub fn $name(self) -> $vector {
            $vector { $($c: self.$c.$name()),+ }
        }
    };
    ({$($doc:tt)*} $vector:ident ($($c:ident)+) $name:ident (Same)) => {
        /// For each component:
        $($doc)*
        #[inline(always)]
        pub fn $name(self, other: $vector) -> $vector {
            $vector { $($c: self.$c.$name(other.$c)),+ }
        }
    };
    ({$($doc:tt)*} $vector:ident ($($c:ident)+) $name:ident (Same, Same)) => {
        /// For each component:
        $($doc)*
        #[inline(always)]
        pub fn $name(self, a: $vector, b: $vector) -> $vector {
            $vector { $($c: self.$c.$name(a.$c, b.$c)),+ }
        }
    };
}

/// Defines a vector type, with the operations of all component types.
macro_rules! packed {
    ($($name:ident $lane:ident $n:tt $align:literal ($($c:ident $at:literal)+)
        $two:ident $three:ident $four:ident $zero:literal $one:literal;)*) => {$(
        #[doc = concat!("A vector of ", $n, " `", stringify!($lane), "`. It consists of ", $n,
            " consecutive components, aligned to ", $align, " bytes, on the host and on devices.")]
        ///
        /// Operators work on components, and with a scalar on either side. In kernels each
        /// component is a separate number. A load or store of a whole vector is one access of up to
        /// 16 bytes, where the device supports that.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, PartialEq, Debug, Default)]
        #[repr(C, align($align))]
        pub struct $name {
            $(#[doc = concat!("Component ", $at, ".")] pub $c: $lane,)+
        }

        impl $name {
            /// All components are 0.
            pub const ZERO: $name = $name::splat($zero);
            /// All components are 1.
            pub const ONE: $name = $name::splat($one);

            /// Makes a vector of these components.
            #[inline(always)]
            pub const fn new($($c: $lane),+) -> $name {
                $name { $($c),+ }
            }

            /// Makes a vector with the same number in all components.
            #[inline(always)]
            pub const fn splat(value: $lane) -> $name {
                $name { $($c: value),+ }
            }

            /// The components as an array.
            #[inline(always)]
            pub const fn to_array(self) -> [$lane; $n] {
                [$(self.$c),+]
            }

            sarek_ir::intrinsic_rows! { lanes [numbers $name ($($c)+)] }

            /// The dot product.
            #[inline(always)]
            pub fn dot(self, other: $name) -> $lane {
                let products = self * other;
                packed!(@sum products $($c)+)
            }
        }

        impl From<[$lane; $n]> for $name {
            fn from([$($c),+]: [$lane; $n]) -> $name {
                $name { $($c),+ }
            }
        }

        impl From<$name> for [$lane; $n] {
            fn from(value: $name) -> [$lane; $n] {
                value.to_array()
            }
        }

        impl Index<usize> for $name {
            type Output = $lane;

            #[inline(always)]
            fn index(&self, index: usize) -> &$lane {
                [$(&self.$c),+][index]
            }
        }

        impl Packed for $name {
            type Lane = $lane;
            type Two = $two;
            type Three = $three;
            type Four = $four;

            #[inline(always)]
            fn lane(self, at: usize) -> $lane {
                self[at]
            }

            #[inline(always)]
            fn two(x: $lane, y: $lane) -> $two {
                $two { x, y }
            }

            #[inline(always)]
            fn three(x: $lane, y: $lane, z: $lane) -> $three {
                $three { x, y, z }
            }

            #[inline(always)]
            fn four(x: $lane, y: $lane, z: $lane, w: $lane) -> $four {
                $four { x, y, z, w }
            }
        }

        impl Swizzle2 for $name {}
        packed!(@swizzles $name $n);

        packed!(@operators $name $lane ($($c)+)
            Add add +, AddAssign add_assign; Sub sub -, SubAssign sub_assign; Mul mul *, MulAssign mul_assign;
            Div div /, DivAssign div_assign; Rem rem %, RemAssign rem_assign;);

        // SAFETY: the fields are listed with their offsets.
        unsafe impl KernelType for $name {
            const TYPE: TypeInfo = TypeInfo::Struct(
                const {
                    &StructInfo {
                        name: stringify!($name),
                        fields: const {
                            &[$(FieldInfo {
                                name: stringify!($c),
                                ty: <$lane as KernelType>::TYPE,
                                offset: std::mem::offset_of!($name, $c) as u64,
                            }),+]
                        },
                        size: size_of::<$name>() as u64,
                        align: align_of::<$name>() as u64,
                    }
                },
            );
        }

        // SAFETY: contiguous numbers without padding: any bytes are a valid value.
        #[diagnostic::do_not_recommend]
        unsafe impl Element for $name {}
        // SAFETY: as above.
        unsafe impl Plain for $name {
            const ANY: bool = true;
        }

        const _: () = assert!(size_of::<$name>() == $n * size_of::<$lane>());
    )*};
    (@swizzles $name:ident 2) => {};
    (@swizzles $name:ident 3) => {
        impl Swizzle3 for $name {}
    };
    (@swizzles $name:ident 4) => {
        impl Swizzle3 for $name {}
        impl Swizzle4 for $name {}
    };
    (@sum $of:ident $x:ident $y:ident) => { $of.$x + $of.$y };
    (@sum $of:ident $x:ident $y:ident $z:ident) => { $of.$x + $of.$y + $of.$z };
    (@sum $of:ident $x:ident $y:ident $z:ident $w:ident) => { $of.$x + $of.$y + $of.$z + $of.$w };
    (@operators $name:ident $lane:ident $cs:tt
        $($op:ident $method:ident $symbol:tt, $assign:ident $assign_method:ident;)*) => {$(
        packed!(@operator $name $lane $cs $op $method $symbol);

        impl $assign for $name {
            #[inline(always)]
            fn $assign_method(&mut self, other: $name) {
                *self = *self $symbol other;
            }
        }

        impl $assign<$lane> for $name {
            #[inline(always)]
            fn $assign_method(&mut self, other: $lane) {
                *self = *self $symbol other;
            }
        }
    )*};
    (@operator $name:ident $lane:ident ($($c:ident)+) $op:ident $method:ident $symbol:tt) => {
        impl $op for $name {
            type Output = $name;

            #[inline(always)]
            fn $method(self, other: $name) -> $name {
                $name { $($c: self.$c $symbol other.$c),+ }
            }
        }

        impl $op<$lane> for $name {
            type Output = $name;

            #[inline(always)]
            fn $method(self, other: $lane) -> $name {
                $name { $($c: self.$c $symbol other),+ }
            }
        }

        impl $op<$name> for $lane {
            type Output = $name;

            #[inline(always)]
            fn $method(self, other: $name) -> $name {
                $name { $($c: self $symbol other.$c),+ }
            }
        }
    };
}

/// The operations of float vectors.
macro_rules! floats {
    ($($name:ident $lane:ident ($($c:ident)+);)*) => {$(
        impl $name {
            sarek_ir::intrinsic_rows! { lanes [floats $name ($($c)+)] }

            /// The Euclidean length.
            #[inline(always)]
            pub fn length(self) -> $lane {
                Float::sqrt(self.dot(self))
            }

            /// The square of the length.
            #[inline(always)]
            pub fn length_squared(self) -> $lane {
                self.dot(self)
            }

            /// The Euclidean distance.
            #[inline(always)]
            pub fn distance(self, other: $name) -> $lane {
                (self - other).length()
            }

            /// The vector of length 1 in the same direction.
            #[inline(always)]
            pub fn normalize(self) -> $name {
                self / self.length()
            }
        }

        packed_unary!($name ($($c)+) Neg neg -);
    )*};
}

macro_rules! packed_unary {
    ($name:ident ($($c:ident)+) $op:ident $method:ident $symbol:tt) => {
        impl $op for $name {
            type Output = $name;

            #[inline(always)]
            fn $method(self) -> $name {
                $name { $($c: $symbol self.$c),+ }
            }
        }
    };
}

/// The operations of integer vectors.
macro_rules! integers {
    ($($name:ident $lane:ident $cs:tt;)*) => {$(
        packed!(@operators $name $lane $cs
            BitAnd bitand &, BitAndAssign bitand_assign; BitOr bitor |, BitOrAssign bitor_assign;
            BitXor bitxor ^, BitXorAssign bitxor_assign;);
        packed_unary!($name $cs Not not !);
    )*};
}

macro_rules! signed {
    ($($name:ident ($($c:ident)+);)*) => {$(
        packed_unary!($name ($($c)+) Neg neg -);

        impl $name {
            sarek_ir::intrinsic_rows! { lanes [signed $name ($($c)+)] }
        }
    )*};
}

macro_rules! cross {
    ($($name:ident)*) => {$(
        impl $name {
            /// The cross product.
            #[inline(always)]
            pub fn cross(self, other: $name) -> $name {
                $name {
                    x: self.y * other.z - self.z * other.y,
                    y: self.z * other.x - self.x * other.z,
                    z: self.x * other.y - self.y * other.x,
                }
            }
        }
    )*};
}

packed! {
    f32x2 f32 2 8 (x 0 y 1) f32x2 f32x3 f32x4 0.0 1.0;
    f32x3 f32 3 4 (x 0 y 1 z 2) f32x2 f32x3 f32x4 0.0 1.0;
    f32x4 f32 4 16 (x 0 y 1 z 2 w 3) f32x2 f32x3 f32x4 0.0 1.0;
    f64x2 f64 2 16 (x 0 y 1) f64x2 f64x3 f64x4 0.0 1.0;
    f64x3 f64 3 8 (x 0 y 1 z 2) f64x2 f64x3 f64x4 0.0 1.0;
    f64x4 f64 4 16 (x 0 y 1 z 2 w 3) f64x2 f64x3 f64x4 0.0 1.0;
    i32x2 i32 2 8 (x 0 y 1) i32x2 i32x3 i32x4 0 1;
    i32x3 i32 3 4 (x 0 y 1 z 2) i32x2 i32x3 i32x4 0 1;
    i32x4 i32 4 16 (x 0 y 1 z 2 w 3) i32x2 i32x3 i32x4 0 1;
    u32x2 u32 2 8 (x 0 y 1) u32x2 u32x3 u32x4 0 1;
    u32x3 u32 3 4 (x 0 y 1 z 2) u32x2 u32x3 u32x4 0 1;
    u32x4 u32 4 16 (x 0 y 1 z 2 w 3) u32x2 u32x3 u32x4 0 1;
}

floats! {
    f32x2 f32 (x y);
    f32x3 f32 (x y z);
    f32x4 f32 (x y z w);
    f64x2 f64 (x y);
    f64x3 f64 (x y z);
    f64x4 f64 (x y z w);
}

integers! {
    i32x2 i32 (x y);
    i32x3 i32 (x y z);
    i32x4 i32 (x y z w);
    u32x2 u32 (x y);
    u32x3 u32 (x y z);
    u32x4 u32 (x y z w);
}

signed! {
    i32x2 (x y);
    i32x3 (x y z);
    i32x4 (x y z w);
}

cross!(f32x3 f64x3 i32x3 u32x3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_work_on_components_and_with_scalars() {
        let (a, b) = (f32x3::new(1.0, 2.0, 3.0), f32x3::new(4.0, 5.0, 6.0));
        assert_eq!(a + b, f32x3::new(5.0, 7.0, 9.0));
        assert_eq!(2.0 * a - 1.0, f32x3::new(1.0, 3.0, 5.0));
        assert_eq!(a.dot(b), 32.0);
        assert_eq!(a.cross(b), f32x3::new(-3.0, 6.0, -3.0));
        let mut c = i32x2::new(7, -8);
        c %= 4;
        assert_eq!(-c & 3, i32x2::new(1, 0));
        assert_eq!(f64x2::new(3.0, 4.0).length(), 5.0);
    }

    #[test]
    fn swizzles_take_components_by_name() {
        let v = u32x4::new(1, 2, 3, 4);
        assert_eq!(v.wzyx(), u32x4::new(4, 3, 2, 1));
        assert_eq!(v.xzz(), u32x3::new(1, 3, 3));
        assert_eq!((v.yy(), v[3]), (u32x2::splat(2), 4));
    }

    #[test]
    fn four_floats_are_aligned_as_one_access() {
        assert_eq!(
            (
                align_of::<f32x4>(),
                align_of::<f32x2>(),
                align_of::<f32x3>()
            ),
            (16, 8, 4)
        );
        assert_eq!((size_of::<f64x4>(), align_of::<f64x4>()), (32, 16));
    }
}
