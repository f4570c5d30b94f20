//! Where the attributes stand, their options, and the signature of a kernel.

super::catalogue! {
PLACE = 101 by Macro {
    title: "the attribute stands on something else than a function",
    means: "`#[kernel]` makes a launch of a free function, and `#[device]` something that kernels call of a function or of the methods \
            in an `impl` block. Other items have no body to run.",
    why: "a kernel is what each thread of a launch runs, so it is a function",
    wrong: r#"
#[kernel]
struct Scale;
"#,
    right: r#"
#[kernel]
fn scale(by: f32, x: &mut [f32]) {
    x[global_idx_x()] *= by;
}
"#,
}

OPTION = 102 by Macro {
    title: "an option of the attribute is unknown, given twice, or has a wrong value",
    means: "`#[kernel]` takes `block = 256` (also `(16, 16)` or `(8, 8, 4)`), `requires(k < n)` and `unsafe(crate = path)`; `#[device]` takes \
            `inline = 8` and `unsafe(crate = path)`.",
    why: "options are read when the kernel is compiled, as literals, and one that is not understood would change nothing",
    wrong: r#"
#[kernel(threads = 256)]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
    right: r#"
#[kernel(block = 256)]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
}

QUALIFIER = 103 by Macro {
    title: "the function is `async`, `const`, `extern` or variadic",
    means: "A launch is queued and returns an event if asked for one; the kernel itself runs from its beginning to its end on each thread.",
    why: "threads of a device run to their end, without an executor, and are called by the launch alone",
    wrong: r#"
#[kernel]
async fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
    right: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
}

RETURN_VALUE = 104 by Macro {
    title: "a kernel yields a value",
    means: "There are as many threads as the launch has, so there is no one result. What a thread computes goes to an element of a `&mut [T]`.",
    why: "CUDA C, OpenCL C and WGSL kernels return nothing: many threads would return at once",
    wrong: r#"
#[kernel]
fn double(x: &[f32]) -> f32 {
    2.0 * x[global_idx_x()]
}
"#,
    right: r#"
#[kernel]
fn double(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 2.0 * x[i];
}
"#,
}

PARAMETER_NAME = 105 by Macro {
    title: "a parameter is no plain name",
    means: "Each parameter of a kernel or function is one name with a type; there is no `self` of a kernel, no pattern, and no `mut` before a \
            reference.",
    why: "a parameter is an argument of the launch by its name, in every target's text",
    wrong: r#"
#[kernel]
fn sum((a, b): (f32, f32), y: &mut [f32]) {
    y[global_idx_x()] = a + b;
}
"#,
    right: r#"
#[kernel]
fn sum(a: f32, b: f32, y: &mut [f32]) {
    y[global_idx_x()] = a + b;
}
"#,
}

ARGUMENT_TYPE = 106 by Macro {
    title: "a kernel does not take arguments of this type",
    means: "A kernel takes scalars and `#[derive(KernelType)]` types by value, slices (`&[T]`, `&mut [T]`, `&[Atomic<T>]`) and views \
            (`View2<T>`, `ViewMut2<T>`), all without lifetimes. The call takes `&Vector<T>` where the kernel says `&[T]`.",
    why: "a launch copies numbers and hands over buffers; no other reference means anything in a device's memory",
    wrong: r#"
#[kernel]
fn scale(by: &f32, x: &mut [f32]) {
    x[global_idx_x()] *= by;
}
"#,
    right: r#"
#[kernel]
fn scale(by: f32, x: &mut [f32]) {
    x[global_idx_x()] *= by;
}
"#,
}

USIZE_IN_BUFFER = 107 by Macro {
    title: "a slice has elements of type `usize`",
    means: "`usize` is the type of indices and lengths inside of a kernel. In memory that host and device share it would have two sizes.",
    why: "its size differs between devices: WGSL has indices of 32 bits, CUDA and OpenCL of 64",
    wrong: r#"
#[kernel]
fn number(out: &mut [usize]) {
    let i = global_idx_x();
    out[i] = i;
}
"#,
    right: r#"
#[kernel]
fn number(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = i as u32;
}
"#,
}

ATTRIBUTE = 108 by Macro {
    title: "an attribute stands where it has no meaning",
    means: "A kernel may carry documentation, lint levels, `#[deprecated]` and `#[cfg]`; an argument may be an `#[item]`. In its \
            body stand documentation and lint levels, and `#[unroll]` on loops.",
    why: "the body is translated for each device, and what an attribute does to it there is not known",
    wrong: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    #[cfg(unix)]
    x[global_idx_x()] = 0.0;
}
"#,
    right: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
}

ITEM_KERNEL = 109 by Macro {
    title: "a kernel over items asks for more than its items",
    means: "With `#[item]` arguments a thread gets one element of each vector, and the launch picks threads and blocks. Such a kernel has no \
            `block`, no barriers, shared arrays or subgroups, and its items are `T`, `&T` or `&mut T`.",
    why: "the threads of an item kernel are cut into blocks as each device likes, so they cannot count on each other",
    wrong: r#"
#[kernel]
fn double(#[item] x: u32, #[item] y: &mut u32) {
    *y = 2 * x;
    barrier();
}
"#,
    right: r#"
#[kernel]
fn double(#[item] x: u32, #[item] y: &mut u32) {
    *y = 2 * x;
}
"#,
}

REQUIREMENT = 110 by Macro {
    title: "a requirement speaks of what the launch does not know",
    means: "`requires(…)` is checked on the host at each launch, before anything runs, and the proofs rest on it.",
    why: "the host knows scalar arguments, lengths and extents; what is in vectors, and ids of threads, only the device does",
    wrong: r#"
#[kernel(requires(x[0] < n))]
fn fill(n: u32, x: &[u32], y: &mut [u32]) {
    y[global_idx_x()] = n + x[0];
}
"#,
    right: r#"
#[kernel(requires(x.len() > 0))]
fn fill(n: u32, x: &[u32], y: &mut [u32]) {
    y[global_idx_x()] = n + x[0];
}
"#,
}

CRATE = 111 by Macro {
    title: "another path of the library is given without `unsafe`",
    means: "`unsafe(crate = path)` says where the library is found if it is not `::sarek`. What stands at the path decides which memory a kernel reads and \
            what a type's fields are.",
    why: "nothing tells the library from a module that has the same names and says something else; the word `unsafe` is the user's for that it is the library",
    wrong: r#"
mod elsewhere {
    pub use sarek;
}

#[kernel(crate = elsewhere::sarek)]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
    right: r#"
mod elsewhere {
    pub use sarek;
}

#[kernel(unsafe(crate = elsewhere::sarek))]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}
"#,
}
}
