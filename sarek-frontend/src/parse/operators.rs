//! The operators that Rust finds by traits of `core::ops`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use sarek_ir::UnaryOp;
use syn::BinOp;

/// A trait of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperatorTrait {
    /// Its name.
    pub name: &'static str,
    /// Its method.
    pub method: &'static str,
}

const fn of(name: &'static str, method: &'static str) -> OperatorTrait {
    OperatorTrait { name, method }
}

const ALL: [OperatorTrait; 22] = [
    of("Add", "add"),
    of("Sub", "sub"),
    of("Mul", "mul"),
    of("Div", "div"),
    of("Rem", "rem"),
    of("BitAnd", "bitand"),
    of("BitOr", "bitor"),
    of("BitXor", "bitxor"),
    of("Shl", "shl"),
    of("Shr", "shr"),
    of("AddAssign", "add_assign"),
    of("SubAssign", "sub_assign"),
    of("MulAssign", "mul_assign"),
    of("DivAssign", "div_assign"),
    of("RemAssign", "rem_assign"),
    of("BitAndAssign", "bitand_assign"),
    of("BitOrAssign", "bitor_assign"),
    of("BitXorAssign", "bitxor_assign"),
    of("ShlAssign", "shl_assign"),
    of("ShrAssign", "shr_assign"),
    of("Neg", "neg"),
    of("Not", "not"),
];

fn named(name: &str) -> Option<OperatorTrait> {
    ALL.into_iter().find(|one| one.name == name)
}

impl OperatorTrait {
    /// The trait that the path of an `impl` means, if it looks like one of `core::ops`. rustc checks
    /// that it is that one.
    pub fn of_path(path: &syn::Path) -> Option<OperatorTrait> {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let (last, before) = names.split_last()?;
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let is_core = matches!(before[..], [] | ["ops"] | ["core" | "std", "ops"]);
        named(last).filter(|_| is_core)
    }

    /// The trait of an infix operator. `None` for `&&`, `||` and comparisons.
    pub fn of_infix(op: &BinOp) -> Option<OperatorTrait> {
        named(match op {
            BinOp::Add(_) => "Add",
            BinOp::Sub(_) => "Sub",
            BinOp::Mul(_) => "Mul",
            BinOp::Div(_) => "Div",
            BinOp::Rem(_) => "Rem",
            BinOp::BitXor(_) => "BitXor",
            BinOp::BitAnd(_) => "BitAnd",
            BinOp::BitOr(_) => "BitOr",
            BinOp::Shl(_) => "Shl",
            BinOp::Shr(_) => "Shr",
            BinOp::AddAssign(_) => "AddAssign",
            BinOp::SubAssign(_) => "SubAssign",
            BinOp::MulAssign(_) => "MulAssign",
            BinOp::DivAssign(_) => "DivAssign",
            BinOp::RemAssign(_) => "RemAssign",
            BinOp::BitXorAssign(_) => "BitXorAssign",
            BinOp::BitAndAssign(_) => "BitAndAssign",
            BinOp::BitOrAssign(_) => "BitOrAssign",
            BinOp::ShlAssign(_) => "ShlAssign",
            BinOp::ShrAssign(_) => "ShrAssign",
            _ => return None,
        })
    }

    /// The trait of a prefix operator.
    pub fn of_prefix(op: UnaryOp) -> Option<OperatorTrait> {
        named(match op {
            UnaryOp::Neg => "Neg",
            UnaryOp::Not => "Not",
        })
    }

    /// True for `+=` and its like.
    pub fn is_assigning(self) -> bool {
        self.name.ends_with("Assign")
    }

    /// True if it takes a right operand.
    pub fn is_infix(self) -> bool {
        !matches!(self.name, "Neg" | "Not")
    }

    /// The trait that kernels call in its place, without arguments.
    pub fn on_devices(self, krate: &TokenStream, span: Span) -> TokenStream {
        let name = format_ident!("Device{}", self.name, span = span);
        quote!(#krate::__private::operators::#name)
    }

    /// True for the name of a trait that kernels call in the place of one of `core::ops`.
    pub fn is_on_devices(name: &Ident) -> bool {
        let name = name.to_string();
        name.strip_prefix("Device")
            .is_some_and(|of| named(of).is_some())
    }

    /// The trait itself, without arguments.
    pub fn in_core(self) -> TokenStream {
        let name = Ident::new(self.name, Span::mixed_site());
        quote!(::core::ops::#name)
    }
}
