//! The IR of values of several parts.

mod common;

use common::lowered;

/// The statements of a body, in a kernel with these arguments.
fn stmts(arguments: &str, code: &str) -> String {
    let kernel = lowered(&format!("unsafe fn k({arguments}) {{ {code} }}"));
    let text = kernel.unwrap_or_else(|errors| panic!("errors: {errors:?}"));
    let text = text.to_string();
    let (_, body) = text.split_once("{\n").expect("a kernel has a body");
    let lines = body.trim_end().trim_end_matches('}').lines();
    lines
        .map(|line| line.strip_prefix("    ").unwrap_or(line).to_string() + "\n")
        .collect()
}

fn rejected(arguments: &str, code: &str) -> String {
    match lowered(&format!("unsafe fn k({arguments}) {{ {code} }}")) {
        Ok(kernel) => panic!("no errors:\n{kernel}"),
        Err(errors) => errors.join("\n"),
    }
}

#[test]
fn a_field_is_a_hole_that_takes_what_it_meets() {
    let text = stmts(
        "v: &mut [P], o: &mut [f32]",
        "let a = v[0].x + 1.0; v[1].x = a; o[0] = v[2].y;",
    );
    assert_eq!(
        text,
        "let a: P::x = v[0usize]!0.x + 1.0f64;\n\
         v[1usize]!3.x = a;\n\
         o[0usize]!2 = v[2usize]!1.y;\n"
    );
}

#[test]
fn parts_are_updated_in_place() {
    let text = stmts(
        "v: &mut [P], i: usize",
        "v[i].a[2] += 1.0f32; let mut p = v[i]; p.b.c = 3u32; v[i] = p;",
    );
    assert_eq!(
        text,
        "v[i]!4.a[2usize]!5 = v[i]!0.a[2usize]!3 + 1.0f32;\n\
         let mut p: P = v[i]!1;\n\
         p.b.c = 3u32;\n\
         v[i]!2 = p;\n"
    );
}

#[test]
fn struct_literals_take_shorthands_and_a_base() {
    let text = stmts(
        "p: P, v: &mut [P]",
        "let x = 2.0; v[0] = P { x, ..p }; v[1] = geom::P(2.0, 1);",
    );
    assert_eq!(
        text,
        "let p.1: P = p;\n\
         let x: P::x = 2.0f64;\n\
         v[0usize]!0 = { x: x, ..p.1 };\n\
         v[1usize]!1 = { 0: 2.0f64, 1: 1i64 };\n"
    );
}

#[test]
fn tuples_are_made_taken_apart_and_swapped() {
    let text = stmts(
        "o: &mut [f32]",
        "let (mut a, (b, _)) = (1.0, (2.0f32, true)); a += b; let mut c = b; (a, c) = (c, a); o[0] = a; o[1] = c;",
    );
    assert_eq!(
        text,
        "let t: (f32, (f32, bool)) = { 0: 1.0f32, 1: { 0: 2.0f32, 1: true } };\n\
         let mut a: f32 = t.0;\n\
         let b: f32 = t.1.0;\n\
         a = a + b;\n\
         let mut c: f32 = b;\n\
         let t.1: (f32, f32) = { 0: c, 1: a };\n\
         a = t.1.0;\n\
         c = t.1.1;\n\
         o[0usize]!0 = a;\n\
         o[1usize]!1 = c;\n"
    );
}

#[test]
fn a_match_is_a_chain_whose_last_arm_has_no_test() {
    let text = stmts(
        "s: Shape, o: &mut [f32]",
        "o[0] = match s { Shape::Circle { r } if r > 1.0 => r, Shape::Square(a) | Shape::Other(_, a) => a, _ => 0.5 };",
    );
    assert_eq!(
        text,
        "let s.1: Shape = s;\n\
         let mut value: f32;\n\
         if s.1.is(Circle) && s.1.Circle.r > 1.0f32 {\n    \
             let r: f32 = s.1.Circle.r;\n    \
             value = r;\n\
         } else if s.1.is(Square) || s.1.is(Other) {\n    \
             let mut a: f32;\n    \
             if s.1.is(Square) {\n        \
                 a = s.1.Square.0;\n    \
             } else {\n        \
                 a = s.1.Other.1;\n    \
             }\n    \
             value = a;\n\
         } else {\n    \
             value = 0.5f32;\n\
         }\n\
         o[0usize]!0 = value;\n"
    );
}

#[test]
fn numbers_ranges_and_names() {
    let text = stmts(
        "n: i32, o: &mut [i32]",
        "o[0] = match n { -1 => 1, 0..=3 | 7 => 2, ..-5 => 3, k @ 10.. => k, _ => 4 };",
    );
    assert_eq!(
        text,
        "let mut value: i32;\n\
         if n == -1i32 {\n    value = 1i32;\n\
         } else if n >= 0i32 && n <= 3i32 || n == 7i32 {\n    value = 2i32;\n\
         } else if n < -5i32 {\n    value = 3i32;\n\
         } else if n >= 10i32 {\n    let k: i32 = n;\n    value = k;\n\
         } else {\n    value = 4i32;\n}\n\
         o[0usize]!0 = value;\n"
    );
}

#[test]
fn let_stands_in_conditions() {
    let text = stmts(
        "n: i32, o: &mut [i32]",
        "let x = Some(n); let Some(y) = x else { return; }; if let Some(z) = x && z > y { o[0] = z; }",
    );
    assert_eq!(
        text,
        "let x: Option<i32> = Some { 0: n };\n\
         if !x.is(Some) {\n    return;\n}\n\
         let y: i32 = x.Some.0;\n\
         if x.is(Some) {\n    \
             let z: i32 = x.Some.0;\n    \
             if z > y {\n        \
                 o[0usize]!0 = z;\n    \
             }\n\
         }\n"
    );
}

#[test]
fn a_loop_goes_on_while_a_pattern_fits() {
    let text = stmts(
        "o: &mut [u32]",
        "let mut x = Some(3u32); while let Some(y) = x { o[0] = y; x = None; }",
    );
    assert_eq!(
        text,
        "let mut x: Option<u32> = Some { 0: 3u32 };\n\
         'l0: loop {\n    \
             let t: Option<u32> = x;\n    \
             if t.is(Some) {\n        \
                 let y: u32 = t.Some.0;\n        \
                 o[0usize]!0 = y;\n        \
                 x = None { };\n        \
                 continue 'l0;\n    \
             }\n    \
             break 'l0;\n\
         }\n"
    );
}

#[test]
fn what_has_no_meaning_is_reported() {
    let all = [
        (
            "p: P",
            "let q = p == p; let t = (1, 2) + (3, 4);",
            "operators work on numbers",
        ),
        (
            "n: i32",
            "let m = match n { MAX => 1, _ => 2 };",
            "may be a constant, a variant or a new name",
        ),
        (
            "n: i32",
            "let x; let y = x.a;",
            "the type must be known before its field `.a`",
        ),
        ("n: i32", "let y = n.a;", "has no field `a`"),
        (
            "n: i32",
            "let t = (1, n); let y = t.2;",
            "this tuple has no field `2`",
        ),
        ("n: i32", "let (a, b) = n;", "mismatched types"),
        (
            "n: i32",
            "match n { ref a => {} }",
            "`ref` is not supported",
        ),
        (
            "p: P",
            "match p { P(a, .., b) => {} }",
            "the number of fields is not known",
        ),
        ("p: P", "let q = P { x: 1.0, .. };", "copied from"),
        (
            "p: P",
            "let y = p.x.to_degrees();",
            "the type must be known before `.to_degrees()`",
        ),
    ];
    for (arguments, code, message) in all {
        let errors = rejected(arguments, code);
        assert!(errors.contains(message), "{code}: {errors}");
    }
}
