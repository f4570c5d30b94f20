//! The macros of sarek; `sarek-frontend` implements them.

use proc_macro::TokenStream;

/// Makes a function a kernel, which devices run with one thread for each index.
///
/// ```
/// use sarek::prelude::*;
///
/// #[kernel(block = 64, requires(n <= y.len()))]
/// fn fill(n: usize, value: f32, y: &mut [f32]) {
///     let i = global_idx_x();
///     if i < n {
///         y[i] = value;
///     }
/// }
///
/// let mut y = Vector::zeros(100);
/// fill(70, 0.5, &mut y).over(100).run()?;
/// assert_eq!(y.read(69..71)?, [0.5, 0.0]);
/// assert!(fill(101, 0.5, &mut y).over(101).run().is_err());
/// # Ok::<(), sarek::Error>(())
/// ```
///
/// The function's name becomes a function that returns a `sarek::Launch`. It is also a struct that
/// implements `sarek::Kernel`. `fill::ir()` is the kernel as data, `fill::source("cuda")` its text
/// for a target, and `fill::explain()` says which devices can run it, and why others cannot.
///
/// # Options
///
/// They stand in parentheses, separated by commas.
///
/// | Option | Effect |
/// |---|---|
/// | `block = 256`, `block = (16, 16)`, `block = (8, 8, 4)` | Fixes the block size. A launch then takes `.grid(…)` without `.block(…)`. Not for kernels over items. |
/// | `requires(k < n, x.len() > 0)` | States conditions on arguments, lengths and extents. The host checks them at each launch, and the proofs of races and bounds use them. |
/// | `strict` | Makes floats the same to the bit on every device that runs the kernel, and refuses operations that cannot be. |
/// | `optimize = false` | Runs launches as written. By default one thread of a GPU may do the work of several, see `SAREK_OPTIMIZE`. |
/// | `env(rates, "cuda_fp16")` | Names the environments that the texts of the kernel need, such as headers. `sarek::environment` registers them. |
/// | `unsafe(crate = path)` | Sets the path of the crate `sarek`, which is `::sarek` otherwise. It is `unsafe`, since the items at that path decide which memory a kernel accesses. |
///
/// # Parameters
///
/// | Parameter | Argument of the call |
/// |---|---|
/// | a number, `bool`, a tuple, an array, a type with [`KernelType`](derive@KernelType) | the value |
/// | `x: &[T]` | `&Vector<T>`, or a part of one |
/// | `y: &mut [T]`, `count: &[Atomic<T>]` | `&mut Vector<T>`, or a part of one |
/// | `m: View2<T>`, `mut m: ViewMut2<T>`, `View3<T>`, `ViewMut3<T>` | a view, as from `v.view2(rows, cols)?` |
/// | `#[item] x: T`, `#[item] x: &T` | `&Vector<T>`; the parameter is the element of each thread |
/// | `#[item] y: &mut T` | `&mut Vector<T>`, likewise |
///
/// With `#[item]`, the kernel runs over all elements, and its launch takes no index space:
///
/// ```
/// use sarek::prelude::*;
///
/// #[kernel(strict)]
/// fn squares(#[item] x: f32, #[item] y: &mut f32) {
///     *y = x * x;
/// }
///
/// let (x, mut y) = (Vector::filled(9, 3.0), Vector::zeros(9));
/// squares(&x, &mut y).run()?;
/// assert_eq!(y.get(8)?, 9.0);
/// # Ok::<(), sarek::Error>(())
/// ```
///
/// A kernel may have parameters of types and constants: `fn scale<T: Float, const N: usize>(…)`.
///
/// # In the body
///
/// `#[unroll]` before `for`, `while` or `loop` asks the compilers of CUDA C and OpenCL C to unroll
/// a loop completely, if its number of iterations is constant. `#[unroll(4)]` or `#[unroll(N)]`
/// unrolls that many iterations. Results do not change, and other targets ignore it.
///
/// # Safety
///
/// A kernel declared `fn` is proved free of data races, or it is a compile error. Declare a kernel
/// that cannot be proved `unsafe fn`. Each call of it is `unsafe`, and promises that its threads do
/// not meet.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a function callable by kernels and by each other; also the functions of an `impl` block,
/// and the methods of a trait. They stay ordinary functions too.
///
/// ```
/// use sarek::prelude::*;
///
/// #[device]
/// fn lerp<T: Float>(a: T, b: T, t: T) -> T {
///     a + (b - a) * t
/// }
///
/// #[device(inline = 12)]
/// fn factorial(n: u32) -> u32 {
///     if n < 2 { 1 } else { n * factorial(n - 1) }
/// }
///
/// #[kernel]
/// fn table(y: &mut [f32]) {
///     let i = global_idx_x();
///     y[i] = lerp(0.0, factorial(i as u32) as f32, 0.5);
/// }
///
/// let mut y = Vector::zeros(10);
/// table(&mut y).over(10).run()?;
/// assert_eq!(y.get(5)?, lerp(0.0, 120.0, 0.5));
/// # Ok::<(), sarek::Error>(())
/// ```
///
/// # Options
///
/// | Option | Effect |
/// |---|---|
/// | `inline = 8` | Declares the maximum depth of a function's nested calls of itself, up to 1000. A deeper call is a fault. Free functions only. |
/// | `intrinsic`, `intrinsic = "name"` | Takes the function's text for each target from `sarek::intrinsic::register`, at run time. The Rust body is for the CPU, and defines the result. Free functions only. |
/// | `unsafe(crate = path)` | Sets the path of the crate `sarek`, as for [`macro@kernel`]. |
///
/// # Signatures
///
/// Parameters are values, `&T`, `&mut T`, `&[T]`, `&mut [T]`, `&[Atomic<T>]`, views, and closures
/// (`impl Fn(f32) -> f32`). Arguments for slices may be shared arrays and local arrays. The type of
/// a method's receiver must be named in the kernel: `let p: Point = make(); p.norm()`.
///
/// A function may use barriers, subgroups and shared arrays. Then all threads of a block must call
/// it together, with the same values for arguments on which barriers depend. A safe function of
/// this kind is proved free of races, and ends with a barrier.
///
/// Recursion in tail position, as `gcd(b, a % b)` at the end of `gcd`, needs no `inline`.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::device(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a test from a function that computes a kernel's expected results. The function has the
/// kernel's arguments, and does to all of their elements what the kernel does in one thread.
///
/// ```
/// use sarek::prelude::*;
///
/// #[kernel]
/// fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
///     let i = global_idx_x();
///     y[i] = a * x[i] + y[i];
/// }
///
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
/// the function wrote. A parameter `&[Atomic<T>]` of the kernel is a `&mut [T]` here. The function
/// is `unsafe` if the kernel is.
///
/// # Options
///
/// They follow the kernel. `size` is the size of a trial.
///
/// | Option | Effect |
/// |---|---|
/// | `ulps = 2`, `ulps(wgpu = 64, cuda = 4)` | Sets the tolerance of floats in units in the last place, on all backends or on some. |
/// | `absolute = 1e-6`, `absolute(wgpu = 1e-4)` | Sets an additional absolute tolerance, likewise. |
/// | `sizes = [1, 100]` | Replaces the sizes. |
/// | `rounds = 3` | Runs each size so often, each time with other values. |
/// | `seed = 7` | Selects other values. |
/// | `on = ["native", "cuda"]` | Restricts the test to devices of these backends. |
/// | `over = (size, 4)`, `cover = size`, `grid = size` | Sets the index space of the launch, which is `over = size` otherwise. |
/// | `block = 64` | Sets the block size, with `grid`. |
/// | `items` | Launches a kernel over items, which takes no index space. |
/// | `crate = path` | Sets the path of the crate `sarek`. |
///
/// # Attributes of parameters
///
/// | Attribute | Effect |
/// |---|---|
/// | `#[within(0..10)]`, `#[within(-1.0..=1.0)]` | Sets the range of the generated values. A `usize` needs one. |
/// | `#[len(2 * size)]` | Sets the length of a slice, which is `size` otherwise. Earlier arguments may be used. |
#[proc_macro_attribute]
pub fn kernel_test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    sarek_frontend::expand::kernel_test(attribute.into(), item.into())
        .tokens
        .into()
}

/// Makes a struct or enum a type that kernels compute with and that vectors hold.
///
/// ```
/// use sarek::prelude::*;
///
/// #[derive(Clone, Copy, KernelType)]
/// #[repr(C)]
/// struct Ball {
///     at: [f32; 2],
///     color: Color,
/// }
///
/// #[derive(Clone, Copy, KernelType)]
/// #[repr(u32)]
/// enum Color {
///     Red,
///     Blue,
/// }
///
/// #[kernel]
/// fn heights(balls: &[Ball], y: &mut [f32]) {
///     let i = global_idx_x();
///     y[i] = match balls[i].color {
///         Color::Red => balls[i].at[1],
///         Color::Blue => 0.0,
///     };
/// }
///
/// let balls = Vector::filled(4, Ball { at: [1.0, 2.0], color: Color::Red });
/// let mut y = Vector::zeros(4);
/// heights(&balls, &mut y).over(4).run()?;
/// assert_eq!(y.get(3)?, 2.0);
/// # Ok::<(), sarek::Error>(())
/// ```
///
/// The type is `Copy`, and its fields are of such types themselves. In vectors and arguments, its
/// layout must be the same everywhere:
///
/// | Type | Representation |
/// |---|---|
/// | a struct | `#[repr(C)]`, also with `align(…)`; `#[repr(transparent)]` |
/// | an enum without fields | `#[repr(u32)]`, or another integer type of 8 to 64 bits; `#[repr(C)]` |
/// | an enum with fields | `#[repr(C, u32)]`, or another integer type, with or without `C` |
///
/// A type that only values in kernels have needs no `#[repr]`, and may have no fields.
///
/// The derive implements the trait `sarek::KernelType`, and `sarek::Element` for a type with such a
/// layout.
///
/// # Options
///
/// | Option | Effect |
/// |---|---|
/// | `#[kernel_type(unsafe(crate = path))]` | Sets the path of the crate `sarek`, as for [`macro@kernel`]. |
#[proc_macro_derive(KernelType, attributes(kernel_type))]
pub fn kernel_type(item: TokenStream) -> TokenStream {
    sarek_frontend::derive::expand(item.into()).into()
}

/// Makes an enum a kind of tags: its variants are the members, and a variant with fields is a
/// template. Import it as `sarek::tag::Kind`, together with the trait.
///
/// ```
/// use sarek::tag::{self, Kind, Tag};
///
/// #[derive(Kind, PartialEq, Eq, Hash, Debug)]
/// enum Order {
///     Plain,
///     Tiled { width: u32, height: u32 },
/// }
///
/// let tag: Tag<Order> = Tag::of(Order::Tiled { width: 16, height: 4 });
/// assert_eq!(tag, Tag::of(Order::Tiled { width: 16, height: 4 }));
/// assert!(tag::lookup::<Order>("Tiled").matches(&tag));
///
/// let threads = match tag.view()? {
///     Order::Tiled { width, height } => width * height,
///     Order::Plain => 1,
/// };
/// assert_eq!(threads, 64);
/// # Ok::<(), sarek::Error>(())
/// ```
///
/// Tags are saved with serde, as those of other kinds: `"Plain"`,
/// `{"type": "Tiled", "with": {"width": 16, "height": 4}}`. So a field's type has serde's traits.
/// `sarek::tag::register` and `sarek::tag::template` add members at run time. For these, and for
/// names that the program does not know, `Tag::view` returns an error.
///
/// The derive implements the traits `sarek::tag::Kind` and `sarek::tag::EnumKind`.
///
/// # Options
///
/// | Option | Effect |
/// |---|---|
/// | `#[kind(name = "loop order")]` | At the enum: sets the kind's name in messages, which is that of the enum otherwise. |
/// | `#[kind(strict)]` | Data with an unknown name are an error. They become undefined tags otherwise. |
/// | `#[kind(crate = path)]` | Sets the path of the crate `sarek`. |
/// | `#[kind(name = "tiled")]` | At a variant: sets the member's name, which is that of the variant otherwise. |
#[proc_macro_derive(Kind, attributes(kind))]
pub fn kind(item: TokenStream) -> TokenStream {
    sarek_frontend::derive::kind::expand(item.into()).into()
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
