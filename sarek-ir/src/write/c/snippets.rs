use crate::TypeClass;
use crate::TypeClass::{Float, Int, SignedInt, UnsignedInt};
use crate::write::Template;

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

/// The helpers of the C dialects. `$FN` begins a function definition; `$F` is the suffix of C's mathematical functions
/// on `$T`.
pub(in crate::write) const TEMPLATES: &[Template] = &[
    // Faults.
    Template {
        op: "thread",
        on: None,
        text: "// A thread of a kernel that can fault: where to report, who it is, whether it has.
typedef struct {
    $FAULTS faults;
    u64 x, y, z;
    bool faulted;
} srk_thread;",
    },
    Template {
        op: "fault",
        on: None,
        text: "// Records a fault, if it is the first of the launch.
$FN void $NAME(srk_thread* thread, u32 site, u64 detail) {
    thread->faulted = true;
    if ($EXCHANGE(&thread->faults[0], 1u) != 0u) { return; }
    thread->faults[1] = site;
    thread->faults[2] = (u32)detail;
    thread->faults[3] = (u32)(detail >> 32);
    thread->faults[4] = (u32)thread->x;
    thread->faults[5] = (u32)(thread->x >> 32);
    thread->faults[6] = (u32)thread->y;
    thread->faults[7] = (u32)(thread->y >> 32);
    thread->faults[8] = (u32)thread->z;
    thread->faults[9] = (u32)(thread->z >> 32);
}",
    },
    Template {
        op: "assert",
        on: None,
        text: "$FN void $NAME(srk_thread* thread, bool holds, u32 site) {
    if (!holds) { srk_fault(thread, site, 0); }
}",
    },
    on(
        "in_bounds",
        UnsignedInt,
        "$FN bool $NAME(srk_thread* thread, $T index, $T len, u32 site) {
    if (index < len) { return true; }
    srk_fault(thread, site, index);
    return false;
}",
    ),
    on(
        "index",
        UnsignedInt,
        "// The index, or 0 and a fault when it is out of bounds.
$FN $T $NAME(srk_thread* thread, $T index, $T len, u32 site) {
    if (index < len) { return index; }
    srk_fault(thread, site, index);
    return 0;
}",
    ),
    // Division.
    on(
        "divisor",
        UnsignedInt,
        "// The divisor of `a`, or 1 and a fault when it cannot be one.
$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    if (b != 0) { return b; }
    srk_fault(thread, site, b);
    return 1;
}",
    ),
    on(
        "divisor",
        SignedInt,
        "// The divisor of `a`, or 1 and a fault when it cannot be one.
$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    if (b != 0 && !(a == $MIN && b == -1)) { return b; }
    srk_fault(thread, site, (u64)b);
    return 1;
}",
    ),
    on(
        "checked_div",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    return a / srk_divisor_$T(thread, a, b, site);
}",
    ),
    on(
        "checked_rem",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    return a % srk_divisor_$T(thread, a, b, site);
}",
    ),
    on(
        "checked_div_euclid",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    return srk_div_euclid_$T(a, srk_divisor_$T(thread, a, b, site));
}",
    ),
    on(
        "checked_rem_euclid",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    return srk_rem_euclid_$T(a, srk_divisor_$T(thread, a, b, site));
}",
    ),
    on(
        "div_euclid",
        UnsignedInt,
        "$FN $T $NAME($T a, $T b) { return a / b; }",
    ),
    on(
        "div_euclid",
        SignedInt,
        "$FN $T $NAME($T a, $T b) {
    $T q = a / b;
    if (a % b >= 0) { return q; }
    return b > 0 ? q - 1 : q + 1;
}",
    ),
    on(
        "rem_euclid",
        UnsignedInt,
        "$FN $T $NAME($T a, $T b) { return a % b; }",
    ),
    on(
        "rem_euclid",
        SignedInt,
        "$FN $T $NAME($T a, $T b) {
    $T r = a % b;
    if (r >= 0) { return r; }
    return b < 0 ? r - b : r + b;
}",
    ),
    // Arithmetic whose overflow is a fault; the result then wraps.
    on(
        "exact_add",
        UnsignedInt,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    $T sum = ($T)(a + b);
    if (sum < a) { srk_fault(thread, site, 0); }
    return sum;
}",
    ),
    on(
        "exact_add",
        SignedInt,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    $T sum = ($T)(($U)a + ($U)b);
    if (((a ^ sum) & (b ^ sum)) < 0) { srk_fault(thread, site, 0); }
    return sum;
}",
    ),
    on(
        "exact_sub",
        UnsignedInt,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    if (a < b) { srk_fault(thread, site, 0); }
    return ($T)(a - b);
}",
    ),
    on(
        "exact_sub",
        SignedInt,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    $T difference = ($T)(($U)a - ($U)b);
    if (((a ^ b) & (a ^ difference)) < 0) { srk_fault(thread, site, 0); }
    return difference;
}",
    ),
    on(
        "product",
        Int,
        "// The low half of the product.
$FN $T $NAME($T a, $T b) { return ($T)(1u * ($U)a * ($U)b); }",
    ),
    on(
        "fits_mul",
        UnsignedInt,
        "// Is a * b a number of the type?
$FN bool $NAME($T a, $T b) {
    return a == 0 || srk_product_$T(a, b) / a == b;
}",
    ),
    on(
        "fits_mul",
        SignedInt,
        "// Is a * b a number of the type?
$FN bool $NAME($T a, $T b) {
    if (a == 0) { return true; }
    if (a == -1) { return b != $MIN; }
    return srk_product_$T(a, b) / a == b;
}",
    ),
    on(
        "exact_mul",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T a, $T b, u32 site) {
    if (!srk_fits_mul_$T(a, b)) { srk_fault(thread, site, 0); }
    return srk_product_$T(a, b);
}",
    ),
    on(
        "exact_neg",
        SignedInt,
        "$FN $T $NAME(srk_thread* thread, $T x, u32 site) {
    if (x == $MIN) { srk_fault(thread, site, 0); }
    return ($T)(0 - ($U)x);
}",
    ),
    on(
        "exact_abs",
        SignedInt,
        "$FN $T $NAME(srk_thread* thread, $T x, u32 site) {
    if (x == $MIN) { srk_fault(thread, site, 0); }
    return srk_abs_$T(x);
}",
    ),
    on(
        "exact_pow",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T base, u32 exponent, u32 site) {
    $T power = base;
    $T result = 1;
    bool fits = true;
    for (; exponent != 0u; exponent >>= 1) {
        if (exponent & 1u) {
            fits = fits && srk_fits_mul_$T(result, power);
            result = srk_product_$T(result, power);
        }
        if (exponent > 1u) {
            fits = fits && srk_fits_mul_$T(power, power);
            power = srk_product_$T(power, power);
        }
    }
    if (!fits) { srk_fault(thread, site, 0); }
    return result;
}",
    ),
    on(
        "count",
        UnsignedInt,
        "// A count as it is, or one that is beyond every width and has its low bits.
$FN u32 $NAME($T n) { return n < 64 ? (u32)n : ((u32)n & 63u) | 64u; }",
    ),
    on(
        "count",
        SignedInt,
        "// A count as it is, or one that is beyond every width and has its low bits.
$FN u32 $NAME($T n) { return n >= 0 && n < 64 ? (u32)n : ((u32)n & 63u) | 64u; }",
    ),
    on(
        "exact_shl",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T x, u32 count, u32 site) {
    if (count >= $BITS) { srk_fault(thread, site, 0); }
    return ($T)(($U)x << (count & $MASK));
}",
    ),
    on(
        "exact_shr",
        Int,
        "$FN $T $NAME(srk_thread* thread, $T x, u32 count, u32 site) {
    if (count >= $BITS) { srk_fault(thread, site, 0); }
    return ($T)(x >> (count & $MASK));
}",
    ),
    // Casts: a float outside the range gives the nearest bound, NaN gives 0.
    on(
        "to",
        Int,
        "$FN $T $NAME($S x) {
    return x >= $HIGH ? $MAX : x > $LOW ? ($T)x : x <= $LOW ? $MIN : 0;
}",
    ),
    // Integers.
    on(
        "abs",
        SignedInt,
        "$FN $T $NAME($T x) { return x < 0 ? ($T)(0 - ($U)x) : x; }",
    ),
    on(
        "unsigned_abs",
        SignedInt,
        "$FN $U $NAME($T x) { return x < 0 ? 0 - ($U)x : ($U)x; }",
    ),
    on(
        "abs_diff",
        Int,
        "$FN $U $NAME($T a, $T b) { return a > b ? ($U)a - ($U)b : ($U)b - ($U)a; }",
    ),
    on(
        "signum",
        SignedInt,
        "$FN $T $NAME($T x) { return (x > 0) - (x < 0); }",
    ),
    on(
        "pow",
        Int,
        "$FN $T $NAME($T base, u32 exponent) {
    $U power = ($U)base;
    $U result = 1;
    for (; exponent != 0u; exponent >>= 1) {
        if (exponent & 1u) { result *= power; }
        power *= power;
    }
    return ($T)result;
}",
    ),
    on(
        "rotate_left",
        Int,
        "$FN $T $NAME($T x, u32 n) {
    return ($T)(($U)x << (n & $MASK) | ($U)x >> ((0u - n) & $MASK));
}",
    ),
    on(
        "rotate_right",
        Int,
        "$FN $T $NAME($T x, u32 n) {
    return ($T)(($U)x >> (n & $MASK) | ($U)x << ((0u - n) & $MASK));
}",
    ),
    on(
        "count_ones",
        SignedInt,
        "$FN u32 $NAME($T x) { return srk_count_ones_$U(($U)x); }",
    ),
    on(
        "leading_zeros",
        SignedInt,
        "$FN u32 $NAME($T x) { return srk_leading_zeros_$U(($U)x); }",
    ),
    on(
        "trailing_zeros",
        SignedInt,
        "$FN u32 $NAME($T x) { return srk_trailing_zeros_$U(($U)x); }",
    ),
    on(
        "reverse_bits",
        SignedInt,
        "$FN $T $NAME($T x) { return ($T)srk_reverse_bits_$U(($U)x); }",
    ),
    on(
        "swap_bytes",
        SignedInt,
        "$FN $T $NAME($T x) { return ($T)srk_swap_bytes_$U(($U)x); }",
    ),
    on(
        "swap_bytes",
        UnsignedInt,
        "$FN $T $NAME($T x) {
    $T swapped = 0;
    for (u32 i = 0; i < $BITS; i += 8) { swapped = swapped << 8 | (x >> i & 255u); }
    return swapped;
}",
    ),
    on(
        "saturating_add",
        UnsignedInt,
        "$FN $T $NAME($T a, $T b) { return a + b < a ? $MAX : a + b; }",
    ),
    on(
        "saturating_add",
        SignedInt,
        "$FN $T $NAME($T a, $T b) {
    $T sum = ($T)(($U)a + ($U)b);
    return ((a ^ sum) & (b ^ sum)) >= 0 ? sum : a < 0 ? $MIN : $MAX;
}",
    ),
    on(
        "saturating_sub",
        UnsignedInt,
        "$FN $T $NAME($T a, $T b) { return a > b ? a - b : 0; }",
    ),
    on(
        "saturating_sub",
        SignedInt,
        "$FN $T $NAME($T a, $T b) {
    $T difference = ($T)(($U)a - ($U)b);
    return ((a ^ b) & (a ^ difference)) >= 0 ? difference : a < 0 ? $MIN : $MAX;
}",
    ),
    on(
        "saturating_mul",
        UnsignedInt,
        "$FN $T $NAME($T a, $T b) { return a != 0 && b > $MAX / a ? $MAX : a * b; }",
    ),
    on(
        "saturating_mul",
        SignedInt,
        "$FN $T $NAME($T a, $T b) {
    bool negative = (a < 0) != (b < 0);
    $U x = a < 0 ? 0 - ($U)a : ($U)a;
    $U y = b < 0 ? 0 - ($U)b : ($U)b;
    $U most = negative ? ($U)$MIN : ($U)$MAX;
    if (x != 0 && y > most / x) { return negative ? $MIN : $MAX; }
    return ($T)(negative ? 0 - x * y : x * y);
}",
    ),
    // Numbers.
    on(
        "clamp",
        TypeClass::Number,
        "$FN $T $NAME($T x, $T low, $T high) { return x < low ? low : x > high ? high : x; }",
    ),
    // Floats.
    on(
        "rem",
        Float,
        "$FN $T $NAME($T a, $T b) { return fmod$F(a, b); }",
    ),
    on(
        "to_bits",
        Float,
        "$FN $U $NAME($T x) { return ($U)$TOBITS(x); }",
    ),
    on(
        "from_bits",
        UnsignedInt,
        "$FN $FLOAT $NAME($T bits) { return $FROMBITS(bits); }",
    ),
    plain("from_bits_bf16", "$FN bf16 $NAME(u16 bits) { return bits; }"),
    plain(
        "widen_bf16",
        "$FN f32 $NAME(bf16 bits) { return srk_from_bits_u32((u32)bits << 16); }",
    ),
    plain(
        "narrow_bf16_f32",
        "// The nearest bf16, ties to even.
$FN bf16 $NAME(f32 x) {
    u32 bits = srk_to_bits_f32(x);
    u32 rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    return (bf16)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded >> 16);
}",
    ),
    plain(
        "narrow_bf16_f64",
        "// As of the number without the low word of its fraction.
$FN bf16 $NAME(f64 x) {
    f64 high = srk_from_bits_u64(srk_to_bits_f64(x) >> 32 << 32);
    return srk_narrow_bf16_f32(x == x ? srk_odd(high) : (f32)x);
}",
    ),
    plain(
        "odd",
        "// Rounded to an odd fraction, which tells on which side of a tie of fewer digits `x` lies.
$FN f32 $NAME(f64 x) {
    f32 near = (f32)x;
    u32 bits = srk_to_bits_f32(near);
    if ((f64)near != x && x == x) {
        if (fabs((f64)near) > fabs(x)) { bits -= 1u; }
        bits |= 1u;
    }
    return srk_from_bits_u32(bits);
}",
    ),
    on(
        "signum",
        Float,
        "$FN $T $NAME($T x) { return srk_is_nan_$T(x) ? x : copysign$F($1, x); }",
    ),
    on(
        "fract",
        Float,
        "$FN $T $NAME($T x) { return x - trunc$F(x); }",
    ),
    on(
        "powi",
        Float,
        "$FN $T $NAME($T base, i32 exponent) {
    u32 n = exponent < 0 ? 0u - (u32)exponent : (u32)exponent;
    $T result = $1;
    for (; n != 0u; n >>= 1) {
        if (n & 1u) { result *= base; }
        base *= base;
    }
    return exponent < 0 ? $1 / result : result;
}",
    ),
    on(
        "is_nan",
        Float,
        "$FN bool $NAME($T x) { return (srk_to_bits_$T(x) & $ABS) > $INF; }",
    ),
    on(
        "is_infinite",
        Float,
        "$FN bool $NAME($T x) { return (srk_to_bits_$T(x) & $ABS) == $INF; }",
    ),
    on(
        "is_finite",
        Float,
        "$FN bool $NAME($T x) { return (srk_to_bits_$T(x) & $ABS) < $INF; }",
    ),
    on(
        "is_sign_negative",
        Float,
        "$FN bool $NAME($T x) { return (srk_to_bits_$T(x) & $SIGN) != 0; }",
    ),
];
