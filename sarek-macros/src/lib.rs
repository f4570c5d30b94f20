//! The macros of sarek; `sarek-frontend` implements them.

use proc_macro::TokenStream;

/// Makes a function a kernel: see the crate `sarek`.
///
/// Options:
///
/// - `block = 256`, `block = (16, 16)` or `block = (8, 8, 4)` fixes the block size.
/// - `requires(k < n)` states a condition that each launch must meet.
/// - `strict` makes floats the same to the bit on every device that runs the kernel, and refuses
///   operations that cannot be.
/// - `unsafe(crate = path)` sets the path of the crate `sarek`.
///
/// In the body, write `#[unroll]` before `for`, `while` or `loop` with a constant number of
/// iterations. The compilers of CUDA C and OpenCL C then unroll the loop completely. `#[unroll(4)]`
/// or `#[unroll(N)]` unrolls that many iterations. It changes no results, and has no effect on
/// other targets.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a function, or the functions of an `impl` block, callable by kernels and by each other.
/// They stay ordinary functions too.
///
/// Parameters are values, `&T`, `&mut T`, `&[T]`, `&mut [T]` and `&[Atomic<T>]`; arguments for
/// slices may be shared arrays and arrays. The type of a method's receiver must be named in the
/// kernel: `let p: Point = make(); p.norm()`.
///
/// A function may use barriers, subgroups and shared arrays. Then all threads of a block must call
/// it together, with the same values for arguments on which barriers depend. A safe function of
/// this kind is proved free of races, and ends with a barrier.
///
/// Recursion is allowed in tail position, as `gcd(b, a % b)` at the end of `gcd`, or up to the
/// depth that `inline` declares.
///
/// Options:
///
/// - `inline = 8` is the maximum depth of nested calls of a function to itself; one more is a
///   fault.
/// - `intrinsic`, or `intrinsic = "name"`, takes the function's text for each target from
///   `sarek::register_intrinsic`, at run time; its Rust body is for the CPU.
/// - `unsafe(crate = path)` sets the path of the crate `sarek`.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::device(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a test from a function that computes a kernel's expected results, with the kernel's
/// arguments, for all of their elements:
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
/// For every device and for sizes from 1 to 4099, the test generates values for the arguments and
/// runs the kernel over that many threads. Then it compares the `&mut` slices that the kernel and
/// the function wrote. A parameter `&[Atomic<T>]` of the kernel is a `&mut [T]` here. In the
/// attributes, `size` is the size: `#[len(2 * size)]` sets the length of a slice,
/// `#[within(0..10)]` the range of generated values.
///
/// Options:
///
/// - `ulps = 2` and `absolute = 1e-6`, or `ulps(wgpu = 64)` for one backend, set the tolerances of
///   floats.
/// - `sizes = [1, 100]`, `rounds = 3`, `seed = 7`, and `on = ["native"]` for the backends.
/// - `over = (size, 4)`, `cover = size`, `grid = size, block = 64` or `items` for a launch other
///   than `over(size)`.
/// - `crate = path` sets the path of the crate `sarek`.
///
/// The function is `unsafe` if the kernel is.
#[proc_macro_attribute]
pub fn kernel_test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel_test(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a struct or enum a type that kernels compute with and that vectors hold: see the crate
/// `sarek`.
///
/// Its layout must be the same everywhere: `#[repr(C)]` for a struct, `#[repr(u32)]` for an enum
/// without fields, `#[repr(C, u32)]` for one with fields. All fields must be of such types
/// themselves. `#[kernel_type(unsafe(crate = path))]` sets the path of the crate `sarek`.
#[proc_macro_derive(KernelType, attributes(kernel_type))]
pub fn kernel_type(item: TokenStream) -> TokenStream {
    sarek_frontend::derive::expand(item.into()).into()
}

/// Inserts text in the targets' own languages, as a statement or an expression of a kernel.
///
/// `native!("cuda", "y[{i}] = __ldg(&x[{i}]);")` emits the text verbatim on that target, with
/// `{name}` replaced by the kernel's variable; `{{` and `}}` are literal braces. With several
/// targets and a Rust fallback: `native! { "cuda" => "…", "opencl" => "…", _ => { rust } }`. Like
/// `asm!` it needs `unsafe`.
///
/// - **Values**: a text followed by a type is an expression: `native!("cuda", "__ldg(&{x}[{i}])" as
///   f32)`. All texts of a `native!` have the same type, and so has the fallback. The analyses know
///   nothing about such a value.
/// - **Operands** are scalar variables and arguments, their fields (`{p.x}`), slices, shared arrays
///   and arrays. Name any other expression: `native!("cuda", "f({v})" as f32, v = a + b)`; the
///   fallback can use the name, too.
/// - **Preludes**: `use PATH` inserts the texts of a `const` of type `NativePrelude` before the
///   kernel, once.
/// - **Targets** are `cuda`, `opencl`, `wgsl`, and those of external backends.
///
/// Errors of a target's compiler are reported at the line of the text.
#[proc_macro]
pub fn native(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_native(tokens.into()).into()
}

/// Runs a body with a barrier after it, as a statement of a kernel: `superstep! { tile[t] = x[i];
/// }`.
///
/// Names bound in the body are local to it.
#[proc_macro]
pub fn superstep(tokens: TokenStream) -> TokenStream {
    sarek_frontend::expand::stray_superstep(tokens.into()).into()
}

/// Expands an `impl` of a `#[device]` trait, when the macro with the trait's name is called; not
/// for users.
#[doc(hidden)]
#[proc_macro]
pub fn fitting(tokens: TokenStream) -> TokenStream {
    sarek_frontend::emit::impls::fitting(tokens.into()).into()
}
