//! Types and values.

super::catalogue! {
MISMATCH = 301 by Macro {
    title: "types differ",
    means: "As in Rust, operands have one type and nothing is converted by itself.",
    why: "the languages of devices would convert silently, each by rules of its own; Rust does not",
    wrong: r#"
#[kernel]
fn scale(n: u32, x: &mut [f32]) {
    x[global_idx_x()] *= n;
}
"#,
    right: r#"
#[kernel]
fn scale(n: u32, x: &mut [f32]) {
    x[global_idx_x()] *= n as f32;
}
"#,
}

UNKNOWN_TYPE = 302 by Macro {
    title: "a type has to be written here",
    means: "Types are inferred from the body alone. Where nothing in it tells what a value is, or a method is called before it is known, its \
            type has to be written.",
    why: "the targets' texts name every type, and a macro sees no other items",
    wrong: r#"
#[kernel]
fn root(y: &mut [f32]) {
    let x = 2.0;
    y[global_idx_x()] = x.sqrt();
}
"#,
    right: r#"
#[kernel]
fn root(y: &mut [f32]) {
    let x = 2.0f32;
    y[global_idx_x()] = x.sqrt();
}
"#,
}

TYPE = 303 by Macro {
    title: "kernels do not have this type",
    means: "There are `bool`, `i8` to `i64`, `u8` to `u64`, `usize`, `f16`, `bf16`, `f32`, `f64`, vectors such as `f32x4`, tuples, arrays, and types with \
            `#[derive(KernelType)]`.",
    why: "no device has 128-bit integers or text, and `isize` has another size on each",
    wrong: r#"
#[kernel]
fn fill(x: i128, y: &mut [f32]) {
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[kernel]
fn fill(x: i64, y: &mut [f32]) {
    y[global_idx_x()] = x as f32;
}
"#,
}

LITERAL_RANGE = 304 by Macro {
    title: "a literal does not fit its type",
    means: "The value of the literal is outside of the type that inference found for it.",
    why: "each target would cut it in a way of its own",
    wrong: r#"
#[kernel]
fn fill(y: &mut [u8]) {
    y[global_idx_x()] = 256;
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [u16]) {
    y[global_idx_x()] = 256;
}
"#,
}

CAST = 305 by Macro {
    title: "`as` does not connect these types",
    means: "`as` means what Rust means by it: between numbers, and from `bool` to integers.",
    why: "C would take any of them; kernels mean what Rust means",
    wrong: r#"
#[kernel]
fn test(x: &[f32], y: &mut [u32]) {
    let i = global_idx_x();
    if x[i] as bool {
        y[i] = 1;
    }
}
"#,
    right: r#"
#[kernel]
fn test(x: &[f32], y: &mut [u32]) {
    let i = global_idx_x();
    if x[i] != 0.0 {
        y[i] = 1;
    }
}
"#,
}

OPERATOR = 306 by Macro {
    title: "an operator is not defined for this type",
    means: "Operators work on numbers and `bool`, as in Rust, and on vectors such as `f32x4`. What a type's own `impl Add` does, a kernel does \
            not see.",
    why: "an operator becomes the target's own operator",
    wrong: r#"
#[kernel]
fn negate(x: &mut [u32]) {
    let i = global_idx_x();
    x[i] = -x[i];
}
"#,
    right: r#"
#[kernel]
fn negate(x: &mut [u32]) {
    let i = global_idx_x();
    x[i] = x[i].wrapping_neg();
}
"#,
}

NO_FIELD = 307 by Macro {
    title: "a value has no such field",
    means: "Numbers have no fields, tuples have `.0` and on, vectors `.x` to `.w`.",
    why: "a field becomes a part of the value, and there is none of that name",
    wrong: r#"
#[kernel]
fn part(y: &mut [f32]) {
    let pair = (1.0f32, 2.0f32);
    y[global_idx_x()] = pair.2;
}
"#,
    right: r#"
#[kernel]
fn part(y: &mut [f32]) {
    let pair = (1.0f32, 2.0f32);
    y[global_idx_x()] = pair.1;
}
"#,
}

UNIT_VALUE = 308 by Macro {
    title: "a value is needed, and there is none",
    means: "What stands here yields `()`, which is no value of a kernel.",
    why: "no device has a type without values to hold",
    wrong: r#"
#[kernel]
fn fill(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = if x[i] > 0.0 {};
}
"#,
    right: r#"
#[kernel]
fn fill(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = if x[i] > 0.0 { 1.0 } else { 0.0 };
}
"#,
}

VECTOR = 309 by Macro {
    title: "a vector is used in a way that it does not have",
    means: "`f32x4` and its kin have `+ - * /` component by component and with a number, components `.x` to `.w` and by constant index, and \
            methods such as `dot`. They are compared and shifted component by component.",
    why: "vectors are taken apart for devices that have none, and their components have names there, not addresses",
    wrong: r#"
#[kernel]
fn pick(k: usize, x: &[f32x4], y: &mut [f32]) {
    let i = global_idx_x();
    let v: f32x4 = x[i];
    y[i] = v[k];
}
"#,
    right: r#"
#[kernel]
fn pick(x: &[f32x4], y: &mut [f32]) {
    let i = global_idx_x();
    let v: f32x4 = x[i];
    y[i] = v[3];
}
"#,
}

HALF = 310 by Macro {
    title: "`f16` and `bf16` are converted by their methods",
    means: "Rust has no literals of `f16` and `bf16` and no `as` from or to them: they are `half::f16` and `half::bf16`.",
    why: "`f16` and `bf16` are types of a library to Rust, and are rounded at each operation on devices that compute them wider",
    wrong: r#"
#[kernel]
fn narrow(x: &[f32], y: &mut [f16]) {
    let i = global_idx_x();
    y[i] = x[i] as f16;
}
"#,
    right: r#"
#[kernel]
fn narrow(x: &[f32], y: &mut [f16]) {
    let i = global_idx_x();
    y[i] = f16::from_f32(x[i]);
}
"#,
}

ELEMENT = 311 by Rustc {
    title: "a vector does not hold this type",
    means: "Vectors hold `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`, arrays of such, and types with \
            `#[derive(Clone, Copy, KernelType)]`.",
    why: "host and device read the same bytes, so that the layout of an element has to be known and the same on both",
    wrong: r#"
#[derive(Clone, Copy)]
struct Point {
    x: f32,
}

#[kernel]
fn clear(points: &mut [Point]) {
    points[global_idx_x()] = Point { x: 0.0 };
}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel]
fn clear(points: &mut [Point]) {
    points[global_idx_x()] = Point { x: 0.0 };
}
"#,
}

KERNEL_TYPE = 312 by Rustc {
    title: "kernels do not know this type",
    means: "A struct or enum of one's own is known to kernels by `#[derive(KernelType)]`.",
    why: "a macro that sees only the type's name cannot know its fields; the derive tells them to the targets",
    wrong: r#"
#[derive(Clone, Copy)]
struct Point {
    x: f32,
}

#[kernel]
fn first(y: &mut [f32]) {
    let p = Point { x: 1.0 };
    y[global_idx_x()] = p.x;
}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel]
fn first(y: &mut [f32]) {
    let p = Point { x: 1.0 };
    y[global_idx_x()] = p.x;
}
"#,
}

NUMBER = 314 by Rustc {
    title: "an operator or method of a type of one's own",
    means: "The operand is a struct or enum. Its own operators and methods are code of other items, which a kernel reaches by `#[device]` only.",
    why: "an operator becomes the target's own operator, which knows numbers",
    wrong: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    value: f32,
}

#[kernel]
fn twice(x: &mut [Meters]) {
    let i = global_idx_x();
    x[i] = x[i] + x[i];
}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters {
    value: f32,
}

#[kernel]
fn twice(x: &mut [Meters]) {
    let i = global_idx_x();
    x[i].value = x[i].value + x[i].value;
}
"#,
}

BOUND = 315 by Rustc {
    title: "a type argument is no number of the kind that is asked for",
    means: "Generic kernels bound their parameters by `Scalar`, `Num`, `Int` and `Float`.",
    why: "each instance is rendered for the devices by itself, and these traits say which operations its type has there",
    wrong: r#"
#[kernel]
fn root<T: Float>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = x[i].sqrt();
}

fn host(x: &mut Vector<u32>) -> sarek::Result<()> {
    root(x).over(4).run()
}
"#,
    right: r#"
#[kernel]
fn root<T: Float>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = x[i].sqrt();
}

fn host(x: &mut Vector<f32>) -> sarek::Result<()> {
    root(x).over(4).run()
}
"#,
}

NOT_OF_CORE = 316 by Rustc {
    title: "a name that kernels know means something else here",
    means: "Kernels know functions such as `global_idx_x`, methods such as `len` and `rsqrt`, macros such as `assert!` and constants such as \
            `f32::MAX` by their names. Each is held by rustc to what it was taken for, so that another function, macro, constant or trait's \
            method of such a name is an error, and so is a trait's method that Rust would call in the place of a `#[device]` method. \
            rustc reports some of these in its own words, with this code in a name that it prints: \"`SRK0316_assert` is ambiguous\", \
            \"candidate #2 is defined in an impl of the trait `SRK0316_known_to_kernels`\".",
    why: "a macro sees names and not what they mean, so that it has rustc check what it took them for",
    wrong: r#"
macro_rules! matches {
    ($($t:tt)*) => { false };
}

#[kernel]
fn test(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = matches!(x[i], 1 | 2) as u32;
}
"#,
    right: r#"
#[kernel]
fn test(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = matches!(x[i], 1 | 2) as u32;
}
"#,
}

INVALID = 317 by Rustc {
    title: "this kernel has no meaning on a device",
    means: "A rule of the intermediate representation is broken that no other message explains. rustc mostly reports the same place as well.",
    why: "what breaks a rule of the representation would be translated to something else",
    wrong: "",
    right: "",
}

STRICT = 318 by Macro {
    title: "a strict kernel computes what differs between devices",
    means: "`#[kernel(strict)]` promises the same bits on every device that runs it. There are `+ - * /`, `sqrt`, `mul_add`, comparisons and the \
            arithmetic of integers for that; functions that are rounded to some ulps, sums in an order of the device's, and a target's own \
            text are not.",
    why: "the kernel is `strict`, and devices do not agree on this to the bit",
    wrong: r#"
#[kernel(strict)]
fn grow(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i].exp();
}
"#,
    right: r#"
#[kernel(strict)]
fn grow(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i].mul_add(x[i], 1.0);
}
"#,
}
}
