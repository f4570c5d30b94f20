//! `half::f16` and `half::bf16`: lowering of their functions, and functions that they lack.

mod common;

use common::{body, expand};

#[track_caller]
fn has(arguments: &str, source: &str, line: &str) {
    let text = body(arguments, source);
    assert!(
        text.lines().any(|l| l.trim() == line),
        "no `{line}` in\n{text}"
    );
}

#[track_caller]
fn rejects(arguments: &str, source: &str, start: &str) {
    let errors = expand(&format!("fn k({arguments}) {{ {source} }}")).errors;
    let fits = matches!(errors.as_slice(), [error] if common::begins(error, start));
    assert!(fits, "{start}\n{errors:#?}");
}

#[test]
fn it_is_a_scalar_by_every_path() {
    for name in ["f16", "bf16"] {
        for module in ["", "half::", "sarek::", "::half::", "sarek::prelude::"] {
            has(
                &format!("x: &mut [{module}{name}]"),
                "let a = x[0]; x[1] = a;",
                &format!("let a: {name} = x[0usize]!0;"),
            );
        }
    }
}

#[test]
fn conversions_are_casts() {
    has(
        "a: f32",
        "let b = f16::from_f32(a);",
        "let b: f16 = a as f16;",
    );
    has(
        "a: f64",
        "let b = half::f16::from_f64(a);",
        "let b: f16 = a as f16;",
    );
    has(
        "",
        "let b = f16::from_f32_const(1.5);",
        "let b: f16 = 1.5f32 as f16;",
    );
    has("a: f16", "let b = a.to_f32();", "let b: f32 = a as f32;");
    has(
        "a: f16",
        "let b = a.to_f64_const();",
        "let b: f64 = a as f64;",
    );
    has(
        "a: u16",
        "let b = f16::from_bits(a);",
        "let b: f16 = f16::from_bits(a);",
    );
    has(
        "a: f16",
        "let b = a.to_bits();",
        "let b: u16 = a.to_bits();",
    );
}

#[test]
fn conversions_of_bf16_are_casts() {
    for (arguments, source, line) in [
        ("a: f32", "bf16::from_f32(a)", "bf16 = a as bf16"),
        ("a: f64", "half::bf16::from_f64(a)", "bf16 = a as bf16"),
        ("", "bf16::from_f32_const(1.5)", "bf16 = 1.5f32 as bf16"),
        ("a: bf16", "a.to_f32()", "f32 = a as f32"),
        ("a: bf16", "a.to_f64()", "f64 = a as f64"),
        ("a: u16", "bf16::from_bits(a)", "bf16 = bf16::from_bits(a)"),
        ("a: bf16", "a.to_bits()", "u16 = a.to_bits()"),
        ("a: i8", "bf16::from(a)", "bf16 = a as f32 as bf16"),
        ("a: bf16", "f32::from(a)", "f32 = a as f32"),
        (
            "a: f16",
            "bf16::from_f32(a.to_f32())",
            "bf16 = a as f32 as bf16",
        ),
        ("", "bf16::EPSILON", "bf16 = bf16::EPSILON"),
    ] {
        has(
            arguments,
            &format!("let b = {source};"),
            &format!("let b: {line};"),
        );
    }
}

#[test]
fn its_constants_are_of_it() {
    has(
        "a: f16",
        "let b = a > f16::MAX;",
        "let b: bool = a > f16::MAX;",
    );
    has("", "let b = f16::EPSILON;", "let b: f16 = f16::EPSILON;");
}

#[test]
fn what_rust_has_not_is_rejected() {
    rejects(
        "a: f32",
        "let b = a as f16;",
        "`f16` cannot be converted with `as`",
    );
    rejects(
        "a: f16",
        "let b = a as f32;",
        "`f16` cannot be converted with `as`",
    );
    rejects("a: f16", "let b = a * 2.0;", "mismatched types");
    rejects("a: f16", "let b = 2.0f16 * a;", "`f16` has no literals");
    rejects("a: f16", "let b = a.exp();", "`f16` has no method `exp`");
    rejects(
        "a: f16",
        "let b = a.recip();",
        "`f16` has no method `recip`",
    );
    rejects("a: &[Atomic<f16>]", "", "`Atomic<f16>` does not exist");
}

#[test]
fn what_bf16_has_not_is_rejected() {
    for (arguments, source, message) in [
        (
            "a: f32",
            "let b = a as bf16;",
            "`bf16` cannot be converted with `as`",
        ),
        (
            "a: bf16",
            "let b = a as f32;",
            "`bf16` cannot be converted with `as`",
        ),
        (
            "a: f16",
            "let b = bf16::from(a);",
            "`bf16::from` does not take `f16`",
        ),
        ("a: bf16, b: f16", "let c = a + b;", "mismatched types"),
        ("a: bf16", "let b = a * 2.0;", "mismatched types"),
        ("a: bf16", "let b = 2.0bf16 * a;", "`bf16` has no literals"),
        ("a: bf16", "let b = a.exp();", "`bf16` has no method `exp`"),
        ("a: &[Atomic<bf16>]", "", "`Atomic<bf16>` does not exist"),
    ] {
        rejects(arguments, source, message);
    }
}

#[test]
fn from_is_a_cast_that_keeps_every_value() {
    has("a: u32", "let b = u64::from(a);", "let b: u64 = a as u64;");
    has("a: u8", "let b = f64::from(a);", "let b: f64 = a as f64;");
    has(
        "a: u16",
        "let b = usize::from(a);",
        "let b: usize = a as usize;",
    );
    has(
        "a: bool",
        "let b = f32::from(a);",
        "let b: f32 = a as u8 as f32;",
    );
    has(
        "a: i8",
        "let b = f16::from(a);",
        "let b: f16 = a as f32 as f16;",
    );
    has("a: f16", "let b = f64::from(a);", "let b: f64 = a as f64;");
    has("a: i64", "let b = i64::from(a);", "let b: i64 = a;");
    has("", "let b = f64::from(2);", "let b: f64 = 2i32 as f64;");
    has("", "let b = i64::from(2u8);", "let b: i64 = 2u8 as i64;");
}

#[test]
fn from_is_not_for_numbers_that_may_not_fit() {
    for (to, from) in [
        ("u8", "u32"),
        ("u32", "i32"),
        ("u64", "i8"),
        ("i32", "u32"),
        ("f32", "u32"),
        ("f64", "i64"),
        ("f32", "f64"),
        ("u32", "f32"),
        ("usize", "u32"),
        ("u64", "usize"),
        ("f16", "u16"),
        ("f16", "bool"),
        ("bool", "u8"),
    ] {
        let message = format!("`{to}::from` does not take `{from}`");
        rejects(
            &format!("a: {from}"),
            &format!("let b = {to}::from(a);"),
            &message,
        );
    }
    rejects("", "let b = u64::from();", "`from` takes 1 argument");
}
