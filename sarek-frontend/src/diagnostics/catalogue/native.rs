//! Text in the targets' own languages.

super::catalogue! {
NATIVE_UNSAFE = 801 by Macro {
    title: "`native!` stands outside of `unsafe`",
    means: "`native!` stands in an `unsafe` block, as `asm!` does.",
    why: "nobody checks what the text of a target does",
    wrong: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    native! { "cuda" => "{n} = 2u;", _ => { n = 2; } }
    y[global_idx_x()] = n;
}
"#,
    right: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "cuda" => "{n} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
}

NATIVE_TARGET = 802 by Macro {
    title: "a text is for a target that has no texts",
    means: "Targets are `cuda`, `opencl` and `wgsl`, and those of other crates' backends; the native and the interpreter backend run the Rust \
            fallback.",
    why: "a misspelt target would be one of another crate's, and its text would never be used",
    wrong: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "OpenCL" => "{n} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
    right: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "opencl" => "{n} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
}

NATIVE_OPERAND = 803 by Macro {
    title: "a text names what is no operand",
    means: "`{name}` in a text is a scalar variable or argument, a field of one (`{p.x}`), a slice or an array. Other values are given a name: \
            `native!(\"cuda\", \"f({v})\" as f32, v = a + b)`. `{{` and `}}` are braces.",
    why: "the operand is replaced by what the target calls it, and only scalars and memory have a name there",
    wrong: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "cuda" => "{m} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
    right: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "cuda" => "{n} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
}

NATIVE_VALUE = 804 by Macro {
    title: "the texts of a `native!` and its fallback do not yield the same",
    means: "All texts have `as T` with the same type behind them and the fallback yields that, or none has and it yields nothing.",
    why: "nothing is known of the value but its type, which is the same on every device",
    wrong: r#"
#[kernel]
fn lane(y: &mut [u32]) {
    y[global_idx_x()] = unsafe {
        native! { "cuda" => "threadIdx.x" as u32, "opencl" => "get_local_id(0)", _ => { 0 } }
    };
}
"#,
    right: r#"
#[kernel]
fn lane(y: &mut [u32]) {
    y[global_idx_x()] = unsafe {
        native! { "cuda" => "threadIdx.x" as u32, "opencl" => "get_local_id(0)" as u32, _ => { 0 } }
    };
}
"#,
}

NATIVE_TWICE = 805 by Macro {
    title: "a `native!` has something twice",
    means: "There is one text for each target, one fallback, and each operand has a name of its own.",
    why: "only one of them can be emitted",
    wrong: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "cuda" => "{n} = 2u;", "cuda" => "{n} = 3u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
    right: r#"
#[kernel]
fn fill(mut n: u32, y: &mut [u32]) {
    unsafe {
        native! { "cuda" => "{n} = 2u;", _ => { n = 2; } }
    }
    y[global_idx_x()] = n;
}
"#,
}
}
