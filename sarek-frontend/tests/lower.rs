//! Lowering of bodies: evaluation order, loops, values of control flow.

mod common;

use common::body;

/// Lowers the body and compares the lines of its IR, without indentation.
#[track_caller]
fn lowers(arguments: &str, source: &str, expected: &str) {
    let text = body(arguments, source);
    let lines = |text: &str| {
        text.lines()
            .map(|l| l.trim().to_string())
            .collect::<Vec<_>>()
    };
    let inner = lines(&text);
    assert_eq!(
        inner[1..inner.len() - 1],
        lines(expected.trim())[..],
        "\n{text}"
    );
}

#[test]
fn an_operand_is_evaluated_before_a_later_operands_effects() {
    lowers(
        "y: &mut [i32], n: i32",
        "let mut a = n; y[0] = a + { a = 5; a };",
        "let mut a: i32 = n;
         let t: i32 = a;
         a = 5i32;
         y[0usize]!0 = t + a;",
    );
}

#[test]
fn compound_assignment_evaluates_its_right_side_first() {
    lowers(
        "y: &mut [i32], n: i32",
        "let mut a = n; a += { a = 5; a * 2 }; y[a as usize] += a;",
        "let mut a: i32 = n;
         a = 5i32;
         a = a + a * 2i32;
         let t: usize = a as usize;
         y[t]!1 = y[t]!0 + a;",
    );
}

#[test]
fn the_right_side_of_and_runs_only_when_asked_for() {
    lowers(
        "y: &mut [i32], n: i32",
        "let mut a = n; let b = a > 1 && { a = 2; true } || n == 0;",
        "let mut a: i32 = n;
         let mut t: bool = a > 1i32;
         if t {
         a = 2i32;
         t = true;
         }
         let b: bool = t || n == 0i32;",
    );
}

#[test]
fn loops_yield_values_and_labels_reach_out() {
    lowers(
        "n: i32",
        "let mut i = 0; let v = 'outer: loop { loop { i += 1; if i > n { break 'outer i * 2; } if i == 3 { continue 'outer; } } };",
        "let mut i: i32 = 0i32;
         let mut v: i32;
         'l0: loop {
         loop {
         i = i + 1i32;
         if i > n {
         v = i * 2i32;
         break 'l0;
         }
         if i == 3i32 {
         continue 'l0;
         }
         }
         }",
    );
}

#[test]
fn an_inclusive_range_ends_at_the_maximum() {
    lowers(
        "y: &mut [u32], n: u32",
        "for i in 1..=n { y[0] = i; }",
        "let mut next: u32 = 1u32;
         let mut more: bool = 1u32 <= n;
         while more {
         let i: u32 = next;
         more = i != n;
         next = i.wrapping_add(1u32);
         y[0usize]!0 = i;
         }",
    );
}

#[test]
fn a_range_up_to_a_literal_is_counted() {
    lowers(
        "y: &mut [u32]",
        "for i in 0..=3 { y[i] = 1; }",
        "for i: usize in 0usize..4usize {
         y[i]!0 = 1u32;
         }",
    );
}

#[test]
fn stepping_from_the_far_end_starts_at_the_last_multiple() {
    lowers(
        "n: u32, k: usize",
        "for i in (0..n).step_by(k).rev() { let _ = i; }",
        "assert!1 k != 0usize, \"the step of `step_by` is zero\";
         let t: u32 = n.wrapping_sub(1u32);
         let mut next: u32 = t.wrapping_sub((t.abs_diff(0u32) as usize %!0 k) as u32);
         let mut more: bool = 0u32 < n;
         while more {
         let i: u32 = next;
         more = i.abs_diff(0u32) as usize >= k;
         next = i.wrapping_sub(k as u32);
         }",
    );
}

#[test]
fn code_after_a_return_is_dropped_and_shadowing_makes_new_locals() {
    lowers(
        "y: &mut [i32], n: i32",
        "let a = n; let a = a + 1; if a > 3 { return; } y[0] = a; return; y[0] = 7;",
        "let a: i32 = n;
         let a.1: i32 = a + 1i32;
         if a.1 > 3i32 {
         return;
         }
         y[0usize]!0 = a.1;
         return;",
    );
}

#[test]
fn a_while_condition_with_effects_moves_into_the_body() {
    lowers(
        "n: i32",
        "let mut a = n; while { a -= 1; a > 0 } { a -= 2; }",
        "let mut a: i32 = n;
         'l0: loop {
         a = a - 1i32;
         if !(a > 0i32) {
         break 'l0;
         }
         a = a - 2i32;
         }",
    );
}

#[test]
fn chained_casts_stay_and_literals_under_as_take_the_target() {
    lowers(
        "y: &mut [u64], x: f32",
        "y[0] = x as i32 as u32 as u64 + 0xFFFF_FFFF_FF as u64;",
        "y[0usize]!0 = x as i32 as u32 as u64 + 1099511627775u64;",
    );
}

#[test]
fn clamp_asserts_its_bounds_as_rust_does() {
    lowers(
        "y: &mut [f32], a: f32, b: f32",
        "y[0] = (a + 1.0).clamp(a, b);",
        "let t: f32 = a + 1.0f32;
         assert!0 a <= b, \"`clamp` needs its lower bound to be at most its upper\";
         y[0usize]!1 = t.clamp(a, b);",
    );
}

#[test]
fn types_flow_backwards_through_variables() {
    lowers(
        "x: &[f64], y: &mut [f64]",
        "let mut s = 0.0; for k in 0..x.len() { s += x[k]; } y[0] = s;",
        "let mut s: f64 = 0.0f64;
         for k: usize in 0usize..x.len() {
         s = s + x[k]!0;
         }
         y[0usize]!1 = s;",
    );
}

#[test]
fn only_what_control_flow_yields_is_named_by_a_let_instead_of_copied() {
    lowers(
        "y: &mut [i32], n: i32",
        "let mut value = n; let b = value; value += 1; let v = if n > 0 { 1 } else { 2 }; let mut w = v; w += b; y[0] = w + v + value;",
        "let mut value: i32 = n;
         let b: i32 = value;
         value = value + 1i32;
         let mut v: i32;
         if n > 0i32 {
         v = 1i32;
         } else {
         v = 2i32;
         }
         let mut w: i32 = v;
         w = w + b;
         y[0usize]!0 = w + v + value;",
    );
}

#[test]
fn a_constant_is_there_before_its_line_and_not_after_its_block() {
    lowers(
        "y: &mut [i32], n: i32",
        "{ y[0] = n; const n: i32 = 3; } y[1] = n;",
        "y[0usize]!0 = 3i32;
         y[1usize]!1 = n;",
    );
}

#[test]
fn methods_are_made_of_others() {
    lowers(
        "y: &mut [i32], a: i32, b: i32",
        "y[0] = a.wrapping_div(b);",
        "let mut value: i32;
         if b == -1i32 {
         value = a.wrapping_neg();
         } else {
         value = a /!0 b;
         }
         y[0usize]!1 = value;",
    );
    lowers(
        "y: &mut [u8], a: u8, n: u32",
        "y[0] = a.saturating_pow(n);",
        "let mut square: u8 = a;
         let mut left: u32 = n;
         let mut power: u8 = 1u8;
         while left > 0u32 {
         if left & 1u32 == 1u32 {
         power = power.saturating_mul(square);
         }
         square = square.saturating_mul(square);
         left = left >> 1i32;
         }
         y[0usize]!0 = power;",
    );
    lowers(
        "y: &mut [u32], a: u8",
        "y[0] = a.ilog10();",
        "assert!0 a > 0u8, \"argument of integer logarithm must be positive\";
         y[0usize]!1 = (a >= 10u8) as u32 + (a >= 100u8) as u32;",
    );
    lowers(
        "y: &mut [bool], a: f32",
        "y[0] = a.is_normal();",
        "let exponent: u32 = a.to_bits() & 2139095040u32;
         y[0usize]!0 = exponent != 0u32 && exponent != 2139095040u32;",
    );
}

#[test]
fn places_are_exchanged_through_a_third() {
    lowers(
        "y: &mut [i32], a: i32",
        "let (mut b, mut c) = (a, 1); std::mem::swap(&mut b, &mut c); y[0] = std::mem::replace(&mut b, 5);",
        "let mut b: i32 = a;
         let mut c: i32 = 1i32;
         let __old: i32 = b;
         b = c;
         c = __old;
         let __old.1: i32 = b;
         b = 5i32;
         y[0usize]!0 = __old.1;",
    );
}

#[test]
fn a_struct_is_taken_apart_before_its_parts_are_assigned() {
    lowers(
        "y: &mut [i32], a: i32",
        "let mut b = a; P { x: b, y: (y[0], _), .. } = P { x: 1, y: (b, 2), z: 3 };",
        "let mut b: i32 = a;
         let t: P{x:::sarek::__private::host::of_type::<i32>(),y:(::sarek::__private::host::of_type::<i32>(),::sarek::__private::host::typed_value(__literal3),),z:::sarek::__private::host::typed_value(__literal4),} = { x: 1i32, y: { 0: b, 1: 2i64 }, z: 3i64 };
         let __part0: i32 = t.x;
         let __part1: i32 = t.y.0;
         b = __part0;
         y[0usize]!0 = __part1;",
    );
}
