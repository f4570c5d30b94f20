//! Output of kernels: lines, panics, assertions; and kernels over items.

mod common;

use common::{body, expand, lowered};

/// Lowers the body and compares the lines of its IR, without indentation.
#[track_caller]
fn lowers(arguments: &str, source: &str, expected: &str) {
    let text = body(arguments, source);
    let lines = |text: &str| -> Vec<String> { text.lines().map(|l| l.trim().into()).collect() };
    let inner = lines(&text);
    assert_eq!(
        inner[1..inner.len() - 1],
        lines(expected.trim())[..],
        "\n{text}"
    );
}

#[track_caller]
fn rejects(source: &str, expected: &str) {
    let errors = expand(source).errors;
    assert!(
        errors.len() == 1 && common::begins(&errors[0], expected),
        "expected {expected:?}\nfound {errors:#?}"
    );
}

#[test]
fn lines_are_templates_with_arguments() {
    lowers(
        "n: i32, x: f32",
        r#"println!("{n} {:>8.3}{{}} {0:?} {m:#x}", x, m = n + 1); print!("."); println!();"#,
        r#"print "{2} {0:>8.3}{{}} {0:?} {1:#x}\n", x, n + 1i32, n;
           print ".";
           print "\n";"#,
    );
}

#[test]
fn arguments_of_a_line_are_evaluated_in_order() {
    lowers(
        "n: i32",
        r#"let mut a = n; println!("{} {}", a, { a += 1; a });"#,
        r#"let mut a: i32 = n;
           let t: i32 = a;
           a = a + 1i32;
           print "{0} {1}\n", t, a;"#,
    );
}

#[test]
fn a_panic_ends_control() {
    lowers(
        "n: i32, y: &mut [i32]",
        r#"let v = match n { 0 => 5, _ => panic!("no {{}}") }; y[0] = v;"#,
        r#"let mut v: i32;
           if n == 0i32 {
           v = 5i32;
           } else {
           panic!0? "no {}";
           }
           y[0usize]!1 = v;"#,
    );
}

#[test]
fn assertions_say_what_rusts_do() {
    lowers(
        "n: i32",
        r#"assert!(n > 1); assert!(n > 2, "small"); assert_eq!(n, 3); assert_ne!(n, 4, "four");"#,
        r#"assert!0 n > 1i32, "assertion failed: n > 1";
           assert!1 n > 2i32, "small";
           assert!2 n == 3i32, "assertion `left == right` failed";
           assert!3 n != 4i32, "assertion `left != right` failed: four";"#,
    );
}

#[test]
fn what_cannot_be_said_is_reported() {
    let say = |what: &str| format!("fn k(n: i32, x: &[f32]) {{ {what} }}");
    rejects(&say(r#"println!("{}");"#), "the format has no argument 0");
    rejects(&say(r#"println!("{:w$}", n);"#), "`{:w$}` is not supported");
    rejects(
        &say(r#"println!("{:?}", x);"#),
        "the slice `x` is not a value",
    );
    rejects(
        &say("println!(n);"),
        "the message does not begin with a format string",
    );
    rejects(
        &say(r#"panic!("{n}");"#),
        "a message cannot have arguments in a kernel",
    );
    rejects(&say("eprintln!();"), "`eprintln!` is not supported");
    rejects(&say("assert!();"), "unexpected end of input");
}

#[test]
fn items_are_elements_of_ones_own() {
    let kernel = lowered("fn k(a: f32, #[item] x: f32, #[item] y: &mut f32) { *y += a * x; }");
    let text = kernel.expect("a kernel").to_string();
    for line in [
        "kernel k(a: f32, x: &[f32], y: &mut [f32]) {",
        "let x.1: f32 = x[global_idx_x()]!0;",
        "let mut y.1: f32 = y[global_idx_x()]!1;",
        "y[global_idx_x()]!2 = y.1;",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn what_is_no_item_is_reported() {
    rejects(
        "fn k(#[item] x: &[f32]) {}",
        "an item is one element of a vector",
    );
    rejects("fn k(#[item] x: usize) {}", "`usize` cannot be the element");
    rejects(
        "fn k(#[items] x: f32) {}",
        "attributes on a kernel's arguments are not supported, except",
    );
    rejects(
        "fn k(#[item] x: &mut f32) { barrier(); *x = 1.0; }",
        "the threads of a kernel over items cannot work together",
    );
}
