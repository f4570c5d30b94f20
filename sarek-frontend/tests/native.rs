//! The forms of `native!`.

mod common;

use common::{body, expand};

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
fn rejects(body: &str, expected: &str) {
    let source = format!("fn k(n: i32, x: &[f32], y: &mut [f32]) {{ {body} }}");
    let errors = expand(&source).errors;
    assert!(
        errors.len() == 1 && common::begins(&errors[0], expected),
        "expected {expected:?}\nfound {errors:#?}"
    );
}

#[test]
fn a_text_yields_a_value() {
    lowers(
        "x: &[f32], y: &mut [f32]",
        r#"let v: f32 = unsafe { native!("cuda", "__ldg(&{x}[0])" as f32) }; y[0] = v + 1.0;"#,
        r#"let mut v: f32;
           v = native {
           "cuda" => "__ldg(&{x}[0])",
           }
           y[0usize]!0 = v + 1.0f32;"#,
    );
}

#[test]
fn a_fallback_yields_what_the_texts_do() {
    lowers(
        "y: &mut [f32], n: f32",
        r#"y[0] = unsafe { native! { "cuda" => "f({v})" as f32, v = n * 2.0, _ => { v + 1.0 } } };"#,
        r#"let v: f32 = n * 2.0f32;
           let mut value: f32;
           value = native {
           "cuda" => "f({v})",
           _ => {
           value = v + 1.0f32;
           },
           }
           y[0usize]!0 = value;"#,
    );
}

#[test]
fn arrays_and_fields_are_operands() {
    let text = body(
        "y: &mut [f32]",
        r#"let tile = shared_array::<f32, 4>(); let mut near = [0.0f32; 2]; let mut p = (1.0f32, 2u32);
           unsafe { native! { "cuda" => "{tile}[0] = {near}[1]; {p.0} = 1.0f;", _ => {} } }
           y[0] = p.0 + near[0] + tile[0];"#,
    );
    assert!(
        text.contains(r#""cuda" => "{tile}[0] = {near}[1]; {p.0} = 1.0f;""#),
        "{text}"
    );
}

#[test]
fn preludes_are_named() {
    let source = r#"unsafe fn k(y: &mut [f32]) { y[0] = unsafe { native!("cuda", "f()" as f32, use m::F, use m::F) }; }"#;
    let expansion = expand(source);
    assert_eq!(expansion.errors, [""; 0]);
    let kernel = expansion.kernel.expect("a kernel");
    assert_eq!(kernel.prelude_links[..], ["m::F"]);
    assert!(!kernel.is_closed());
}

#[test]
fn what_no_text_can_mean_is_reported() {
    rejects(
        r#"native!("cuda", ";");"#,
        "`native!` is outside an `unsafe",
    );
    rejects(
        r#"unsafe { native!("cuda", "{z}"); }"#,
        "`{z}` names no variable",
    );
    rejects(
        r#"let p = (1, 2); unsafe { native!("cuda", "{p}"); }"#,
        "`{p}` has several parts",
    );
    rejects(
        r#"unsafe { native!("cuda", "{x.y}"); }"#,
        "`{x.y}` is not a field",
    );
    rejects(
        r#"unsafe { native!("CUDA", ";"); }"#,
        r#""CUDA" is not a known target"#,
    );
    rejects(
        r#"unsafe { native!("native", ";"); }"#,
        r#""native" is not a known target"#,
    );
    rejects(
        r#"y[0] = unsafe { native! { "cuda" => "1" as f32, "opencl" => "1" } };"#,
        "all texts of a `native!` must have the same type",
    );
    rejects(
        r#"y[0] = unsafe { native! { "cuda" => "1" as f32, _ => {} } };"#,
        "the fallback must have a value like the texts",
    );
    rejects(
        r#"y[0] = unsafe { native! { "cuda" => "1" as (f32, f32) } }.0;"#,
        "its result has several parts",
    );
}
