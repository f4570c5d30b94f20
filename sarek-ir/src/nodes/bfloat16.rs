//! Converts between wider floats and `bf16`, whose bits are the upper half of an `f32`. Host backends all use this
//! definition.
//!
//! Conversions round to nearest, ties to even. A conversion from `f64` ignores the low 32 bits, as the `half` crate's
//! `from_f64` does.

use crate::binary16;

/// The value of these bits; exact.
#[inline(always)]
pub const fn to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// The bits of the nearest `bf16`.
#[inline(always)]
pub const fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let odd = (bits >> 16) & 1;
    let rounded = bits.wrapping_add(0x7fff + odd) >> 16;
    // A NaN whose upper half has the bits of an infinity needs a fraction bit to stay a NaN.
    let nan = (bits >> 16) | 0x40;
    let all = if value.is_nan() { nan } else { rounded };
    all as u16
}

/// The bits of the `bf16` nearest to the number whose low 32 bits are cleared.
#[inline(always)]
pub const fn from_f64(value: f64) -> u16 {
    let high = f64::from_bits(value.to_bits() >> 32 << 32);
    from_f32(binary16::odd(if value.is_nan() { value } else { high }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finite number by the definition of the format.
    fn defined(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 7 & 0xff), f64::from(bits & 0x7f));
        let size = match exponent {
            0 => fraction * 2f64.powi(-133),
            e => (128.0 + fraction) * 2f64.powi(e - 134),
        };
        if bits < 0x8000 { size } else { -size }
    }

    #[test]
    fn all_numbers_are_what_the_format_says_and_come_back() {
        for bits in 0..=u16::MAX {
            let value = to_f32(bits);
            if bits & 0x7fff > 0x7f80 {
                assert!(value.is_nan() && to_f32(from_f32(value)).is_nan());
                assert!(to_f32(from_f64(value.into())).is_nan());
                continue;
            }
            if bits & 0x7fff == 0x7f80 {
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
        for low in 0..0x7f7f_u16 {
            let (a, b) = (defined(low), defined(low + 1));
            let middle = (a + b) / 2.0;
            let even = low + (low & 1);
            assert_eq!(from_f32(middle as f32), even, "{low:#x}");
            // The low word is ignored.
            for (value, near) in [
                (middle, even),
                (middle.next_down(), low),
                (middle.next_up(), even),
            ] {
                assert_eq!(from_f64(value), near, "{low:#x}");
                assert_eq!(from_f64(-value), near | 0x8000, "{low:#x}");
            }
            let middle = middle as f32;
            assert_eq!(from_f32(middle.next_down()), low, "{low:#x}");
            assert_eq!(from_f32(-middle.next_up()), (low + 1) | 0x8000, "{low:#x}");
        }
    }

    #[test]
    fn what_is_too_large_becomes_infinite_and_what_is_no_number_stays_that() {
        let largest = defined(0x7f7f);
        let beyond = largest + (largest - defined(0x7f7e)) / 2.0;
        for (value, bits) in [
            (largest, 0x7f7f),
            (beyond.next_down(), 0x7f7f),
            (beyond, 0x7f80),
            (f32::MAX.into(), 0x7f80),
            (1e300, 0x7f80),
            (f64::MIN_POSITIVE, 0),
        ] {
            assert_eq!(from_f64(value), bits, "{value:e}");
            assert_eq!(from_f64(-value), bits | 0x8000, "{value:e}");
        }
        assert!(to_f32(from_f64(f64::from_bits(0x7ff0_0000_0000_0001))).is_nan());
        for bits in [0x7f80_0001, 0xff80_ffff, 0x7fff_ffff, 0x7fc0_0000] {
            assert!(to_f32(from_f32(f32::from_bits(bits))).is_nan(), "{bits:#x}");
        }
    }
    #[test]
    fn doubles_become_what_the_half_crate_makes_of_them() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Exponents near those of the format.
            let exponent = 1023 - 140 + (state >> 7) % 280;
            let value = f64::from_bits(state & !(0x7ff << 52) | exponent << 52);
            let due = half::bf16::from_f64(value);
            assert_eq!(from_f64(value), due.to_bits(), "{value:e}");
        }
    }
}
