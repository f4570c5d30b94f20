//! Expands the helpers that a kernel's text mentions: small texts placed before the kernel.

use std::collections::BTreeSet;

use crate::{Scalar, TypeClass, Value};

use super::{Dialect, Joint};

/// A helper for a class of types.
///
/// The name of a helper is `srk_{op}_{type}`, or `srk_{op}_{type}_{second type}`, or `srk_{op}` if its template is for
/// no class of types. Its text may contain these variables:
///
/// | | |
/// |---|---|
/// | `$NAME` | its own name |
/// | `$T`, `$S` | the first and the second type |
/// | `$ID` | the first type as in the names of helpers: `i8`, even if the target represents it by another type |
/// | `$U` | the unsigned integer of the first type's width |
/// | `$MIN`, `$MAX` | the bounds of an integer type |
/// | `$BITS`, `$MASK` | its width and one less, as `u32` |
/// | `$LOW`, `$HIGH` | the bounds `MIN` and `MAX + 1` of an integer first type, as literals of the second type, a float |
/// | `$SIGN`, `$ABS`, `$INF`, `$EXP`, `$MANT` | for a float: the masks of the sign bit and of the other bits, the bits of infinity (as `$U`), the exponent's mask and the width of the fraction (as `u32`) |
/// | `$0`, `$1`, `$X(text)` | zero, one, and a decimal `text`, as literals of the first type |
/// | `$V0`, `$V1` | zero and one of `$U` |
///
/// [`Dialect::variable`] may add others.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The middle part of the name.
    pub op: &'static str,
    /// The class of its first type; `None` if `op` is the whole name.
    pub on: Option<TypeClass>,
    /// The text.
    pub text: &'static str,
}

/// The text of the helper `name`, from the first template that fits.
pub fn expand<D: Dialect + ?Sized>(
    dialect: &D,
    templates: &[Template],
    name: &str,
) -> Option<String> {
    let whole = name.strip_prefix("srk_")?;
    let (op, types) = split(whole);
    let template = templates.iter().find(|t| match (t.on, types.first()) {
        (None, _) => t.op == whole,
        (Some(class), Some(ty)) => t.op == op && class.contains(*ty),
        (Some(_), None) => false,
    })?;
    Some(substitute(dialect, template.text, name, &types))
}

/// Splits `fract_f32` into `fract` and `[f32]`, `to_i32_f64` into `to` and `[i32, f64]`.
fn split(name: &str) -> (&str, Vec<Scalar>) {
    let mut types = vec![];
    let mut op = name;
    while let Some((rest, last)) = op.rsplit_once('_')
        && let Some(ty) = Scalar::from_name(last)
    {
        types.insert(0, ty);
        op = rest;
    }
    (op, types)
}

fn substitute<D: Dialect + ?Sized>(
    dialect: &D,
    template: &str,
    name: &str,
    types: &[Scalar],
) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after
            .find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (variable, after) = after.split_at(end);
        rest = after;
        if variable == "X"
            && let Some((number, after)) = after.strip_prefix('(').and_then(|a| a.split_once(')'))
        {
            rest = after;
            out.push_str(&number_literal(dialect, number, types));
            continue;
        }
        match value_of(dialect, variable, name, types) {
            Some(text) => out.push_str(&text),
            None => unreachable!("`${variable}` in the text of {name}"),
        }
    }
    out.push_str(rest);
    out
}

fn number_literal<D: Dialect + ?Sized>(dialect: &D, number: &str, types: &[Scalar]) -> String {
    let value = match types.first() {
        Some(Scalar::F16) => number.parse().ok().map(Value::f16),
        Some(Scalar::Bf16) => number.parse().ok().map(Value::bf16),
        Some(Scalar::F32) => number.parse().ok().map(Value::f32),
        Some(Scalar::F64) => number.parse().ok().map(Value::f64),
        Some(ty) => number.parse().ok().and_then(|n| Value::int(*ty, n)),
        None => None,
    };
    dialect
        .literal(value.expect("a template's numbers are of its type"))
        .text
}

fn value_of<D: Dialect + ?Sized>(
    dialect: &D,
    variable: &str,
    name: &str,
    types: &[Scalar],
) -> Option<String> {
    let first = types.first().copied();
    let literal = |value: Value| Some(dialect.literal(value).text);
    let int = |ty: Scalar, v: i128| Value::int(ty, v).and_then(literal);
    match variable {
        "NAME" => return Some(name.into()),
        "T" => return Some(dialect.type_name(first?).into()),
        "ID" => return Some(first?.name().into()),
        "S" => return Some(dialect.type_name(*types.get(1)?).into()),
        _ => {}
    }
    if let Some(text) = dialect.variable(variable, types) {
        return Some(text);
    }
    let ty = first?;
    let bits = unsigned(ty);
    let (low, high) = bounds(ty);
    match variable {
        "U" => Some(dialect.type_name(bits).into()),
        "MIN" => int(ty, low),
        "MAX" => int(ty, high),
        "BITS" => int(Scalar::U32, i128::from(ty.bits())),
        "MASK" => int(Scalar::U32, i128::from(ty.bits() - 1)),
        "LOW" => float(*types.get(1)?, low as f64).and_then(literal),
        "HIGH" => float(*types.get(1)?, (high + 1) as f64).and_then(literal),
        "SIGN" => int(bits, 1 << (ty.bits() - 1)),
        "ABS" => int(bits, (1 << (ty.bits() - 1)) - 1),
        "INF" => int(bits, infinity(ty)),
        "EXP" => int(Scalar::U32, infinity(ty) >> fraction(ty)),
        "MANT" => int(Scalar::U32, i128::from(fraction(ty))),
        "0" => literal(Value::zero(ty)),
        "1" => float(ty, 1.0).or(Value::int(ty, 1)).and_then(literal),
        "V0" => int(bits, 0),
        "V1" => int(bits, 1),
        _ => None,
    }
}

/// The unsigned integer of a number's width.
fn unsigned(ty: Scalar) -> Scalar {
    match ty {
        Scalar::I8 | Scalar::U8 => Scalar::U8,
        Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => Scalar::U16,
        Scalar::Bool | Scalar::I32 | Scalar::U32 | Scalar::F32 => Scalar::U32,
        Scalar::I64 | Scalar::U64 | Scalar::Usize | Scalar::F64 => Scalar::U64,
    }
}

fn bounds(ty: Scalar) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn fraction(ty: Scalar) -> u32 {
    match (ty.size(), ty) {
        (8, _) => 52,
        (2, Scalar::Bf16) => 7,
        (2, _) => 10,
        (_, _) => 23,
    }
}

fn infinity(ty: Scalar) -> i128 {
    match (ty.size(), ty) {
        (8, _) => i128::from(f64::INFINITY.to_bits()),
        (2, Scalar::Bf16) => 0x7f80,
        (2, _) => 0x7c00,
        (_, _) => i128::from(f32::INFINITY.to_bits()),
    }
}

fn float(ty: Scalar, value: f64) -> Option<Value> {
    match ty {
        Scalar::F16 => Some(Value::f16(value as f32)),
        Scalar::Bf16 => Some(Value::bf16(value as f32)),
        Scalar::F32 => Some(Value::f32(value as f32)),
        Scalar::F64 => Some(Value::f64(value)),
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => None,
    }
}

/// The snippets that `body` mentions, directly or through other snippets, each after those that it needs.
pub(super) fn prelude<'a>(dialect: &'a dyn Dialect, body: &str) -> Helpers<'a> {
    let mut found = Helpers {
        dialect,
        seen: BTreeSet::new(),
        types: vec![],
        helpers: vec![],
    };
    found.mentioned_in(body);
    found
}

/// The helpers that a body needs.
pub(super) struct Helpers<'a> {
    dialect: &'a dyn Dialect,
    seen: BTreeSet<String>,
    types: Vec<String>,
    helpers: Vec<String>,
}

impl Helpers<'_> {
    /// The text before the body.
    pub(super) fn text(&self) -> String {
        let mut text = self.types.concat();
        if !text.is_empty() {
            text.push('\n');
        }
        text + &self.helpers.concat()
    }

    /// The parts of the whole text.
    pub(super) fn joint(self, body: &str) -> Joint {
        Joint {
            types: self.types,
            helpers: self.helpers,
            body: body.to_owned(),
        }
    }

    fn mentioned_in(&mut self, text: &str) {
        for word in words(text) {
            if !self.seen.insert(word.to_owned()) {
                continue;
            }
            let Some(snippet) = self.dialect.snippet(word) else {
                continue;
            };
            self.mentioned_in(&snippet);
            match word.starts_with("srk_") {
                true => self.helpers.push(format!("{}\n\n", snippet.trim_end())),
                false => self.types.push(format!("{}\n", snippet.trim_end())),
            }
        }
    }
}

/// The identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helper_names_split_at_their_types() {
        assert_eq!(split("fract_f32"), ("fract", vec![Scalar::F32]));
        assert_eq!(split("to_i32_f64"), ("to", vec![Scalar::I32, Scalar::F64]));
        assert_eq!(split("in_bounds_u64"), ("in_bounds", vec![Scalar::U64]));
        assert_eq!(split("fault"), ("fault", vec![]));
    }
}
