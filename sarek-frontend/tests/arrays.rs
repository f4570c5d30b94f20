//! Lowering of local and shared arrays, atomics and barriers, and the code that is rejected.

mod common;

use common::{body, lowered};

/// Lowers the body and compares the lines of its IR, without indentation.
#[track_caller]
fn lowers(arguments: &str, source: &str, expected: &str) {
    let text = body(arguments, source);
    let trimmed = |text: &str| {
        text.lines()
            .map(|l| l.trim().to_string())
            .collect::<Vec<_>>()
    };
    let lines = trimmed(&text);
    let lines: Vec<_> = lines
        .into_iter()
        .filter(|l| !l.starts_with("kernel k(") && l != "}")
        .collect();
    let expected = trimmed(expected.trim());
    let expected: Vec<_> = expected.into_iter().filter(|l| l != "}").collect();
    assert_eq!(lines, expected, "\n{text}");
}

/// Compares the errors by their beginnings.
#[track_caller]
fn rejects(source: &str, expected: &[&str]) {
    let errors = lowered(source).err().unwrap_or_default();
    let fits = errors.len() == expected.len()
        && errors
            .iter()
            .zip(expected)
            .all(|(error, start)| common::begins(error, start));
    assert!(fits, "expected {expected:#?}\nfound {errors:#?}");
}

#[test]
fn a_literal_is_stored_element_by_element() {
    lowers(
        "y: &mut [f32]",
        "let mut a = [y[0], 2.0]; a = [a[1], a[0]]; let b = a; y[b.len()] = b[1];",
        "let mut a: [f32; 2];
         a[0usize] = y[0usize]!0;
         a[1usize] = 2.0f32;
         let t: f32 = a[1usize]!1;
         let t.1: f32 = a[0usize]!2;
         a[0usize] = t;
         a[1usize] = t.1;
         let mut b: [f32; 2];
         b[0usize] = a[0usize];
         b[1usize] = a[1usize];
         y[b.len()]!4 = b[1usize]!3;",
    );
}

/// Only its own elements determine the type of the array.
#[test]
fn an_array_may_be_made_of_its_own_elements() {
    for source in [
        "match x[i] { E::A(of) => x[i] = E::A([of[2], of[0], of[1]]), E::B => {} }",
        "match x[i] { E::A(of) => x[i] = E::A([[of[1][0], of[0][1]], of[0]]), E::B => {} }",
        "let p: P = x[i]; x[i] = P { of: [p.of[1], p.of[0]] };",
        "let p: P = x[i]; x[i].of = [p.of[1], p.of[1] + 1];",
    ] {
        let source = format!("fn k(x: &mut [T]) {{ let i = global_idx_x(); {source} }}");
        assert_eq!(lowered(&source).err(), None, "{source}");
    }
    rejects(
        "fn k(x: &mut [T]) { let i = global_idx_x(); let p: P = x[i]; x[i].of = [p.of, p.of]; }",
        &["mismatched types"],
    );
}

#[test]
fn a_long_repeat_is_a_loop_and_its_value_is_evaluated_once() {
    lowers(
        "y: &mut [i32]",
        "const K: usize = 9; let a = [y[0]; K]; y[0] = a[2];",
        "let mut a: [i32; 9];
         let t: i32 = y[0usize]!0;
         for k: usize in 0usize..9usize {
         a[k] = t;
         }
         y[0usize]!2 = a[2usize]!1;",
    );
}

#[test]
fn arrays_of_arrays_are_flat_and_check_each_dimension() {
    lowers(
        "y: &mut [i32], i: usize",
        "let mut m = [[0; 2]; 2]; m[i][1] += 7; m[1] = m[0]; y[0] = m[y[0] as usize][i];",
        "let mut m: [i32; 4];
         m[0usize] = 0i32;
         m[1usize] = 0i32;
         m[2usize] = 0i32;
         m[3usize] = 0i32;
         let t: usize = bounded!0(i, 2usize) * 2usize + bounded!1(1usize, 2usize);
         m[t] = m[t] + 7i32;
         let t.1: usize = bounded!2(0usize, 2usize) * 2usize;
         let t.2: usize = bounded!3(1usize, 2usize) * 2usize;
         m[t.2] = m[t.1];
         m[t.2 + 1usize] = m[t.1 + 1usize];
         y[0usize]!7 = m[bounded!5?(y[0usize]!4 as usize, 2usize) * 2usize + bounded!6(i, 2usize)];",
    );
}

#[test]
fn lengths_that_rustc_evaluates_are_links() {
    lowers(
        "y: &mut [i32]",
        "let mut a: [[i32; N]; 2] = [[0; N]; 2]; let t = shared_array::<f32, { N + 1 }>(); y[0] = a[1][0] + t.len() as i32;",
        "link N: usize
         link (2)*(N): usize
         link {N+1}: usize
         shared t.4: [f32; {N+1}]
         let mut a: [i32; (2)*(N)];
         let t: usize = 0usize * N;
         for k: usize in 0usize..N {
         let t.1: usize = t + k;
         a[t.1] = 0i32;
         }
         let t.2: usize = 1usize * N;
         for k.1: usize in 0usize..N {
         let t.3: usize = t.2 + k.1;
         a[t.3] = 0i32;
         }
         y[0usize]!2 = a[bounded!0(1usize, 2usize) * N + bounded!1(0usize, N)] + t.4.len() as i32;",
    );
}

#[test]
fn shared_lengths_look_through_locals() {
    lowers(
        "n: usize, x: &[f32]",
        "let w = n * 2; let s = shared_slice::<f32>(w + block_dim_x().max(x.len())); s[0] = 1.0;",
        "shared s: [f32; n * 2usize + block_dim_x().max(x.len())]
         let w: usize = n * 2usize;
         s[0usize]!0 = 1.0f32;",
    );
    let not_known = "the length of a shared slice depends on more than the launch";
    for len in ["thread_idx_x()", "x[0] as usize", "m", "{ m += 1; m }"] {
        let source =
            format!("fn k(x: &[f32]) {{ let mut m = 1; let s = shared_slice::<f32>({len}); }}");
        rejects(&source, &[not_known]);
    }
}

#[test]
fn atomics_are_statements_with_a_result() {
    lowers(
        "c: &[Atomic<i32>], y: &mut [i32]",
        "let mut i = 1usize; c[i].fetch_add(1); c[i].store(y[0]); let o = c[i].compare_and_swap({ i = 2; 5 }, y[i]) + c[i].load();",
        "let mut i: usize = 1usize;
         c[i]!2.fetch_add(1i32);
         c[i]!3.store(y[0usize]!0);
         let t: usize = i;
         i = 2usize;
         let mut value: i32;
         value = c[t]!4.compare_exchange(5i32, y[i]!1);
         let t.1: i32 = value;
         let mut value.1: i32;
         value.1 = c[i]!5.load();
         let o: i32 = t.1 + value.1;",
    );
    let plain = "the elements of `c` are atomic";
    rejects(
        "fn k(c: &[Atomic<u32>]) { let a = c[0]; c[1] = 2; c[2] += 1; }",
        &[plain, plain, plain],
    );
    rejects(
        "fn k(c: &[Atomic<u32>]) { c[2].fetch_add(); c[3].compare_exchange(1, 2); c[4].frob(1); }",
        &[
            "`fetch_add` takes 1 argument",
            "`Atomic<u32>` has no method `compare_exchange`",
            "`Atomic<u32>` has no method `frob`",
        ],
    );
    rejects(
        "fn k(c: &[Atomic<f32>]) { c[0].fetch_and(1.0); }",
        &["`Atomic<f32>` has no `fetch_and`"],
    );
    rejects(
        "fn k(c: &[Atomic<u32>]) { c[0].fetch_add(1.0); }",
        &["mismatched types: expected `u32`"],
    );
    rejects(
        "fn k(x: &mut [u32]) { x[0].fetch_add(1); }",
        &["`fetch_add` is a method of atomics"],
    );
    rejects(
        "fn k(c: &mut [Atomic<u32>]) {}",
        &["atomics are changed through `&[Atomic<T>]`"],
    );
    rejects(
        "fn k(c: &[Atomic<bool>]) {}",
        &["`Atomic<bool>` does not exist"],
    );
    rejects(
        "fn k(c: &[Atomic<u8>]) {}",
        &["`Atomic<u8>` does not exist"],
    );
    rejects(
        "fn k() { let t = shared_array::<Atomic<i16>, 4>(); }",
        &["`Atomic<i16>` does not exist"],
    );
}

#[test]
fn threads_work_together() {
    lowers(
        "y: &mut [f32]",
        "superstep! { let k = y[0]; y[1] = k; } let s = subgroup_sum(y[0]); let b = subgroup_ballot(s > subgroup_shuffle(s, 3)); block_fence(); device_fence();",
        "let k: f32 = y[0usize]!0;
         y[1usize]!2 = k;
         barrier();
         let mut s: f32;
         s = subgroup_sum(y[0usize]!1);
         let t: f32 = s;
         let mut value: f32;
         value = subgroup_shuffle(s, 3usize);
         let mut b: u64;
         b = subgroup_ballot(t > value);
         block_fence();
         device_fence();",
    );
    rejects(
        "fn k() { barrier(1); }",
        &["`barrier()` takes no arguments"],
    );
    rejects(
        "fn k() { let a = subgroup_sum(true); }",
        &["this operation is not defined for `bool`"],
    );
    rejects(
        "fn k(x: &[u8]) { let a = subgroup_sum(x[0]); }",
        &["this operation is not defined for `u8`"],
    );
}

#[test]
fn barriers_stand_where_all_threads_come() {
    let missed = "some threads of the block may miss this barrier";
    rejects(
        "fn k() { if thread_idx_x() == 0 { barrier(); } }",
        &[missed],
    );
    rejects(
        "fn k() { for i in 0..thread_idx_x() { superstep! {} } }",
        &[missed],
    );
    rejects(
        "fn k() { loop { if thread_idx_x() == 0 { break; } barrier(); } }",
        &[missed],
    );
    rejects(
        "fn k(n: usize) { if global_idx_x() >= n { return; } barrier(); }",
        &[],
    );
    rejects("fn k(n: usize) { if n > 3 { barrier(); } }", &[]);
}

#[test]
fn shared_arrays_are_made_once_and_bound() {
    let once = "a shared array is created inside an `if` or a loop";
    rejects(
        "fn k(n: usize) { if n > 1 { let a = shared_array::<f32, 4>(); } }",
        &[once],
    );
    rejects(
        "fn k(n: usize) { for i in 0..n { let a = shared_slice::<f32>(n); } }",
        &[once],
    );
    rejects(
        "fn k() { let x = 1.0 + shared_array::<f32, 4>(); }",
        &["the result of `shared_array` is not bound"],
    );
    rejects(
        "fn k() { let t = shared_array::<bool, 4>(); }",
        &["a shared array of `bool` is not supported"],
    );
    rejects(
        "fn k() { let t = shared_array::<f32>(); }",
        &["the element type of the array is not written"],
    );
    rejects(
        "fn k(n: usize) { let t = shared_array::<f32, 4>(n); }",
        &["`shared_array` takes no arguments"],
    );
    rejects(
        "fn k() { let t: f32 = shared_array::<f32, 4>(); }",
        &["this pattern for a shared array"],
    );
    rejects(
        "fn k() { let t = shared_array::<f32, 4>(); let u = t; }",
        &["the shared array `t` is not a value"],
    );
}

#[test]
fn arrays_are_indexed_by_as_many_indices_as_they_have_dimensions() {
    rejects(
        "fn k() { let t = shared_array::<[f32; 4], 4>(); t[0] = 1.0; let a = t[4][0]; }",
        &[
            "mismatched types: expected a tuple or array",
            "index 4 is out of bounds: `t` has 4 elements",
        ],
    );
    rejects(
        "fn k(x: &[f32]) { let a = x[0][1]; }",
        &["`x` has 1 dimension"],
    );
    rejects(
        "fn k(n: usize) { let mut t = [1, 2]; t = [1, 2, 3]; let u = [[1, 2], [3]]; let e = [0.0; 0]; let v = [1; n]; }",
        &[
            "mismatched types: expected an array of [2]",
            "mismatched types: expected an array of [2]",
            "kernels do not support empty arrays",
            "the length of an array must be a constant",
        ],
    );
    rejects(
        "fn k() { let a = [1, 2]; let b = a + 1; }",
        &["operators work on numbers and `bool`"],
    );
    rejects(
        "fn k() { let a = [[0u32; 30]; 10]; let b = (a, 1); let c = (a[0], a[1]); }",
        &["the array `a` cannot be used as a value: its length is unknown or above 256"],
    );
    rejects(
        "fn k(x: &[f32]) { let a: [f32; 4] = x[0]; }",
        &["mismatched types: expected a tuple or array"],
    );
}
