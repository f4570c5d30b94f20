use super::{Rule, validate};
use crate::sketch::Sketch;
use crate::{
    Access, Axis, Block, Builtin, Expr, ExprId, Intrinsic, Kernel, LabelId, Link, LinkId, List,
    LocalId, NativeText, ParamId, ParamKind, Precondition, Scalar, SiteKind, Stmt, UnaryOp, Unroll,
    Value,
};

/// The rules that a kernel breaks.
fn broken(kernel: &Kernel) -> Vec<Rule> {
    match validate(kernel) {
        Ok(()) => vec![],
        Err(violations) => violations.iter().map(|v| v.rule).collect(),
    }
}

/// Damages a sound kernel, and returns the rules that it breaks then.
fn after(damage: impl FnOnce(&mut Kernel)) -> Vec<Rule> {
    let mut kernel = sound();
    assert_eq!(broken(&kernel), []);
    damage(&mut kernel);
    broken(&kernel)
}

/// Statement 0 is the `let`, 1 the store, 2 the `if`.
fn sound() -> Kernel {
    let s = Sketch::new("sound");
    let x = s.slice("x", Scalar::F32);
    let y = s.slice_mut("y", Scalar::F32);
    s.scalar("a", Scalar::I32);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.if_(i.get().lt(s.len(y)), || {
        s.store(y, i.get(), s.load(x, i.get()))
    });
    s.finish()
}

/// The index of the first expression that satisfies a predicate.
fn find(kernel: &Kernel, form: impl Fn(Expr) -> bool) -> usize {
    kernel
        .exprs
        .iter()
        .position(|e| form(*e))
        .expect("the sketch has one")
}

#[test]
fn tables_are_parallel() {
    assert_eq!(
        after(|k| k.expr_locs.to_mut().truncate(1)),
        [Rule::ParallelTables]
    );
}

#[test]
fn handles_are_in_range() {
    let far = after(|k| {
        k.stmts.to_mut()[0] = Stmt::Let {
            local: LocalId(9),
            init: None,
        }
    });
    assert!(far.contains(&Rule::HandleInRange));
    let list = List { start: 0, len: 99 };
    assert_eq!(after(|k| k.body = Block(list)), [Rule::HandleInRange]);
    let wraps = List {
        start: u32::MAX,
        len: 2,
    };
    assert_eq!(after(|k| k.body = Block(wraps)), [Rule::HandleInRange]);
}

#[test]
fn an_expression_is_used_once() {
    let s = Sketch::new("k");
    let one = s.n(1);
    s.let_("a", one + one);
    assert_eq!(broken(&s.finish()), [Rule::Forest]);
}

#[test]
fn a_block_does_not_contain_itself() {
    let rules = after(|k| {
        let body = k.body;
        let Stmt::If {
            cond, otherwise, ..
        } = k.stmts[2]
        else {
            unreachable!()
        };
        k.stmts.to_mut()[2] = Stmt::If {
            cond,
            then: body,
            otherwise,
        };
    });
    assert!(rules.contains(&Rule::Forest));
}

#[test]
fn labels() {
    let s = Sketch::new("k");
    s.break_(LabelId(4));
    s.loop_(|_| {});
    s.loop_(|l| s.continue_(l));
    let mut kernel = s.finish();
    assert_eq!(broken(&kernel), [Rule::LabelInScope]);
    kernel.stmts.to_mut()[0] = Stmt::Return;
    for stmt in kernel.stmts.to_mut() {
        if let Stmt::Loop { label, .. } | Stmt::Continue { label } = stmt {
            *label = LabelId(0);
        }
    }
    assert_eq!(broken(&kernel), [Rule::LabelUnique]);
}

#[test]
fn hints_of_loops() {
    let asked = |unroll| {
        let s = Sketch::new("k");
        s.loop_(|l| s.unroll(l, unroll));
        let mut kernel = s.finish();
        let (path, ty) = ("N".into(), Scalar::F32.into());
        kernel.links.to_mut().push(Link { path, ty });
        broken(&kernel)
    };
    assert_eq!(asked(Unroll::Whole), []);
    assert_eq!(asked(Unroll::Times(Unroll::MOST)), []);
    for times in [0, Unroll::MOST + 1] {
        assert_eq!(asked(Unroll::Times(times)), [Rule::Unroll]);
    }
    assert_eq!(asked(Unroll::Link(LinkId(0))), [Rule::Unroll]);
    assert_eq!(asked(Unroll::Link(LinkId(1))), [Rule::HandleInRange]);
}

#[test]
fn locals_live_in_their_block() {
    let s = Sketch::new("k");
    let escaped = std::cell::Cell::new(None);
    s.if_(s.lit(Value::Bool(true)), || {
        escaped.set(Some(s.let_("a", s.n(1))))
    });
    let a = escaped.get().expect("set above");
    s.let_("b", a.get());
    s.set(a, s.n(1));
    assert_eq!(
        broken(&s.finish()),
        [Rule::LocalInScope, Rule::LocalInScope, Rule::AssignMutable]
    );
}

#[test]
fn a_local_is_declared_once_and_initialised() {
    let init = after(|k| {
        k.stmts.to_mut()[0] = Stmt::Let {
            local: LocalId(0),
            init: None,
        }
    });
    assert_eq!(init, [Rule::ImmutableInitialised]);
    let twice = after(|k| {
        let one = k.push_literal(Value::Usize(1), Default::default());
        let again = Stmt::Let {
            local: LocalId(0),
            init: Some(one),
        };
        k.stmts.to_mut()[1] = again;
    });
    assert_eq!(twice, [Rule::DeclaredOnce]);
}

#[test]
fn slices_and_scalars_are_told_apart() {
    let to_shared = after(|k| {
        if let Stmt::Store { memory, .. } = &mut k.stmts.to_mut()[1] {
            *memory = ParamId(0).into();
        }
    });
    assert_eq!(to_shared, [Rule::SiteKind, Rule::AccessAllowed]);
    let len_of_scalar = after(|k| {
        let at = find(k, |e| matches!(e, Expr::Len(_)));
        k.exprs.to_mut()[at] = Expr::Len(ParamId(2).into());
    });
    assert_eq!(len_of_scalar, [Rule::Memory]);
    let value_of_slice = after(|k| {
        let at = find(k, |e| matches!(e, Expr::Load { .. }));
        k.exprs.to_mut()[at] = Expr::Param(ParamId(1));
    });
    assert_eq!(value_of_slice, [Rule::ScalarParam]);
    let usizes = after(|k| {
        let (elem, access) = (Scalar::Usize, Access::Read);
        k.params.to_mut()[0].kind = ParamKind::Slice {
            elem: elem.into(),
            access,
        };
    });
    assert!(usizes.contains(&Rule::BufferElement));
}

#[test]
fn sites_fit() {
    assert_eq!(
        after(|k| k.sites.to_mut()[0].kind = SiteKind::Divisor),
        [Rule::SiteKind]
    );
}

#[test]
fn types_of_expressions() {
    let s = Sketch::new("k");
    s.let_("a", s.i32(1) + s.i32(2));
    s.let_("b", s.call(Intrinsic::Sqrt, &[s.f32(1.0)]));
    s.let_("c", s.n(1).cast(Scalar::F32));
    s.let_("d", -s.i32(1));
    let kernel = s.finish();
    assert_eq!(broken(&kernel), []);
    let with = |form: &dyn Fn(Expr) -> bool, ty: Scalar| {
        let mut k = kernel.clone();
        let at = find(&k, form);
        k.expr_types.to_mut()[at] = ty.into();
        broken(&k)[0]
    };
    assert_eq!(
        with(&|e| matches!(e, Expr::Binary { .. }), Scalar::U32),
        Rule::ExprType
    );
    assert_eq!(
        with(&|e| matches!(e, Expr::Call { .. }), Scalar::F64),
        Rule::Signature
    );
    assert_eq!(
        with(&|e| matches!(e, Expr::Cast { .. }), Scalar::Bool),
        Rule::CastTypes
    );
    let mut k = kernel.clone();
    let at = find(&k, |e| matches!(e, Expr::Unary { .. }));
    k.exprs.to_mut()[at] = Expr::Unary {
        op: UnaryOp::Neg,
        arg: ExprId(at as u32 - 1),
    };
    k.exprs.to_mut()[at - 1] = Expr::Literal(Value::U32(1));
    k.expr_types.to_mut()[at] = Scalar::U32.into();
    k.expr_types.to_mut()[at - 1] = Scalar::U32.into();
    k.locals.to_mut()[3].ty = Scalar::U32.into();
    assert_eq!(
        broken(&k),
        [Rule::ExprType],
        "unsigned integers have no negation"
    );
}

#[test]
fn types_of_statements() {
    let s = Sketch::new("k");
    s.if_(s.n(1), || {});
    s.for_("i", s.f32(0.0), s.f32(1.0), |_, _| {});
    let a = s.let_mut("a", s.n(1));
    s.set(a, s.f32(1.0));
    let mut kernel = s.finish();
    let not_an_int = ExprId(find(&kernel, |e| e == Expr::Literal(Value::f32(1.0))) as u32);
    kernel
        .preconditions
        .to_mut()
        .push(Precondition::NoOverflow(not_an_int));
    let rules = [
        Rule::ConditionType,
        Rule::ForType,
        Rule::ValueType,
        Rule::PreconditionType,
    ];
    assert_eq!(broken(&kernel), rules);
}

#[test]
fn indices_have_one_type() {
    let mixed = after(|k| {
        let at = find(k, |e| matches!(e, Expr::Len(_)));
        k.expr_types.to_mut()[at] = Scalar::U32.into();
    });
    assert!(mixed.contains(&Rule::IndexType));
    let narrowed = after(|k| {
        for ty in k.expr_types.to_mut() {
            if *ty == Scalar::Usize {
                *ty = Scalar::U32.into();
            }
        }
        k.locals.to_mut()[0].ty = Scalar::U32.into();
    });
    assert_eq!(narrowed, []);
}

#[test]
fn one_native_text_for_a_target() {
    let s = Sketch::new("k");
    let text = NativeText {
        target: "cuda".into(),
        pieces: vec![].into(),
        origin: Default::default(),
    };
    s.native(vec![text.clone(), text], None);
    assert_eq!(broken(&s.finish()), [Rule::NativeTargets]);
}

#[test]
fn violations_say_where_and_what() {
    let s = Sketch::new("k");
    s.break_(LabelId(0));
    let violations = validate(&s.finish()).expect_err("no loop there");
    assert_eq!(
        violations[0].to_string(),
        "statement 0 breaks the rule that `break` and `continue` name an enclosing loop"
    );
}
