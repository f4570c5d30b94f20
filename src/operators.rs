//! The operators of `core::ops` as traits that kernels call.
//!
//! `#[device] impl Add for V` implements `DeviceAdd` for `V` besides. A kernel calls an operator through these traits if it
//! does not see that the operands are numbers. Numbers implement them, too: the name of a type may stand for one, and an
//! operator of the user's may yield one.

use sarek_macros::device;

use crate::{Float, Int, Num};

/// A trait for `a + b`.
macro_rules! infix {
    ($($of:ident $method:ident $message:literal;)*) => {$(
        #[device]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "no operator for devices",
            note = "why: a kernel calls the operator of a type of your own, and only `#[device]` translates it",
            note = "instead: write `#[device]` before the `impl` of the operator, which takes its operands by value"
        )]
        pub trait $of<Rhs> {
            type Output;
            fn $method(self, rhs: Rhs) -> Self::Output;
        }
    )*};
}

infix! {
    DeviceAdd add "SRK0314: `{Self} + {Rhs}` has no `#[device]` impl of `Add`";
    DeviceSub sub "SRK0314: `{Self} - {Rhs}` has no `#[device]` impl of `Sub`";
    DeviceMul mul "SRK0314: `{Self} * {Rhs}` has no `#[device]` impl of `Mul`";
    DeviceDiv div "SRK0314: `{Self} / {Rhs}` has no `#[device]` impl of `Div`";
    DeviceRem rem "SRK0314: `{Self} % {Rhs}` has no `#[device]` impl of `Rem`";
    DeviceBitAnd bitand "SRK0314: `{Self} & {Rhs}` has no `#[device]` impl of `BitAnd`";
    DeviceBitOr bitor "SRK0314: `{Self} | {Rhs}` has no `#[device]` impl of `BitOr`";
    DeviceBitXor bitxor "SRK0314: `{Self} ^ {Rhs}` has no `#[device]` impl of `BitXor`";
    DeviceShl shl "SRK0314: `{Self} << {Rhs}` has no `#[device]` impl of `Shl`";
    DeviceShr shr "SRK0314: `{Self} >> {Rhs}` has no `#[device]` impl of `Shr`";
}

/// A trait for `a += b`.
macro_rules! assigning {
    ($($of:ident $method:ident $message:literal;)*) => {$(
        #[device]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "no operator for devices",
            note = "why: a kernel calls the operator of a type of your own, and only `#[device]` translates it",
            note = "instead: write `#[device]` before the `impl` of the operator, which takes its right operand by value"
        )]
        pub trait $of<Rhs> {
            fn $method(&mut self, rhs: Rhs);
        }
    )*};
}

assigning! {
    DeviceAddAssign add_assign "SRK0314: `{Self} += {Rhs}` has no `#[device]` impl of `AddAssign`";
    DeviceSubAssign sub_assign "SRK0314: `{Self} -= {Rhs}` has no `#[device]` impl of `SubAssign`";
    DeviceMulAssign mul_assign "SRK0314: `{Self} *= {Rhs}` has no `#[device]` impl of `MulAssign`";
    DeviceDivAssign div_assign "SRK0314: `{Self} /= {Rhs}` has no `#[device]` impl of `DivAssign`";
    DeviceRemAssign rem_assign "SRK0314: `{Self} %= {Rhs}` has no `#[device]` impl of `RemAssign`";
    DeviceBitAndAssign bitand_assign "SRK0314: `{Self} &= {Rhs}` has no `#[device]` impl of `BitAndAssign`";
    DeviceBitOrAssign bitor_assign "SRK0314: `{Self} |= {Rhs}` has no `#[device]` impl of `BitOrAssign`";
    DeviceBitXorAssign bitxor_assign "SRK0314: `{Self} ^= {Rhs}` has no `#[device]` impl of `BitXorAssign`";
    DeviceShlAssign shl_assign "SRK0314: `{Self} <<= {Rhs}` has no `#[device]` impl of `ShlAssign`";
    DeviceShrAssign shr_assign "SRK0314: `{Self} >>= {Rhs}` has no `#[device]` impl of `ShrAssign`";
}

/// A trait for `-a`. Its parameter is always `()`.
macro_rules! prefix {
    ($($of:ident $method:ident $message:literal;)*) => {$(
        #[device]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "no operator for devices",
            note = "why: a kernel calls the operator of a type of your own, and only `#[device]` translates it",
            note = "instead: write `#[device]` before the `impl` of the operator, which takes its operand by value"
        )]
        pub trait $of<Nothing> {
            type Output;
            fn $method(self) -> Self::Output;
        }
    )*};
}

prefix! {
    DeviceNeg neg "SRK0314: `-{Self}` has no `#[device]` impl of `Neg`";
    DeviceNot not "SRK0314: `!{Self}` has no `#[device]` impl of `Not`";
}

/// The operators of numbers.
macro_rules! of_numbers {
    ($($kind:ident $rhs:ty, $of:ident $method:ident $assign:ident $assign_method:ident $helper:ident $symbol:tt;)*) => {$(
        #[device]
        fn $helper<T: $kind>(a: T, b: $rhs) -> T {
            a $symbol b
        }

        #[device]
        #[diagnostic::do_not_recommend]
        impl<T: $kind> $of<$rhs> for T {
            type Output = T;

            fn $method(self, rhs: $rhs) -> T {
                $helper(self, rhs)
            }
        }

        #[device]
        #[diagnostic::do_not_recommend]
        impl<T: $kind> $assign<$rhs> for T {
            fn $assign_method(&mut self, rhs: $rhs) {
                *self = $helper(*self, rhs);
            }
        }
    )*};
}

of_numbers! {
    Num T, DeviceAdd add DeviceAddAssign add_assign sum +;
    Num T, DeviceSub sub DeviceSubAssign sub_assign difference -;
    Num T, DeviceMul mul DeviceMulAssign mul_assign product *;
    Num T, DeviceDiv div DeviceDivAssign div_assign quotient /;
    Num T, DeviceRem rem DeviceRemAssign rem_assign remainder %;
    Int T, DeviceBitAnd bitand DeviceBitAndAssign bitand_assign and &;
    Int T, DeviceBitOr bitor DeviceBitOrAssign bitor_assign or |;
    Int T, DeviceBitXor bitxor DeviceBitXorAssign bitxor_assign xor ^;
    Int u32, DeviceShl shl DeviceShlAssign shl_assign to_the_left <<;
    Int u32, DeviceShr shr DeviceShrAssign shr_assign to_the_right >>;
}

#[device]
fn negative<T: Float>(a: T) -> T {
    -a
}

#[device]
#[diagnostic::do_not_recommend]
impl<T: Float> DeviceNeg<()> for T {
    type Output = T;

    fn neg(self) -> T {
        negative(self)
    }
}

#[device]
fn inverted<T: Int>(a: T) -> T {
    !a
}

#[device]
#[diagnostic::do_not_recommend]
impl<T: Int> DeviceNot<()> for T {
    type Output = T;

    fn not(self) -> T {
        inverted(self)
    }
}
