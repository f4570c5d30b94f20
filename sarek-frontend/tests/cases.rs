//! Proofs of races for values by cases, quotients put together again, bits, and offsets that are subtracted. Each kernel
//! stands beside one that differs a little, and in which threads meet.

mod common;

use common::lowered;

#[track_caller]
fn free(body: &str) {
    let source = format!("fn k({PARAMS}) {{ let i = global_idx_x(); let n = y.len(); {body} }}");
    if let Err(errors) = lowered(&source) {
        panic!("{body}: {errors:#?}");
    }
}

#[track_caller]
fn races(body: &str) {
    let source = format!("fn k({PARAMS}) {{ let i = global_idx_x(); let n = y.len(); {body} }}");
    common::races(&source);
}

const PARAMS: &str = "w: usize, h: usize, per: usize, x: &[u32], y: &mut [u32]";

#[test]
fn runs_are_cut() {
    let run = |first: &str, end: &str| {
        format!("let first = {first}; let end = {end}; for at in first..end {{ y[at] = 1; }}")
    };
    free(&run("(per * i).min(n)", "(first + per).min(n)"));
    free(&run("(per * i).min(n)", "(per * (i + 1)).min(n)"));
    free(&run("per * i", "(first + n.div_ceil(4).min(per)).min(n)"));
    // A run is longer than the distance of two starts.
    races(&run("(per * i).min(n)", "(first + per + 1).min(n)"));
    races(&run("(per * i).min(n)", "(first + per).max(n)"));
    races(&run("(per * i).max(w)", "first + per"));
    races(&run("(per * i / 2).min(n)", "(first + per).min(n)"));
    // The first element of the next run is used, too.
    races(
        "let first = (per * i).min(n); let end = (first + per).min(n); for at in first..=end { y[at] = 1; }",
    );
}

#[test]
fn runs_differ_by_one() {
    let run = |first: &str, count: &str| {
        format!(
            "let t = global_dim_x(); let (per, rest) = (n / t, n % t); let first = {first}; let count = {count}; \
             for at in first..first + count {{ y[at] = 1; }}"
        )
    };
    let start = "i * per + i.min(rest)";
    free(&run(start, "per + if i < rest { 1 } else { 0 }"));
    free(&run(start, "if i < rest { per + 1 } else { per }"));
    free(&run(start, "per + usize::from(i < rest)"));
    free(&run(start, "per + (i < rest) as usize"));
    races(&run(start, "per + if i <= rest { 1 } else { 0 }"));
    races(&run(start, "per + 1"));
    races(&run("i * per", "per + usize::from(i < rest)"));
    races(&run(start, "per + usize::from(i >= rest)"));
    let pair = |first: &str, then: &str, otherwise: &str| {
        format!(
            "let t = w; let (per, rest) = (n / t, n % t); \
             let (first, count) = if {first} {{ {then} }} else {{ {otherwise} }}; for k in 0..count {{ y[first + k] = 1; }}"
        )
    };
    let (long, short) = ("(i * (per + 1), per + 1)", "(i * per + rest, per)");
    free(&pair("i < rest", long, short));
    races(&pair("i <= rest", long, short));
    races(&pair("i < rest", long, "(i * per, per)"));
    races(&pair("i < rest", long, "(i * per + rest, per + 1)"));
}

#[test]
fn a_run_begins_where_that_of_the_thread_before_ends() {
    let run = |first: &str, end: &str| {
        format!("let t = global_dim_x(); for at in {first}..{end} {{ y[at] = 1; }}")
    };
    free(&run("n * i / t", "n * (i + 1) / t"));
    free(&run("i * n / w", "(i + 1) * n / w"));
    free(&run("7 * i / 3", "7 * (i + 1) / 3"));
    free(&run("4 * (n * i / t)", "4 * (n * (i + 1) / t)"));
    free(&run("(n * i / t).min(w)", "(n * (i + 1) / t).min(w)"));
    free(&run("(n * i / t).max(w)", "(n * (i + 1) / t).max(w)"));
    free(&run("i * i", "(i + 1) * (i + 1)"));
    free(&run("i * (i + 1) / 2", "(i + 1) * (i + 2) / 2"));
    free(
        "let t = global_dim_x(); let mut at = n * i / t; while at < n * (i + 1) / t { y[at] = 1; at += 1; }",
    );
    free(
        &run("n * i / t", "n * (i + 1) / t")
            .replace("y[at] = 1;", "for c in 0..w { y[at * w + c] = 1; }"),
    );
    races(&run("n * i / t", "n * (i + 2) / t"));
    races(&run("n * i / t", "n * (i + 1) / t + 1"));
    races(&run("n * i / t", "n * (i + 1) / w"));
    races(&run("n * i / t", "n * (i + 1).max(w) / t"));
    races(&run("(n * i / t).min(w)", "(n * (i + 1) / t).max(w)"));
    races(&run("(n - i) / 2", "(n - i) / 2 + 1"));
    races("let t = global_dim_x(); for at in n * i / t..=n * (i + 1) / t { y[at] = 1; }");
}

#[test]
fn shifts_by_named_constants() {
    free("for k in 0..1 << LOG { y[(i << LOG) + k] = 1; }");
    free("for k in 0..1 << Self::LOG { y[i << Self::LOG | k] = 1; }");
    free("let (r, c) = (i >> LOG, i & ((1 << LOG) - 1)); y[(r << LOG) + c] = 1;");
    free("let (r, c) = (i >> LOG, i & ((1 << LOG) - 1)); if r < h { y[c * h + r] = 1; }");
    free("if i & ((1 << LOG) - 1) == 0 { y[i >> LOG] = 1; }");
    free("if i % (1 << LOG) == 0 { y[i >> LOG] = 1; }");
    races("for k in 0..1 << LOG { y[(i << OTHER) + k] = 1; }");
    races("for k in 0..=1 << LOG { y[(i << LOG) + k] = 1; }");
    races("y[i >> LOG] = 1;");
    races("let (r, c) = (i >> LOG, i & ((1 << OTHER) - 1)); y[(r << LOG) + c] = 1;");
    races("if i & ((1 << LOG) - 1) == 0 { y[i >> LOG >> 1] = 1; }");
}

#[test]
fn an_index_is_one_of_two_values() {
    free("if i < n { y[i.min(n - 1)] = 1; }");
    races("y[i.min(n - 1)] = 1;");
    races("if i <= n { y[i.min(n - 1)] = 1; }");
    free("if i >= w { y[i.max(w)] = 1; }");
    races("if i + 1 >= w { y[i.max(w)] = 1; }");
    free("if i > 0 && i + 1 < n { y[i.clamp(1, n - 2)] = 1; }");
    races("if i + 1 < n { y[i.clamp(1, n - 2)] = 1; }");
    free("if i >= 1 { y[i.saturating_sub(1)] = 1; }");
    races("y[i.saturating_sub(1)] = 1;");
    free("let left = n.saturating_sub(i); if left > 0 { y[left - 1] = 1; }");
    races("let left = n.saturating_sub(i); y[left] = 1;");
    races("if i < n { y[i.abs_diff(w)] = 1; }");
    free("if i >= w { y[i.abs_diff(w)] = 1; }");
}

#[test]
fn quotients_are_put_together_again() {
    free("if i < w * h { y[i % w * h + i / w] = 1; }");
    races("y[i % w * h + i / w] = 1;");
    races("if i < w * h { y[i % w * w + i / w] = 1; }");
    races("if i < w * h + 1 { y[i % w * h + i / w] = 1; }");
    free("if i < w * h * per { y[(i % w * h + i / w % h) * per + i / (w * h)] = 1; }");
    races("if i < w * h * per { y[(i % w * h + i / w % h) * per + i / (w * per)] = 1; }");
    races("if i < w * h * per { y[(i % w * h + i / h % w) * per + i / (w * h)] = 1; }");
    free("y[i / 64 * 64 + i % 8 * 8 + i % 64 / 8] = 1;");
    races("y[i / 64 * 64 + i % 8 * 8 + i % 64 / 4] = 1;");
    races("y[i / 64 * 32 + i % 8 * 8 + i % 64 / 8] = 1;");
    // The rest of the dividend may be negative.
    races("let k = (4 * n - i) / 4; y[k] = 1;");
    free("if i % 4 == 0 { let k = (4 * w + i) / 4; y[k] = 1; }");
    races("let k = (4 * w + i) / 4; y[k] = 1;");
}

#[test]
fn triangles_are_packed() {
    free("for c in 0..=i { y[i * (i + 1) / 2 + c] = 1; }");
    races("for c in 0..=i + 1 { y[i * (i + 1) / 2 + c] = 1; }");
    races("for c in 0..=i { y[i * (i + 1) / 3 + c] = 1; }");
    races("for c in 0..=i { y[i * i / 2 + c] = 1; }");
    free("for c in 0..i { y[i * (i - 1) / 2 + c] = 1; }");
    races("for c in 0..i + 1 { y[i * (i - 1) / 2 + c] = 1; }");
}

#[test]
fn bits_are_moved() {
    free("y[(i & !3) + 3 - (i & 3)] = 1;");
    free("y[(i & !3) | (3 - (i & 3))] = 1;");
    races("y[(i & !3) | (i & 1)] = 1;");
    races("y[i & !3] = 1;");
    races("y[(i & !2) | (i & 1)] = 1;");
    free("if i % 4 == 0 { y[i & !3] = 1; }");
    races("if i % 2 == 0 { y[i & !3] = 1; }");
    free("y[i ^ (i >> 1)] = 1;");
    races("y[i ^ (w >> 1) ^ i] = 1;");
    races("y[(i ^ (i >> 1)) / 2] = 1;");
    races("let k = i / 2; y[k ^ (k >> 1)] = 1;");
    free("let b = i as u32; if b < 32 { y[(b.reverse_bits() >> 27) as usize] = 1; }");
    races("let b = i as u32; if b < 33 { y[(b.reverse_bits() >> 27) as usize] = 1; }");
    races("let b = i as u32; if b < 32 { y[(b.reverse_bits() >> 28) as usize] = 1; }");
    free("for k in 0..4 { y[4 * i | k] = 1; }");
    races("for k in 0..5 { y[4 * i | k] = 1; }");
    races("for k in 0..4 { y[2 * i | k] = 1; }");
    races("y[i & w] = 1;");
    races("y[i | w] = 1;");
}

#[test]
fn a_wrapping_sum_is_exact_if_the_launch_shows_it() {
    free("y[i.wrapping_add(1)] = 1;");
    free("if i > 0 { y[i.wrapping_sub(1)] = 1; }");
    free("y[i.wrapping_mul(w)] = 1;");
    races("y[i.wrapping_mul(2) / 4] = 1;");
    races("y[i.wrapping_add(1) / 2] = 1;");
}

/// A kernel in blocks of 64 threads with a shared array.
fn in_block(before: &str, step: &str) -> String {
    format!(
        "fn k(turns: u32, y: &mut [u32]) {{ let s = shared_array::<u32, 128>(); let t = thread_idx_x(); \
         if t < 64 {{ s[t] = 1; }} {before} for _ in 0..turns {{ barrier(); if t < 64 {{ {step} }} }} \
         y[global_idx_x()] = 1; }}"
    )
}

#[test]
fn offsets_are_subtracted() {
    let turns = |start: usize, to: &str, change: &str| {
        let step = format!("s[{to} + t] = s[from + 63 - t];");
        let body = in_block(&format!("let mut from = {start};"), &step);
        body.replace("barrier();", "barrier(); let to = 64 - from;")
            .replace("} } y[", &format!("}} {change} }} y["))
    };
    for change in ["from = to;", "from = 64 - from;"] {
        if let Err(errors) = lowered(&turns(0, "to", change)) {
            panic!("{change}: {errors:#?}");
        }
    }
    common::races(&turns(0, "from", "from = to;"));
    // The parts overlap.
    common::races(&turns(16, "to", "from = to;"));
    common::races(&turns(0, "to", "from = 32 - from;"));
    common::races(&turns(
        0,
        "to",
        "from = 64 - from; if from > 32 { from = 64 - from; }",
    ));
    common::races(&turns(0, "to", "if t > 3 { from = to; }"));
}

#[test]
fn a_mask_of_low_bits_is_a_remainder() {
    let tree = |start: usize, mask: &str, change: &str| {
        let step = format!("if t & ({mask}) == 0 && t + d < 128 {{ s[t] += s[t + d]; }}");
        in_block(&format!("let mut d = {start};"), &step)
            .replace("} } y[", &format!("}} {change} }} y["))
    };
    for change in ["d *= 2;", "d <<= 1;", "d = 2 * d;"] {
        if let Err(errors) = lowered(&tree(1, "2 * d - 1", change)) {
            panic!("{change}: {errors:#?}");
        }
    }
    common::races(&tree(1, "d - 1", "d *= 2;"));
    common::races(&tree(3, "2 * d - 1", "d *= 2;"));
    common::races(&tree(1, "2 * d - 1", "d *= 3;"));
    common::races(&tree(1, "2 * d - 1", "d += 1;"));
    common::races(&tree(1, "2 * d", "d *= 2;"));
    common::races(&tree(1, "3 * d - 1", "d *= 2;"));
}

/// The exclusive or of an index in a block and a number is below a power of two. That power may have more than 62 bits.
#[test]
fn an_exclusive_or_has_as_many_bits_as_its_operands() {
    let errors = |number: &str, guard: &str| {
        let source = format!(
            "fn k(y: &mut [u32]) {{ let s = shared_array::<u32, 64>(); let t = thread_idx_x() as u64; \
             let k = t ^ {number}; if k {guard} {{ s[(t / 2) as usize] = 1; }} y[global_idx_x()] = 1; }}"
        );
        let block = "block = 64".parse().expect("tokens");
        let lowered = sarek_frontend::expand::lowered(block, source.parse().expect("tokens"));
        lowered.err().unwrap_or_default()
    };
    for [number, end] in [["0x100", "512"], ["1 << 61", "1 << 62"]] {
        // No thread gets there.
        let beyond = errors(number, &format!(">= {end}"));
        assert!(beyond.is_empty(), "{number}: {beyond:#?}");
    }
    for [number, guard] in [
        ["0x100", ">= 256"],
        ["1 << 61", ">= 1 << 61"],
        ["0x4000_0000_0000_0100", ">= 1 << 62"],
        ["0x7000_0000_0000_0000", ">= 1 << 62"],
    ] {
        let errors = errors(number, guard);
        let meets = "two threads of a block may use the same element";
        assert!(
            errors.iter().any(|e| common::begins(e, meets)),
            "{number}: {errors:#?}"
        );
    }
}

/// Launches check that strides are positive, so the user need not state it.
#[test]
fn strides_are_positive() {
    use sarek_ir::{ParamId, Precondition};
    let needs = |body: &str| {
        let source =
            format!("fn k({PARAMS}) {{ let i = global_idx_x(); let n = y.len(); {body} }}");
        let kernel = lowered(&source).unwrap_or_else(|errors| panic!("{body}: {errors:#?}"));
        let positive = kernel.preconditions.iter().filter_map(|need| match need {
            Precondition::Positive(ParamId(param)) => Some(*param),
            _ => None,
        });
        positive.collect::<Vec<u32>>()
    };
    assert_eq!(needs("y[i * w] = 1;"), [0]);
    assert_eq!(needs("if i < h { y[i * w + 1] = 1; }"), [0]);
    assert_eq!(needs("y[i * x.len()] = 1;"), [3]);
    assert_eq!(needs("y[i * w * h] = 1;"), [0, 1]);
    assert_eq!(needs("y[per - i * w] = 1;"), [0]);
    // A guard shows it.
    assert_eq!(needs("if i < w { y[i * w] = 1; }"), [0; 0]);
    races("y[i % w] = 1;");
    races("y[i * w + i % 2] = 1;");
    races("y[i * (w - 1)] = 1;");
}

#[test]
fn a_step_is_a_local_of_the_loop() {
    let stride = |lets: &str, step: &str| {
        format!("let mut at = i; while at < n {{ y[at] = 1; {lets} at += {step}; }}")
    };
    free(&stride("let s = block_dim_x() * grid_dim_x();", "s"));
    let threads = "let t = block_dim_x();";
    free(&stride(threads, "t * grid_dim_x()"));
    free(&stride(
        &format!("{threads} let s = t * grid_dim_x();"),
        "s",
    ));
    races(&stride("let t = block_dim_x() / 2;", "t * grid_dim_x()"));
    races(&stride("let t = at;", "t * grid_dim_x()"));
    races(&stride("let t = x[at] as usize;", "t * grid_dim_x()"));
}
