//! Functions and methods that kernels call.

super::catalogue! {
NOT_MARKED = 701 by Rustc {
    title: "a kernel calls a function that is not marked `#[device]`",
    means: "A kernel calls functions that are marked by `#[device]`, in any module or crate, and the numeric methods of Rust's types.",
    why: "a function is translated for devices where it is defined, and only if `#[device]` says so",
    wrong: r#"
fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
fn squares(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = square(x[i]);
}
"#,
    right: r#"
#[device]
fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
fn squares(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = square(x[i]);
}
"#,
}

NO_METHOD = 702 by Macro {
    title: "kernels do not have this method, function or constant of a type",
    means: "The numeric types have the methods that [methods.md](../methods.md) lists.",
    why: "a method is there if each of CUDA C, OpenCL C and WGSL has it, or a definition that is exact in all of them",
    wrong: r#"
#[kernel]
fn square(x: &mut [i32]) {
    let i = global_idx_x();
    x[i] = x[i].strict_mul(x[i]);
}
"#,
    right: r#"
#[kernel]
fn square(x: &mut [i32]) {
    let i = global_idx_x();
    x[i] = x[i].checked_mul(x[i]).unwrap();
}
"#,
}

ARGUMENT_COUNT = 703 by Macro {
    title: "a call has too many or too few arguments",
    means: "The method or function is known, and takes another number of arguments.",
    why: "each argument becomes one of the target's function",
    wrong: r#"
#[kernel]
fn line(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i].mul_add(2.0);
}
"#,
    right: r#"
#[kernel]
fn line(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i].mul_add(2.0, 1.0);
}
"#,
}

CALLEE = 704 by Macro {
    title: "this cannot be called in a kernel",
    means: "Functions are called by name. Methods of numbers take no type arguments, and values are not called.",
    why: "devices have no pointers to functions, so the function has to be known when the kernel is compiled",
    wrong: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = (f32::abs)(-1.0);
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = f32::abs(-1.0);
}
"#,
}

RECURSION = 705 by Macro {
    title: "a function calls itself in a way that has no end here",
    means: "A call of itself that comes last becomes a loop. Other calls of itself are put into one another as deep as `#[device(inline = N)]` \
            says, and one deeper is a fault.",
    why: "no device has a stack to return to: WGSL and OpenCL C forbid recursion, CUDA C limits it",
    wrong: r#"
#[device]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}
"#,
    right: r#"
#[device]
fn factorial(n: u32) -> u32 {
    let mut product = 1;
    for k in 2..=n {
        product *= k;
    }
    product
}
"#,
}

FUNCTION_PARAMETER = 706 by Macro {
    title: "a function does not take parameters of this type",
    means: "A `#[device]` function takes values, `&T`, `&mut T`, `&[T]`, `&mut [T]`, `&[T; 4]`, `&[Atomic<T>]`, views and `impl Fn(T) -> U` of values, and a method \
            `self`, `&self` or `&mut self`. An intrinsic takes and yields scalars.",
    why: "devices have no pointers to functions, and what is not of known parts cannot be passed on all of them",
    wrong: r#"
#[device]
fn last<const N: usize>(x: &[f32; N]) -> f32 {
    x[N - 1]
}
"#,
    right: r#"
#[device]
fn last(x: &[f32]) -> f32 {
    x[x.len() - 1]
}
"#,
}

RESULT = 707 by Macro {
    title: "a function does not yield what its signature says",
    means: "Each way to the end of a function gives a value of its result's type, and none if it has no result.",
    why: "the result is a variable that each way assigns, and here one would leave it undefined",
    wrong: r#"
#[device]
fn half(x: f32) -> f32 {
    let y = 0.5 * x;
}
"#,
    right: r#"
#[device]
fn half(x: f32) -> f32 {
    let y = 0.5 * x;
    y
}
"#,
}

METHOD_DECLARATION = 708 by Macro {
    title: "a method is declared in a way that kernels cannot find",
    means: "`#[device]` stands on `impl` blocks of types of your own, of their methods and of traits that are marked, too. The methods of a trait \
            have their bodies in each impl.",
    why: "a kernel that sees only `p.norm()` finds the method through the type of `p`, and through nothing else",
    wrong: r#"
#[device]
impl Length for f32 {
    fn length(&self) -> f32 {
        self.abs()
    }
}
"#,
    right: r#"
#[device]
impl Length for Meters {
    fn length(&self) -> f32 {
        self.value.abs()
    }
}
"#,
}

RECEIVER = 709 by Rustc {
    title: "a method that changes its receiver is called on a copy, or the reverse",
    means: "Whether a method takes `&mut self` is known to rustc alone. Called on a value that is no variable, or as a statement on one, it is \
            taken for the usual case, and rustc checks that.",
    why: "devices have no references: a receiver is copied in, and copied out if the method changes it",
    wrong: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Counter {
    n: u32,
}

#[device]
impl Counter {
    fn next(&mut self) -> u32 {
        self.n += 1;
        self.n
    }
}

#[kernel]
fn count(counters: &mut [Counter], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = counters[i].next();
}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Counter {
    n: u32,
}

#[device]
impl Counter {
    fn next(&mut self) -> u32 {
        self.n += 1;
        self.n
    }
}

#[kernel]
fn count(counters: &mut [Counter], y: &mut [u32]) {
    let i = global_idx_x();
    let mut counter: Counter = counters[i];
    y[i] = counter.next();
    counters[i] = counter;
}
"#,
}
}
