//! Writes the kernel language as C: the code that the C dialects share. The defaults of [`Dialect`] call these
//! functions; the public ones are for dialects in other crates.
//!
//! Signed arithmetic uses the unsigned type of the same width, in which overflow wraps. The dialects rely on compilers
//! that convert back modulo the width, and whose `>>` of a negative number is arithmetic.

mod atomics;
mod snippets;

pub use atomics::is_native_atomic;
pub(super) use atomics::{ByBits, assigned};

use std::borrow::Cow;

use crate::{BinaryOp, DivideOp, Intrinsic, Scalar, UnaryOp, Value};

use super::text::f32_digits;
use super::{Dialect, Entry, Precedence, SlotKind, Text, Unsupported};

/// The function or helper for an intrinsic in C; functions of C itself have C's names. A dialect overrides it where its
/// name differs.
pub fn function(intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
    intrinsic.spelled(intrinsic.lowering().c, ty)
}

pub(super) fn storage_type(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "u8",
        Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F32
        | Scalar::F64 => ty.name(),
    }
}

pub(super) fn declare_table(qualifier: &str, ty: &str, name: &str, values: &[Text]) -> String {
    let rows = in_rows(values);
    format!(
        "{qualifier} {ty} {name}[{}] = {{\n{rows}\n}};",
        values.len()
    )
}

/// Joins constants, several in a line.
pub(super) fn in_rows(values: &[Text]) -> String {
    let rows = values.chunks(12).map(|row| {
        let row: Vec<&str> = row.iter().map(|value| &*value.text).collect();
        format!("    {}", row.join(", "))
    });
    rows.collect::<Vec<String>>().join(",\n")
}

pub(super) fn loaded(element: String, ty: Scalar) -> Text {
    let element = Text::primary(element);
    if ty == Scalar::Bool {
        Text::infix(Precedence::Compare, "!=", &element, &Text::literal("0"))
    } else {
        element
    }
}

pub(super) fn stored(value: Text, ty: Scalar) -> Text {
    if ty == Scalar::Bool {
        let value = value.at_least(Precedence::Compare);
        Text::new(Precedence::Loose, format!("{value} ? 1 : 0"))
    } else {
        value
    }
}

pub(super) fn literal<D: Dialect + ?Sized>(d: &D, value: Value) -> Text {
    let long = d.long_suffix();
    Text::literal(match value {
        Value::Bool(v) => v.to_string(),
        // The literal of MIN's magnitude would not be an `int`.
        Value::I32(i32::MIN) => format!("(-{} - 1)", i32::MAX),
        Value::I8(v) => v.to_string(),
        Value::I16(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::U8(v) => format!("{v}u"),
        Value::U16(v) => format!("{v}u"),
        Value::U32(v) => format!("{v}u"),
        Value::I64(i64::MIN) => format!("(-{}{long} - 1{long})", i64::MAX),
        Value::I64(v) => format!("{v}{long}"),
        Value::U64(v) | Value::Usize(v) => format!("{v}u{long}"),
        Value::F16(bits) | Value::Bf16(bits) => format!("{bits:#06x}u"),
        Value::F32(bits) if f32::from_bits(bits).is_finite() => {
            format!("{}f", f32_digits(f32::from_bits(bits)))
        }
        Value::F32(bits) => format!("srk_from_bits_u32({bits:#x}u)"),
        Value::F64(bits) if f64::from_bits(bits).is_finite() => {
            format!("{:?}", f64::from_bits(bits))
        }
        Value::F64(bits) => format!("srk_from_bits_u64({bits:#x}u{long})"),
    })
}

pub(super) fn cast<D: Dialect + ?Sized>(d: &D, arg: &Text, from: Scalar, to: Scalar) -> Text {
    if from.is_float() && to.is_int() {
        return Text::call(&format!("srk_to_{to}_{from}"), std::slice::from_ref(arg));
    }
    if to.is_half() {
        let narrow = format!("srk_narrow_{to}_{from}");
        return Text::call(&narrow, std::slice::from_ref(arg));
    }
    if from.is_half() {
        return Text::call(&format!("srk_widen_{from}"), std::slice::from_ref(arg));
    }
    Text::prefix(&format!("({})", d.type_name(to)), arg)
}

pub(super) fn unary<D: Dialect + ?Sized>(d: &D, op: UnaryOp, ty: Scalar, arg: &Text) -> Text {
    match op {
        UnaryOp::Not if ty == Scalar::Bool => Text::prefix("!", arg),
        UnaryOp::Not => Text::prefix("~", arg),
        UnaryOp::Neg if ty.is_float() => Text::prefix("-", arg),
        UnaryOp::Neg => {
            let zero = d.literal(Value::int(ty, 0).unwrap_or(Value::I32(0)));
            binary(d, BinaryOp::Sub, ty, &zero, arg)
        }
    }
}

pub(super) fn binary<D: Dialect + ?Sized>(
    d: &D,
    op: BinaryOp,
    ty: Scalar,
    lhs: &Text,
    rhs: &Text,
) -> Text {
    let symbol = op.symbol();
    let rank = match op {
        BinaryOp::Rem => {
            return Text::call(&format!("srk_rem_{ty}"), &[lhs.clone(), rhs.clone()]);
        }
        BinaryOp::Add | BinaryOp::Sub => Precedence::Add,
        BinaryOp::Mul | BinaryOp::Div => Precedence::Mul,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => {
            Precedence::Loose
        }
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            Precedence::Compare
        }
    };
    let overflows = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => ty.is_signed(),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shr
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => false,
    };
    let Some(unsigned) = ty.unsigned().filter(|_| overflows) else {
        return Text::infix(rank, symbol, lhs, rhs);
    };
    let to_unsigned = format!("({})", d.type_name(unsigned));
    let lhs = Text::prefix(&to_unsigned, lhs);
    let rhs = if op.is_shift() {
        rhs.clone()
    } else {
        Text::prefix(&to_unsigned, rhs)
    };
    let wrapped = Text::infix(rank, symbol, &lhs, &rhs);
    Text::prefix(&format!("({})", d.type_name(ty)), &wrapped)
}

pub(super) fn divide(op: DivideOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
    match op {
        DivideOp::Div => Text::infix(Precedence::Mul, "/", lhs, rhs),
        DivideOp::Rem => Text::infix(Precedence::Mul, "%", lhs, rhs),
        DivideOp::DivEuclid | DivideOp::RemEuclid => Text::call(
            &format!("srk_{}_{ty}", op.name()),
            &[lhs.clone(), rhs.clone()],
        ),
    }
}

/// The definition of a helper that the defaults of [`Dialect`] call. Its templates may use the variables of
/// [`super::Template`] and those that [`Dialect::variable`] must provide:
///
/// | | |
/// |---|---|
/// | `$FN` | the beginning of a function definition |
/// | `$FAULTS` | the type of a pointer to the fault record |
/// | `$EXCHANGE` | the function that exchanges a word of it atomically |
/// | `$F` | the end of the name of a mathematical function on the first type |
/// | `$FLOAT` | the float type of the first type's width |
/// | `$TOBITS`, `$FROMBITS` | the functions between a float of the first type's width and its bits |
///
/// The templates also call helpers that they don't define: `count_ones`, `leading_zeros`, `trailing_zeros` and
/// `reverse_bits` on unsigned integers.
pub fn snippet<D: Dialect + ?Sized>(d: &D, name: &str) -> Option<String> {
    super::expand(d, snippets::TEMPLATES, name)
}

/// The parts of a kernel's head that differ between C dialects.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// The text before the name.
    pub before: &'a str,
    /// The type of a buffer, from the type of its elements and whether the kernel may write it.
    pub pointer: &'a dyn Fn(&str, bool) -> String,
    /// From the name and element type of a shared array that is an argument: the argument, and the line that turns it
    /// into an array.
    pub given: &'a dyn Fn(&str, &str) -> (String, String),
}

/// The head of a kernel with its shared arrays.
///
/// # Errors
/// Those of the types.
pub fn signature<D: Dialect + ?Sized>(
    d: &D,
    entry: &Entry<'_>,
    head: &Head<'_>,
) -> Result<String, Unsupported> {
    let (mut arguments, mut lines) = (vec![], vec![]);
    for argument in entry.arguments {
        let name = &argument.name;
        let ty = match argument.slot.kind {
            SlotKind::Buffer { mutable, .. } => (head.pointer)(argument.element_type(d)?, mutable),
            SlotKind::Output(_) => (head.pointer)(argument.element_type(d)?, true),
            SlotKind::Faults => (head.pointer)(d.type_name(Scalar::U32), true),
            SlotKind::Len(_) | SlotKind::Scalar(_) | SlotKind::Extent(_) | SlotKind::Grid(_) => {
                format!("const {}", d.type_name(argument.passed_as()))
            }
            SlotKind::Shared(id) => {
                let ty = entry.shared[id.index()].element_type(d)?;
                let (argument, line) = (head.given)(name, ty);
                arguments.push(format!("    {argument}"));
                lines.push(line);
                continue;
            }
        };
        arguments.push(format!("    {ty} {name}"));
    }
    for array in entry.shared {
        if let Some(len) = array.len {
            let ty = array.element_type(d)?;
            let before = entry.shared_prefix[usize::from(array.wide)];
            lines.push(format!("{before} {ty} {}[{len}];", array.name));
        }
    }
    let (before, name) = (head.before, entry.name);
    let mut text = format!("{before} {name}(\n{}\n) {{", arguments.join(",\n"));
    for line in lines.iter().filter(|line| !line.is_empty()) {
        text += &format!("\n    {line}");
    }
    Ok(text)
}
