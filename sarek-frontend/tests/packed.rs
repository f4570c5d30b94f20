//! SIMD vectors such as `f32x4`: lowering of operators and methods, and those that they lack.

mod common;

use common::{body, expand};

#[track_caller]
fn lowers(arguments: &str, source: &str, expected: &[&str]) {
    let text = body(arguments, source);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(lines[1..lines.len() - 1], *expected, "\n{text}");
}

#[track_caller]
fn rejects(arguments: &str, source: &str, start: &str) {
    let errors = expand(&format!("fn k({arguments}) {{ {source} }}")).errors;
    let fits = matches!(errors.as_slice(), [error] if common::begins(error, start));
    assert!(fits, "{start}\n{errors:#?}");
}

#[test]
fn operators_become_those_of_components() {
    lowers(
        "s: f32, v: f32x2, w: f32x2",
        "let a = v * s + w;",
        &[
            "let v.1: f32x2 = v;",
            "let w.1: f32x2 = w;",
            "let a: f32x2 = { x: v.1.x * s + w.1.x, y: v.1.y * s + w.1.y };",
        ],
    );
    lowers(
        "x: &[i32x2]",
        "let v = x[0]; let same = v == -v;",
        &[
            "let v: i32x2 = x[0usize]!0;",
            "let same: bool = (v.x == -v.x) & (v.y == -v.y);",
        ],
    );
}

#[test]
fn operands_are_evaluated_once() {
    lowers(
        "x: &mut [f32x2]",
        "x[0] *= x[1];",
        &[
            "let t: f32x2 = x[0usize]!1;",
            "let t.1: f32x2 = x[1usize]!0;",
            "x[0usize]!2 = { x: t.x * t.1.x, y: t.y * t.1.y };",
        ],
    );
}

#[test]
fn methods_are_told_by_components() {
    lowers(
        "v: f32x3",
        "let d = v.zyx().dot(f32x3::new(1.0, 2.0, 3.0));",
        &[
            "let v.1: f32x3 = v;",
            "let d: f32 = v.1.z * 1.0f32 + v.1.y * 2.0f32 + v.1.x * 3.0f32;",
        ],
    );
    lowers(
        "v: f64x2",
        "let l = v.length();",
        &[
            "let v.1: f64x2 = v;",
            "let l: f64 = (v.1.x * v.1.x + v.1.y * v.1.y).sqrt();",
        ],
    );
}

#[test]
fn what_they_have_not_is_rejected() {
    rejects(
        "v: f32x2, w: f32x3",
        "let a = v + w;",
        "mismatched types: expected `f32x2`, found `f32x3`",
    );
    rejects("v: f32x2", "let a = v.z;", "`f32x2` has no field `z`");
    rejects("v: f32x2", "let a = v.xz();", "`f32x2` has no method `xz`");
    rejects(
        "v: f32x2",
        "let a = v.cross(v);",
        "`f32x2` has no method `cross`",
    );
    rejects(
        "v: f32x2",
        "let a = v < v;",
        "`<` on `f32x2` is not supported",
    );
    rejects(
        "v: f32x2",
        "let a = v | v;",
        "`|` on `f32x2` is not supported",
    );
    rejects(
        "v: f32x2, i: usize",
        "let a = v[i];",
        "this is not a component of `f32x2`",
    );
    rejects(
        "mut v: f32x2",
        "v[0] = 1.0;",
        "a component of `f32x2` cannot be assigned by index",
    );
    rejects(
        "v: f32x2",
        "let a = f32x2::new(1.0);",
        "`new` takes 2 numbers",
    );
    rejects("v: f32x2, s: i32", "let a = v * s;", "mismatched types");
}
