//! `#[device]` functions: what they become, and what is rejected in them.

mod common;

use common::{device, lowered};

/// The IR's text of a function, without the part before its body.
#[track_caller]
fn ir(source: &str) -> String {
    let expansion = device(source);
    assert_eq!(expansion.errors, Vec::<String>::new());
    expansion.kernel.expect("it has no errors").to_string()
}

#[track_caller]
fn rejects(source: &str, expected: &[&str]) {
    let errors = device(source).errors;
    let starts = errors.iter().zip(expected);
    let fits = errors.len() == expected.len()
        && starts
            .into_iter()
            .all(|(error, start)| error.starts_with(start));
    assert!(fits, "expected {expected:#?}\nfound {errors:#?}");
}

#[test]
fn what_a_function_yields_is_a_local() {
    let text = ir("fn f(x: f32) -> f32 { if x < 0.0 { return -x; } x + 1.0 }");
    assert!(text.contains("let mut result: f32;"), "{text}");
    assert!(text.contains("result = -x;\n        return;"), "{text}");
    assert!(text.contains("result = x + 1.0f32;"), "{text}");
}

#[test]
fn references_are_copied_in_and_out() {
    let text = ir("fn f(n: &mut u32, by: &u32) { if *by == 7 { return; } *n += *by; }");
    assert_eq!(
        text.matches("*n = ").count() + text.matches("n = n.1").count(),
        2,
        "{text}"
    );
}

#[test]
fn arguments_are_evaluated_in_order() {
    let kernel = lowered(
        "unsafe fn k(y: &mut [u32]) { let mut a = 1u32; y[0] = f(a, g(&mut a), y[1]) + y[2]; }",
    );
    let text = kernel.expect("it has no errors").to_string();
    let spilled = text.find("let t: u32 = a;").expect("`a` is read first");
    let called = text.find("g(&mut a)").expect("`g` is called");
    assert!(spilled < called, "{text}");
}

#[test]
fn last_calls_by_itself_are_turns_of_a_loop() {
    let text = ir("fn gcd(a: u32, b: u32) -> u32 { if b == 0 { a } else { gcd(b, a % b) } }");
    assert!(text.contains("loop"), "{text}");
    assert!(!text.contains("gcd(b"), "{text}");
    rejects(
        "fn f(n: u32) -> u32 { if n < 2 { 1 } else { n * f(n - 1) } }",
        &["a `#[device]` function calls itself only where"],
    );
    rejects(
        "fn f(n: u32) -> u32 { let m = f(n); m }",
        &["a `#[device]` function calls itself only where"],
    );
    rejects(
        "fn f(a: &mut u32, b: &mut u32, n: u32) { if n > 0 { f(b, a, n - 1); } }",
        &[
            "slices and `&mut` parameters are given on",
            "slices and `&mut` parameters are given on",
        ],
    );
}

#[test]
fn signatures_have_meanings() {
    rejects(
        "async fn f() {}",
        &["a `#[device]` function cannot be `async`"],
    );
    rejects(
        "fn f((a, b): (u32, u32)) {}",
        &["a parameter of a `#[device]` function is a plain name"],
    );
    rejects("fn f(a: &[f32; 4]) {}", &["arrays are passed as slices"]);
    rejects(
        "fn f(g: impl Fn(f32) -> f32) {}",
        &["closures are not passed"],
    );
    rejects(
        "fn f(a: u32) -> u32 {}",
        &["this function yields a value, and none is given"],
    );
    rejects("fn f(a: u32) { a }", &["this function returns nothing"]);
    rejects(
        "struct S;",
        &["`#[device]` stands on a function or an `impl` block"],
    );
    rejects(
        "impl Clone for P { fn clone(&self) -> P { *self } }",
        &["`#[device]` stands on a type's own"],
    );
    rejects(
        "impl P { fn f<T>(&self) {} }",
        &["a `#[device]` method is not generic by itself"],
    );
}

#[test]
fn references_are_no_values() {
    rejects(
        "fn f(a: &u32) -> u32 { let b = a; *b }",
        &["`a` is a reference", "`*` is not supported"],
    );
    rejects(
        "fn f(a: &mut u32) -> u32 { a + 1 }",
        &["`a` is a reference"],
    );
}

#[test]
fn a_safe_kernel_lends_what_nobody_writes() {
    let safe = |body: &str| lowered(&format!("fn k(x: &[f32], y: &mut [f32]) {{ {body} }}"));
    assert!(safe("y[global_idx_x()] = f(x);").is_ok());
    for body in ["y[global_idx_x()] = f(y);", "f(&mut y);"] {
        let errors = safe(body).expect_err("it may race");
        assert!(
            errors[0].starts_with("two threads may use the same element of `y`"),
            "{errors:?}"
        );
    }
    assert!(safe("let mut a = [0.0f32; 4]; g(&mut a); y[global_idx_x()] = a[0];").is_ok());
    let by_value = safe("let a = [0.0f32; 4]; g(a);").expect_err("it is no slice");
    assert!(
        by_value[0].starts_with("arrays are passed as slices"),
        "{by_value:?}"
    );
}

#[test]
fn conversions_are_those_of_num() {
    let kernel = "fn k<T: Num>(y: &mut [T]) { y[global_idx_x()] = T::from_f32(1.0).to_i32(); }";
    let text = lowered("fn k<T: Num>(y: &mut [T]) { y[global_idx_x()] = T::from_f32(1.0); }");
    assert!(text.expect("it has no errors").to_string().contains("as T"));
    assert!(lowered(kernel).is_ok(), "rustc says that `i32` is not `T`");
    let errors = lowered("fn k<T: Num>(y: &mut [T]) { y[0] = T::parse(1.0); }").expect_err("none");
    assert!(
        errors[0].starts_with("type parameters have no function `parse`"),
        "{errors:?}"
    );
}

#[test]
fn closures_stand_where_they_are_called() {
    let text = common::body(
        "y: &mut [f32]",
        "let f = |x| x * 2.0; y[0] = f(1.0) + f(y[1]);",
    );
    assert_eq!(text.matches("* 2.0f32").count(), 2, "{text}");
    let rejected = |body: &str| {
        let errors = lowered(&format!("unsafe fn k(y: &mut [f32]) {{ {body} }}"));
        errors.expect_err("it is rejected")[0].clone()
    };
    for (body, start) in [
        (
            "let f = |x| { return x; }; y[0] = f(1.0);",
            "`return` in a closure is not supported",
        ),
        (
            "let f = move |x| x; y[0] = f(1.0);",
            "a closure that moves is not supported",
        ),
        (
            "let f = |x| x; let g = f; y[0] = 1.0;",
            "the closure `f` is no value",
        ),
        (
            "let f = |x| x; y[0] = f(1.0, 2.0);",
            "a closure is called with its arguments",
        ),
        ("y[0] = apply(|x| x);", "a closure here is not supported"),
        ("let f = |x| { break; }; loop { f(1.0); }", "`break`"),
    ] {
        let error = rejected(body);
        assert!(error.starts_with(start), "{error}");
    }
}
