//! Regression tests: input that once made the frontend panic, or expand to invalid Rust.
//! `fuzz/corpus/frontend` has more.

mod common;

use common::expand;

#[track_caller]
fn rejects(source: &str, error: &str) {
    let errors = expand(source).errors;
    assert!(errors.iter().any(|e| e.contains(error)), "{errors:#?}");
}

#[track_caller]
fn expands_to_items(source: &str) {
    let expansion = expand(source);
    assert!(expansion.errors.is_empty(), "{:#?}", expansion.errors);
    syn::parse2::<syn::File>(expansion.tokens).expect("items");
}

#[test]
fn subgroups_work_on_types_that_are_known_here() {
    rejects(
        "fn k(p: &[P]) { let v = p[0].x; let s = subgroup_sum(v); }",
        "the type of this subgroup operand must be known here",
    );
    expands_to_items("fn k(p: &[P]) { let v: f32 = p[0].x; let s = subgroup_sum(v); }");
}

#[test]
fn keywords_are_no_constants() {
    rejects(
        "fn k(y: &mut [u32]) { y[0] = crate; }",
        "`crate` is not a value here",
    );
}

#[test]
fn a_parameters_type_is_what_is_written() {
    expands_to_items(
        "unsafe fn k(p: &[P], y: &mut [u32]) { let (a,) = p[0]; y[0] = Q; let b = a + Q; }",
    );
}

#[test]
fn an_operand_that_is_never_reached_has_any_type() {
    for operand in [
        "return",
        "panic!()",
        "loop {}",
        "if true { return } else { return }",
    ] {
        for operator in ["+", "-", "*", "<<", ">>"] {
            expand(&format!("fn k() {{ 5 {operator} {operand}; }}"));
            expand(&format!("fn k() {{ 5u32 {operator} {{ {operand} }}; }}"));
        }
    }
}

#[test]
fn methods_of_f16_have_any_names() {
    for name in ["r#match", "_const"] {
        rejects(
            &format!("fn k(x: f16) {{ let y = x.{name}(); }}"),
            "`f16` has no method",
        );
    }
}

#[test]
fn formats_capture_plain_names() {
    for name in ["r#x", "/**/x", "x/**/"] {
        rejects(
            &format!("fn k(x: u32) {{ println!(\"{{{name}}}\"); }}"),
            "is not an argument of the format",
        );
    }
}

#[test]
fn what_is_declared_and_never_used_is_linked_too() {
    expands_to_items(
        "fn k(x: &[(u32, f32)]) { let s = shared_array::<(), 64>(); let t: (f32, u32); }",
    );
}

/// Runs on a stack of the same size as rustc's.
#[test]
fn nesting_has_a_limit() {
    let all = std::thread::Builder::new().stack_size(6 << 20).spawn(|| {
        let repeated = |before: &str, n: usize, middle: &str, after: &str| {
            let (before, after) = (before.repeat(n), after.repeat(n));
            format!("unsafe fn k(x: &[u32], y: &mut [i32]) {{ y[0] = {before}{middle}{after}; }}")
        };
        for (before, middle, after, fits) in [
            ("(", "1", ")", 90),
            ("{", "1", "}", 90),
            ("-", "1", "", 90),
            ("{ let a = ", "1", "; a }", 90),
            ("", "1", " + 1", 230),
            ("", "1i32", ".abs()", 230),
            ("if x[0] == 1 { 2 } else ", "{ 3 }", "", 90),
        ] {
            expands_to_items(&repeated(before, fits, middle, after));
            rejects(&repeated(before, 10_000, middle, after), "too deep");
        }
        let matched = |n: usize| {
            let arms: String = (0..n).map(|i| format!("{i} => 1, ")).collect();
            repeated("", 0, &format!("match x[0] {{ {arms} _ => 2 }}"), "")
        };
        expands_to_items(&matched(140));
        rejects(&matched(10_000), "too deep");
        let loops = |n: usize| {
            let (open, close) = ("while y[0] < 3 { ".repeat(n), "}".repeat(n));
            format!("unsafe fn k(y: &mut [i32]) {{ {open} y[0] += 1; {close} }}")
        };
        expands_to_items(&loops(8));
        rejects(&loops(40), "loops in a kernel may nest");
        // A sequence of statements does not nest.
        let many = "if x[0] == 1 { return; } else { y[0] = 1; } y[1] = 2; ".repeat(300);
        expands_to_items(&format!(
            "unsafe fn k(x: &[u32], y: &mut [i32]) {{ {many} }}"
        ));
    });
    all.expect("a thread")
        .join()
        .expect("all of it is answered");
}

#[test]
fn a_literals_field_has_not_the_literals_own_type() {
    let of_itself = "let p = Pair { low: 1, high: 2 }; p[0] = p.high; let q = p;";
    let of_each_other = "let p = A { x: 1 }; let q = B { y: 1 }; p[0] = q.y; q[0] = p.x;";
    for body in [of_itself, of_each_other] {
        // rustc reports that a `Pair` cannot be indexed.
        expands_to_items(&format!("fn k() {{ {body} }}"));
    }
}

/// Each call determines the type of its receiver, which is the result of the previous call.
#[test]
fn chains_of_calls_do_not_double() {
    let chain = |calls: usize| {
        let calls = ".twice()".repeat(calls);
        let source = format!(
            "fn k(d: &[Disc], y: &mut [f32]) {{ let i = global_idx_x(); let disc: Disc = d[i]; y[i] = disc{calls}; }}"
        );
        expand(&source).tokens.to_string().len()
    };
    let (short, long) = (chain(8), chain(16));
    assert!(long < 8 * short, "{short} and {long} characters");
}
