//! Proofs of races by refutation, for forms that random kernels lack: swapped locals, fields of tuples, exclusive or, and
//! bounds of named constants.

mod common;

use common::{expand, lowered};

#[track_caller]
fn free(source: &str) {
    if let Err(errors) = lowered(source) {
        panic!("{errors:#?}");
    }
}

#[track_caller]
fn races(source: &str) {
    let errors = lowered(source).err().unwrap_or_default();
    let fits = |e: &String| {
        common::begins(e, "two threads may use the same element")
            || common::begins(e, "two threads of a block may use the same element")
    };
    assert!(!errors.is_empty() && errors.iter().all(fits), "{errors:#?}");
}

/// A kernel that goes from one part of an array to another, which begin at 0 and at `second`, and changes them by `change`.
fn buffers(second: usize, store: &str, change: &str) -> String {
    format!(
        "unsafe fn k(turns: u32, y: &mut [u32]) {{ let s = shared_array::<u32, 64>(); let t = thread_idx_x(); \
         let (mut from, mut to) = (0, {second}); if t < 32 {{ s[t] = 1; }} barrier(); \
         for _ in 0..turns {{ if t >= 1 && t < 32 {{ {store} }} barrier(); {change} }} y[global_idx_x()] = 1; }}"
    )
    .replacen("unsafe fn", "fn", 1)
}

#[test]
fn a_cursor_steps_beside_a_counter() {
    let of = |first: &str, body: &str| {
        format!(
            "fn k(w: usize, h: usize, x: &[u32], y: &mut [u32]) {{ let i = global_idx_x(); let mut at = {first}; {body} }}"
        )
    };
    free(&of("4 * i", "for k in 0..4 { y[at] = k; at += 1; }"));
    races(&of("4 * i", "for k in 0..5 { y[at] = k; at += 1; }"));
    races(&of("4 * i", "for k in 0..4 { y[at] = k; at += 2; }"));
    free(&of("i * w", "for k in 0..w { y[at] = 1; at += 1; }"));
    races(&of("i * w", "for k in 0..h { y[at] = 1; at += 1; }"));
    free(&of(
        "4 * i",
        "for k in (0..8).step_by(2) { y[at] = k; at += 1; }",
    ));
    races(&of(
        "4 * i",
        "for k in (0..9).step_by(2) { y[at] = k; at += 1; }",
    ));
    // The step is the counter itself, or as many turns of another loop.
    races(&of(
        "0",
        "for r in 1..4usize { if r == 2 { y[at * i] = 1; y[2 * i + 1] = 2; } at += r; }",
    ));
    races(&of(
        "0",
        "for r in 0..4usize { if r == 2 { y[at * i] = 1; y[4 * i + 1] = 2; y[4 * i + 2] = 2; } for c in 0..r { at += 1; } }",
    ));
    // Some turns end early, or step twice.
    let skips = "for k in 0..5 { if x[at] > 0 { continue; } y[at] = k; at += 1; }";
    races(&of("4 * i", skips));
    races(&of(
        "4 * i",
        "for k in 0..4 { if x[at] > 0 { at += 1; } y[at] = k; at += 1; }",
    ));
    // Loops in loops.
    let rows = |inner: &str| {
        format!("for r in 0..h {{ for c in 0..w {{ y[at] = 1; at += 1; }} {inner} }}")
    };
    free(&of("i * w * h", &rows("")));
    races(&of("i * w * h", &rows("at += 1;")));
    let leaves =
        "for r in 0..4 { for c in 0..4 { if x[at] > 0 { break; } at += 1; } y[at] = 1; at += 1; }";
    races(&of("20 * i", &leaves.replace("at += 1; }", "at += 4; }")));
    // Loops in turn.
    free(&of(
        "8 * i",
        "for k in 0..4 { at += 1; } for k in 0..4 { y[at] = k; at += 1; }",
    ));
    races(&of(
        "4 * i",
        "for k in 0..1 { y[at] = k; at += 1; } for k in 0..4 { y[at] = k; at += 1; }",
    ));
    races(&of(
        "4 * i",
        "for k in 0..4 { if x[at] > 0 { break; } at += 1; } y[at] = 1;",
    ));
}

/// A scan over 64 elements by 32 threads, up and down a tree.
const SCAN: &str = "fn k(y: &mut [u32]) { let s = shared_array::<u32, 64>(); let t = thread_idx_x(); if t < 32 { s[t] = 1; s[t + 32] = 1; } \
    let (mut gap, mut busy) = (1, 32); \
    while busy > 0 { barrier(); if t < busy { let at = gap * (2 * t + 1) - 1; s[at + gap] += s[at]; } gap *= 2; busy /= 2; } \
    if t == 0 { s[63] = 0; } busy = 1; \
    while busy < 64 { gap /= 2; barrier(); \
        if t < busy { let at = gap * (2 * t + 1) - 1; let v = s[at]; s[at] = s[at + gap]; s[at + gap] += v; } busy *= 2; } \
    barrier(); if t < 32 { y[global_idx_x()] = s[t] + s[t + 32]; } }";

#[test]
fn turns_with_known_numbers_are_told_apart() {
    free(SCAN);
    // Another thread clears the last element, or several do.
    races(&SCAN.replace("t == 0", "t == 1"));
    races(&SCAN.replace("t == 0", "t < 2"));
    // The distance begins too small, or shrinks too soon, so that it becomes 0.
    let left = SCAN.replace("gap * (2 * t + 1) - 1", "2 * gap * t");
    free(&left.replace("s[63] = 0;", ""));
    races(&left.replace("busy = 1;", "busy = 1; gap = 32;"));
    races(&left.replace("gap /= 2; barrier();", "gap /= 4; barrier();"));
    races(&left.replace("2 * gap * t", "gap * t"));
    // The last turn has no barrier of its own.
    races(&SCAN.replace(
        "while busy > 0 { barrier();",
        "while busy > 0 { if busy > 1 { barrier(); }",
    ));
}

#[test]
fn what_is_not_zero_has_a_sign() {
    let of = |odd: &str| {
        format!(
            "fn k(n: usize, y: &mut [u32]) {{ let i = global_idx_x(); if i < n {{ if i % 2 == 0 {{ y[i / 2] = 1; }} else {{ {odd} }} }} }}"
        )
    };
    free(&of("y[n + i / 2] = 2;"));
    races(&of("y[n / 4 + i / 2] = 2;"));
    races(&of("y[i / 2] = 2;"));
}

#[test]
fn half_of_a_power_of_two_is_one() {
    let of = |at: &str, next: &str| {
        format!(
            "fn k(y: &mut [u32]) {{ let s = shared_array::<u32, 64>(); let t = thread_idx_x(); if t < 32 {{ s[2 * t] = 1; s[2 * t + 1] = 2; }} barrier(); \
             let mut size = 2; while size <= 64 {{ let mut far = size / 2; while far > 0 {{ if t < 32 {{ let at = {at}; s.swap(at, at + far); }} \
             barrier(); far /= 2; }} size {next}; }} if t < 32 {{ y[global_idx_x()] = s[t]; }} }}"
        )
    };
    free(&of("2 * t - (t & (far - 1))", "*= 2"));
    races(&of("t + (t & (far - 1))", "*= 2"));
    races(&of("2 * t - (t & far)", "*= 2"));
    // The size is no power of two.
    races(&of("2 * t - (t & (far - 1))", "+= 2"));
}

#[test]
fn a_shift_by_an_argument_is_a_product() {
    let of = |body: &str| {
        format!("fn k(by: u32, other: u32, y: &mut [u32]) {{ let i = global_idx_x(); {body} }}")
    };
    free(&of("for k in 0..1usize << by { y[(i << by) + k] = 1; }"));
    races(&of("for k in 0..2usize << by { y[(i << by) + k] = 1; }"));
    races(&of("for k in 0..1usize << other { y[(i << by) + k] = 1; }"));
    races(&of("y[(i << by) + (i << other)] = 1; y[1usize << by] = 2;"));
}

#[test]
fn buffers_change_places() {
    let store = "s[to + t] = s[from + t - 1];";
    free(&buffers(32, store, "(from, to) = (to, from);"));
    free(&buffers(32, store, "let old = from; from = to; to = old;"));
    // The parts overlap.
    races(&buffers(16, store, "(from, to) = (to, from);"));
    // Threads disagree.
    races(&buffers(
        32,
        store,
        "if t % 2 == 0 { (from, to) = (to, from); }",
    ));
    // Both become the same part.
    races(&buffers(32, store, "from = to;"));
    races(&buffers(32, store, "let old = to; from = to; to = old;"));
    races(&buffers(32, store, "(from, to) = (to, from + 1);"));
    // Three offsets take turns, and two of the parts overlap.
    let three = buffers(32, store, "(from, to, third) = (to, third, from);");
    races(&three.replace("let (mut from", "let mut third = 40; let (mut from"));
    // The part that is read is written, too.
    let same = "s[from + t] = s[from + t - 1];";
    races(&buffers(32, same, "(from, to) = (to, from);"));
}

#[test]
fn fields_have_the_values_of_their_tuple() {
    free(
        "fn k(y: &mut [u32]) { let mut i = global_idx_x(); let at = (2 * i, 7); i += 1; y[at.0] = i as u32; }",
    );
    // The tuple is made after the change, by which all threads agree.
    races(
        "fn k(y: &mut [u32]) { let mut i = global_idx_x(); i /= 2; let at = (i, 7); i += 1; y[at.0] = i as u32; }",
    );
    races("fn k(y: &mut [u32]) { let i = global_idx_x(); let at = (i, 7); y[at.1] = i as u32; }");
}

#[test]
fn exclusive_or_is_injective_in_each_operand() {
    let place = |row: &str, column: &str| {
        format!(
            "unsafe fn k(m: usize, y: &mut [u32]) {{ let s = shared_array::<[u32; 8], 8>(); \
             let (c, r) = (thread_idx_x(), thread_idx_y()); if c < 8 && r < 8 {{ s[{row}][{column}] = 1; }} }}"
        )
        .replacen("unsafe fn", "fn", 1)
    };
    let tile = |column: &str| place("r", column);
    free(&tile("c ^ r"));
    free(&tile("c ^ m"));
    races(&tile("(c ^ m) / 2"));
    races(&tile("(c / 2) ^ r"));
    races(&place("0", "c ^ r"));
}

/// The bounds that the expansion of a kernel asserts.
fn bounds(source: &str) -> Vec<String> {
    let text = expand(source).tokens.to_string();
    let mut found: Vec<String> = text
        .split("unless `")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('`')?.0.to_owned()))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn constants_get_the_weakest_bounds_that_suffice() {
    let strip = "fn k(y: &mut [u32]) { for k in 0..4 { y[global_idx_x() * PER + k] = 1; } }";
    assert_eq!(bounds(strip), ["PER >= 4"]);
    let bounded = "fn k(y: &mut [u32]) { for k in 0..COUNT { y[4 * global_idx_x() + k] = 1; } }";
    assert_eq!(bounds(bounded), ["COUNT <= 4"]);
    // The count is a digit of any size.
    let of_itself = "fn k(y: &mut [u32]) { for k in 0..PER { y[global_idx_x() * PER + k] = 1; } }";
    assert!(bounds(of_itself).is_empty());
    let divided = "fn k(y: &mut [u32]) { y[global_idx_x() / PER] = 1; }";
    races(divided);
    let pair =
        "fn k(y: &mut [u32]) { let i = global_idx_x(); y[i * PER + 1] = 1; y[i * PER] = 1; }";
    assert_eq!(bounds(pair), ["PER >= 2"]);
    // A constant for the sum of others.
    let pairs = "fn k(y: &mut [u32]) { let i = global_idx_x() * TWICE; for k in 0..TILE { y[i + k] = 1; y[i + TILE + k] = 1; } }";
    assert_eq!(bounds(pairs), ["TWICE >= 2 * TILE"]);
    let overlap = pairs.replace("i + TILE + k", "i + TILE + 2 * k");
    assert_eq!(bounds(&overlap), ["TWICE >= 3 * TILE"]);
}

#[test]
fn signed_numbers_have_digits_if_they_are_not_negative() {
    let of = |body: &str| {
        format!(
            "fn k(w: i32, h: i32, by: i32, y: &mut [u32]) {{ let i = global_idx_x() as i32; {body} }}"
        )
    };
    free(&of(
        "let (r, c) = (i / w, i % w); y[(r * w + c) as usize] = 1;",
    ));
    races(&of(
        "let (r, c) = (i / w, i % h); y[(r * w + c) as usize] = 1;",
    ));
    free(&of("if i < h { y[(i - by).rem_euclid(h) as usize] = 1; }"));
    races(&of("if i < h { y[(i - by).rem_euclid(w) as usize] = 1; }"));
    races(&of("if i <= h { y[(i - by).rem_euclid(h) as usize] = 1; }"));
    // A quotient of a negative number is rounded up.
    races(&of(
        "if i < h { y[((i - by) / 2 * 2 + (i - by) % 2 / 2) as usize] = 1; }",
    ));
    races(&of(
        "if i < 8 { y[((i - 4) / 2 + 4 + i % 2 * 8) as usize] = 1; }",
    ));
    races(&of(
        "if i < 8 && by > 1 { y[((i - 4) / by + 4) as usize] = 1; }",
    ));
}

/// A counterexample takes a branch that depends on the value in an `Option`.
#[test]
fn counterexamples_know_the_values_in_options() {
    for (held, meets) in [("Some(1u32)", true), ("Some(2u32)", false)] {
        let source = format!(
            "fn k(y: &mut [u32]) {{ let s = S {{ o: {held} }}; if s.o.unwrap_or(0) == 1 {{ y[0] = 1; }} }}"
        );
        let errors = lowered(&source).err().unwrap_or_default().concat();
        assert_eq!(errors.contains("may meet at `y[0]`"), meets, "{errors}");
    }
}
