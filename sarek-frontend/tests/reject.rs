//! Unsupported code in kernels is reported, all of it, and at the right place.

mod common;

use common::expand;

/// Expands the kernel and compares the errors by their beginnings.
#[track_caller]
fn rejects(source: &str, expected: &[&str]) {
    let errors = expand(source).errors;
    let fits = errors.len() == expected.len()
        && errors
            .iter()
            .zip(expected)
            .all(|(error, start)| common::begins(error, start));
    assert!(fits, "expected {expected:#?}\nfound {errors:#?}");
}

#[test]
fn every_error_of_a_kernel_is_reported() {
    rejects(
        "fn k(y: &mut [f32]) { y[0] = match 1 { &_ => 2.0 }; foo(3); let ref a = 1; y[0] = 'c'; }",
        &[
            "a reference in a pattern is not",
            "`ref` is not",
            "this literal is not",
        ],
    );
}

#[test]
fn errors_of_all_phases_are_reported_at_once() {
    rejects(
        "async fn k(x: &f32, y: &mut [i128], z: &mut [u32]) { let a = x; y[0] = a; z[0] = 1.5; foo?; }",
        &[
            "a kernel cannot be `async`",
            "a kernel borrows slices only",
            "type `i128` is not supported",
            "mismatched types",
            "`?` here is not supported",
        ],
    );
    rejects(
        "fn k(y: &mut [u32]) { if thread_idx_x() < 3 { barrier(); } y[0] = 1; }",
        &[
            "some threads of the block may miss this barrier",
            "two threads may use the same element of `y`",
        ],
    );
}

#[test]
fn what_was_reported_causes_no_more_errors() {
    rejects(
        "fn k(x: &[f32], y: &mut [f32]) { let a = x; let b = a[0].sqrt() + a.len() as f32; y[0] = b; y[1] = a[1]; }",
        &["the slice `x` is not a value"],
    );
    rejects(
        "fn k(y: &mut [f32]) { let (a, b) = nonsense!(); let c = a + b; for i in 0..c { y[i] = 1.0; } }",
        &["`nonsense!` is not supported in a kernel"],
    );
}

#[test]
fn signatures_are_scalars_and_slices() {
    rejects("fn k(y: &mut [i128]) {}", &["type `i128` is not supported"]);
    rejects("fn k(y: &f32) {}", &["a kernel borrows slices only"]);
    rejects(
        "fn k(y: &[usize]) {}",
        &["`usize` cannot be the element of a slice"],
    );
    rejects("fn k(y: f32) -> f32 { y }", &["a kernel returns nothing"]);
    rejects("async fn k() {}", &["a kernel cannot be `async`"]);
    rejects(
        "fn k<'a>(x: &'a [f32]) {}",
        &["a kernel cannot name lifetimes"],
    );
    rejects(
        "fn k(ref a: f32) {}",
        &["an argument of a kernel must be a plain name"],
    );
}

#[test]
fn types_are_checked_before_rustc_sees_them() {
    rejects(
        "fn k(y: &mut [f32]) { y[0] = 1; }",
        &["mismatched types: expected `f32`, found an integer"],
    );
    rejects(
        "fn k(y: &mut [f32]) { let t = 1.0.sqrt(); }",
        &["the type must be known before `.sqrt()`"],
    );
    rejects(
        "fn k(y: &mut [f32], i: i32) { y[i] = 1.0; }",
        &["mismatched types: expected `usize`"],
    );
    rejects(
        "fn k(y: &mut [i32]) { y[0] = 3000000000; }",
        &["this literal does not fit `i32`"],
    );
}

#[test]
fn places_are_variables_and_elements_of_mutable_slices() {
    rejects(
        "fn k(x: &[f32]) { x[0] = 1.0; }",
        &["`x` cannot be written"],
    );
    rejects("fn k(n: i32) { n = 1; }", &["this argument is not mutable"]);
    rejects(
        "fn k(x: &[f32]) { let a = x; }",
        &["the slice `x` is not a value"],
    );
    rejects(
        "fn k(x: &[f32]) { let a = (&x[0], 1); }",
        &["a reference is not supported"],
    );
}

#[test]
fn control_flow_is_complete_or_rejected() {
    rejects("fn k() { break; }", &["`break` is outside a loop"]);
    rejects(
        "fn k() { loop { break 'a; } }",
        &["no enclosing loop has the label `'a`"],
    );
    rejects(
        "fn k() { while true { break 1; } }",
        &["`break` can have a value only in `loop`"],
    );
    rejects(
        "fn k() { for i in 0.. { } }",
        &["an unbounded range is not supported"],
    );
    rejects(
        "fn k() { for i in (0..9).cycle() { } }",
        &["`.cycle(…)` of an iterator is not supported"],
    );
    rejects(
        "fn k(y: &mut [i32]) { let a = if true { 1 }; }",
        &["this `if` has a value in one branch"],
    );
}

#[test]
fn attributes_and_macros_are_not_dropped() {
    rejects(
        "fn k() { #[cold] loop {} }",
        &["this attribute is not supported"],
    );
    rejects("#[inline] fn k() {}", &["this attribute is not supported"]);
    rejects(
        "fn k() { eprintln!(\"x\"); }",
        &["`eprintln!` is not supported in a kernel"],
    );
    rejects(
        "fn k() { unsafe { native!(\"cuda\", \"{z} = 1;\"); } }",
        &["`{z}` names no variable"],
    );
}

#[test]
fn stores_that_may_meet_need_an_unsafe_fn() {
    let race = "two threads may use the same element of `y`";
    rejects(
        "fn k(y: &mut [f32]) { y[global_idx_x() / 2] = 1.0; }",
        &[race],
    );
    rejects("fn k(y: &mut [f32]) { y[0] = 1.0; }", &[race]);
    rejects(
        "fn k(y: &mut [f32], w: usize) { y[global_idx_y() * w + global_idx_x()] = 1.0; }",
        &[race],
    );
    rejects(
        "fn k(y: &mut [f32]) { let i = global_idx_x(); y[i] = y[i + 1]; }",
        &[race],
    );
    rejects("unsafe fn k(y: &mut [f32]) { y[0] = 1.0; }", &[]);
    rejects(
        "fn k(y: &mut [f32], w: usize) { let x = global_idx_x(); if x < w { y[global_idx_y() * w + x] = 1.0; } }",
        &[],
    );
}

#[test]
fn the_item_survives_its_errors() {
    let tokens = expand("fn k(y: &mut [f32]) { y[0] = nonsense(); }")
        .tokens
        .to_string();
    assert!(
        tokens.contains("compile_error") && tokens.contains("nonsense ()"),
        "{tokens}"
    );
    assert!(tokens.contains("struct k"), "{tokens}");
    let tokens = expand("fn k(x: &f32, y: &mut [f32]) { y[0] = *x; }")
        .tokens
        .to_string();
    assert!(
        tokens.contains("struct k") && tokens.contains("y [0] = * x"),
        "{tokens}"
    );
}

/// The kernel's own function as rustc sees it, without the text of messages.
fn for_rustc(source: &str) -> String {
    let tokens = expand(source).tokens.to_string();
    let (_, function) = tokens
        .rsplit_once("# [cfg (not (rust_analyzer))]")
        .expect("a kernel with errors has a function for rustc");
    let mut left = String::new();
    for (i, part) in function.split('"').enumerate() {
        left.push_str(if i % 2 == 0 { part } else { "…" });
    }
    left.replace(":: core :: compile_error ! { … }", "REPORT")
}

#[test]
fn a_report_stands_in_the_place_of_what_it_is_about() {
    for (source, expected) in [
        (
            "fn k(x: &[f32], y: &mut [f32]) { y[0] = x[1].gamma() + 2.0; y[1] = 3.0; }",
            "{ y [0] = (REPORT) ; y [1] = 3.0 ; }",
        ),
        // A report is not assigned to, and an argument beside one is not reported as missing.
        ("fn k(y: &mut [u32]) { y.len() = 1; }", "{ (REPORT) ; }"),
        (
            "fn k(y: &mut [f32]) { y[0] = y[1].powi(1, 'c'); }",
            "{ y [0] = (REPORT) ; }",
        ),
        (
            "fn k(x: &[u8], z: &[u16], y: &mut [u16]) { y[0] = x[0] + z[0]; }",
            "{ y [0] = (REPORT) ; }",
        ),
        (
            "fn k(x: &[f32], y: &mut [f32]) { x[0] = y[0]; }",
            "{ (REPORT) [0] = y [0] ; }",
        ),
        // The report in place of its value determines the type of a name.
        (
            "fn k(y: &mut [u32]) { let ref a = 1; y[0] = a; }",
            "{ let ref a = (REPORT) ; y [0] = a ; }",
        ),
        // A statement stays a statement.
        (
            "fn k(y: &mut [u32]) { loop { break 'a; } y[0] = 1; }",
            "{ loop { (REPORT) ; } y [0] = 1 ; }",
        ),
        (
            "fn k(y: &mut [u32]) { let i: i128 = 1; y[0] = 1; }",
            "{ let i : :: sarek :: __private :: host :: CheckedType < { (REPORT) } , () > = 1 ; y [0] = 1 ; }",
        ),
    ] {
        let found = for_rustc(source);
        assert!(found.contains(expected), "{source}: {found}");
    }
}

#[test]
fn editors_have_the_function_as_it_was_written() {
    let tokens = expand("fn k(y: &mut [f32]) { y[0] = y[1].gamma(); }").tokens;
    let tokens = tokens.to_string();
    let (_, function) = tokens
        .split_once("# [cfg (rust_analyzer)]")
        .expect("a kernel with errors has a function for editors");
    let (function, _) = function
        .split_once("# [cfg (not (rust_analyzer))]")
        .expect("one for rustc follows");
    assert!(
        function.contains("{ y [0] = y [1] . gamma () ; }"),
        "{function}"
    );
}

#[test]
fn attributes_that_change_the_code_are_found_everywhere() {
    let kernel =
        |statement| format!("unsafe fn k(y: &mut [i32]) {{ let mut a = y[0]; {statement} }}");
    for statement in [
        "#[cfg(any())] a = 5;",
        "#[cfg(any())] a += 5;",
        "#[cfg(any())] (a) = 5;",
        "#[cfg(any())] unsafe { *y.get_unchecked_mut(0) = 5; }",
        "#[cfg(any())] *y.get_unchecked_mut(0) = 5;",
    ] {
        let expansion = expand(&kernel(statement));
        assert_eq!(expansion.errors, Vec::<String>::new(), "{statement}");
        // One copy of the kernel has the statement, and the other one does not.
        let text = expansion.tokens.to_string().replace(' ', "");
        let (without, with) = text
            .split_once("#[cfg(all(any()))]")
            .expect("the statement has a condition");
        assert!(without.contains("#[cfg(all(not(any())))]"), "{text}");
        assert!(with.contains("=5;") && !without.contains("=5;"), "{text}");
    }
    for statement in [
        "a = i32::max(#[cfg(any())] a, a);",
        "unsafe { native! { \"cuda\" => \"\", _ => { #[cfg(any())] a = 5; } } }",
    ] {
        rejects(
            &kernel(statement),
            &["this attribute is not supported in a kernel"],
        );
    }
    rejects(
        "fn k() { #![allow(unused)] }",
        &["an attribute inside the body is not supported"],
    );
}

#[test]
fn ids_are_those_of_the_crate() {
    // Another function of this name may return anything; rustc compares its result with the id.
    let kernel = common::lowered("fn k(y: &mut [i32]) { y[mine::global_idx_x()] = 1; }");
    let kernel = kernel.expect("its result may be an id").to_string();
    assert!(kernel.contains("= mine::global_idx_x()"), "{kernel}");
    rejects(
        "fn k(y: &mut [i32]) { y[mine::global_idx_x() / 2] = 1; }",
        &["two threads may use the same element of `y`"],
    );
    rejects(
        "fn k(y: &mut [i32]) { y[sarek::prelude::global_idx_x()] = 1; }",
        &[],
    );
}

#[test]
fn what_does_not_parse_is_reported_as_what_it_is_meant_to_be() {
    rejects(
        "fn k(y: &mut [f32]) { let i = 0 y[i] = 1.0; }",
        &["expected `;`"],
    );
    rejects(
        "pub unsafe fn k(y: &mut [f32]) { y[0] = ; }",
        &["expected an expression"],
    );
    let other = "`#[kernel]` is not on a function";
    for item in [
        "struct S { f: fn(f32) }",
        "impl S { fn k() {} }",
        "let x = 1;",
        "",
    ] {
        rejects(item, &[other]);
    }
}

#[test]
fn functions_of_the_facade_are_called() {
    rejects(
        "fn k(y: &mut [f32]) { let i = global_idx_x; barrier; y[global_idx_x()] = 1.0; }",
        &["`global_idx_x` is a function", "`barrier` is a function"],
    );
    let errors = expand("fn k(y: &mut [f32]) { let barrier = 1.0; y[global_idx_x()] = barrier; }");
    assert_eq!(errors.errors, Vec::<String>::new());
}

#[test]
fn near_names_of_methods_are_told() {
    for (call, instead) in [
        ("x.sqroot()", "did you mean `sqrt`?"),
        ("x.into()", "convert it with `as`"),
        ("x.transmogrified()", "use a method of numbers"),
    ] {
        let source = format!("fn k(x: f32, y: &mut [f32]) {{ y[global_idx_x()] = {call}; }}");
        let errors = expand(&source).errors;
        assert!(
            errors.len() == 1 && errors[0].contains(instead),
            "{errors:?}"
        );
    }
}

#[test]
fn an_argument_of_another_type_is_one_error() {
    for call in [
        "checked_add(1u32)",
        "checked_mul(1u32)",
        "checked_shl(1i64)",
    ] {
        let source = format!("fn k(y: &mut [i32]) {{ y[0] = y[1].{call}.unwrap_or(0); }}");
        rejects(&source, &["mismatched types"]);
    }
    let source = "fn k(y: &mut [i32]) { y[0] = y[1].midpoint(1u32); }";
    rejects(source, &["mismatched types"]);
}

#[test]
fn a_type_parameter_is_no_other_type() {
    rejects(
        "fn k<T: Num>(x: &[T], y: &mut [T], z: &mut [f32]) { y[0] = x[0] * 2.0; y[1] = 3; z[0] = x[1]; let a: (f32, u32) = x[2]; }",
        &[
            "mismatched types: expected a type parameter, found a float",
            "mismatched types: expected a type parameter, found an integer",
            "mismatched types: expected `f32`, found a type parameter",
            "mismatched types: expected a tuple or array, found a type parameter",
        ],
    );
}

#[test]
fn a_body_that_does_not_parse_is_no_other_mistake() {
    for source in [
        "fn k(y: &mut [f32]) { y[0] = 1.0 y[1] = 2.0; }",
        "fn k(y: &mut [f32]) { let i = ; }",
        "fn k(y: &mut [f32]) { y[0] = }",
    ] {
        let expansion = expand(source);
        assert_eq!(expansion.errors.len(), 1, "{:?}", expansion.errors);
        let text = expansion.tokens.to_string();
        assert!(
            !text.contains("compile_error"),
            "rustc says it in its own words: {text}"
        );
        assert!(
            text.contains("SRK0201"),
            "what rustc does parse is refused: {text}"
        );
        assert!(
            text.contains("-> :: sarek :: Launch"),
            "it is launched as ever: {text}"
        );
    }
    // The function itself is not valid Rust.
    let expansion = expand("fn k(y: &mut [f32];) { }");
    assert_eq!(expansion.errors.len(), 1, "{:?}", expansion.errors);
}

/// rustc may accept the invisible groups of `macro_rules!` where syn does not, so rustc would not
/// report an error in them.
#[test]
fn what_a_macro_wrote_is_told_at_once() {
    use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
    let tokens = |text: &str| -> TokenStream { text.parse().expect("tokens") };
    let unseen = TokenTree::Group(Group::new(Delimiter::None, tokens("1.0")));
    let mut body = tokens("y[0] = ");
    body.extend([unseen]);
    body.extend(tokens("y[1] = 2.0;"));
    let mut item = tokens("fn k(y: &mut [f32])");
    item.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
    let expansion = sarek_frontend::expand::kernel(TokenStream::new(), item);
    assert_eq!(expansion.errors.len(), 1, "{:?}", expansion.errors);
    assert!(expansion.tokens.to_string().contains("compile_error"));
}

#[test]
fn a_word_of_rusts_is_no_name() {
    for body in ["y[0] = (try != 1) as u32;", "let t = try::now();"] {
        rejects(
            &format!("fn k(y: &mut [u32]) {{ {body} }}"),
            &["`try` is a keyword, not a name"],
        );
    }
}

#[test]
fn a_word_of_rusts_is_no_constant() {
    rejects(
        "fn k(y: &mut [u32]) { #[unroll(crate)] while y[0] > 1 {} }",
        &["`crate` is not a value here"],
    );
}

#[test]
fn a_literal_of_a_closure_has_one_type_at_all_calls() {
    rejects(
        "fn k(y: &mut [u64]) { let f = |_v: u32| 70_000; let is_wide = f(1) > 3; y[0] = take(f(2)) + is_wide as u64; }",
        &["only some calls of the closure determine the type of this literal"],
    );
}

#[test]
fn names_of_expansions_are_not_the_users() {
    let message = &["`__host` begins with two underscores"];
    rejects(
        "fn k<const N: usize>(y: &mut [u32]) { let a = [7u32; __host::SUBGROUP]; y[0] = a[0] + N as u32; }",
        message,
    );
    rejects("fn k(p: r#__host::P, y: &mut [u32]) { y[0] = 1; }", message);
    let message = &["`__CHECK` begins with two underscores"];
    rejects(
        "fn k<const N: usize>(y: &mut [u32]) { let a = [7u32; __CHECK as usize]; y[0] = a[0]; }",
        message,
    );
    let message = &["`__u32` begins with two underscores"];
    rejects("fn k(y: &mut [__u32]) { y[0] = 1; }", message);
    // Expansions contain no such name behind a path or a dot, and a macro may name a variable like
    // this.
    let body = "let __x = 1; y[global_idx_x()] = __x + self::__u32;";
    rejects(&format!("fn k(y: &mut [u32]) {{ {body} }}"), &[]);
}

#[test]
fn the_optimizer_is_allowed_or_forbidden_for_kernels() {
    use quote::quote;
    let kernel = |options| {
        let item = quote!(
            fn k(y: &mut [u32]) {
                y[global_idx_x()] = 1;
            }
        );
        sarek_frontend::expand::kernel(options, item)
    };
    let wrong = kernel(quote!(optimize = 3)).errors;
    assert!(
        wrong.len() == 1 && wrong[0].contains("`optimize` is `true` or `false`"),
        "{wrong:?}"
    );
    let item = quote!(
        fn f(a: u32) -> u32 {
            a
        }
    );
    let wrong = sarek_frontend::expand::device(quote!(optimize = false), item).errors;
    assert!(
        wrong.len() == 1 && wrong[0].contains("is an option of `#[kernel]`"),
        "{wrong:?}"
    );
    for (options, allowed) in [
        (quote!(), "optimize : true"),
        (quote!(optimize = true), "optimize : true"),
        (quote!(optimize = false), "optimize : false"),
    ] {
        let text = kernel(options).tokens.to_string();
        assert!(text.contains(allowed), "{text}");
    }
}
