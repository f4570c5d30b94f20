//! Values of several parts, as IR.

mod common;

use common::{body, lowered};

fn rejected(arguments: &str, code: &str) -> Vec<String> {
    match lowered(&format!("unsafe fn k({arguments}) {{ {code} }}")) {
        Ok(kernel) => panic!("no errors:\n{kernel}"),
        Err(errors) => errors,
    }
}

const P: &str = "v: &mut [P], o: &mut [f32], p: P";

#[test]
fn p() {
    for (args, code) in [
        (
            P,
            "let i = 0; let a = v[i].x + 1.0; v[i].x = a * p.inner.y; v[i].a[2] += 1.0;",
        ),
        (
            P,
            "let q = P { x: 1.0, ..p }; v[0] = q; let b = q.x as f32; o[0] = b;",
        ),
        (
            P,
            "let (a, b) = (1.0f32, 2); let t = (a, (b, true)); if t.1.1 { o[t.1.0] = t.0; }",
        ),
        (
            P,
            "let mut a = 1.0f32; let mut b = 2.0; (a, b) = (b, a); o[0] = a; o[1] = b;",
        ),
        (
            "s: &[Shape], o: &mut [f32]",
            "o[0] = match s[0] { Shape::Circle { r } if r > 0.0 => r * 2.0, Shape::Square(a) | Shape::Other(a) => a, Shape::Point => 1.0, _ => 0.5 };",
        ),
        (
            "n: i32, o: &mut [f32]",
            "o[0] = match n { -1 => 1.0, 0..=3 | 7 => 2.0, ..-5 => 4.0, k @ 10.. => k as f32, _ => 3.0 };",
        ),
        (
            "n: i32, o: &mut [f32]",
            "let x = if n > 0 { Some(1.0) } else { None }; if let Some(y) = x { o[0] = y; } else { o[0] = 2.0; }",
        ),
        (
            "n: i32, o: &mut [f32]",
            "let x = Some(n); let Some(y) = x else { return; }; if let Some(z) = x && z > 3 && let Some(w) = Some(z) { o[0] = w as f32; }",
        ),
        (
            "n: i32, o: &mut [f32]",
            "let mut x = Some(n); while let Some(y) = x { o[0] = y as f32; x = if y > 0 { Some(y - 1) } else { None }; }",
        ),
        (
            "n: i32, o: &mut [f32]",
            "if matches!(n, 1 | 2 if n > 0) { o[0] = 1.0; }",
        ),
        (
            "v: &mut [P]",
            "let p = P(1.0, 2); v[0] = p; let q = geom::P::<f32> { a: [1.0; 3], b: p.0.sqrt().max(p.0) }; let z = q.b;",
        ),
    ] {
        println!("{code}");
        match lowered(&format!("unsafe fn k({args}) {{ {code} }}")) {
            Ok(k) => println!("{k}"),
            Err(e) => println!("ERR {e:?}"),
        }
    }
}
