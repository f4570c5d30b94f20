//! Slices, arrays, shared arrays, atomics and views.

super::catalogue! {
READ_ONLY = 501 by Macro {
    title: "an argument is written that is borrowed to be read",
    means: "`&[T]` and `View2<T>` are read. What a kernel writes is `&mut [T]`, `ViewMut2<T>` or `&[Atomic<T>]`.",
    why: "what is borrowed by `&` may be read by others meanwhile, and devices read it through caches that stores do not reach",
    wrong: r#"
#[kernel]
fn clear(x: &[f32]) {
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

ASSIGNMENT = 502 by Macro {
    title: "this cannot be assigned to",
    means: "A kernel assigns to its `mut` variables, to fields and elements of them, and to elements of what it may write.",
    why: "an argument is the launch's, and a slice is where its vector is",
    wrong: r#"
#[kernel]
fn count(n: u32, y: &mut [u32]) {
    n += 1;
    y[global_idx_x()] = n;
}
"#,
    right: r#"
#[kernel]
fn count(mut n: u32, y: &mut [u32]) {
    n += 1;
    y[global_idx_x()] = n;
}
"#,
}

MEMORY_AS_VALUE = 503 by Macro {
    title: "a slice, array or view is used as a value",
    means: "Memory is indexed, asked for its length, and lent to `#[device]` functions. It is not bound to another name.",
    why: "a slice would be a pointer in a variable, which WGSL does not have",
    wrong: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let from = x;
    y[global_idx_x()] = from[global_idx_x()];
}
"#,
    right: r#"
#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i];
}
"#,
}

INDEX = 504 by Macro {
    title: "an index does not fit what it is used on",
    means: "Only slices, arrays and views are indexed; an array of arrays by as many indices as it has dimensions, a view by all coordinates at \
            once, and by constants below the length.",
    why: "an index becomes an address of one element",
    wrong: r#"
#[kernel]
fn copy(x: View2<f32>, mut y: ViewMut2<f32>) {
    y[[global_idx_y(), global_idx_x()]] = x[global_idx_x()];
}
"#,
    right: r#"
#[kernel]
fn copy(x: View2<f32>, mut y: ViewMut2<f32>) {
    let at = (global_idx_y(), global_idx_x());
    y[[at.0, at.1]] = x[[at.0, at.1]];
}
"#,
}

SLICE_METHOD = 505 by Macro {
    title: "slices and views do not have this method in a kernel",
    means: "Slices have `len`, `is_empty`, `swap` of elements, indexing and, in `unsafe`, `get_unchecked`; views have `rows`, `cols`, `shape` and indexing.",
    why: "the others of Rust's yield references or iterators, which devices do not have",
    wrong: r#"
#[kernel]
fn first(x: &[f32], y: &mut [f32]) {
    y[global_idx_x()] = x.first().copied().unwrap_or(0.0);
}
"#,
    right: r#"
#[kernel]
fn first(x: &[f32], y: &mut [f32]) {
    y[global_idx_x()] = if x.is_empty() { 0.0 } else { x[0] };
}
"#,
}

ARRAY_LENGTH = 506 by Macro {
    title: "the length of an array is no constant, or zero",
    means: "Arrays have a constant length of one at least: a literal, a `const`, or a constant parameter.",
    why: "arrays lie in registers and shared memory, whose size is fixed when the kernel is compiled; C and WGSL have no empty ones",
    wrong: r#"
#[kernel]
fn fill(n: usize, y: &mut [f32]) {
    let part = [0.0f32; n];
    y[global_idx_x()] = part[0];
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    const N: usize = 4;
    let part = [0.0f32; N];
    y[global_idx_x()] = part[0];
}
"#,
}

SHARED_PLACE = 507 by Macro {
    title: "a shared array is not made at the head of the kernel",
    means: "A shared array is one for all threads of a block. It is made before any `if` or loop.",
    why: "shared memory is laid out once for each block, before its threads run",
    wrong: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    for _k in 0..4 {
        let tile = shared_array::<f32, 64>();
        tile[thread_idx_x()] = 1.0;
    }
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    for _k in 0..4 {
        tile[thread_idx_x()] = 1.0;
    }
    y[global_idx_x()] = tile[thread_idx_x()];
}
"#,
}

SHARED_FORM = 508 by Macro {
    title: "a shared array is not made in one of its two forms",
    means: "`let tile = shared_array::<T, LENGTH>();` and `let buffer = shared_slice::<T>(length);`, each bound to a plain name.",
    why: "type and length are part of the kernel, and the name is the array's in every target",
    wrong: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let tile = shared_array::<f32>();
    y[global_idx_x()] = tile[0];
}
"#,
    right: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    tile[thread_idx_x()] = 1.0;
    y[global_idx_x()] = tile[thread_idx_x()];
}
"#,
}

SHARED_LENGTH = 509 by Macro {
    title: "the length of a shared slice is not known at the launch",
    means: "It is made of scalar arguments, lengths of slices, extents such as `block_dim_x()`, and constants.",
    why: "shared memory is given to a block before its threads run, so that the host computes the length",
    wrong: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    let own = shared_slice::<f32>(thread_idx_x() + 1);
    y[global_idx_x()] = own[0];
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [f32]) {
    let own = shared_slice::<f32>(block_dim_x());
    own[thread_idx_x()] = 1.0;
    y[global_idx_x()] = own[thread_idx_x()];
}
"#,
}

SHARED_ELEMENT = 510 by Macro {
    title: "a shared array does not hold this type",
    means: "Shared arrays hold numbers other than `usize`, atomics, structs of such, and arrays of them.",
    why: "their contents are any bits until they are written, and any bits have to be a value",
    wrong: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let flags = shared_array::<bool, 64>();
    flags[thread_idx_x()] = true;
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let flags = shared_array::<u32, 64>();
    flags[thread_idx_x()] = 1;
    y[global_idx_x()] = 1.0;
}
"#,
}

PLAIN_ATOMIC = 511 by Macro {
    title: "an atomic is used like a plain element",
    means: "Elements of `&[Atomic<T>]` are read by `load()`, written by `store(x)` and changed by `fetch_add(x)` and its like.",
    why: "a plain access beside an atomic one is a race on every device",
    wrong: r#"
#[kernel]
fn read(count: &[Atomic<u32>], y: &mut [u32]) {
    y[global_idx_x()] = count[0];
}
"#,
    right: r#"
#[kernel]
fn read(count: &[Atomic<u32>], y: &mut [u32]) {
    y[global_idx_x()] = count[0].load();
}
"#,
}

ATOMIC_OPERATION = 512 by Macro {
    title: "atomics do not have this operation",
    means: "There are `load`, `store`, `swap`, `compare_and_swap`, `fetch_add`, `fetch_sub`, `fetch_min`, `fetch_max`, and for integers \
            `fetch_and`, `fetch_or` and `fetch_xor`.",
    why: "these are what all devices have, or what a loop of `compare_and_swap` makes on those that lack one",
    wrong: r#"
#[kernel]
fn mask(bits: &[Atomic<f32>]) {
    bits[0].fetch_and(1.0);
}
"#,
    right: r#"
#[kernel]
fn mask(bits: &[Atomic<u32>]) {
    bits[0].fetch_and(1);
}
"#,
}

ATOMIC_TYPE = 513 by Macro {
    title: "there are no atomics of this type, or they are borrowed by `&mut`",
    means: "`Atomic<T>` holds `i32`, `u32`, `i64`, `u64`, `f32` and `f64`, and a kernel takes `&[Atomic<T>]`.",
    why: "no device changes less than 32 bits at once, and what many threads change is borrowed by none of them alone",
    wrong: r#"
#[kernel]
fn count(n: &[Atomic<u8>]) {
    n[0].fetch_add(1);
}
"#,
    right: r#"
#[kernel]
fn count(n: &[Atomic<u32>]) {
    n[0].fetch_add(1);
}
"#,
}
}
