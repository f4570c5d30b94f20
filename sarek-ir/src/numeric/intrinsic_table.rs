//! The rows of the intrinsics.

/// Calls a macro with some tokens and the rows of all intrinsics, so that crates may define items for each of them.
///
/// A row is `Variant name group types (arguments) -> result, exactness, trait, [flags] { columns }`. The trait is that of the
/// façade through which generic kernels call the method, or `-`. The flags are fields of
/// [`Method`](crate::numeric::Method), `lanes` first.
///
/// | Column | Meaning |
/// |---|---|
/// | `float`, `int`, `signed` | the value on the host, for receivers of these types |
/// | `c`, `wgsl` | the spelling in C and its dialects, and in WGSL, by the type of the receiver; by default a [helper](crate::write::Template) |
/// | `operator` | the operator that means the same in every dialect |
/// | `widening` | the form on 8 and 16 bits, unless it is the call on 32 bits |
/// | `ulps` | the error bounds on the host, CUDA, OpenCL and WebGPU; `opencl_if` and `wgsl_if` limit them to some arguments |
/// | `random` | a call for random kernels, which store its result |
/// | `in_strict` | the suggestion for strict kernels |
#[doc(hidden)]
#[macro_export]
macro_rules! intrinsic_rows {
    ($callback:ident $($before:tt)*) => { $callback! { $($before)*
    /// Absolute value; of integers, that of `MIN` wraps.
    Abs abs Basic Signed () -> Same, Exact, Float, [lanes] {
        float(|x| x.abs()) signed(|x| x.wrapping_abs()) c(Float: "fabs", Int: helper)
    }
    /// The smaller; the other operand when one is NaN.
    Min min Basic Number (Same) -> Same, Zeros, Float, [lanes of_half_crate] {
        float(|x, y| x.min(y)) int(|x, y| x.min(y)) c(Float: "fmin", Int: "min") wgsl(Float: helper, Int: "min")
    }
    /// The larger; the other operand when one is NaN.
    Max max Basic Number (Same) -> Same, Zeros, Float, [lanes of_half_crate] {
        float(|x, y| x.max(y)) int(|x, y| x.max(y)) c(Float: "fmax", Int: "max") wgsl(Float: helper, Int: "max")
    }
    /// Clamps to the bounds. NaN stays NaN.
    Clamp clamp Basic Number (Same, Same) -> Same, Exact, Float, [lanes of_half_crate faults] {
        // An assertion before it checks the bounds.
        float(|x, lo, hi| if x < lo { lo } else if x > hi { hi } else { x }) int(|x, lo, hi| x.max(lo).min(hi))
    }
    /// -1, 0 or 1 for integers; ±1 by the sign bit for floats, NaN for NaN.
    Signum signum Basic Signed () -> Same, Exact, Float, [of_half_crate] { float(|x| x.signum()) signed(|x| x.signum()) }
    /// Integer power by repeated multiplication, wrapping.
    Pow pow Power Int (Fixed(U32)) -> Same, Exact, -, [] { int(|x, n: u32| x.wrapping_pow(n)) }
    /// Square root, correctly rounded.
    Sqrt sqrt Basic Float () -> Same, Rounded, Float, [lanes] {
        float(|x| x.sqrt()) c("sqrt") wgsl("sqrt") ulps(0.5, 0.5, 3.0, Ulps(5.0)) random("@.abs().sqrt()")
    }
    /// `1 / sqrt(x)`.
    Rsqrt rsqrt Basic Float () -> Same, Composed, Float, [extension] {
        float(|x| 1.0 / x.sqrt()) c("rsqrt") wgsl("inverseSqrt") ulps(1.5, 2.0, 2.0, Ulps(2.0)) random("(@.abs() + 0.25).rsqrt()")
        in_strict("write `1.0 / x.sqrt()`")
    }
    /// Cube root.
    Cbrt cbrt Basic Float () -> Same, Elementary, Float, [] {
        float(|x| x.cbrt()) c("cbrt") wgsl(F32: helper) ulps(1.0, 1.0, 2.0, Ulps(32.0)) random("@.cbrt()")
    }
    /// `e^x`.
    Exp exp Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.exp()) c("exp") wgsl(F32: "exp") ulps(1.0, 2.0, 3.0, Formula(|_, (x, _), r| exp_ulps(x) * ulp(r)))
        // PoCL 3.1 overflows slightly early in `f64`, where the result is just below the largest number.
        opencl_if(|x| !(709.7827..709.783).contains(&x)) random("@.clamp(-8.0, 5.0).exp()")
    }
    /// `2^x`.
    Exp2 exp2 Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.exp2()) c("exp2") wgsl(F32: "exp2") ulps(1.1, 2.0, 3.0, Formula(|_, (x, _), r| exp_ulps(x) * ulp(r)))
        random("@.clamp(-8.0, 8.0).exp2()")
    }
    /// `e^x - 1`, accurate near 0.
    ExpM1 exp_m1 Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.exp_m1()) c("expm1") wgsl(F32: helper) ulps(1.5, 1.0, 3.0, Formula(|_, (x, _), r| (32.0 + exp_ulps(x)) * ulp(r)))
        random("@.clamp(-2.0, 2.0).exp_m1()")
    }
    /// Natural logarithm.
    Ln ln Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.ln()) c("log") wgsl(F32: "log") ulps(1.0, 1.0, 3.0, Formula(|_, (x, _), r| log_error(x, r)))
        random("(@.abs() + 0.125).ln()")
    }
    /// `ln(1 + x)`, accurate near 0.
    Ln1p ln_1p Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.ln_1p()) c("log1p") wgsl(F32: helper) ulps(1.0, 1.0, 2.0, Ulps(32.0)) random("@.abs().ln_1p()")
    }
    /// Logarithm to base 2.
    Log2 log2 Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.log2()) c("log2") wgsl(F32: "log2") ulps(1.2, 1.0, 3.0, Formula(|_, (x, _), r| log_error(x, r)))
        random("(@.abs() + 0.125).log2()")
    }
    /// Logarithm to base 10.
    Log10 log10 Power Float () -> Same, Elementary, Float, [] {
        float(|x| x.log10()) c("log10") wgsl(F32: helper) ulps(2.0, 2.0, 3.0, Formula(|_, (x, _), r| log_error(x, r) + 2.0 * ulp(r)))
        random("(@.abs() + 0.125).log10()")
    }
    /// Sine of radians.
    Sin sin Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.sin()) c("sin") wgsl(F32: "sin") ulps(1.0, 2.0, 4.0, Formula(|_, _, _| SIN_ERROR)) wgsl_if(|x| x.abs() <= PI)
        random("@.clamp(-3.0, 3.0).sin()")
    }
    /// Cosine of radians.
    Cos cos Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.cos()) c("cos") wgsl(F32: "cos") ulps(1.0, 2.0, 4.0, Formula(|_, _, _| SIN_ERROR)) wgsl_if(|x| x.abs() <= PI)
        random("@.clamp(-3.0, 3.0).cos()")
    }
    /// Tangent of radians.
    Tan tan Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.tan()) c("tan") wgsl(F32: "tan")
        // In WGSL `sin(x) / cos(x)`; near its poles, that bound is useless.
        ulps(1.0, 4.0, 5.0, Formula(|_, (x, _), r| 1.1 * SIN_ERROR * (1.0 + r.abs()) / x.cos().abs() + 3.0 * ulp(r)))
        wgsl_if(|x| x.abs() <= PI && x.cos().abs() > 0.05) random("@.clamp(-1.0, 1.0).tan()")
    }
    /// Arc sine.
    Asin asin Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.asin()) c("asin") wgsl(F32: helper) ulps(1.7, 2.0, 4.0, Formula(|_, _, r| 6.81e-5 + 4100.0 * ulp(r)))
        random("@.clamp(-1.0, 1.0).asin()")
    }
    /// Arc cosine.
    Acos acos Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.acos()) c("acos") wgsl(F32: helper) ulps(1.2, 2.0, 4.0, Formula(|_, _, r| 6.77e-5 + 4100.0 * ulp(r)))
        random("@.clamp(-1.0, 1.0).acos()")
    }
    /// Arc tangent.
    Atan atan Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.atan()) c("atan") wgsl(F32: helper) ulps(1.9, 2.0, 5.0, Ulps(4096.0)) random("@.atan()")
    }
    /// Angle of the point whose `y` is the receiver and whose `x` is the argument.
    Atan2 atan2 Angle Float (Same) -> Same, Elementary, Float, [] {
        float(|y, x| y.atan2(x)) c("atan2") wgsl(F32: helper) ulps(1.8, 3.0, 6.0, Ulps(4096.0)) random("@.atan2(@.abs() + 0.5)")
    }
    /// Hyperbolic sine.
    Sinh sinh Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.sinh()) c("sinh") wgsl(F32: helper)
        // In WGSL `(exp(x) - exp(-x)) / 2`.
        ulps(2.0, 3.0, 4.0, Formula(|_, (x, _), _| hyperbolic_error(x))) random("@.clamp(-4.0, 4.0).sinh()")
    }
    /// Hyperbolic cosine.
    Cosh cosh Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.cosh()) c("cosh") wgsl(F32: helper)
        // In WGSL `(exp(x) + exp(-x)) / 2`.
        ulps(2.0, 2.0, 4.0, Formula(|_, (x, _), _| hyperbolic_error(x))) random("@.clamp(-4.0, 4.0).cosh()")
    }
    /// Hyperbolic tangent.
    Tanh tanh Angle Float () -> Same, Elementary, Float, [] {
        float(|x| x.tanh()) c("tanh") wgsl(F32: helper) ulps(2.0, 2.0, 5.0, Formula(|_, _, _| 1e-5)) random("@.clamp(-4.0, 4.0).tanh()")
    }
    /// Power with a float exponent; C's `pow`.
    Powf powf Power Float (Same) -> Same, Elementary, Float, [] {
        float(|x, y| x.powf(y)) c("pow") wgsl(F32: helper)
        // In WGSL `exp2(y * log2(x))`.
        ulps(1.0, 4.0, 16.0, Formula(|_, (x, y), r| power_error((x.abs(), y), r))) random("(@.abs() + 0.5).powf(@.clamp(-2.0, 1.5))")
    }
    /// Power with an integer exponent.
    Powi powi Power Float (Fixed(I32)) -> Same, Composed, Float, [] {
        float(|x, n: i32| x.powi(n)) in_strict("write the multiplications")
        // Each of the multiplications rounds. A negative exponent gives the reciprocal of the positive power; nothing is promised
        // if that power exceeds the type's range.
        ulps(32.0, 32.0, 32.0, Formula(|_, (x, n), r| power_error((x.abs(), n), r).max(32.0 * ulp(r)))) random("@.clamp(-4.0, 4.0).powi(3)")
    }
    /// `sqrt(x² + y²)` without undue overflow.
    Hypot hypot Basic Float (Same) -> Same, Elementary, Float, [] {
        float(|x, y| x.hypot(y)) c("hypot") ulps(1.2, 3.0, 4.0, Ulps(8.0)) random("@.hypot(@)") in_strict("write `(x * x + y * y).sqrt()`")
    }
    /// Largest integer not above.
    Floor floor Rounding Float () -> Same, Exact, Float, [lanes] { float(|x| x.floor()) c("floor") }
    /// Smallest integer not below.
    Ceil ceil Rounding Float () -> Same, Exact, Float, [lanes] { float(|x| x.ceil()) c("ceil") }
    /// Nearest integer, halves away from zero.
    Round round Rounding Float () -> Same, Exact, Float, [lanes] { float(|x| x.round()) c("round") }
    /// Integer part.
    Trunc trunc Rounding Float () -> Same, Exact, Float, [lanes] { float(|x| x.trunc()) c("trunc") }
    /// `x - x.trunc()`.
    Fract fract Rounding Float () -> Same, Exact, Float, [lanes] { float(|x| x.fract()) }
    /// `self * a + b`, rounded once.
    MulAdd mul_add Basic Float (Same, Same) -> Same, Rounded, Float, [lanes] {
        float(|x, a, b| x.mul_add(a, b)) c("fma") wgsl("fma")
        // WGSL allows an intermediate rounding.
        ulps(0.5, 0.5, 0.5, Formula(|on, (x, y), r| 0.5 * ulp_of(on, x * y) + 0.5 * ulp_of(on, r)))
    }
    /// The receiver with the argument's sign bit.
    Copysign copysign Basic Float (Same) -> Same, Exact, Float, [of_half_crate] { float(|x, sign| x.copysign(sign)) c("copysign") }
    /// True for NaN.
    IsNan is_nan Bits Float () -> Fixed(Bool), Exact, Float, [of_half_crate] { float(|x| x.is_nan()) }
    /// True for an infinity.
    IsInfinite is_infinite Bits Float () -> Fixed(Bool), Exact, -, [of_half_crate] { float(|x| x.is_infinite()) }
    /// True for a number that is neither NaN nor infinite.
    IsFinite is_finite Bits Float () -> Fixed(Bool), Exact, Float, [of_half_crate] { float(|x| x.is_finite()) }
    /// True if the sign bit is set.
    IsSignNegative is_sign_negative Bits Float () -> Fixed(Bool), Exact, -, [of_half_crate] { float(|x| x.is_sign_negative()) }
    /// The bits as an unsigned integer.
    ToBits to_bits Bits Float () -> Unsigned, Exact, -, [of_half_crate] { float(|x| x.to_bits()) wgsl(WideFloat: "bitcast<$R>", Float: helper) }
    /// The float of these bits: `f32::from_bits(u32)`, the receiver being the argument.
    FromBits from_bits Bits UnsignedInt () -> Float, Exact, -, [] {
        compute(float_of_bits) wgsl(U16: helper, UnsignedInt: "bitcast<$R>") widening(Keep)
    }
    /// The same of `bf16`, which is no wider than `f16`.
    Bf16FromBits from_bits Bits UnsignedInt () -> Fixed(Bf16), Exact, -, [] {
        compute(bf16_of_bits) c("srk_from_bits_bf16") wgsl("srk_from_bits_bf16") widening(Keep)
    }
    /// Number of one bits.
    CountOnes count_ones Bits Int () -> Fixed(U32), Exact, Int, [] { int(|x| x.count_ones()) widening(ZeroExtend) }
    /// Number of zero bits from the top.
    LeadingZeros leading_zeros Bits Int () -> Fixed(U32), Exact, Int, [] { int(|x| x.leading_zeros()) widening(CountFromTop) }
    /// Number of zero bits from the bottom.
    TrailingZeros trailing_zeros Bits Int () -> Fixed(U32), Exact, Int, [] { int(|x| x.trailing_zeros()) widening(CountFromBottom) }
    /// Rotation to the left; the count is taken modulo the width.
    RotateLeft rotate_left Bits Int (Fixed(U32)) -> Same, Exact, -, [] { int(|x, n: u32| x.rotate_left(n)) widening(Rotate) }
    /// Rotation to the right; the count is taken modulo the width.
    RotateRight rotate_right Bits Int (Fixed(U32)) -> Same, Exact, -, [] { int(|x, n: u32| x.rotate_right(n)) widening(Rotate) }
    /// Bits in reverse order.
    ReverseBits reverse_bits Bits Int () -> Same, Exact, -, [] { int(|x| x.reverse_bits()) widening(Reverse) }
    /// Bytes in reverse order.
    SwapBytes swap_bytes Bits Int () -> Same, Exact, -, [] { int(|x| x.swap_bytes()) widening(Reverse) }
    /// Addition that wraps in every build.
    WrappingAdd wrapping_add Wrapping Int (Same) -> Same, Exact, Int, [] { int(|x, y| x.wrapping_add(y)) operator(Binary(BinaryOp::Add)) }
    /// Subtraction that wraps in every build.
    WrappingSub wrapping_sub Wrapping Int (Same) -> Same, Exact, Int, [] { int(|x, y| x.wrapping_sub(y)) operator(Binary(BinaryOp::Sub)) }
    /// Multiplication that wraps in every build.
    WrappingMul wrapping_mul Wrapping Int (Same) -> Same, Exact, Int, [] { int(|x, y| x.wrapping_mul(y)) operator(Binary(BinaryOp::Mul)) }
    /// Negation that wraps in every build.
    WrappingNeg wrapping_neg Wrapping Int () -> Same, Exact, -, [] { int(|x| x.wrapping_neg()) operator(Unary(UnaryOp::Neg)) }
    /// Absolute value that wraps at `MIN` in every build.
    WrappingAbs wrapping_abs Wrapping SignedInt () -> Same, Exact, -, [] { signed(|x| x.wrapping_abs()) c("srk_abs_$T") wgsl("srk_abs_$T") }
    /// Shift to the left, the count masked, in every build.
    WrappingShl wrapping_shl Wrapping Int (Fixed(U32)) -> Same, Exact, -, [] {
        int(|x, n: u32| x.wrapping_shl(n)) operator(Binary(BinaryOp::Shl)) widening(Shift(BinaryOp::Shl))
    }
    /// Shift to the right, the count masked, in every build.
    WrappingShr wrapping_shr Wrapping Int (Fixed(U32)) -> Same, Exact, -, [] {
        int(|x, n: u32| x.wrapping_shr(n)) operator(Binary(BinaryOp::Shr)) widening(Shift(BinaryOp::Shr))
    }
    /// Addition that stops at the type's bounds.
    SaturatingAdd saturating_add Saturating Int (Same) -> Same, Exact, -, [] { int(|x, y| x.saturating_add(y)) widening(Saturate) }
    /// Subtraction that stops at the type's bounds.
    SaturatingSub saturating_sub Saturating Int (Same) -> Same, Exact, -, [] { int(|x, y| x.saturating_sub(y)) widening(Saturate) }
    /// Multiplication that stops at the type's bounds.
    SaturatingMul saturating_mul Saturating Int (Same) -> Same, Exact, -, [] { int(|x, y| x.saturating_mul(y)) widening(Saturate) }
    /// Distance of two numbers, unsigned.
    AbsDiff abs_diff Basic Int (Same) -> Unsigned, Exact, -, [] { int(|x, y| x.abs_diff(y)) }
    /// Absolute value as an unsigned integer.
    UnsignedAbs unsigned_abs Basic SignedInt () -> Unsigned, Exact, -, [] { signed(|x| x.unsigned_abs()) }
    } };
}

/// Methods of Rust that numbers lack in kernels, with a suggestion for each.
pub(super) const ABSENT: &[(&str, &str)] = &[
    ("into", BY_AS),
    ("try_into", BY_AS),
    ("cmp", BY_OPERATORS),
    ("partial_cmp", BY_OPERATORS),
    (
        "total_cmp",
        "kernels have no `Ordering`: compare with `<`, `==` and `>`, and test for NaN with `is_nan`",
    ),
    ("clone", NO_COPY),
    ("to_owned", NO_COPY),
    ("borrow", NO_COPY),
    (
        "asinh",
        "write `(x.abs() + x.hypot(1.0)).ln().copysign(x)`, which is less exact near 0",
    ),
    (
        "acosh",
        "write `(x + ((x - 1.0) * (x + 1.0)).sqrt()).ln()`, for values of at least 1",
    ),
    ("atanh", "write `0.5 * (2.0 * x / (1.0 - x)).ln_1p()`"),
];

const BY_AS: &str = "convert it with `as`, as in `x as f32`";

const BY_OPERATORS: &str = "kernels have no `Ordering`: compare with `<`, `==` and `>`";

const NO_COPY: &str = "drop the call: a number is copied where it is used";
