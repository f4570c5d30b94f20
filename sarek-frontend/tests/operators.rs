//! Operators of the user's own types: calls of the methods behind them, and operators of numbers, which stay operators.

mod common;

use common::{begins, body, device, lowered};

/// The IR of a body with values `a` and `b` of a type `V`, buffers of it, and numbers.
fn ir(statements: &str) -> String {
    let text = body(
        "a: V, b: V, p: P, s: f32, x: &[V], y: &mut [V], z: &mut [f32]",
        statements,
    );
    // The declarations of results name the callee, too.
    let is_call = |line: &&str| !line.contains(": <_ as");
    let lines: Vec<&str> = text.lines().filter(is_call).collect();
    lines.join("\n")
}

#[test]
fn operators_of_named_types_are_calls() {
    for (statement, method) in [
        ("let c = a + b;", "add"),
        ("let c = a * s;", "mul"),
        ("let c = 2.0 * a;", "mul"),
        ("let c = -a;", "neg"),
        ("let c = !x[0];", "not"),
        ("let c = a << 1;", "shl"),
        ("let mut c = a; c += b;", "add_assign"),
        ("y[0] %= 2.0;", "rem_assign"),
    ] {
        let text = ir(statement);
        let called = format!("::{method}(");
        assert_eq!(text.matches(&called).count(), 1, "{statement}: {text}");
    }
}

#[test]
fn chains_are_calls_of_the_results() {
    let text = ir("y[0] = a * 2.0 + x[1] - V::new(1.0) * (a * b);");
    for (method, count) in [("mul", 3), ("add", 1), ("sub", 1)] {
        let called = format!("::{method}(");
        assert_eq!(text.matches(&called).count(), count, "{method}: {text}");
    }
}

#[test]
fn fields_are_numbers_unless_the_kernel_shows_what_they_are() {
    let text = ir("z[0] = p.mass * p.mass + 1.0;");
    assert!(text.contains("mass * p.1.mass + 1"), "{text}");
    assert!(!text.contains("::mul("), "{text}");
    // Beside a value of the user's type, where such a value is assigned, and with parts of their own.
    for statement in [
        "let c = p.speed * 2.0 + a;",
        "y[0] = p.speed * 2.0;",
        "let c: V = p.speed * s;",
        "let d = p.speed.x; let c = p.speed * 2.0;",
        "let v: V = p.speed; let c = v * 2.0;",
    ] {
        let text = ir(statement);
        assert_eq!(text.matches("::mul(").count(), 1, "{statement}: {text}");
    }
}

#[test]
fn a_place_is_read_before_the_right_operand_and_written_after_the_call() {
    let text = ir("y[f(1)] += a * 2.0;");
    let index = text.find("f(").expect("the index is evaluated");
    let called = text.find("::add_assign(").expect("the operator is called");
    let stored = text.rfind("y[").expect("the element is written");
    assert!(index < called && called < stored, "{text}");
}

#[test]
fn orders_that_depend_on_the_type_are_reported() {
    let source = "fn k(a: V, y: &mut [V]) { let mut n = 0usize; y[f(&mut n)] += g(&mut n, a); }";
    let errors = lowered(source).expect_err("both operands change `n`");
    let start = "the order in which the operands of this are evaluated depends on their type";
    assert!(errors.iter().any(|e| begins(e, start)), "{errors:#?}");
}

#[test]
fn references_are_no_operands() {
    for statement in [
        "let r = &x[0]; y[0] = r + a;",
        "for v in x { y[0] += v; }",
        "let r = &mut y[0]; *r += a; z[0] = (a + r).x;",
    ] {
        let source =
            format!("unsafe fn k(a: V, x: &[V], y: &mut [V], z: &mut [f32]) {{ {statement} }}");
        let errors = lowered(&source).expect_err("it is a reference");
        let start = "this may be a reference";
        assert!(
            errors.iter().any(|e| begins(e, start)),
            "{statement}: {errors:#?}"
        );
    }
}

#[test]
fn an_impl_of_an_operator_implements_the_trait_of_kernels_too() {
    let expanded = |source: &str| {
        let expansion = device(source);
        assert_eq!(expansion.errors, Vec::<String>::new());
        expansion.tokens.to_string()
    };
    let method = "{ type Output = V; fn mul(self, by: f32) -> V { V { x: self.x * by } } }";
    for path in [
        "Mul<f32>",
        "ops::Mul<f32>",
        "std::ops::Mul<f32>",
        "core::ops::Mul<f32>",
    ] {
        let text = expanded(&format!("impl {path} for V {method}"));
        assert!(
            text.contains("operators :: DeviceMul < f32 > for V"),
            "{text}"
        );
        // rustc checks that it is the trait of `core`.
        assert!(text.contains(":: core :: ops :: Mul < f32 >"), "{text}");
    }
    // The right operand is the type itself by default.
    let text = expanded("impl Sub for V { type Output = V; fn sub(self, o: V) -> V { self } }");
    assert!(
        text.contains("operators :: DeviceSub < V > for V"),
        "{text}"
    );
    let text = expanded("impl Mul<V> for f32 { type Output = V; fn mul(self, v: V) -> V { v } }");
    assert!(
        text.contains("operators :: DeviceMul < V > for f32"),
        "{text}"
    );
    // A trait of another path is the user's own.
    let text = expanded("impl shapes::Add for V { fn add(self) -> f32 { self.x } }");
    assert!(!text.contains("operators ::"), "{text}");
}

#[test]
fn a_comparison_has_rustc_check_that_it_is_derived() {
    let expanded = |statement: &str| {
        let source = format!("fn k(a: V, x: &[V], z: &mut [u32]) {{ {statement} }}");
        common::expand(&source).tokens.to_string()
    };
    let text = expanded("let i = global_idx_x(); z[i] = (x[i] == a) as u32;");
    assert!(text.contains("__is_derived"), "{text}");
    assert!(text.contains("are_equal :: < V >"), "{text}");
    let text = expanded("let i = global_idx_x(); z[i] = (z[i] == 1) as u32;");
    assert!(!text.contains("__is_derived"), "{text}");
}

#[test]
fn types_with_parameters_are_not_compared() {
    let source = "fn k<T: Num>(a: Pair<T>, x: &[Pair<T>], z: &mut [u32]) { let i = global_idx_x(); z[i] = (x[i] == a) as u32; }";
    let errors = lowered(source).expect_err("`T` means nothing outside of the kernel");
    let start = "kernels compare values of a type of your own only if";
    assert!(errors.iter().any(|e| begins(e, start)), "{errors:#?}");
}

#[test]
fn elements_of_a_type_parameter_are_read_before_others_are_borrowed() {
    let expanded = |generics: &str, ty: &str| {
        let source = format!(
            "fn k{generics}(x: &[{ty}], y: &mut [{ty}]) {{ let s = shared_array::<{ty}, 4>(); let t = thread_idx_x(); \
             s[t] = x[t]; barrier(); if t < 2 {{ s[t] += s[t + 2]; }} y[global_idx_x()] = s[t]; }}"
        );
        common::expand(&source).tokens.to_string()
    };
    let read_first = "let __value = s [t + 2";
    let text = expanded("<T: Num>", "T");
    assert!(text.contains(read_first), "{text}");
    let text = expanded("", "f32");
    assert!(!text.contains(read_first), "{text}");
}
