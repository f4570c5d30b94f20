//! The macros of sarek; everything behind them is in `sarek-frontend`.

use proc_macro::TokenStream;

/// Makes a function a kernel: see the crate `sarek`.
///
/// Options: `block = 256`, `block = (16, 16)` or `block = (8, 8, 4)` fixes the block size;
/// `requires(k < n)` states what a launch must satisfy; `strict` makes floats the same to the bit on every device that
/// runs the kernel, and refuses what cannot be; `unsafe(crate = path)` says how the crate `sarek` is called where the kernel stands.
///
/// In the body, `#[unroll]` right before `for`, `while` or `loop` asks the compilers of CUDA C and OpenCL C to write the loop out as often as
/// it runs, where that is a constant, and `#[unroll(4)]` or `#[unroll(N)]` so often. It changes no result, and nothing on other targets.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a function, or the functions of an `impl` block, such that kernels and each other can call them. They stay
/// ordinary functions too.
///
/// Parameters are values, `&T`, `&mut T`, `&[T]`, `&mut [T]` and `&[Atomic<T>]`; slices may be given shared arrays and
/// arrays. A method's receiver is of a type that the kernel names: `let p: Point = make(); p.norm()`. A function may wait at
/// barriers, use subgroups and make shared arrays: then all threads of a block call it together, and give the same for arguments on
/// which barriers depend. A safe one is proved free of races, and ends by a barrier. It calls itself where that call's
/// result is its own at once, as `gcd(b, a % b)` at the end of `gcd`, or as deep as `inline` says.
///
/// Options: `inline = 8` is how many calls of itself a function may nest in one; another is a fault. `intrinsic`, or
/// `intrinsic = "name"`, has targets say the function by texts that are registered when the program runs
/// (`sarek::register_intrinsic`); its Rust is for the CPU.
/// `unsafe(crate = path)` says how the crate `sarek` is called where the function stands.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::function::device(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a test of a function that says what a kernel does, with the kernel's arguments, on all of their elements:
///
/// ```ignore
/// #[kernel_test(saxpy, absolute = 1e-5)]
/// fn saxpy_is_right(a: f32, #[within(-1.0..1.0)] x: &[f32], #[within(-1.0..1.0)] y: &mut [f32]) {
///     for (x, y) in x.iter().zip(y) {
///         *y = a * x + *y;
///     }
/// }
/// ```
///
/// On every device, and for sizes from 1 to 4099, it makes up values for the arguments, runs the kernel over as many threads, and
/// compares what it wrote to the `&mut` slices with what the function wrote. A parameter `&[Atomic<T>]` of the kernel is a `&mut [T]` here. In
/// the attributes `size` is the size: `#[len(2 * size)]` is the length of a slice, `#[within(0..10)]` the range of what
/// is made up.
///
/// Options: `ulps = 2` and `absolute = 1e-6`, or `ulps(wgpu = 64)` for one backend, are what floats may differ by; `sizes = [1, 100]`,
/// `rounds = 3`, `seed = 7`, `on = ["native"]` (the backends); `over = (size, 4)`, `cover = size`, `grid = size, block = 64` or `items` for another launch than
/// `over(size)`; `crate = path`. The function is `unsafe` if the kernel is.
#[proc_macro_attribute]
pub fn kernel_test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::kernel_test::expand(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a struct or enum one that kernels compute with, and that stands in vectors: see the crate `sarek`.
///
/// Its layout must be the same everywhere: `#[repr(C)]` for a struct, `#[repr(u32)]` for an enum without fields,
/// `#[repr(C, u32)]` for one with fields. All fields must be such types themselves. `#[kernel_type(unsafe(crate = path))]` says
/// how the crate `sarek` is called where the type stands.
#[proc_macro_derive(KernelType, attributes(kernel_type))]
pub fn kernel_type(item: TokenStream) -> TokenStream {
    sarek_frontend::derive::expand(item.into()).into()
}

/// Text in targets' own languages, as a statement or an expression of a kernel.
///
/// `native!("cuda", "y[{i}] = __ldg(&x[{i}]);")` is emitted verbatim by that target, `{name}`
/// replaced by the kernel's variable; `{{` and `}}` are braces. With several targets and a Rust
/// fallback: `native! { "cuda" => "…", "opencl" => "…", _ => { rust } }`. Like `asm!` it stands in
/// `unsafe`.
///
/// - **Values**: a text is an expression if its type follows, `native!("cuda", "__ldg(&{x}[{i}])" as f32)`. All texts of
///   a `native!` say the same type, and the fallback yields it. Nothing is known of such a value.
/// - **Operands** are scalar variables and arguments, fields of both (`{p.x}`), slices, shared arrays and arrays. What is
///   no variable is given a name: `native!("cuda", "f({v})" as f32, v = a + b)`; the fallback knows it, too.
/// - **Preludes**: `use PATH` puts the texts of a `const` of type `NativePrelude` before the kernel, once.
/// - Targets are `cuda`, `opencl`, `wgsl`, and those of other crates' backends.
///
/// What a target's compiler objects to is reported at the line of the text.
#[proc_macro]
pub fn native(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_native(tokens.into()).into()
}

/// A body, and a barrier after it, as a statement of a kernel: `superstep! { tile[t] = x[i]; }`.
///
/// Names that are bound in the body are known in it alone.
#[proc_macro]
pub fn superstep(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_superstep(tokens.into()).into()
}

/// What the macro of a `#[device]` trait's name makes of an impl of it; not for users.
#[doc(hidden)]
#[proc_macro]
pub fn fitting(tokens: TokenStream) -> TokenStream {
    sarek_frontend::emit::impls::fitting(tokens.into()).into()
}
