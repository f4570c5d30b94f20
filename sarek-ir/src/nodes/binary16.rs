//! Converts between wider floats and `f16`, the 16-bit floats of IEEE 754, held as their bits. Host backends all use
//! this definition.
//!
//! Conversions round to nearest, ties to even. An `f64` is rounded to `f32` first, as the `half` crate's `from_f64`
//! does on x86-64 processors that convert in hardware. Nothing branches, so the compiler can vectorize a loop over
//! threads.

/// The bits of 2¹⁶, the smallest power of two that overflows.
const TOO_LARGE: u32 = 0x4780_0000;
/// The bits of 2⁻¹⁴, the smallest normal number.
const LEAST_NORMAL: u32 = 0x3880_0000;
const INFINITY: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;

/// The value of these bits; exact.
#[inline(always)]
pub const fn to_f32(bits: u16) -> f32 {
    let sign = ((bits & 0x8000) as u32) << 16;
    let size = (bits & 0x7fff) as u32;
    let moved = size << 13;
    let normal = moved + (112 << 23);
    // Multiples of 2⁻²⁴.
    let subnormal = (size as f32 * (1.0 / (1 << 24) as f32)).to_bits();
    let finite = if size < 0x400 { subnormal } else { normal };
    let value = if size >= 0x7c00 {
        moved | INFINITY
    } else {
        finite
    };
    f32::from_bits(value | sign)
}

/// The bits of the nearest `f16`.
#[inline(always)]
pub const fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, size) = (bits & SIGN, bits & !SIGN);
    // The sum has the spacing of subnormal 16-bit floats, so the addition rounds to it.
    let subnormal = (f32::from_bits(size) + 0.5).to_bits() - 0.5f32.to_bits();
    let odd = (size >> 13) & 1;
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    let finite = if size < LEAST_NORMAL {
        subnormal
    } else {
        normal
    };
    let beyond = if size > INFINITY { 0x7e00 } else { 0x7c00 };
    let all = if size >= TOO_LARGE { beyond } else { finite };
    (all | (sign >> 16)) as u16
}

/// The bits of the `f16` nearest to the nearest `f32`.
#[inline(always)]
pub const fn from_f64(value: f64) -> u16 {
    from_f32(value as f32)
}

/// Rounds to odd: an inexact result has an odd fraction, so that it never lies on a tie of a shorter format. Rounding
/// it again to such a format gives the same result as rounding once.
#[inline(always)]
pub(crate) const fn odd(value: f64) -> f32 {
    let near = value as f32;
    let is_exact = near as f64 == value || value.is_nan();
    let is_above = (near as f64).abs() > value.abs();
    let towards_zero = near.to_bits() - is_above as u32;
    let odd = if is_exact {
        near.to_bits()
    } else {
        towards_zero | 1
    };
    f32::from_bits(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finite 16-bit float by the definition of its format.
    fn defined(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
        let size = match exponent {
            0 => fraction * 2f64.powi(-24),
            e => (1024.0 + fraction) * 2f64.powi(e - 25),
        };
        if bits < 0x8000 { size } else { -size }
    }

    #[test]
    fn all_numbers_are_what_the_format_says_and_come_back() {
        for bits in 0..=u16::MAX {
            let value = to_f32(bits);
            if bits & 0x7fff > 0x7c00 {
                assert!(value.is_nan() && to_f32(from_f32(value)).is_nan());
                assert!(to_f32(from_f64(value.into())).is_nan());
                continue;
            }
            if bits & 0x7fff == 0x7c00 {
                assert!(value.is_infinite());
            } else {
                assert_eq!(f64::from(value).to_bits(), defined(bits).to_bits());
            }
            assert_eq!(from_f32(value), bits);
            assert_eq!(from_f64(value.into()), bits);
        }
    }

    #[test]
    fn ties_go_to_even_and_all_else_to_the_nearest() {
        for low in 0..0x7bff_u16 {
            let (a, b) = (defined(low), defined(low + 1));
            let middle = (a + b) / 2.0;
            let even = low + (low & 1);
            assert_eq!(from_f32(middle as f32), even, "{low:#x}");
            // A value that `f32` rounds onto a tie counts as a tie.
            for value in [middle, middle.next_down(), middle.next_up()] {
                assert_eq!(from_f64(value), even, "{low:#x}");
                assert_eq!(from_f64(-value), even | 0x8000, "{low:#x}");
            }
            let middle = middle as f32;
            assert_eq!(from_f32(middle.next_down()), low, "{low:#x}");
            assert_eq!(from_f32(-middle.next_up()), (low + 1) | 0x8000, "{low:#x}");
        }
    }

    #[test]
    fn what_is_too_large_becomes_infinite() {
        for (value, bits) in [(65519.996, 0x7bff), (65520.0, 0x7c00), (1e30, 0x7c00)] {
            assert_eq!(from_f64(value), bits);
            assert_eq!(from_f64(-value), bits | 0x8000);
            assert_eq!(
                from_f32(value as f32),
                if bits == 0x7bff { 0x7bff } else { bits }
            );
        }
        assert_eq!(from_f64(1e300), 0x7c00);
        assert_eq!(from_f64(f64::MIN_POSITIVE), 0);
        assert_eq!(from_f64(-f64::MIN_POSITIVE), 0x8000);
        assert_eq!(from_f32(-f32::MIN_POSITIVE / 2.0), 0x8000);
    }
}
