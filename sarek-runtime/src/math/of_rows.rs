//! Methods of traits from the rows of `sarek_ir::numeric`.
//!
//! `intrinsic_rows! { rows [macro Trait] }` calls the macro for each method of the trait, as
//! `macro!(Trait {doc} name(argument: Type) -> Type)`. The traits are `Int`, `Float` without the elementary functions,
//! and `Elementary`.

/// Selects the methods of a trait.
macro_rules! rows {
    ([$then:ident $of:ident] $(
        $(#[$doc:meta])*
        $variant:ident $name:ident $group:ident $class:ident $args:tt -> $result:ident $(($type:ident))?,
            $exactness:ident, $of_trait:tt, $flags:tt { $($columns:tt)* }
    )*) => {
        $($crate::math::of_rows::row! {
            $of $of_trait $exactness
            $then $of {$(#[$doc])*} $name $args $result $(($type))?
        })*
    };
}

/// Passes on a method of the trait.
macro_rules! row {
    (Elementary Float Elementary $($method:tt)*) => { $crate::math::of_rows::typed! { $($method)* } };
    (Float Float Elementary $($method:tt)*) => {};
    (Float Float $exactness:ident $($method:tt)*) => { $crate::math::of_rows::typed! { $($method)* } };
    (Int Int $exactness:ident $($method:tt)*) => { $crate::math::of_rows::typed! { $($method)* } };
    ($($of_another_trait:tt)*) => {};
}

/// Names the arguments, and writes the types of Rust.
macro_rules! typed {
    ($then:ident $of:ident $doc:tt $name:ident () Same) => {
        $then! { $of $doc $name() -> Self }
    };
    ($then:ident $of:ident $doc:tt $name:ident (Same) Same) => {
        $then! { $of $doc $name(other: Self) -> Self }
    };
    ($then:ident $of:ident $doc:tt $name:ident (Same, Same) Same) => {
        $then! { $of $doc $name(a: Self, b: Self) -> Self }
    };
    ($then:ident $of:ident $doc:tt $name:ident (Fixed(I32)) Same) => {
        $then! { $of $doc $name(n: i32) -> Self }
    };
    ($then:ident $of:ident $doc:tt $name:ident () Fixed (Bool)) => {
        $then! { $of $doc $name() -> bool }
    };
    ($then:ident $of:ident $doc:tt $name:ident () Fixed (U32)) => {
        $then! { $of $doc $name() -> u32 }
    };
}

/// A method of a trait.
macro_rules! declare {
    ($of:ident {$($doc:tt)*} $name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {
        $($doc)*
        fn $name(self, $($arg: $ty),*) -> $out;
    };
}

/// A method of a 16-bit float: computed in `f32`, and rounded.
macro_rules! by_f32 {
    ($of:ident {$($doc:tt)*} $name:ident($($arg:ident: $ty:ident),*) -> $out:ident) => {
        #[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            let result = <f32 as $crate::host::$of>::$name(
                $crate::host::wide(self),
                $($crate::math::of_rows::widened!($ty $arg)),*
            );
            $crate::math::of_rows::narrowed!($out result)
        }
    };
}

macro_rules! widened {
    (Self $arg:ident) => {
        $crate::host::wide($arg)
    };
    ($ty:ident $arg:ident) => {
        $arg
    };
}

macro_rules! narrowed {
    (Self $result:ident) => {
        $crate::host::narrow($result)
    };
    ($ty:ident $result:ident) => {
        $result
    };
}

pub(crate) use {by_f32, declare, narrowed, row, rows, typed, widened};
