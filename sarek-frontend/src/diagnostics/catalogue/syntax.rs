//! Rust that kernels do not have.

super::catalogue! {
SYNTAX = 201 by Macro {
    title: "this is not understood",
    means: "The tokens are not those of a Rust function, or not what the macro in the body takes.",
    why: "a macro has to parse what it translates",
    wrong: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    assert!(x.len() > 0 x);
}
"#,
    right: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    assert!(x.len() > 0);
}
"#,
}

EXPRESSION = 202 by Macro {
    title: "kernels do not have this kind of expression",
    means: "References to values, ranges as values, `?` in a kernel, async code and the like are Rust, but have no counterpart on a device.",
    why: "CUDA C, OpenCL C and WGSL compute with numbers; WGSL has no pointers to hand about, and none of them unwinds or waits",
    wrong: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let first = &i;
    y[i] = x[i];
}
"#,
    right: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let first = i;
    y[first] = x[i];
}
"#,
}

LITERAL = 203 by Macro {
    title: "kernels do not have literals of this type",
    means: "Literals of kernels are numbers of 8 to 64 bits, and `true` and `false`. Text stands in `println!`, `panic!` and `native!` alone.",
    why: "no device has text or 128-bit integers",
    wrong: r#"
#[kernel]
fn name(y: &mut [u32]) {
    y[global_idx_x()] = 'a' as u32;
}
"#,
    right: r#"
#[kernel]
fn name(y: &mut [u32]) {
    y[global_idx_x()] = 97;
}
"#,
}

PATTERN = 204 by Macro {
    title: "kernels do not have this pattern here",
    means: "Patterns are names, `_`, literals, ranges, tuples, structs, variants and alternatives of those. They bind by value.",
    why: "a pattern becomes comparisons and copies, since there are no references and no slices of arrays on all devices",
    wrong: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let ref v = x[global_idx_x()];
    y[global_idx_x()] = v;
}
"#,
    right: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let v = x[global_idx_x()];
    y[global_idx_x()] = v;
}
"#,
}

NESTED_ITEM = 205 by Macro {
    title: "an item other than a plain constant stands in the body",
    means: "A kernel's body may declare constants. Functions, types and `use` stand outside, where they can be marked.",
    why: "each kernel is translated by itself, and helpers are translated where `#[device]` marks them",
    wrong: r#"
#[kernel]
fn double(x: &mut [f32]) {
    fn twice(x: f32) -> f32 { 2.0 * x }
    x[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[device]
fn twice(x: f32) -> f32 {
    2.0 * x
}

#[kernel]
fn double(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = twice(x[i]);
}
"#,
}

MACRO = 206 by Macro {
    title: "kernels do not know this macro",
    means: "There are `native!`, `superstep!`, `println!`, `print!`, `panic!` and its like, the assertions, and `matches!`.",
    why: "an attribute sees macros before they are expanded, so it knows only those that it was taught",
    wrong: r#"
#[kernel]
fn show(x: &[f32]) {
    eprintln!("{}", x[global_idx_x()]);
}
"#,
    right: r#"
#[kernel]
fn show(x: &[f32]) {
    println!("{}", x[global_idx_x()]);
}
"#,
}

REFERENCE = 207 by Macro {
    title: "a reference is used as a value, or a value as a reference",
    means: "`*` stands before `&T` and `&mut T` parameters of functions, `#[item]` references, and `x.get_unchecked(i)`. Nothing else in a \
            kernel is a reference.",
    why: "WGSL cannot hold pointers in variables, so kernels have none",
    wrong: r#"
#[kernel]
fn copy(n: u32, y: &mut [u32]) {
    y[global_idx_x()] = *n;
}
"#,
    right: r#"
#[kernel]
fn copy(n: u32, y: &mut [u32]) {
    y[global_idx_x()] = n;
}
"#,
}

RANGE = 208 by Macro {
    title: "a range stands outside of a loop",
    means: "Ranges are what `for` loops over. There are no sub-slices: `x[a..b]` is written as indices from `a` to `b`.",
    why: "a range as a value would be an iterator, and a sub-slice a pointer with a length: WGSL has neither",
    wrong: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let part = x[1..4];
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i + 1 < 4 {
        y[i] = x[i + 1];
    }
}
"#,
}

HYGIENE = 209 by Rustc {
    title: "a name means one thing in a macro and another outside of it",
    means: "A kernel that `macro_rules!` makes mixes names of the macro with names of its caller. Two names of one text, one of each, are two \
            variables to Rust and cannot be told apart here.",
    why: "kernels know names by their text, as the languages of devices do",
    wrong: r#"
macro_rules! scale {
    ($name:ident, $value:expr) => {
        #[kernel]
        fn $name(by: f32, x: &mut [f32]) {
            x[global_idx_x()] *= $value;
        }
    };
}

scale!(double, 2.0 * by);
"#,
    right: r#"
macro_rules! scale {
    ($name:ident, $by:ident, $value:expr) => {
        #[kernel]
        fn $name($by: f32, x: &mut [f32]) {
            x[global_idx_x()] *= $value;
        }
    };
}

scale!(double, by, 2.0 * by);
"#,
}

CLOSURE = 210 by Macro {
    title: "a closure is used in a way that kernels do not have",
    means: "`let f = |x| …;` may be called by its name in the same body, and given to a `#[device]` function that takes `impl Fn`. It \
            does not call itself, and has no `return`; given to a function, it has no barriers and shared arrays.",
    why: "a closure is put in the place of its calls, because devices have no pointers to functions",
    wrong: r#"
#[kernel]
fn double(x: &mut [f32]) {
    let f = move |v: f32| 2.0 * v;
    let i = global_idx_x();
    x[i] = f(x[i]);
}
"#,
    right: r#"
#[kernel]
fn double(x: &mut [f32]) {
    let f = |v: f32| 2.0 * v;
    let i = global_idx_x();
    x[i] = f(x[i]);
}
"#,
}

AMBIGUOUS_NAME = 211 by Macro {
    title: "a name in a pattern may be a constant or a new name",
    means: "In Rust a lone name in a pattern is a constant or variant if there is one of that name, and a new variable otherwise. The macro cannot \
            see which.",
    why: "a macro sees tokens and not what they name, and a wrong guess would be another kernel",
    wrong: r#"
#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = match x[i] {
        LIMIT => 1,
        _ => 0,
    };
}
"#,
    right: r#"
#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = match x[i] {
        self::LIMIT => 1,
        _ => 0,
    };
}
"#,
}

PATH = 212 by Macro {
    title: "a type or constant is named in a form that kernels do not follow",
    means: "Types and constants are named by plain paths, with generic arguments behind the type's own name.",
    why: "the path is handed to rustc as it is, in several places, and these forms do not stand in all of them",
    wrong: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = <f32 as Limits>::TOP;
}
"#,
    right: r#"
const TOP: f32 = 4.0;

#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = TOP;
}
"#,
}

STRAY_MACRO = 213 by Rustc {
    title: "`native!` or `superstep!` stands outside of a kernel",
    means: "Both are part of the language of kernels: `native!` is text in a target's language, `superstep!` a body with a barrier behind it.",
    why: "on the host there is no device to emit text for, and no block to wait for",
    wrong: r#"
fn host() {
    unsafe { native!("cuda", "__syncthreads();") };
}
"#,
    right: r#"
#[kernel(block = 64)]
fn wait(y: &mut [f32]) {
    unsafe { native!("cuda", "__syncthreads();") };
    y[global_idx_x()] = 1.0;
}
"#,
}
}
