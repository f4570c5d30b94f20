//! Proofs of races for powers of two that are arguments, single bits, conditions in locals, and constants that are compared
//! with products. Each kernel stands beside one that differs a little, and in which threads meet.

mod common;

use common::lowered;

const PARAMS: &str = "k: u32, m: u32, w: usize, h: usize, x: &[u32], y: &mut [u32]";

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

#[test]
fn a_pair_differs_in_one_bit() {
    let pair = |low: &str, high: &str| {
        format!("let p = 1usize << k; let low = {low}; let high = {high}; y[low] = 1; y[high] = 2;")
    };
    let spread = "((i >> k) << (k + 1)) + (i & (p - 1))";
    free(&pair(spread, "low + p"));
    free(&pair("(i >> k << (k + 1)) | (i & (p - 1))", "low | p"));
    races(&pair("((i >> k) << k) + (i & (p - 1))", "low + p"));
    races(&pair("((i >> k) << (k + 1)) + (i & p)", "low + p"));
    races(&pair("(i >> k << (k + 1)) | (i & (2 * p - 1))", "low | p"));
    races(&pair(spread, "low + 2 * p"));
}

#[test]
fn a_guard_tests_one_bit() {
    let store = |guard: &str, high: &str| {
        format!(
            "let (p, q) = (1usize << k, 1usize << m); if {guard} {{ y[i] = 1; y[{high}] = 2; }}"
        )
    };
    for high in ["i + p", "i ^ p", "i | p"] {
        free(&store("i & p == 0", high));
        races(&store("i & p != 0 || i > 5", high));
        races(&store("i & q == 0", high));
    }
    free(&store("i & p == 0 && i & q != 0", "i + p"));
    free("if i & 8 == 0 { y[i] = 1; y[i | 8] = 2; }");
    free("if i & 8 == 0 { y[i] = 1; y[i ^ 8] = 2; }");
    races("if i & 4 == 0 { y[i] = 1; y[i | 8] = 2; }");
    races("if i & 12 != 12 { y[i] = 1; y[i ^ 8] = 2; }");
}

#[test]
fn a_loop_may_reach_a_mask_of_0() {
    // With `m == 0`, all threads pass the guard, and store to the same elements.
    races("let mut p = 4usize; for _ in 0..4u32 { if i & p == 0 { y[i & p] = 1; } p >>= 1; }");
}

#[test]
fn a_condition_is_a_number() {
    free(
        "let c = global_idx_y(); let pitch = w.div_ceil(32) * 32; if i < w { y[c * pitch + i] = 1; }",
    );
    races("let c = global_idx_y(); let pitch = w / 32 * 32; if i < w { y[c * pitch + i] = 1; }");
    races(
        "let c = global_idx_y(); let pitch = (w / 32 + (w % 32 > 1) as usize) * 32; \
         if i < w { y[c * pitch + i] = 1; }",
    );
}

#[test]
fn a_local_holds_a_condition() {
    let walk = |inside: &str| {
        format!(
            "let (mut c, r) = (i, global_idx_y()); \
             while c < h {{ let inside = {inside}; if inside {{ y[r * w + c] = 1; }} c += global_dim_x(); }}"
        )
    };
    free(&walk("c < w"));
    races(&walk("c <= w"));
}

#[track_caller]
fn in_block(body: &str, is_free: bool) {
    let source = format!(
        "fn k(n: i32, x: &mut [u32]) {{ let a = shared_array::<u32, 64>(); let t = thread_idx_x(); \
         if t < 64 {{ a[t] = 1; }} barrier(); {body} }}"
    );
    match is_free {
        true => assert!(lowered(&source).is_ok(), "{body}: {:#?}", lowered(&source)),
        false => common::races(&source),
    }
}

#[test]
fn a_guard_tests_all_bits_of_a_mask() {
    let store =
        |guard: &str, high: &str| format!("if i < n && {guard} {{ y[i] = 1; y[{high}] = 2; }}");
    for high in ["i ^ w", "i | w", "i + w"] {
        free(&store("i & w == 0", high));
        free(&store("w & i == 0 && i & h != 0", high));
    }
    races(&store("i & h == 0", "i ^ w"));
    races(&store("i & w != w", "i + w"));
    races(&store("i & w != 0", "i + w"));
    races(&store("i & w == 0", "i + 2 * w"));
}

#[test]
fn phases_take_turns() {
    let turn = |phase: &str, after: &str| {
        format!(
            "let mut flip = false; for j in 0..n {{ if {phase} {{ a[t] = 1; }} else {{ x[global_idx_x()] = a[63 - t]; }} \
             barrier(); {after} }}"
        )
    };
    in_block(&turn("flip", "flip = !flip;"), true);
    in_block(&turn("j % 2 == 0", ""), true);
    in_block(&turn("j % 3 == 1", "flip = !flip;"), true);
    // The threads have different values, or change them before the barrier.
    in_block(&turn("(j + t as i32) % 2 == 0", ""), false);
    in_block(
        "for j in 0..n { if j % 2 == 0 { a[t] = 1; } x[global_idx_x()] = a[63 - t]; barrier(); }",
        false,
    );
}

#[test]
fn rows_are_transposed_by_a_grid_stride() {
    let turn = |from: &str| {
        format!(
            "let mut r = i; while r < h {{ for c in {from}..h {{ y.swap(r * h + c, c * h + r); }} r += global_dim_x(); }}"
        )
    };
    free(&turn("r + 1"));
    races(&turn("0"));
}

#[test]
fn digits_of_a_thread_are_mixed() {
    let swizzle = |index: &str| {
        format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let s = shared_array::<u32, 256>(); let t = thread_idx_x(); \
             let (r, c) = (t / 8, t % 8); if t < 64 {{ s[{index}] = x[t]; }} }}"
        )
    };
    let kernel = |index: &str| {
        let options = "block = 64".parse().expect("tokens");
        let item = swizzle(index).parse().expect("tokens");
        sarek_frontend::expand::lowered(options, item)
    };
    assert!(kernel("r * 8 + (c ^ r)").is_ok());
    assert!(kernel("r * 4 + (c ^ r)").is_err());
    assert!(kernel("r * 8 + (c & r)").is_err());
}

#[test]
fn constants_are_compared_with_products() {
    let kernel = |body: &str| {
        let options = "block = 16".parse().expect("tokens");
        let source = format!("fn k(y: &mut [u32]) {{ let t = thread_idx_x(); {body} }}");
        sarek_frontend::expand::lowered(options, source.parse().expect("tokens"))
    };
    let free = ["for k in 0..ITEMS { y[block_idx_x() * TILE + t * ITEMS + k] = 1; }"];
    for body in free {
        assert!(kernel(body).is_ok(), "{body}: {:#?}", kernel(body));
    }
    for body in [
        "for k in 0..=ITEMS { y[block_idx_x() * TILE + t * ITEMS + k] = 1; }",
        "for k in 0..4 { y[block_idx_x() * 32 + t * 4 + k] = 1; }",
    ] {
        assert!(kernel(body).is_err(), "{body}");
    }
}
