//! Forms that Rust programmers write first, each of which is desugared to simpler ones.

mod common;

use common::lowered;

/// Lowers the kernel, which must be free of races and other mistakes.
#[track_caller]
fn accepted(source: &str) {
    if let Err(errors) = lowered(source) {
        panic!("{source}: {errors:#?}");
    }
}

#[test]
fn elements_that_may_be_missing() {
    for body in [
        "if let Some(e) = y.get_mut(i) { *e = 1; }",
        "if let Some(e) = y.get_mut(i) { *e += x[i]; } else { return; }",
        "let Some(e) = y.get_mut(i) else { return; }; *e *= 2;",
        "if let Some(v) = x.get(i) && let Some(e) = y.get_mut(i) { *e = *v; }",
        "if let Some(&v) = x.get(i + 1) { y[i] = v; }",
        "if let Some(v) = x.get(i) { y[i] = *v + v; }",
        "let v = x.get(i).copied().unwrap_or(0); y[i] = v;",
        "let v = x.get(i).unwrap(); y[i] = *v;",
        "y[i] = x.get(i).map_or(0, |v| *v + 1);",
        "if let (Some(a), Some(b)) = (x.first(), x.last()) { y[i] = b - a; }",
        "match x.get(i) { Some(v) => y[i] = *v, None => {} }",
        "y[i] = (!x.is_empty() && x.contains(&y[i])) as u32;",
        "let part = &x[1..]; if let Some(v) = part.get(i) { y[i] = *v; }",
    ] {
        accepted(&format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let i = global_idx_x(); {body} }}"
        ));
    }
}

#[test]
fn references_with_names() {
    for body in [
        "let e = &mut y[i]; *e += 1; *e *= 2;",
        "let v = &x[i]; y[i] = *v;",
        "let e = &mut y[i]; let f = e; *f = 3;",
        "let mut n = 0; let r = &mut n; *r += 1; y[i] = n;",
        "let row = &x[i * 2..(i + 1) * 2]; let mut s = 0; for k in 0..row.len() { s += row[k]; } y[i] = s;",
        "let row = &x[2 * i..][..2]; y[i] = row[0] + row[1];",
    ] {
        accepted(&format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let i = global_idx_x(); {body} }}"
        ));
    }
}

#[test]
fn iterators() {
    for body in [
        "let mut s = 0; for v in x { s += *v; } y[i] = s;",
        "let mut s = 0; for &v in x { s += v; } y[i] = s;",
        "let mut s = 0; for v in x.iter() { s += v; } y[i] = s;",
        "let mut s = 0; for (k, v) in x.iter().enumerate() { if *v == 2 { s = k as u32; } } y[i] = s;",
        "let mut s = 0; for (k, &v) in x.iter().rev().enumerate() { s += v * k as u32; } y[i] = s;",
        "let mut s = 0; for d in [1, 2, 3] { s += d; } y[i] = s;",
        "let mut s = 0; for (a, b) in x.iter().zip(x[1..].iter()) { s += a * b; } y[i] = s;",
        "let mut s = 0; for v in x[..=i].iter().rev() { s = 10 * s + *v; } y[i] = s;",
        "y[i] = x.iter().sum();",
        "y[i] = x.iter().map(|v| v * 2).filter(|v| *v > 3).sum::<u32>();",
        "y[i] = x.iter().fold(0, |a, v| a + v);",
        "y[i] = x.iter().copied().max().unwrap_or(0);",
        "y[i] = x.iter().any(|&v| v == 3) as u32 + x.iter().all(|v| *v > 0) as u32;",
        "y[i] = x.iter().position(|v| *v == 3).map_or(9, |p| p as u32);",
        "y[i] = (0..5u32).map(|v| v * v).sum();",
        "y[i] = x.iter().skip(1).step_by(2).take(3).count() as u32;",
        "let mut s = 0; for w in x.windows(2) { s += w[1] - w[0]; } y[i] = s;",
        "let mut s = 0; for (k, c) in x.chunks_exact(3).enumerate() { s += c[0] * c[2] + k as u32; } y[i] = s;",
        "y[i] = *x.iter().max().unwrap();",
        "y[i] = x.iter().max().copied().unwrap_or(0).min(3);",
        "for d in 0..3u32 { for (k, v) in x.iter().enumerate() { if k as u32 == d { y[i] += v; } } }",
        "let mut a = [1, 2, 3]; for v in a.iter_mut() { *v += x[i]; } y[i] = a[2];",
        "let [a, b] = [x[i], x[i] + 1].map(|v| v * v); y[i] = a + b;",
        "for v in x.iter().take(2) { if *v == 0 { continue; } y[i] += v; }",
        "'all: for a in x { for b in x { if a + b == 5 { break 'all; } } y[i] += 1; }",
    ] {
        accepted(&format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let i = global_idx_x(); {body} }}"
        ));
    }
}

#[test]
fn options_and_closures() {
    for body in [
        "y[i] = x[i].checked_sub(10).map_or(0, |rest| rest / 2);",
        "if x[i].checked_sub(10).is_some_and(|rest| rest > 5) { y[i] = 1; }",
        "y[i] = x[i].checked_sub(2).unwrap_or_else(|| 2 - x[i]);",
        "y[i] = x[i].checked_sub(2).map(|v| v + 1).filter(|v| *v > 2).unwrap_or_default();",
        "y[i] = if x[i].checked_sub(5) == Some(5) { 1 } else { 0 };",
        "y[i] = if x[i].checked_sub(5) != None { 1 } else { 0 };",
        "let mut t = Some(x[i]); let mut s = 0; for _ in 0..3 { if let Some(v) = t.take() { s += v; } } y[i] = s;",
        "if let Some(h) = (x[i] % 2 == 0).then_some(x[i] / 2) { y[i] = h; }",
        "y[i] = (x[i] > 2).then(|| x[i] - 2).unwrap_or(7);",
        "y[i] = x[i].checked_sub(1).ok_or(5u32).map_err(|e| e + 1).unwrap_or_else(|e| e);",
        "let s = (-5..5).contains(&(x[i] as i32)); y[i] = s as u32;",
        "let at = (i % 2, i / 2); y[i] = (at == (1, 1)) as u32;",
        "let ends = [x[i], x[i] + 1]; y[i] = (ends == [7, 8]) as u32;",
        "let by = 2; let shift = |v: u32| v - by; let again = &shift; y[i] = (|v: u32| v * v)(x[i]) + again(x[i]);",
        "let f = |(a, b): (u32, u32)| a * b; y[i] = f((x[i], 2));",
        "y[i] = x[i].checked_sub(1).zip(x[i].checked_sub(2)).map_or(0, |(a, b)| a * b);",
        "y[i] = x[i].checked_sub(1).expect(\"at least one\");",
    ] {
        accepted(&format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let i = global_idx_x(); {body} }}"
        ));
    }
}

#[test]
fn items_and_small_forms_of_bodies() {
    for source in [
        "fn k(x: &[f32], y: &mut [f32]) { use std::f32::consts::PI; let i = global_idx_x(); y[i] = if x[i] < PI { 1.0 } else { 2.0 }; }",
        "fn k(x: &[u32], y: &mut [u32]) { use std::cmp::{max, min as least}; let i = global_idx_x(); y[i] = max(least(x[i], 5), 2); }",
        "fn k(x: &[f32], y: &mut [u32]) { type Byte = u8; let i = global_idx_x(); y[i] = x[i] as Byte as u32 + Byte::MAX as u32; }",
        "fn k(_: u32, x: &[u32], y: &mut [u32]) { let i = global_idx_x(); y[i] = x[i]; }",
        "fn k((a, b): (u32, u32), y: &mut [u32]) { let i = global_idx_x(); y[i] = a * b; }",
        "fn k(y: &mut [u32]) { fn twice(v: u32) -> u32 { v * 2 } let i = global_idx_x(); y[i] = twice(y[i]); }",
        "fn k(y: &mut [u32]) { let i = global_idx_x(); y[i] &= const { (1 << 4) - 1 }; if cfg!(any()) { y[i] = 1; } }",
    ] {
        accepted(source);
    }
    let both = common::expand(
        "fn k(y: &mut [u32]) { let i = global_idx_x(); #[cfg(windows)] { y[i] = 1; } #[cfg(not(windows))] { y[i] = 2; } }",
    );
    let text = both.tokens.to_string().replace(' ', "");
    assert!(both.errors.is_empty(), "{:?}", both.errors);
    assert_eq!(text.matches("fnk(").count(), 4, "{text}");
    assert!(
        text.contains("#[cfg(all(windows,not(not(windows))))]"),
        "{text}"
    );
}

#[test]
fn references_to_memory_that_threads_change_are_no_copies() {
    // A copy would keep what was there before the barrier.
    let text = common::body(
        "y: &mut [u32]",
        "let i = global_idx_x(); let v = &y[i]; barrier(); let w = *v; y[i] = w + 1;",
    );
    let barrier = text.find("barrier").expect("there is one");
    assert!(!text[..barrier].contains("let v"), "{text}");
    let source = "unsafe fn k(y: &mut [u32]) { let i = global_idx_x(); y[i] = y.get(0).copied().unwrap_or(1); barrier(); }";
    let errors = lowered(source).expect_err("it is refused");
    let start = "`get` of memory that threads change between barriers";
    assert!(common::begins(&errors[0], start), "{errors:?}");
}
