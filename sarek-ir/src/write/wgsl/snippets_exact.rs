//! Helpers for arithmetic whose overflow is a fault.
//!
//! Integers of 8 and 16 bits are held in 32 bits, in which their sums and products are exact. `srk_held` wraps such a
//! result to its type.

use crate::TypeClass;
use crate::TypeClass::{Int, SignedInt, UnsignedInt};
use crate::write::Template;

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

/// The helpers. Their results wrap if they fault.
pub(super) const TEMPLATES: &[Template] = &[
    plain(
        "held_i8",
        "fn $NAME(x: i32) -> i32 { return (x << 24u) >> 24u; }",
    ),
    plain(
        "held_i16",
        "fn $NAME(x: i32) -> i32 { return (x << 16u) >> 16u; }",
    ),
    plain("held_u8", "fn $NAME(x: u32) -> u32 { return x & 255u; }"),
    plain("held_u16", "fn $NAME(x: u32) -> u32 { return x & 65535u; }"),
    on("held", Int, "fn $NAME(x: $T) -> $T { return x; }"),
    on(
        "exact_add",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    let sum = srk_held_$ID(a + b);
    if (sum < a) { srk_fault(site, 0u, 0u); }
    return sum;
}",
    ),
    on(
        "exact_add",
        SignedInt,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    let sum = srk_held_$ID(a + b);
    if (((a ^ sum) & (b ^ sum)) < $0) { srk_fault(site, 0u, 0u); }
    return sum;
}",
    ),
    plain(
        "exact_sub_u64",
        "fn $NAME(a: u64, b: u64, site: u32) -> u64 {
    if (a < b) { srk_fault(site, 0u, 0u); }
    return srk_sub_u64(a, b);
}",
    ),
    on(
        "exact_sub",
        UnsignedInt,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    if (a < b) { srk_fault(site, 0u, 0u); }
    return srk_held_$ID(a - b);
}",
    ),
    on(
        "exact_sub",
        SignedInt,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    let difference = srk_held_$ID(a - b);
    if (((a ^ b) & (a ^ difference)) < $0) { srk_fault(site, 0u, 0u); }
    return difference;
}",
    ),
    on(
        "fits_mul",
        UnsignedInt,
        "// Is a * b a number of the type?
fn $NAME(a: $T, b: $T) -> bool {
    if (a == $0) { return true; }
    return srk_held_$ID(a * b) / a == b;
}",
    ),
    on(
        "fits_mul",
        SignedInt,
        "// Is a * b a number of the type?
fn $NAME(a: $T, b: $T) -> bool {
    if (a == $0) { return true; }
    if (a == -$1) { return b != $MIN; }
    return srk_held_$ID(a * b) / a == b;
}",
    ),
    on(
        "exact_mul",
        Int,
        "fn $NAME(a: $T, b: $T, site: u32) -> $T {
    if (!srk_fits_mul_$ID(a, b)) { srk_fault(site, 0u, 0u); }
    return srk_held_$ID(a * b);
}",
    ),
    on(
        "exact_neg",
        SignedInt,
        "fn $NAME(x: $T, site: u32) -> $T {
    if (x == $MIN) { srk_fault(site, 0u, 0u); }
    return srk_held_$ID(-x);
}",
    ),
    on(
        "exact_abs",
        SignedInt,
        "fn $NAME(x: $T, site: u32) -> $T {
    if (x == $MIN) { srk_fault(site, 0u, 0u); }
    return srk_held_$ID(select(x, -x, x < $0));
}",
    ),
    on(
        "exact_pow",
        Int,
        "fn $NAME(base: $T, exponent: u32, site: u32) -> $T {
    var power = base;
    var result = $1;
    var fits = true;
    for (var n = exponent; n != 0u; n >>= 1u) {
        if ((n & 1u) != 0u) {
            fits = fits && srk_fits_mul_$ID(result, power);
            result = srk_held_$ID(result * power);
        }
        if (n > 1u) {
            fits = fits && srk_fits_mul_$ID(power, power);
            power = srk_held_$ID(power * power);
        }
    }
    if (!fits) { srk_fault(site, 0u, 0u); }
    return result;
}",
    ),
    on(
        "count",
        UnsignedInt,
        "// A count as it is, or one that is beyond every width and has its low bits.
fn $NAME(n: $T) -> u32 { return select((u32(n) & 63u) | 64u, u32(n), n < $X(64)); }",
    ),
    on(
        "count",
        SignedInt,
        "// A count as it is, or one that is beyond every width and has its low bits.
fn $NAME(n: $T) -> u32 { return select((u32(n) & 63u) | 64u, u32(n), n >= $0 && n < $X(64)); }",
    ),
    on(
        "exact_shl",
        Int,
        "fn $NAME(x: $T, count: u32, site: u32) -> $T {
    if (count >= $BITS) { srk_fault(site, 0u, 0u); }
    return srk_held_$ID(x << (count & $MASK));
}",
    ),
    on(
        "exact_shr",
        Int,
        "fn $NAME(x: $T, count: u32, site: u32) -> $T {
    if (count >= $BITS) { srk_fault(site, 0u, 0u); }
    return x >> (count & $MASK);
}",
    ),
];
