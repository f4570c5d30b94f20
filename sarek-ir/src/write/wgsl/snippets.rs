use crate::TypeClass;
use crate::TypeClass::{Int, Number, SignedInt, UnsignedInt};
use crate::write::Template;

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

const TO_U64: &str = "fn $NAME(x: $S) -> u64 {
    if (x >= $HIGH) { return $MAX; }
    if (x > $LOW) { return srk_whole_$S(x); }
    return $0;
}";

const TO_I64: &str = "fn $NAME(x: $S) -> i64 {
    if (x >= $HIGH) { return $MAX; }
    if (x <= $LOW) { return $MIN; }
    if (x < 0) { return -i64(srk_whole_$S(x)); }
    if (x > 0) { return i64(srk_whole_$S(x)); }
    return $0;
}";

/// Helpers for faults and integers.
pub(super) const TEMPLATES: &[Template] = &[
    on(
        "runtime",
        Number,
        "// A constant that the compiler does not compute with.
fn $NAME(x: $T) -> $T { return x; }",
    ),
    plain(
        "runtime_bool",
        "fn srk_runtime_bool(x: bool) -> bool { return x; }",
    ),
    // Faults.
    plain(
        "thread",
        "// The global ids of this thread, low and high words.
var<private> srk_thread: array<u32, 6>;",
    ),
    on(
        "identify",
        UnsignedInt,
        "fn $NAME(x: $T, y: $T, z: $T) {
    srk_thread = array<u32, 6>($WORDS);
}",
    ),
    plain(
        "faulted",
        "// Has this thread faulted?
var<private> srk_faulted: bool = false;",
    ),
    plain(
        "fault",
        "// Records a fault, if it is the first of the launch.
fn srk_fault(site: u32, low: u32, high: u32) {
    srk_faulted = true;
    if (atomicExchange(&srk_faults[0], 1u) != 0u) { return; }
    atomicStore(&srk_faults[1], site);
    atomicStore(&srk_faults[2], low);
    atomicStore(&srk_faults[3], high);
    for (var i = 0u; i < 6u; i += 1u) {
        atomicStore(&srk_faults[4u + i], srk_thread[i]);
    }
}",
    ),
    plain(
        "assert",
        "fn srk_assert(holds: bool, site: u32) {
    if (!holds) { srk_fault(site, 0u, 0u); }
}",
    ),
    on(
        "report",
        Int,
        "fn $NAME(site: u32, detail: $T) {
    srk_fault(site, $LOWWORD, $HIGHWORD);
}",
    ),
    on(
        "in_bounds",
        UnsignedInt,
        "fn $NAME(index: $T, len: $T, site: u32) -> bool {
    if (index < len) { return true; }
    srk_report_$T(site, index);
    return false;
}",
    ),
    on(
        "index",
        UnsignedInt,
        "// The index, or 0 and a fault when it is out of bounds.
fn $NAME(index: $T, len: $T, site: u32) -> $T {
    if (index < len) { return index; }
    srk_report_$T(site, index);
    return $0;
}",
    ),
    // Division.
    on(
        "divisor",
        UnsignedInt,
        "// The divisor of `a`, or 1 and a fault when it cannot be one.
fn $NAME(a: $T, b: $T, site: u32) -> $T {
    if (b != $0) { return b; }
    srk_report_$T(site, b);
    return $1;
}",
    ),
    on(
        "divisor",
        SignedInt,
        "// The divisor of `a`, or 1 and a fault when it cannot be one.
fn $NAME(a: $T, b: $T, site: u32) -> $T {
    if (b != $0 && !(a == $MIN && b == -$1)) { return b; }
    srk_report_$T(site, b);
    return $1;
}",
    ),
    on(
        "checked_div",
        Int,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    return a / srk_divisor_$ID(a, b, site);
}",
    ),
    on(
        "checked_rem",
        Int,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    return a % srk_divisor_$ID(a, b, site);
}",
    ),
    on(
        "checked_div_euclid",
        Int,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    return srk_div_euclid_$T(a, srk_divisor_$ID(a, b, site));
}",
    ),
    on(
        "checked_rem_euclid",
        Int,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    return srk_rem_euclid_$T(a, srk_divisor_$ID(a, b, site));
}",
    ),
    on(
        "div_euclid",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T) -> $T { return a / b; }",
    ),
    on(
        "div_euclid",
        SignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    let q = a / b;
    if (a % b >= $0) { return q; }
    return select(q + $1, q - $1, b > $0);
}",
    ),
    on(
        "rem_euclid",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T) -> $T { return a % b; }",
    ),
    on(
        "rem_euclid",
        SignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    let r = a % b;
    if (r >= $0) { return r; }
    return select(r + b, r - b, b < $0);
}",
    ),
    // Casts: a float outside the range gives the nearest bound, NaN gives 0.
    plain("to_u64_f32", TO_U64),
    plain("to_u64_f64", TO_U64),
    plain("to_i64_f32", TO_I64),
    plain("to_i64_f64", TO_I64),
    on(
        "to",
        Int,
        "fn $NAME(x: $S) -> $T {
    if (x >= $HIGH) { return $MAX; }
    if (x > $LOW) { return $T(x); }
    return select($0, $MIN, x <= $LOW);
}",
    ),
    plain(
        "sign_extend",
        "// As i64(x), after which Mesa 22.3 takes `< 0` for false.
fn srk_sign_extend(x: i32) -> i64 { return i64(u64(u32(x)) << 32u) >> 32u; }",
    ),
    // Integers.
    on(
        "abs",
        SignedInt,
        "fn $NAME(x: $T) -> $T { return select(x, -x, x < $0); }",
    ),
    on(
        "unsigned_abs",
        SignedInt,
        "fn $NAME(x: $T) -> $U { return $U(select(x, -x, x < $0)); }",
    ),
    plain(
        "sub_u64",
        "// As x - y, of which NVIDIA's Vulkan driver 580 makes a wrong number behind `x >= y`.
fn $NAME(x: u64, y: u64) -> u64 {
    let low = u32(x) - u32(y);
    let high = u32(x >> 32u) - u32(y >> 32u) - select(0u, 1u, u32(x) < u32(y));
    return (u64(high) << 32u) | u64(low);
}",
    ),
    on(
        "abs_diff",
        Int,
        "fn $NAME(a: $T, b: $T) -> $U { return select($U(b) - $U(a), $U(a) - $U(b), a > b); }",
    ),
    on(
        "signum",
        SignedInt,
        "fn $NAME(x: $T) -> $T { return select($0, $1, x > $0) - select($0, $1, x < $0); }",
    ),
    on(
        "pow",
        Int,
        "fn $NAME(base: $T, exponent: u32) -> $T {
    var power = base;
    var result = $1;
    for (var n = exponent; n != 0u; n >>= 1u) {
        if ((n & 1u) != 0u) { result *= power; }
        power *= power;
    }
    return result;
}",
    ),
    // The count of the opposite shift is at most the width even before the mask. With `(0u - n) & 63u` instead, Mesa
    // shifts 64-bit numbers by 32 wrongly.
    on(
        "rotate_left",
        Int,
        "fn $NAME(x: $T, n: u32) -> $T {
    let left = n & $MASK;
    return $T(($U(x) << left) | ($U(x) >> (($MASK + 1u - left) & $MASK)));
}",
    ),
    on(
        "rotate_right",
        Int,
        "fn $NAME(x: $T, n: u32) -> $T {
    let right = n & $MASK;
    return $T(($U(x) >> right) | ($U(x) << (($MASK + 1u - right) & $MASK)));
}",
    ),
    on(
        "count_ones",
        SignedInt,
        "fn $NAME(x: $T) -> u32 { return srk_count_ones_$U($U(x)); }",
    ),
    on(
        "leading_zeros",
        SignedInt,
        "fn $NAME(x: $T) -> u32 { return srk_leading_zeros_$U($U(x)); }",
    ),
    on(
        "trailing_zeros",
        SignedInt,
        "fn $NAME(x: $T) -> u32 { return srk_trailing_zeros_$U($U(x)); }",
    ),
    on(
        "reverse_bits",
        SignedInt,
        "fn $NAME(x: $T) -> $T { return $T(srk_reverse_bits_$U($U(x))); }",
    ),
    on(
        "swap_bytes",
        SignedInt,
        "fn $NAME(x: $T) -> $T { return $T(srk_swap_bytes_$U($U(x))); }",
    ),
    plain(
        "count_ones_u32",
        "fn $NAME(x: u32) -> u32 { return countOneBits(x); }",
    ),
    plain(
        "count_ones_u64",
        "fn $NAME(x: u64) -> u32 { return countOneBits(u32(x)) + countOneBits(u32(x >> 32u)); }",
    ),
    plain(
        "leading_zeros_u32",
        "fn $NAME(x: u32) -> u32 { return countLeadingZeros(x); }",
    ),
    plain(
        "leading_zeros_u64",
        "fn $NAME(x: u64) -> u32 {
    let high = u32(x >> 32u);
    if (high != 0u) { return countLeadingZeros(high); }
    return 32u + countLeadingZeros(u32(x));
}",
    ),
    plain(
        "trailing_zeros_u32",
        "fn $NAME(x: u32) -> u32 { return countTrailingZeros(x); }",
    ),
    plain(
        "trailing_zeros_u64",
        "fn $NAME(x: u64) -> u32 {
    let low = u32(x);
    if (low != 0u) { return countTrailingZeros(low); }
    return 32u + countTrailingZeros(u32(x >> 32u));
}",
    ),
    plain(
        "reverse_bits_u32",
        "fn $NAME(x: u32) -> u32 { return reverseBits(x); }",
    ),
    plain(
        "reverse_bits_u64",
        "fn $NAME(x: u64) -> u64 {
    return (u64(reverseBits(u32(x))) << 32u) | u64(reverseBits(u32(x >> 32u)));
}",
    ),
    on(
        "swap_bytes",
        UnsignedInt,
        "fn $NAME(x: $T) -> $T {
    var swapped = $0;
    for (var i = 0u; i < $BITS; i += 8u) { swapped = (swapped << 8u) | ((x >> i) & $X(255)); }
    return swapped;
}",
    ),
    on(
        "saturating_add",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T) -> $T { return min(a, $MAX - b) + b; }",
    ),
    on(
        "saturating_add",
        SignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    let sum = a + b;
    if (((a ^ sum) & (b ^ sum)) >= $0) { return sum; }
    return select($MAX, $MIN, a < $0);
}",
    ),
    on(
        "saturating_sub",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T) -> $T { return a - min(a, b); }",
    ),
    on(
        "saturating_sub",
        SignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    let difference = a - b;
    if (((a ^ b) & (a ^ difference)) >= $0) { return difference; }
    return select($MAX, $MIN, a < $0);
}",
    ),
    on(
        "saturating_mul",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    if (a != $0 && b > $MAX / a) { return $MAX; }
    return a * b;
}",
    ),
    on(
        "saturating_mul",
        SignedInt,
        "fn $NAME(a: $T, b: $T) -> $T {
    let negative = (a < $0) != (b < $0);
    let x = $U(select(a, -a, a < $0));
    let y = $U(select(b, -b, b < $0));
    let most = $U($MAX) + select($V0, $V1, negative);
    if (x != $V0 && y > most / x) { return select($MAX, $MIN, negative); }
    return select($T(x * y), -$T(x * y), negative);
}",
    ),
    on(
        "clamp",
        Int,
        "fn $NAME(x: $T, low: $T, high: $T) -> $T {
    return select(select(x, high, x > high), low, x < low);
}",
    ),
];
