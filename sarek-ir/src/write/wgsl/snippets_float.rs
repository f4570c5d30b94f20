use crate::TypeClass;
use crate::TypeClass::Float;
use crate::write::Template;

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, text: &'static str) -> Template {
    let on: Option<TypeClass> = Some(Float);
    Template { op, on, text }
}

/// Helpers for floats. They distinguish zeros, infinities and NaN by their bits where WGSL does not specify these.
pub(super) const TEMPLATES: &[Template] = &[
    // 16-bit floats, held as the same number in 32 bits.
    plain(
        "narrow_f16_f32",
        "// The nearest 16-bit float, ties to even.
fn $NAME(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let sign = bits & 0x80000000u;
    let size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) { return x; }
    if (size < 0x38800000u) {
        // Below 2^-14 they are multiples of 2^-24.
        let drop = 126u - max(size >> 23u, 101u);
        let fraction = (size & 0x7fffffu) | 0x800000u;
        let half = (1u << (drop - 1u)) - 1u;
        let count = (fraction + half + ((fraction >> drop) & 1u)) >> drop;
        return bitcast<f32>(bitcast<u32>(f32(count) * 5.9604645e-8f) | sign);
    }
    let rounded = (size + 0xfffu + ((size >> 13u) & 1u)) & 0xffffe000u;
    return bitcast<f32>(select(rounded, 0x7f800000u, rounded >= 0x47800000u) | sign);
}",
    ),
    plain(
        "narrow_f16_f64",
        "fn $NAME(x: f64) -> f32 { return srk_narrow_f16_f32(f32(x)); }",
    ),
    plain(
        "narrow_bf16_f32",
        "// The nearest bf16, ties to even.
fn $NAME(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) { return bitcast<f32>(bits | 0x400000u); }
    return bitcast<f32>((bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u);
}",
    ),
    plain(
        "narrow_bf16_f64",
        "// As of the number without the low word of its fraction.
fn $NAME(x: f64) -> f32 {
    if (x != x) { return srk_narrow_bf16_f32(f32(x)); }
    return srk_narrow_bf16_f32(srk_odd(bitcast<f64>((bitcast<u64>(x) >> 32u) << 32u)));
}",
    ),
    plain(
        "to_bits_bf16",
        "fn $NAME(x: f32) -> u32 { return bitcast<u32>(x) >> 16u; }",
    ),
    plain(
        "from_bits_bf16",
        "fn $NAME(bits: u32) -> f32 { return bitcast<f32>(bits << 16u); }",
    ),
    plain(
        "odd",
        "// Rounded to an odd fraction, which tells on which side of a tie of fewer digits `x` lies.
fn $NAME(x: f64) -> f32 {
    let near = f32(x);
    var bits = bitcast<u32>(near);
    if (f64(near) != x && x == x) {
        if (abs(f64(near)) > abs(x)) { bits -= 1u; }
        bits |= 1u;
    }
    return bitcast<f32>(bits);
}",
    ),
    plain(
        "to_bits_f16",
        "fn $NAME(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) { return sign | 0x7e00u; }
    if (size == 0x7f800000u) { return sign | 0x7c00u; }
    if (size < 0x38800000u) { return sign | u32(bitcast<f32>(size) * 16777216.0f); }
    return sign | ((size - 0x38000000u) >> 13u);
}",
    ),
    plain(
        "from_bits_u16",
        "fn $NAME(bits: u32) -> f32 {
    let sign = (bits & 0x8000u) << 16u;
    let size = bits & 0x7fffu;
    var value = (size << 13u) + 0x38000000u;
    if (size >= 0x7c00u) { value = (size << 13u) | 0x7f800000u; }
    if (size < 0x400u) { value = bitcast<u32>(f32(size) * 5.9604645e-8f); }
    return bitcast<f32>(value | sign);
}",
    ),
    on(
        "is_nan",
        "fn $NAME(x: $T) -> bool { return (bitcast<$U>(x) & $ABS) > $INF; }",
    ),
    on(
        "is_infinite",
        "fn $NAME(x: $T) -> bool { return (bitcast<$U>(x) & $ABS) == $INF; }",
    ),
    on(
        "is_finite",
        "fn $NAME(x: $T) -> bool { return (bitcast<$U>(x) & $ABS) < $INF; }",
    ),
    on(
        "is_sign_negative",
        "fn $NAME(x: $T) -> bool { return (bitcast<$U>(x) & $SIGN) != $V0; }",
    ),
    // Mesa drops `abs` where it derives `x >= 0`, which includes negative zero.
    on(
        "abs",
        "fn $NAME(x: $T) -> $T { return bitcast<$T>(bitcast<$U>(x) & $ABS); }",
    ),
    on(
        "copysign",
        "fn $NAME(x: $T, sign: $T) -> $T {
    return bitcast<$T>((bitcast<$U>(x) & $ABS) | (bitcast<$U>(sign) & $SIGN));
}",
    ),
    on(
        "signum",
        "fn $NAME(x: $T) -> $T {
    if (srk_is_nan_$T(x)) { return x; }
    return srk_copysign_$T($1, x);
}",
    ),
    on(
        "min",
        "fn $NAME(a: $T, b: $T) -> $T {
    if (srk_is_nan_$T(a)) { return b; }
    if (srk_is_nan_$T(b)) { return a; }
    return select(b, a, a < b);
}",
    ),
    on(
        "max",
        "fn $NAME(a: $T, b: $T) -> $T {
    if (srk_is_nan_$T(a)) { return b; }
    if (srk_is_nan_$T(b)) { return a; }
    return select(b, a, a > b);
}",
    ),
    // llvmpipe keeps fractions above 2^24 and loses the sign of zero, unless the processor rounds eight numbers at
    // once.
    plain(
        "trunc_f64",
        "fn $NAME(x: f64) -> f64 {
    let bits = bitcast<u64>(x);
    let exponent = i32((bits >> 52u) & 0x7fflu) - 1023i;
    if (exponent < 0i) { return bitcast<f64>(bits & 0x8000000000000000lu); }
    if (exponent > 51i) { return x; }
    return bitcast<f64>(bits & ~(0xffffffffffffflu >> u32(exponent)));
}",
    ),
    on(
        "whole",
        "// The whole part of a magnitude below 2^64. NVIDIA's Vulkan driver takes the low word of u64(x) for u32(x).
fn $NAME(x: $T) -> u64 {
    let one = $V1 << $MANT;
    let bits = bitcast<$U>(x) & $ABS;
    let fraction = u64((bits & (one - $V1)) | one);
    let exponent = i32(u32(bits >> $MANT)) - i32($EXP >> 1u);
    if (exponent < 0i) { return 0lu; }
    if (exponent < i32($MANT)) { return fraction >> u32(i32($MANT) - exponent); }
    return fraction << u32(exponent - i32($MANT));
}",
    ),
    plain(
        "floor_f64",
        "fn $NAME(x: f64) -> f64 {
    let whole = srk_trunc_f64(x);
    return select(whole, whole - 1.0lf, whole > x);
}",
    ),
    plain(
        "ceil_f64",
        "fn $NAME(x: f64) -> f64 {
    let whole = srk_trunc_f64(x);
    return select(whole, whole + 1.0lf, whole < x);
}",
    ),
    // NVIDIA's Vulkan driver treats an infinity or a NaN that it sees at compile time as a number.
    plain(
        "is_beyond_f32",
        "// From 2^23 on a number is whole; so taken are infinities and NaN.
fn $NAME(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) >= 0x4b000000u; }",
    ),
    plain(
        "floor_f32",
        "fn $NAME(x: f32) -> f32 { return select(floor(x), x, srk_is_beyond_f32(x)); }",
    ),
    plain(
        "ceil_f32",
        "fn $NAME(x: f32) -> f32 { return select(ceil(x), x, srk_is_beyond_f32(x)); }",
    ),
    plain(
        "trunc_f32",
        "fn $NAME(x: f32) -> f32 { return select(trunc(x), x, srk_is_beyond_f32(x)); }",
    ),
    on(
        "round",
        "fn $NAME(x: $T) -> $T {
    let whole = srk_trunc_$T(x);
    if (abs(x - whole) >= $X(0.5)) { return whole + srk_copysign_$T($1, x); }
    return whole;
}",
    ),
    // Comparisons alone would suffice, but drivers turn them into minimum and maximum, which drop NaN.
    on(
        "clamp",
        "fn $NAME(x: $T, low: $T, high: $T) -> $T {
    if (srk_is_nan_$T(x)) { return x; }
    return select(select(x, high, x > high), low, x < low);
}",
    ),
    // NVIDIA's Vulkan driver computes zero for the difference of an infinity, seen at compile time, and itself.
    on(
        "fract",
        "fn $NAME(x: $T) -> $T {
    if (!srk_is_finite_$T(x)) { return $NAN; }
    return x - srk_trunc_$T(x);
}",
    ),
    on(
        "powi",
        "fn $NAME(base: $T, exponent: i32) -> $T {
    var power = base;
    var result = $1;
    for (var n = u32(abs(exponent)); n != 0u; n >>= 1u) {
        if ((n & 1u) != 0u) { result *= power; }
        power *= power;
    }
    return select(result, $1 / result, exponent < 0i);
}",
    ),
    on(
        "hypot",
        "fn $NAME(x: $T, y: $T) -> $T {
    if (srk_is_infinite_$T(x) || srk_is_infinite_$T(y)) { return $INFINITY; }
    if (srk_is_nan_$T(x) || srk_is_nan_$T(y)) { return $NAN; }
    let high = srk_max_$T(abs(x), abs(y));
    let low = srk_min_$T(abs(x), abs(y));
    if (high == $0) { return high; }
    let ratio = srk_ratio_$T(low, high);
    return high * sqrt($1 + ratio * ratio);
}",
    ),
    // WGSL does not specify the result of a division by more than 2^126.
    on(
        "ratio",
        "fn $NAME(low: $T, high: $T) -> $T {
    let scale = select($1, $X(0.0625), high > $X(1e30));
    return (low * scale) / (high * scale);
}",
    ),
    // The algorithm of musl's fmod: exact, by long division of the fractions.
    on(
        "rem",
        "fn $NAME(x: $T, y: $T) -> $T {
    let sign = bitcast<$U>(x) & $SIGN;
    var a = bitcast<$U>(x) & $ABS;
    var b = bitcast<$U>(y) & $ABS;
    if (b == $V0 || b > $INF || a >= $INF) { return $NAN; }
    if (a < b) { return x; }
    var ea = i32(u32(a >> $MANT));
    var eb = i32(u32(b >> $MANT));
    let one = $V1 << $MANT;
    if (ea == 0i) {
        for (ea = 1i; a < one; ea -= 1i) { a <<= 1u; }
    } else {
        a = (a & (one - $V1)) | one;
    }
    if (eb == 0i) {
        for (eb = 1i; b < one; eb -= 1i) { b <<= 1u; }
    } else {
        b = (b & (one - $V1)) | one;
    }
    for (; ea > eb; ea -= 1i) {
        if (a >= b) { a -= b; }
        a <<= 1u;
    }
    if (a >= b) { a -= b; }
    if (a == $V0) { return bitcast<$T>(sign); }
    for (; a < one; ea -= 1i) { a <<= 1u; }
    if (ea > 0i) {
        a = (a - one) | ($U(u32(ea)) << $MANT);
    } else {
        a >>= u32(1i - ea);
    }
    return bitcast<$T>(a | sign);
}",
    ),
    // Rounds to nearest even, which WGSL does not guarantee.
    plain(
        "to_f32_u64",
        "fn $NAME(x: u64) -> f32 {
    if (x < 0x1000000lu) { return f32(u32(x)); }
    let shift = 40u - srk_leading_zeros_u64(x);
    let kept = u32(x >> shift);
    let lost = x & ((1lu << shift) - 1lu);
    let half = (1lu << shift) >> 1u;
    let up = lost > half || (lost == half && (kept & 1u) != 0u);
    return bitcast<f32>(((shift + 150u) << 23u) + (kept - 0x800000u) + select(0u, 1u, up));
}",
    ),
    plain(
        "to_f32_i64",
        "fn $NAME(x: i64) -> f32 {
    let size = srk_to_f32_u64(srk_unsigned_abs_i64(x));
    return select(size, -size, x < 0li);
}",
    ),
    plain(
        "to_f64_u64",
        "// By words and bits: of f32(f64(x)) Mesa makes f32(x), which rounds once.
fn $NAME(x: u64) -> f64 {
    if (x < 0x20000000000000lu) {
        return f64(u32(x >> 32u)) * 4294967296.0lf + f64(u32(x & 0xfffffffflu));
    }
    let shift = 11u - srk_leading_zeros_u64(x);
    let kept = x >> shift;
    let lost = x & ((1lu << shift) - 1lu);
    let half = (1lu << shift) >> 1u;
    let up = lost > half || (lost == half && (kept & 1lu) != 0lu);
    let bits = (u64(shift + 1075u) << 52u) + (kept - 0x10000000000000lu) + select(0lu, 1lu, up);
    return bitcast<f64>(bits);
}",
    ),
    plain(
        "to_f64_i64",
        "fn $NAME(x: i64) -> f64 {
    let size = srk_to_f64_u64(srk_unsigned_abs_i64(x));
    return select(size, -size, x < 0li);
}",
    ),
    on(
        "cbrt",
        "fn $NAME(x: $T) -> $T {
    if (x == $0 || !srk_is_finite_$T(x)) { return x; }
    let size = abs(x);
    var root = exp2(log2(size) / $X(3));
    root -= (root * root * root - size) / ($X(3) * root * root);
    return srk_copysign_$T(root, x);
}",
    ),
    on(
        "exp_m1",
        "fn $NAME(x: $T) -> $T {
    if (abs(x) < $X(0.5)) {
        var tail = $1;
        for (var n = $X(9); n > $1; n -= $1) { tail = $1 + x / n * tail; }
        return x * tail;
    }
    return exp(x) - $1;
}",
    ),
    on(
        "ln_1p",
        "fn $NAME(x: $T) -> $T {
    if (abs(x) < $X(0.5)) {
        // Twice what the series is of, which may be too small for WGSL to keep.
        let d = $X(2) * x / ($X(2) + x);
        let q = $X(0.25) * d * d;
        var tail = $0;
        for (var n = $X(15); n > $1; n -= $X(2)) { tail = q * ($1 / n + tail); }
        return d + d * tail;
    }
    return log($1 + x);
}",
    ),
    on(
        "log10",
        "fn $NAME(x: $T) -> $T { return log2(x) * $X(0.30102999566398119521); }",
    ),
    on(
        "sinh",
        "fn $NAME(x: $T) -> $T {
    let size = abs(x);
    if (size < $1) {
        let t = srk_exp_m1_$T(size);
        return srk_copysign_$T($X(0.5) * (t + t / (t + $1)), x);
    }
    let half = exp($X(0.5) * size);
    return srk_copysign_$T($X(0.5) * half * half - $X(0.5) / half / half, x);
}",
    ),
    on(
        "cosh",
        "fn $NAME(x: $T) -> $T {
    let half = exp($X(0.5) * abs(x));
    return $X(0.5) * half * half + $X(0.5) / half / half;
}",
    ),
    on(
        "tanh",
        "fn $NAME(x: $T) -> $T {
    let size = abs(x);
    if (size > $X(10)) { return srk_copysign_$T($1, x); }
    let t = srk_exp_m1_$T($X(2) * size);
    return srk_copysign_$T(t / (t + $X(2)), x);
}",
    ),
    // The polynomials of the Cephes library. Drivers may have an error of 4096 ULP in their own function, and some do.
    on(
        "atan",
        "fn $NAME(x: $T) -> $T {
    let size = abs(x);
    var base = $0;
    var t = size;
    if (size > $X(2.41421356237)) {
        base = $X(1.57079632679489661923);
        t = -$1 / size;
    } else if (size > $X(0.41421356237)) {
        base = $X(0.78539816339744830962);
        t = (size - $1) / (size + $1);
    }
    let z = t * t;
    let p = (($X(0.0805374449538) * z - $X(0.138776856032)) * z + $X(0.199777106478)) * z;
    return srk_copysign_$T(base + ((p - $X(0.333329491539)) * z * t + t), x);
}",
    ),
    on(
        "asin_small",
        "// The arc sine of `s` up to 0.5, `z` being its square.
fn $NAME(s: $T, z: $T) -> $T {
    let p = ($X(0.042163199048) * z + $X(0.024181311049)) * z + $X(0.045470025998);
    return ((p * z + $X(0.074953002686)) * z + $X(0.16666752422)) * z * s + s;
}",
    ),
    on(
        "asin",
        "fn $NAME(x: $T) -> $T {
    let size = abs(x);
    if (size > $1) { return $NAN; }
    if (size <= $X(0.5)) { return srk_copysign_$T(srk_asin_small_$T(size, x * x), x); }
    let z = $X(0.5) * ($1 - size);
    let rest = $X(2) * srk_asin_small_$T(sqrt(z), z);
    return srk_copysign_$T($X(1.57079632679489661923) - rest, x);
}",
    ),
    on(
        "acos",
        "fn $NAME(x: $T) -> $T {
    let size = abs(x);
    if (size > $1) { return $NAN; }
    if (size <= $X(0.5)) { return $X(1.57079632679489661923) - srk_asin_small_$T(x, x * x); }
    let z = $X(0.5) * ($1 - size);
    let angle = $X(2) * srk_asin_small_$T(sqrt(z), z);
    return select(angle, $X(3.14159265358979323846) - angle, x < $0);
}",
    ),
    on(
        "atan2",
        "fn $NAME(y: $T, x: $T) -> $T {
    if (srk_is_nan_$T(x) || srk_is_nan_$T(y)) { return $NAN; }
    let across = abs(x);
    let up = abs(y);
    var angle = $0;
    if (srk_is_infinite_$T(x) && srk_is_infinite_$T(y)) {
        angle = $X(0.78539816339744830962);
    } else if (up > across) {
        angle = $X(1.57079632679489661923) - srk_atan_$T(srk_ratio_$T(across, up));
    } else if (across > $0) {
        angle = srk_atan_$T(srk_ratio_$T(up, across));
    }
    if (srk_is_sign_negative_$T(x)) { angle = $X(3.14159265358979323846) - angle; }
    return srk_copysign_$T(angle, y);
}",
    ),
    // The special cases of C99's `pow`, around a power of a positive finite base.
    on(
        "powf",
        "fn $NAME(x: $T, y: $T) -> $T {
    if (y == $0 || x == $1) { return $1; }
    if (srk_is_nan_$T(x) || srk_is_nan_$T(y)) { return $NAN; }
    let size = abs(x);
    if (srk_is_infinite_$T(y)) {
        if (size == $1) { return $1; }
        return select($0, $INFINITY, (size > $1) == (y > $0));
    }
    let whole = trunc(y) == y;
    let odd = whole && abs(y - $X(2) * trunc(y * $X(0.5))) == $1;
    var power = $0;
    if (size == $0 || srk_is_infinite_$T(x)) {
        power = select($0, $INFINITY, (size == $0) == (y < $0));
    } else if (srk_is_sign_negative_$T(x) && !whole) {
        return $NAN;
    } else {
        power = pow(size, y);
    }
    return select(power, -power, srk_is_sign_negative_$T(x) && odd);
}",
    ),
];
