//! Branches and loops.

super::catalogue! {
LOOP_RANGE = 401 by Macro {
    title: "a `for` loop over something else than a range",
    means: "`for` counts: over `a..b` and `a..=b`, with at most one `.rev()` and one `.step_by(n)`.",
    why: "iterators are calls through closures and pointers, which no device has",
    wrong: r#"
#[kernel]
fn sum(x: &[f32], y: &mut [f32]) {
    let mut total = 0.0;
    for v in x.iter() {
        total += v;
    }
    y[global_idx_x()] = total;
}
"#,
    right: r#"
#[kernel]
fn sum(x: &[f32], y: &mut [f32]) {
    let mut total = 0.0;
    for k in 0..x.len() {
        total += x[k];
    }
    y[global_idx_x()] = total;
}
"#,
}

BREAK = 402 by Macro {
    title: "`break` or `continue` names no loop that it can leave",
    means: "They stand in a loop, name one that is around them, and carry a value out of `loop` and labelled blocks only.",
    why: "kernels mean what Rust means, and C would leave another loop",
    wrong: r#"
#[kernel]
fn fill(y: &mut [u32]) {
    for k in 0..4u32 {
        if k == 2 {
            break 'outer;
        }
        y[global_idx_x()] = k;
    }
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [u32]) {
    'outer: for k in 0..4u32 {
        if k == 2 {
            break 'outer;
        }
        y[global_idx_x()] = k;
    }
}
"#,
}

VALUE_UNUSED = 403 by Macro {
    title: "the body of a loop ends with a value",
    means: "The body of `for`, `while` and `loop` yields nothing.",
    why: "there is nowhere for the value to go",
    wrong: r#"
#[kernel]
fn fill(y: &mut [u32]) {
    for k in 0..4u32 {
        y[global_idx_x()] = k;
        k
    }
}
"#,
    right: r#"
#[kernel]
fn fill(y: &mut [u32]) {
    for k in 0..4u32 {
        y[global_idx_x()] = k;
    }
}
"#,
}

BRANCHES = 404 by Macro {
    title: "one branch yields a value and another none",
    means: "All branches of an `if` or `match` end with a value of one type, or none does.",
    why: "the value is assigned in each branch, and here one would leave it undefined",
    wrong: r#"
#[kernel]
fn sign(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let s = if x[i] < 0.0 { -1.0 } else { y[i] = 1.0; };
    y[i] = s;
}
"#,
    right: r#"
#[kernel]
fn sign(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let s = if x[i] < 0.0 { -1.0 } else { 1.0 };
    y[i] = s;
}
"#,
}

MATCH = 405 by Macro {
    title: "the arms of a `match` or `let … else` leave something open",
    means: "The last arm of a `match` has no guard, a pattern's names have a value, and an `else` leaves by `return`, `break` or `continue`.",
    why: "a `match` becomes a chain of tests whose last arm takes what is left",
    wrong: r#"
#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let found = if x[i] > 4 { Some(x[i]) } else { None };
    let Some(n) = found else {
        y[i] = 0;
    };
    y[i] = n;
}
"#,
    right: r#"
#[kernel]
fn pick(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let found = if x[i] > 4 { Some(x[i]) } else { None };
    let Some(n) = found else {
        y[i] = 0;
        return;
    };
    y[i] = n;
}
"#,
}

UNROLL = 406 by Macro {
    title: "`#[unroll]` that no loop can follow",
    means: "`#[unroll]` stands right before `for`, `while` or `loop` and asks a target's compiler to write the body out as often as the loop runs; \
            `#[unroll(4)]` says how often, 1 to 1024 times, by a number or the name of a `usize` constant. A loop has one such hint.",
    why: "it is a hint to the compilers of CUDA C and OpenCL C, which take it before a loop and with a constant number",
    wrong: r#"
#[kernel]
fn sum(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let mut total = 0.0;
    #[unroll(0)]
    for k in 0..8 {
        total += x[8 * i + k];
    }
    y[i] = total;
}
"#,
    right: r#"
#[kernel]
fn sum(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let mut total = 0.0;
    #[unroll(4)]
    for k in 0..8 {
        total += x[8 * i + k];
    }
    y[i] = total;
}
"#,
}
}
