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
            .all(|(error, start)| common::begins(error, start));
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
fn a_question_is_a_return_with_what_is_bad() {
    let text = ir("fn f(x: Option<u32>) -> Option<u32> { Some(x? + 1) }");
    let left = "if value {\n        result = None { };\n        return;\n    }";
    assert!(text.contains(left), "{text}");
    assert!(text.contains("= x.1.Some.0;"), "{text}");
    // Of what only rustc knows.
    let text = ir("fn f(x: u32) -> Result<u32, f32> { Ok(g(x)? + 1) }");
    assert!(text.contains("if t.is(Ok) {"), "{text}");
    let left = "= t.Err.0;\n        value.3 = value.2;\n        result = Err { 0: value.3 };\n        return;";
    assert!(text.contains(left), "{text}");
    rejects(
        "fn f(x: Option<u32>, y: u32) -> Result<u32, f32> { x?; y?; Ok(1) }",
        &[
            "`?` of an `Option`, in a function that returns a `Result`, is not",
            "`?` of a value that is not an `Option` or `Result` is not",
        ],
    );
    rejects(
        "fn f(x: Result<u32, i32>) -> Result<u32, f32> { Ok(x?) }",
        &["mismatched types: expected `f32`, found `i32`"],
    );
}

/// Compiled bodies depend on a closure that is the function, if there can be one.
#[test]
fn callers_are_audited_by_a_closure() {
    let audited = |source: &str| {
        let tokens = device(source).tokens.to_string();
        let known = tokens.contains("host :: if_type_checked :: < { __GATE } , _ >");
        assert_eq!(known, tokens.contains("__GATE : "), "{tokens}");
        known
    };
    assert!(audited("fn f(x: f32) -> f32 { g(x) }"));
    assert!(audited(
        "impl P { fn f(&self, x: f32) -> f32 { self.g(x) } }"
    ));
    // By what a guess says of their parameters.
    assert!(audited("fn f<T: Float>(x: T) -> T { g(x) }"));
    assert!(audited("fn f<'a>(x: &'a [f32]) -> f32 { g(x) }"));
    assert!(audited("fn f(h: impl Fn(f32) -> f32) -> f32 { g(h(1.0)) }"));
    assert!(audited(
        "impl<T: Num> S for P<T> { fn f(&self, x: f32) -> f32 { self.g(x) } }"
    ));
    // It calls nothing.
    assert!(!audited("fn f(x: f32) -> f32 { x }"));
    // It names what only its trait has.
    assert!(!audited(
        "impl S for P { type Of = f32; fn f(&self, x: f32) -> f32 { self.g(x) } }"
    ));
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
        &["a `#[device]` function calls itself outside"],
    );
    rejects(
        "fn f(n: u32) -> u32 { let m = f(n); m }",
        &["a `#[device]` function calls itself outside"],
    );
    rejects(
        "fn f(a: &mut u32, b: &mut u32, n: u32) { if n > 0 { f(b, a, n - 1); } }",
        &["the recursive call passes other slices"],
    );
}

#[test]
fn signatures_have_meanings() {
    rejects(
        "async fn f() {}",
        &["a `#[device]` function cannot be `async`"],
    );
    rejects(
        "fn f(ref a: u32) {}",
        &["a parameter of a `#[device]` function must be a plain name"],
    );
    rejects(
        "fn f<const N: usize>(a: &[f32; N]) {}",
        &["arrays are passed as slices, and a slice does not determine a constant parameter"],
    );
    rejects(
        "fn f(g: impl Clone) {}",
        &["only `impl Fn`, `impl FnMut` and `impl FnOnce` are"],
    );
    rejects(
        "fn f(a: u32) -> u32 {}",
        &["this function returns a value, but there is none"],
    );
    rejects("fn f(a: u32) { a }", &["this function returns nothing"]);
    rejects("struct S;", &["`#[device]` is not on a function"]);
    rejects(
        "impl Shape for f32 { fn area(&self) -> f32 { *self } }",
        &["a `#[device]` impl of a trait cannot be for a number"],
    );
}

#[test]
fn methods_may_be_generic_by_themselves() {
    let own = "< U : Num , const N : usize , const __CHECK";
    let expansion = device(
        "impl<T> P<T> { fn f<U: Num, const N: usize>(&self, by: U) -> f32 { by.to_f32() } }",
    );
    assert_eq!(expansion.errors, Vec::<String>::new());
    let text = expansion.tokens.to_string();
    assert!(text.contains(&format!("__sarek_body_f {own}")), "{text}");
    assert!(
        text.contains("struct __sarek_P___T___f < T , U , const N : usize >"),
        "{text}"
    );
    let expansion = device("trait Shape { fn map<T: Num>(&self, to: T) -> T; }");
    assert_eq!(expansion.errors, Vec::<String>::new());
    let text = expansion.tokens.to_string();
    assert!(
        text.contains("type map_needs_device_before_the_impl < T : Num , > :"),
        "{text}"
    );
    let kernel = lowered(
        "fn k(y: &mut [f32]) { let p: P = P::new::<f32>(1.0); y[global_idx_x()] = p.f::<4>() + p.f(); }",
    );
    let text = kernel.expect("it has no errors").to_string();
    for call in ["P::new::<f32>(", "P::f::<4>(", "P::f("] {
        assert!(text.contains(call), "{call}: {text}");
    }
}

#[test]
fn methods_are_found_through_values_of_unnamed_types() {
    let kernel = lowered(
        "fn k(y: &mut [f32], s: S) { y[global_idx_x()] = s.from.plus(s.to).norm() + norm(s).half::<f32>(); }",
    );
    let text = kernel.expect("it has no errors").to_string();
    for call in ["_::plus(s.1.from, s.1.to)", "_::norm(", "_::half::<f32>("] {
        assert!(text.contains(call), "{call}: {text}");
    }
    let item = "impl P { fn norm(&self) -> f32 { self.x } fn new() -> P { P { x: 1.0 } } }";
    let text = device(item).tokens.to_string();
    assert!(
        text.contains("fn __norm_where_the_type_is_not_written"),
        "{text}"
    );
    assert!(!text.contains("fn __new_where"), "{text}");
    let unknown = lowered("fn k(y: &mut [f32]) { let p; y[global_idx_x()] = p.norm(); }");
    let errors = unknown.expect_err("nothing tells the type");
    assert!(
        errors[0].contains("the type must be known before `.norm()`"),
        "{errors:?}"
    );
}

#[test]
fn an_impl_has_the_items_of_methods_that_its_trait_declares() {
    let declared = "fn area(&self, k: f32) -> f32; fn map<T: Num>(&self, to: T) -> T;";
    let fitting = |given: &str| {
        let tokens = format!("[::sarek] [{declared}] {given}");
        let tokens = sarek_frontend::emit::impls::fitting(tokens.parse().expect("tokens"));
        tokens.to_string()
    };
    let map = "type map_needs_device_before_the_impl < __P0 : Num , > = \
               :: sarek :: __private :: host :: Unmarked ;";
    let area = map.replace("map", "area").replace(" __P0 : Num , ", " ");
    let of_area = area.replace(":: sarek :: __private :: host :: Unmarked", "OfArea");
    // One that is missing, and one too many.
    let text = fitting(
        "fn area(&self, k: f32) -> f32 { [] [Disc] Shape_area OfArea }
         fn more(&self) { [] [Disc] Shape_more OfMore }",
    );
    assert_eq!(text.replace(" <  >", " < >"), format!("{of_area} {map}"));
    // What names of types mean is not known here.
    let text = fitting(
        "fn area(&self, by: Length) -> <Disc as Unit>::Area { [] [Disc] Shape_area OfArea }",
    );
    assert_eq!(text.replace(" <  >", " < >"), format!("{of_area} {map}"));
    for other in [
        "fn area(&self) -> f32",
        "fn area(&mut self, k: f32) -> f32",
        "fn area(self, k: f32) -> f32",
        "fn area(k: f32) -> f32",
        "fn area(&self, k: u32) -> f32",
        "fn area(&self, k: &f32) -> f32",
        "fn area(&self, k: &[f32]) -> f32",
        "fn area(&self, k: f32) -> u32",
        "fn area(&self, k: f32)",
        "fn area<T: Num>(&self, k: f32) -> f32",
    ] {
        let text = fitting(&format!("{other} {{ [] [Disc] Shape_area OfArea }}"));
        assert_eq!(
            text.replace(" <  >", " < >"),
            format!("{area} {map}"),
            "{other}"
        );
    }
    let text = fitting("fn map<U: Num>(&self, to: U) -> U { [] [Disc] Shape_map OfMap<U> }");
    assert!(text.ends_with("< U : Num , > = OfMap < U > ;"), "{text}");
    // One with errors has no items.
    let text = fitting("fn area(&self, k: f32) -> f32 { [] [Disc] }");
    assert_eq!(text.replace(" <  >", " < >"), format!("{area} {map}"));
    for odd in ["", "[", "[] []", "[::sarek] [fn] fn", "[::sarek] [;] {}"] {
        if let Ok(tokens) = odd.parse() {
            assert!(sarek_frontend::emit::impls::fitting(tokens).is_empty());
        }
    }
}

#[test]
fn traits_declare_what_their_impls_have() {
    let declared = device("trait Shape { const N: u32; fn area(&self) -> f32; }");
    let of_impl = device("impl Shape for Disc { fn area(&self) -> f32 { self.r } }");
    for (expansion, prefix) in [(&declared, ""), (&of_impl, "_Shape")] {
        assert_eq!(expansion.errors, Vec::<String>::new());
        let text = expansion.tokens.to_string();
        for what in ["infer", "body", "block"] {
            let name = format!("__sarek_{what}{prefix}_area");
            assert!(text.contains(&name), "{what}: {text}");
        }
    }
    let text = of_impl.tokens.to_string();
    assert!(
        text.contains("device_trait ! { [\"SRK0701: `Shape` is not a `#[device]` trait"),
        "{text}"
    );
    let given = "{ [] [Disc] Shape_area __sarek_Disc_Shape_area < > }";
    assert!(text.contains(given), "{text}");
    let text = declared.tokens.to_string();
    let name = "type area_needs_device_before_the_impl";
    assert!(text.contains(name), "{text}");
    assert!(text.contains("use __sarek_marked_Shape as Shape"), "{text}");
    rejects(
        "trait Shape { fn twice(&self) -> f32 { 2.0 } }",
        &["a method of a `#[device]` trait cannot have a default body"],
    );
    let kernel = lowered(
        "fn k<S: Shape>(y: &mut [f32], s: S) { y[global_idx_x()] = s.area() + <S as Shape>::area(&s); }",
    );
    let text = kernel.expect("it has no errors").to_string();
    assert!(
        text.contains("= S::area(") && text.contains("= <S as Shape>::area("),
        "{text}"
    );
    let errors = lowered("fn k(y: &mut [f32]) { y[global_idx_x()] = <f32 as Float>::sqrt(2.0); }");
    assert!(errors.expect_err("it is rejected")[0].contains("calling this is not supported"));
}

#[test]
fn references_are_no_values() {
    rejects(
        "fn f(a: &u32) -> u32 { let b = a; *b }",
        &["`a` is a reference"],
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
            common::begins(
                &errors[0],
                "threads that call this may write the same element of `y`"
            ),
            "{errors:?}"
        );
    }
    assert!(safe("let mut a = [0.0f32; 4]; g(&mut a); y[global_idx_x()] = a[0];").is_ok());
}

#[test]
fn conversions_are_those_of_num() {
    let kernel = "fn k<T: Num>(y: &mut [T]) { y[global_idx_x()] = T::from_f32(1.0).to_i32(); }";
    let text = lowered("fn k<T: Num>(y: &mut [T]) { y[global_idx_x()] = T::from_f32(1.0); }");
    assert!(text.expect("it has no errors").to_string().contains("as T"));
    let errors = lowered(kernel).expect_err("`i32` is not `T`");
    assert!(
        common::begins(
            &errors[0],
            "mismatched types: expected a type parameter, found `i32`"
        ),
        "{errors:?}"
    );
    let errors = lowered("fn k<T: Num>(y: &mut [T]) { y[0] = T::parse(1.0); }").expect_err("none");
    assert!(
        common::begins(&errors[0], "type parameters have no function `parse`"),
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
        ("let f = |x| x; y[0] = f;", "the closure `f` is not a value"),
        (
            "let f = |x| x; y[0] = f(1.0, 2.0);",
            "this closure takes 1 arguments, but the call has 2",
        ),
        ("y[0] = |x| x;", "a closure here is not supported"),
        ("let f = |x| { break; }; loop { f(1.0); }", "`break`"),
    ] {
        let error = rejected(body);
        assert!(common::begins(&error, start), "{error}");
    }
}

/// The expansion of an intrinsic.
fn intrinsic(attribute: &str, source: &str) -> sarek_frontend::expand::Expansion {
    let tokens = |text: &str| text.parse().expect("tokens");
    sarek_frontend::expand::device(tokens(attribute), tokens(source))
}

#[test]
fn an_intrinsic_is_native_text_to_be() {
    let expansion = intrinsic(
        "intrinsic",
        "fn f(x: f32, n: u32) -> f32 { if n == 0 { return x; } x.sqrt() }",
    );
    assert_eq!(expansion.errors, Vec::<String>::new());
    let text = expansion.kernel.expect("it has no errors").to_string();
    for part in [
        "let operand: f32 = x;",
        "intrinsic f => \"{operand}{operand.1}\"",
        "value = x.sqrt();",
        "result = value;",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let named = intrinsic(
        "intrinsic = \"fast sqrt\"",
        "fn f(x: f32) -> f32 { x.sqrt() }",
    );
    let text = named.kernel.expect("it has no errors").to_string();
    assert!(text.contains("intrinsic fast sqrt =>"), "{text}");
}

#[test]
fn what_texts_cannot_speak_of_is_no_intrinsic() {
    for (source, due) in [
        (
            "fn f(x: &[f32]) -> f32 { x[0] }",
            "an intrinsic takes scalars by value",
        ),
        (
            "fn f(x: P) -> f32 { x.a }",
            "an intrinsic takes scalars by value",
        ),
        ("fn f(x: f32) { }", "an intrinsic must return a scalar"),
        (
            "fn f(x: f32) -> (f32, f32) { (x, x) }",
            "an intrinsic must return a scalar",
        ),
        (
            "fn f<T: Float>(x: f32) -> f32 { x }",
            "an intrinsic cannot be generic",
        ),
    ] {
        let errors = intrinsic("intrinsic", source).errors;
        assert!(
            errors.iter().any(|e| e.contains(due)),
            "{source}: {errors:?}"
        );
    }
    let errors = intrinsic("intrinsic = 3", "fn f(x: f32) -> f32 { x }").errors;
    assert!(
        errors[0].contains("an intrinsic needs the name"),
        "{errors:?}"
    );
    let errors = intrinsic("env(a)", "fn f(x: f32) -> f32 { x }").errors;
    assert!(
        errors[0].contains("`env` is an option of `#[kernel]`"),
        "{errors:?}"
    );
    let errors = intrinsic("requires(x > 0.0)", "fn f(x: f32) -> f32 { x }").errors;
    assert!(
        errors[0].contains("`requires` is an option of `#[kernel]`"),
        "{errors:?}"
    );
}

#[test]
fn closures_are_given_to_functions() {
    let text = common::body(
        "y: &mut [f32]",
        "let i = global_idx_x(); let by = 2.0; let f = |x| x * by; y[i] = apply(&f, 1.0) + apply(square, f(3.0));",
    );
    assert!(
        text.contains("apply(1.0f64, |x: apply(#0)| -> value"),
        "what the closure takes is told by its other call: {text}"
    );
    assert!(text.contains(", square)"), "{text}");
    let text = ir("fn f<F: Fn(u32) -> u32>(g: F, n: u32) -> u32 { h(&g, g(n)) }");
    assert!(text.contains("= g(n)") && text.contains("= h("), "{text}");
    rejects(
        "fn f(g: impl Fn(f32) -> f32, x: f32) -> f32 { barrier(); g(x) }",
        &["the threads of a block work together in this function, so it cannot take closures"],
    );
    rejects(
        "fn f(g: impl Fn(&f32) -> f32) {}",
        &["a callable parameter takes and returns values"],
    );
    rejects(
        "fn f(g: impl Fn(f32) -> f32, x: f32) -> f32 { f(g, x) }",
        &["a function that takes closures calls itself"],
    );
    rejects(
        "fn f(g: impl Fn(u32)) { g(1, 2); }",
        &["this takes 1 arguments"],
    );
}

#[test]
fn closures_that_are_given_run_alone() {
    for (body, start) in [
        (
            "apply(|x| { barrier(); x });",
            "threads cannot work together in a closure",
        ),
        (
            "apply(|x| { for k in 0..2 { subgroup_sum(x); } x });",
            "threads cannot work together in a closure",
        ),
        (
            "apply(|x| { let s = shared_array::<u32, 8>(); s[0] });",
            "a shared array",
        ),
        (
            "each(|k| y[k] = 1.0);",
            "two threads may use the same element of `y`",
        ),
        (
            "let s = shared_array::<u32, 8>(); s[thread_idx_x()] = 1; let n = apply(|k| s[k]);",
            "two threads of a block may use the same element of `s`",
        ),
        ("let f = |x| apply(&f, x); f(1);", "rustc"),
    ] {
        let kernel = lowered(&format!("fn k(y: &mut [f32]) {{ {body} }}"));
        match start {
            // The name is not bound there.
            "rustc" => assert!(kernel.is_ok()),
            _ => {
                let errors = kernel.expect_err("it is rejected");
                assert!(errors[0].contains(start), "{errors:?}");
            }
        }
    }
    let own = "fn k(y: &mut [f32]) { let i = global_idx_x(); each(|v| y[i] = v); }";
    assert!(lowered(own).is_ok());
}

#[test]
fn a_method_is_not_marked_alone() {
    rejects(
        "fn area(&self) -> f32 { self.r }",
        &["`#[device]` is on a single method"],
    );
    rejects(
        "fn unit() -> Option<Self> { None }",
        &["`#[device]` is on a single method"],
    );
}
