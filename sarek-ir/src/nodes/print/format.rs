//! Formats a value with Rust's own formatting machinery.

use std::fmt::{Binary, Debug, Display, LowerExp, LowerHex, Octal, UpperExp, UpperHex};

use super::{Align, Format, Notation};
use crate::{Value, bfloat16, binary16};

/// Formats a value with one trait and the flags, precision and zero padding of a format.
macro_rules! spelled {
    ($value:expr, $format:expr, $notation:literal) => {{
        let (v, f) = ($value, $format);
        // Zero padding goes after the sign, so Rust must do it; `padded` adds other fill characters around the text.
        let w = if f.zero {
            usize::from(f.width.unwrap_or(0))
        } else {
            0
        };
        match (f.plus, f.alternate, f.zero, f.precision.map(usize::from)) {
            (false, false, false, None) => format!(concat!("{:", $notation, "}"), v),
            (true, false, false, None) => format!(concat!("{:+", $notation, "}"), v),
            (false, true, false, None) => format!(concat!("{:#", $notation, "}"), v),
            (true, true, false, None) => format!(concat!("{:+#", $notation, "}"), v),
            (false, false, true, None) => format!(concat!("{:0w$", $notation, "}"), v, w = w),
            (true, false, true, None) => format!(concat!("{:+0w$", $notation, "}"), v, w = w),
            (false, true, true, None) => format!(concat!("{:#0w$", $notation, "}"), v, w = w),
            (true, true, true, None) => format!(concat!("{:+#0w$", $notation, "}"), v, w = w),
            (false, false, false, Some(p)) => format!(concat!("{:.p$", $notation, "}"), v, p = p),
            (true, false, false, Some(p)) => format!(concat!("{:+.p$", $notation, "}"), v, p = p),
            (false, true, false, Some(p)) => format!(concat!("{:#.p$", $notation, "}"), v, p = p),
            (true, true, false, Some(p)) => format!(concat!("{:+#.p$", $notation, "}"), v, p = p),
            (false, false, true, Some(p)) => {
                format!(concat!("{:0w$.p$", $notation, "}"), v, w = w, p = p)
            }
            (true, false, true, Some(p)) => {
                format!(concat!("{:+0w$.p$", $notation, "}"), v, w = w, p = p)
            }
            (false, true, true, Some(p)) => {
                format!(concat!("{:#0w$.p$", $notation, "}"), v, w = w, p = p)
            }
            (true, true, true, Some(p)) => {
                format!(concat!("{:+#0w$.p$", $notation, "}"), v, w = w, p = p)
            }
        }
    }};
}

impl Format {
    /// The value as Rust formats it.
    pub(super) fn text(&self, value: Value) -> String {
        let (text, default) = match value {
            Value::Bool(v) => return self.padded(self.any(v), Align::Left),
            Value::I8(v) => (self.integer(v), Align::Right),
            Value::U8(v) => (self.integer(v), Align::Right),
            Value::I16(v) => (self.integer(v), Align::Right),
            Value::U16(v) => (self.integer(v), Align::Right),
            Value::I32(v) => (self.integer(v), Align::Right),
            Value::U32(v) => (self.integer(v), Align::Right),
            Value::I64(v) => (self.integer(v), Align::Right),
            Value::U64(v) | Value::Usize(v) => (self.integer(v), Align::Right),
            // As the `half` crate does.
            Value::F16(v) => (self.float(binary16::to_f32(v)), Align::Right),
            Value::Bf16(v) => (self.float(bfloat16::to_f32(v)), Align::Right),
            Value::F32(v) => (self.float(f32::from_bits(v)), Align::Right),
            Value::F64(v) => (self.float(f64::from_bits(v)), Align::Right),
        };
        self.padded(text, default)
    }

    fn any<T: Display + Debug>(&self, value: T) -> String {
        match self.notation {
            Notation::Debug => spelled!(value, self, "?"),
            Notation::Display
            | Notation::LowerHex
            | Notation::UpperHex
            | Notation::Octal
            | Notation::Binary
            | Notation::LowerExp
            | Notation::UpperExp => spelled!(value, self, ""),
        }
    }

    fn float<T: Display + Debug + LowerExp + UpperExp>(&self, value: T) -> String {
        match self.notation {
            Notation::LowerExp => spelled!(value, self, "e"),
            Notation::UpperExp => spelled!(value, self, "E"),
            Notation::Display
            | Notation::Debug
            | Notation::LowerHex
            | Notation::UpperHex
            | Notation::Octal
            | Notation::Binary => self.any(value),
        }
    }

    fn integer<T>(&self, value: T) -> String
    where
        T: Display + Debug + LowerExp + UpperExp + LowerHex + UpperHex + Octal + Binary,
    {
        match self.notation {
            Notation::LowerHex => spelled!(value, self, "x"),
            Notation::UpperHex => spelled!(value, self, "X"),
            Notation::Octal => spelled!(value, self, "o"),
            Notation::Binary => spelled!(value, self, "b"),
            Notation::Display | Notation::Debug | Notation::LowerExp | Notation::UpperExp => {
                self.float(value)
            }
        }
    }

    /// Pads the text to the width.
    fn padded(&self, text: String, default: Align) -> String {
        let missing = usize::from(self.width.unwrap_or(0)).saturating_sub(text.chars().count());
        if missing == 0 {
            return text;
        }
        let before = match self.align.unwrap_or(default) {
            Align::Left => 0,
            Align::Center => missing / 2,
            Align::Right => missing,
        };
        let fill = |count: usize| self.fill.to_string().repeat(count);
        format!("{}{text}{}", fill(before), fill(missing - before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every format on every value with Rust's own output.
    macro_rules! agree {
        ([$($format:literal)*], $values:tt) => { $(agree!(@ $format, $values);)* };
        (@ $format:literal, [$($value:expr => $ir:expr),*]) => {
            let format = Format::parse($format).expect($format);
            assert_eq!(format.to_string(), $format);
            $(assert_eq!(format.text($ir), format!(concat!("{:", $format, "}"), $value), "{}", $format);)*
        };
    }

    #[test]
    fn formats_are_rusts() {
        agree!(
            ["" "?" "5" "<5" "^5" "*^9" "+" "+08" "08" ".3" ".0" "8.3" "08.2" "+.2" "#?" "é>7" ">>6" "{<4" "e" "E" ".2e" "12.1E"],
            [
                1.5f32 => Value::f32(1.5), -0.0f32 => Value::f32(-0.0), 1e20f32 => Value::f32(1e20),
                f32::NAN => Value::f32(f32::NAN), -f64::INFINITY => Value::f64(-f64::INFINITY),
                0.1f64 => Value::f64(0.1), 12345.678f64 => Value::f64(12345.678)
            ]
        );
        agree!(
            ["" "?" "5" "<5" "^5" "*^9" "+" "+08" "08" "x" "#x" "#010x" "X" "08b" "#b" "o" "e" "#?" "->12"],
            [
                -7i8 => Value::I8(-7), 200u8 => Value::U8(200), -300i16 => Value::I16(-300),
                i32::MIN => Value::I32(i32::MIN), 0u32 => Value::U32(0), u64::MAX => Value::U64(u64::MAX),
                5usize => Value::Usize(5)
            ]
        );
        let h = half::f16::from_f32(0.1);
        agree!(
            ["" "?" "8.3" "+08.2" "e" "*^12"],
            [h => Value::F16(h.to_bits()), half::f16::NAN => Value::F16(half::f16::NAN.to_bits())]
        );
        let b = half::bf16::from_f32(0.1);
        agree!(
            ["" "?" "8.3" "+08.2" "e" "*^12"],
            [b => Value::Bf16(b.to_bits()), half::bf16::NAN => Value::Bf16(half::bf16::NAN.to_bits())]
        );
        agree!(["" "?" "7" ">7" "^7" ".2" "7.2" "*^9" "07"], [true => Value::Bool(true), false => Value::Bool(false)]);
    }

    #[test]
    fn what_is_no_format_is_none() {
        for text in ["w$", ".*", ".p$", "d", "99999999", "x?", " "] {
            assert_eq!(Format::parse(text), None, "{text}");
        }
    }
}
