use super::{ByResults, Form, Part, Scale, check};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Argument, Axis, Builtin, Expr, Kernel, Precondition, Scalar, Stmt};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const Y: Builtin = Builtin::GlobalIdx(Axis::Y);

/// Stores at the result of `at(args)`.
fn store_at<'s>(s: &'s Sketch, args: &[SketchExpr<'_>]) -> SketchLocal<'s> {
    let function = s.function("at");
    let result = s.let_uninit("value", Scalar::Usize);
    let args: Vec<Argument> = args.iter().map(|arg| Argument::Value(arg.id)).collect();
    s.call_function(function, &args, Some(result));
    result
}

fn kernel(fill: impl FnOnce(&Sketch)) -> Kernel {
    let s = Sketch::new("k");
    fill(&s);
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    assert!(super::super::check(&kernel).is_err(), "{kernel}");
    kernel
}

/// The products of a form, without the number that is added.
fn products(form: &Form) -> Vec<(Vec<u32>, bool, Scale)> {
    let terms = form.terms.iter().filter(|term| !term.arguments.is_empty());
    let each = terms.map(|term| {
        let positions = term.arguments.iter().map(|of| match of {
            Part::Argument(of) => of.position,
            Part::Tree(tree) => panic!("{tree:?}"),
        });
        (positions.collect(), term.is_negative, term.scale.clone())
    });
    each.collect()
}

/// `if column < width { y[at(row, column, width)] = 1.0; }`
fn row_major() -> Kernel {
    kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let width = s.scalar("width", Scalar::Usize);
        let (column, row) = (s.let_("column", s.id(X)), s.let_("row", s.id(Y)));
        s.if_(column.get().lt(s.arg(width)), || {
            let at = store_at(s, &[row.get(), column.get(), s.arg(width)]);
            s.store(y, at.get(), s.f32(1.0));
        });
    })
}

#[test]
fn rows_and_columns() {
    let ByResults {
        kernel,
        preconditions,
        functions,
    } = check(&row_major()).expect("the usual form");
    let [function] = &functions[..] else {
        panic!("one function: {functions:?}");
    };
    let row_major = vec![
        (vec![0, 2], false, Scale::One),
        (vec![1], false, Scale::One),
    ];
    assert!(
        function
            .forms
            .iter()
            .any(|form| products(form) == row_major)
    );
    // The store uses the form, and the preconditions are about it.
    let stored = kernel.stmts.iter().find_map(|stmt| match stmt {
        Stmt::Store { index, .. } => Some(*index),
        _ => None,
    });
    let stored = stored.expect("the store");
    assert!(
        matches!(kernel.expr(stored), Expr::Local(local) if !kernel.locals[local.index()].mutable)
    );
    assert!(preconditions.contains(&Precondition::NoOverflow(stored)));
    assert!(preconditions.contains(&Precondition::SingleThread(Axis::Z)));
    assert!(!preconditions.contains(&Precondition::SingleThread(Axis::Y)));
    assert_eq!(super::super::check(&kernel).map(|_| ()), Ok(()), "{kernel}");
}

#[test]
fn the_other_order_is_no_form() {
    let functions = check(&row_major()).expect("the usual form").functions;
    let other = vec![
        (vec![1, 2], false, Scale::One),
        (vec![0], false, Scale::One),
    ];
    let forms = functions[0].forms.iter();
    assert!(!forms.map(products).any(|form| form == other));
}

#[test]
fn no_form_without_a_guard() {
    let open = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let width = s.scalar("width", Scalar::Usize);
        let at = store_at(s, &[s.id(Y), s.id(X), s.arg(width)]);
        s.store(y, at.get(), s.f32(1.0));
    });
    let needs_one_thread = |found: ByResults| {
        let single = |axis| {
            found
                .preconditions
                .contains(&Precondition::SingleThread(axis))
        };
        single(Axis::X) || single(Axis::Y)
    };
    assert!(check(&open).is_none_or(needs_one_thread));
}

#[test]
fn no_form_of_arguments_that_threads_share() {
    let half = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let at = store_at(s, &[s.id(X).divide(crate::DivideOp::Div, s.n(2))]);
        s.store(y, at.get(), s.f32(1.0));
    });
    assert!(check(&half).is_none());
    let loaded = kernel(|s| {
        let (x, y) = (s.slice("x", Scalar::U32), s.slice_mut("y", Scalar::F32));
        let at = store_at(s, &[s.load(x, s.id(X)).cast(Scalar::Usize)]);
        s.store(y, at.get(), s.f32(1.0));
    });
    assert!(check(&loaded).is_none());
    let nothing = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let at = store_at(s, &[]);
        s.store(y, at.get(), s.f32(1.0));
    });
    // Only ids may tell the threads apart.
    let ids = trees(&nothing);
    assert!(
        !ids.is_empty() && !ids.iter().any(|text| text.contains('p')),
        "{ids:?}"
    );
}

#[test]
fn a_changed_result_is_not_replaced() {
    let changed = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let at = store_at(s, &[s.id(X)]);
        s.set(at, at.get() - s.n(2));
        s.store(y, at.get(), s.f32(1.0));
    });
    assert!(check(&changed).is_none());
}

/// The value of the argument is that before the call, not that at the store.
#[test]
fn arguments_are_read_before_the_call() {
    let moved = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let i = s.let_mut("i", s.id(X));
        let at = store_at(s, &[i.get()]);
        s.set(i, s.n(0));
        s.store(y, at.get(), s.f32(1.0));
    });
    let found = check(&moved).expect("one element for each thread");
    let call = &found.kernel.calls[0];
    let Argument::Value(argument) = call.args[0] else {
        panic!("a value");
    };
    assert!(
        matches!(found.kernel.expr(argument), Expr::Local(local) if !found.kernel.locals[local.index()].mutable)
    );
    let reset = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let i = s.let_mut("i", s.id(X));
        s.set(i, s.n(0));
        let at = store_at(s, &[i.get()]);
        s.store(y, at.get(), s.f32(1.0));
    });
    assert!(check(&reset).is_none());
}

/// `y[at(i)] = 1.0` in two places: the calls have one form and one set of coefficients.
#[test]
fn calls_of_one_function_share_their_form() {
    let twice = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let first = store_at(s, &[s.id(X)]);
        s.store(y, first.get(), s.f32(1.0));
        let second = store_at(s, &[s.id(X)]);
        s.store(y, second.get(), s.f32(2.0));
    });
    let found = check(&twice).expect("one element for each thread");
    assert_eq!(found.functions.len(), 1);
    assert_eq!(found.functions[0].calls.len(), 2);
    let neighbour = kernel(|s| {
        let y = s.slice_mut("y", Scalar::F32);
        let first = store_at(s, &[s.id(X)]);
        s.store(y, first.get(), s.f32(1.0));
        let second = store_at(s, &[s.id(X) + s.n(1)]);
        s.store(y, second.get(), s.f32(2.0));
    });
    assert!(check(&neighbour).is_none());
}

/// The texts of the values in forms that are no polynomials.
fn trees(kernel: &Kernel) -> Vec<String> {
    let found = check(kernel).map(|found| found.functions);
    let forms = found.into_iter().flatten().flat_map(|of| of.forms);
    let parts = forms.flat_map(|form| form.terms).flat_map(|t| t.arguments);
    let texts = parts.filter_map(|part| match part {
        Part::Tree(tree) => Some(tree.text(kernel)),
        Part::Argument(_) => None,
    });
    texts.collect()
}

#[test]
fn values_that_are_no_polynomials() {
    let of = |is_guarded: bool| {
        kernel(|s| {
            let y = s.slice_mut("y", Scalar::F32);
            let [by, n] = ["by", "n"].map(|name| s.scalar(name, Scalar::Usize));
            let i = s.let_("i", s.id(X));
            let store = || {
                let at = store_at(s, &[i.get(), s.arg(by), s.arg(n)]);
                s.store(y, at.get(), s.f32(1.0));
            };
            match is_guarded {
                true => s.if_(i.get().lt(s.arg(n)), store),
                false => store(),
            }
        })
    };
    let [ring, last, flipped] = ["(% (+ p0 p1) p2)", "(min (- p2 1) p0)", "(^ p0 p1)"];
    let guarded = trees(&of(true));
    for form in [ring, last, flipped] {
        assert!(guarded.iter().any(|text| text == form), "{guarded:?}");
    }
    // Threads from `n` on would meet others.
    let open = trees(&of(false));
    assert!(
        !open.iter().any(|text| text == ring || text == last),
        "{open:?}"
    );
    assert!(!open.iter().any(|text| text == "(/ p0 p1)"), "{open:?}");
}

#[test]
fn a_function_may_read_ids() {
    let of = |is_guarded: bool| {
        kernel(|s| {
            let y = s.slice_mut("y", Scalar::F32);
            let width = s.scalar("width", Scalar::Usize);
            let store = || {
                let at = store_at(s, &[s.arg(width)]);
                s.store(y, at.get(), s.f32(1.0));
            };
            match is_guarded {
                true => s.if_(s.id(X).lt(s.arg(width)), store),
                false => store(),
            }
        })
    };
    assert_eq!(trees(&of(true)), ["global_idx_y", "global_idx_x"]);
    // Without the guard, the rows overlap.
    assert!(!trees(&of(false)).contains(&"global_idx_y".into()));
}
