use super::*;
use crate::{Block, CompoundId, DivideOp, LinkId, Loc, Scalar, Scope};

const E: ExprId = ExprId(0);
const LOCAL: LocalId = LocalId(3);
const MEMORY: Memory = Memory::Slice(ParamId(1));
const SITE: SiteId = SiteId(5);
const NO_ARGS: List = List { start: 0, len: 0 };
const BODY: Block = Block(NO_ARGS);

/// The number of the node. A new node needs a number, and a row in [`exprs`].
fn expr_number(expr: Expr) -> usize {
    match expr {
        Expr::Literal(_) => 0,
        Expr::Link(_) => 1,
        Expr::Local(_) => 2,
        Expr::Param(_) => 3,
        Expr::Len(_) => 4,
        Expr::Builtin(_) => 5,
        Expr::Load { .. } => 6,
        Expr::Bounded { .. } => 7,
        Expr::Unary { .. } => 8,
        Expr::Binary { .. } => 9,
        Expr::Divide { .. } => 10,
        Expr::And { .. } => 11,
        Expr::Or { .. } => 12,
        Expr::Cast { .. } => 13,
        Expr::Call { .. } => 14,
        Expr::Compound(_) => 15,
        Expr::Faulted => 16,
    }
}

fn exprs() -> [(Expr, ExprFacts); 17] {
    let site = Some(SITE);
    let plain = |reads, work| ExprFacts {
        reads,
        check: Check::None,
        arithmetic: None,
        work,
    };
    let leaf = |reads| plain(reads, Work::Leaf);
    let operator = plain(Reads::Operands, Work::Operator);
    let short = plain(Reads::Operands, Work::ShortCircuit);
    [
        (Expr::Literal(Value::U32(1)), leaf(Reads::Constant)),
        (Expr::Link(LinkId(0)), leaf(Reads::Constant)),
        (Expr::Local(LOCAL), leaf(Reads::Local(LOCAL))),
        (Expr::Param(ParamId(2)), leaf(Reads::Param(ParamId(2)))),
        (Expr::Len(MEMORY), leaf(Reads::Len(MEMORY))),
        (
            Expr::Builtin(Builtin::GlobalThreadId),
            leaf(Reads::Id(Builtin::GlobalThreadId)),
        ),
        (
            Expr::Load {
                memory: MEMORY,
                index: E,
                site,
            },
            ExprFacts {
                check: Check::Bounds(site),
                ..plain(Reads::Memory(MEMORY), Work::Load)
            },
        ),
        (
            Expr::Bounded {
                index: E,
                len: E,
                site,
            },
            ExprFacts {
                check: Check::Bounds(site),
                ..operator
            },
        ),
        (
            Expr::Unary {
                op: UnaryOp::Neg,
                arg: E,
            },
            ExprFacts {
                arithmetic: Some(Arithmetic::Neg),
                ..operator
            },
        ),
        (
            Expr::Binary {
                op: BinaryOp::Mul,
                lhs: E,
                rhs: E,
            },
            ExprFacts {
                arithmetic: Some(Arithmetic::Mul),
                ..operator
            },
        ),
        (
            Expr::Divide {
                op: DivideOp::Rem,
                lhs: E,
                rhs: E,
                site,
            },
            ExprFacts {
                check: Check::Divisor(site),
                ..operator
            },
        ),
        (Expr::And { lhs: E, rhs: E }, short),
        (Expr::Or { lhs: E, rhs: E }, short),
        (Expr::Cast { arg: E }, operator),
        (
            Expr::Call {
                intrinsic: Intrinsic::Pow,
                args: NO_ARGS,
            },
            ExprFacts {
                arithmetic: Some(Arithmetic::Pow),
                ..plain(Reads::Operands, Work::Call(Intrinsic::Pow))
            },
        ),
        (
            Expr::Compound(CompoundId(0)),
            ExprFacts {
                check: Check::Parts,
                ..plain(Reads::Operands, Work::Compound)
            },
        ),
        (Expr::Faulted, leaf(Reads::Faults)),
    ]
}

/// The number of the statement. A new statement needs a number, and a row in [`stmts`].
fn stmt_number(stmt: Stmt) -> usize {
    match stmt {
        Stmt::Let { .. } => 0,
        Stmt::Assign { .. } => 1,
        Stmt::Store { .. } => 2,
        Stmt::Assert { .. } => 3,
        Stmt::Panic { .. } => 4,
        Stmt::Print { .. } => 5,
        Stmt::If { .. } => 6,
        Stmt::Loop { .. } => 7,
        Stmt::For { .. } => 8,
        Stmt::Break { .. } => 9,
        Stmt::Continue { .. } => 10,
        Stmt::Return => 11,
        Stmt::Barrier => 12,
        Stmt::Fence { .. } => 13,
        Stmt::Atomic { .. } => 14,
        Stmt::Subgroup { .. } => 15,
        Stmt::Update { .. } => 16,
        Stmt::Call { .. } => 17,
        Stmt::Native { .. } => 18,
    }
}

fn stmts() -> [(Stmt, StmtFacts); 19] {
    let site = Some(SITE);
    let label = LabelId(4);
    let plain = |cost| StmtFacts {
        flow: Flow::Next,
        effect: Effect::None,
        declares: None,
        assigns: None,
        check: Check::None,
        cost,
    };
    let acts = |effect, cost| StmtFacts {
        effect,
        ..plain(cost)
    };
    let leads = |flow| StmtFacts { flow, ..plain(1) };
    let declares = |facts| StmtFacts {
        declares: Some(LOCAL),
        ..facts
    };
    let assigns = |facts| StmtFacts {
        assigns: Some(LOCAL),
        ..facts
    };
    let checks = |check, facts| StmtFacts { check, ..facts };
    [
        (
            Stmt::Let {
                local: LOCAL,
                init: Some(E),
            },
            declares(plain(4)),
        ),
        (
            Stmt::Assign {
                local: LOCAL,
                value: E,
            },
            assigns(plain(4)),
        ),
        (
            Stmt::Store {
                memory: MEMORY,
                index: E,
                value: E,
                site,
            },
            checks(Check::Bounds(site), acts(Effect::Store(MEMORY), 4)),
        ),
        (
            Stmt::Assert {
                cond: E,
                site: SITE,
            },
            checks(Check::Assertion(SITE), plain(4)),
        ),
        (
            Stmt::Panic { site: SITE },
            checks(Check::Panic(SITE), leads(Flow::Panic)),
        ),
        (
            Stmt::Print { print: PrintId(0) },
            acts(Effect::Print(PrintId(0)), 1),
        ),
        (
            Stmt::If {
                cond: E,
                then: BODY,
                otherwise: BODY,
            },
            StmtFacts {
                flow: Flow::Branch,
                ..plain(4)
            },
        ),
        (
            Stmt::Loop {
                label,
                cond: None,
                body: BODY,
            },
            leads(Flow::Loop(label)),
        ),
        (
            Stmt::For {
                label,
                local: LOCAL,
                start: E,
                end: E,
                body: BODY,
            },
            declares(leads(Flow::Loop(label))),
        ),
        (Stmt::Break { label }, leads(Flow::Break(label))),
        (Stmt::Continue { label }, leads(Flow::Continue(label))),
        (Stmt::Return, leads(Flow::Return)),
        (Stmt::Barrier, acts(Effect::Barrier, 1)),
        (
            Stmt::Fence {
                scope: Scope::Block,
            },
            acts(Effect::Fence, 1),
        ),
        (
            Stmt::Atomic {
                op: AtomicOp::Add,
                memory: MEMORY,
                index: E,
                args: NO_ARGS,
                result: Some(LOCAL),
                site,
            },
            assigns(checks(
                Check::Bounds(site),
                acts(Effect::Atomic(AtomicOp::Add, MEMORY), 16),
            )),
        ),
        (
            Stmt::Subgroup {
                op: SubgroupOp::All,
                args: NO_ARGS,
                result: LOCAL,
            },
            assigns(acts(Effect::Subgroup(SubgroupOp::All, NO_ARGS), 16)),
        ),
        (
            Stmt::Update {
                place: PlaceId(0),
                value: E,
            },
            checks(Check::Parts, acts(Effect::Place(PlaceId(0)), 4)),
        ),
        (
            Stmt::Call { call: CallId(0) },
            acts(Effect::Call(CallId(0)), 16),
        ),
        (
            Stmt::Native {
                native: NativeId(0),
            },
            acts(Effect::Native(NativeId(0)), 1),
        ),
    ]
}

#[test]
fn each_expression_has_its_facts() {
    for (number, (expr, facts)) in exprs().into_iter().enumerate() {
        assert_eq!(expr_number(expr), number);
        assert_eq!(expr.facts(), facts, "{expr:?}");
    }
}

#[test]
fn each_statement_has_its_facts() {
    for (number, (stmt, facts)) in stmts().into_iter().enumerate() {
        assert_eq!(stmt_number(stmt), number);
        assert_eq!(stmt.facts(), facts, "{stmt:?}");
    }
}

#[test]
fn a_site_is_found_replaced_and_removed() {
    for (expr, facts) in exprs() {
        let mut other = expr;
        let site = other.site_mut().and_then(|site| site.replace(SiteId(9)));
        assert_eq!(site, facts.check.site(), "{expr:?}");
        let new = other.facts().check.site();
        assert_eq!(new, site.map(|_| SiteId(9)), "{expr:?}");
        assert_eq!(expr.unchecked().facts().check.site(), None, "{expr:?}");
        assert_eq!(expr.unchecked() == expr, site.is_none(), "{expr:?}");
    }
    for (stmt, facts) in stmts() {
        let mut other = stmt;
        let site = other
            .site_mut()
            .map(|site| std::mem::replace(site, SiteId(9)));
        assert_eq!(site, facts.check.site(), "{stmt:?}");
        let new = other.facts().check.site();
        assert_eq!(new, site.map(|_| SiteId(9)), "{stmt:?}");
        let left = match facts.check {
            Check::Assertion(site) | Check::Panic(site) => Some(site),
            Check::None | Check::Bounds(_) | Check::Divisor(_) | Check::Parts => None,
        };
        assert_eq!(stmt.unchecked().facts().check.site(), left, "{stmt:?}");
    }
}

#[test]
fn operators_have_kinds() {
    let all = [
        ("+ - * << >>", None),
        ("/ %", Some(BinaryKind::Division)),
        ("& | ^", Some(BinaryKind::Bits)),
        ("== != < <= > >=", Some(BinaryKind::Comparison)),
    ];
    let ops = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
    ];
    for op in ops {
        let listed = |symbols: &str| symbols.split(' ').any(|s| s == op.symbol());
        let (_, due) = all.iter().find(|(s, _)| listed(s)).expect("a kind");
        match op.kind() {
            BinaryKind::Arithmetic(arithmetic) => {
                assert_eq!(*due, None, "{op:?}");
                assert_eq!(arithmetic.symbol(), op.symbol());
            }
            kind => assert_eq!(Some(kind), *due, "{op:?}"),
        }
    }
}

#[test]
fn hazards_depend_on_types_and_divisors() {
    let mut k = Kernel::new("k");
    let mut push = |expr, ty: Scalar| k.push_expr(expr, ty, Loc::default());
    let x = push(Expr::Local(LOCAL), Scalar::I32);
    let sum = Expr::Binary {
        op: BinaryOp::Add,
        lhs: x,
        rhs: x,
    };
    let [int, float] = [Scalar::I32, Scalar::F32].map(|ty| push(sum, ty));
    let divisors = [
        Expr::Literal(Value::I32(3)),
        Expr::Builtin(Builtin::GridDim(crate::Axis::X)),
        Expr::Literal(Value::I32(0)),
        Expr::Literal(Value::I32(-1)),
        Expr::Local(LOCAL),
    ];
    let quotients = divisors.map(|divisor| {
        let rhs = push(divisor, Scalar::I32);
        let quotient = Expr::Divide {
            op: DivideOp::Div,
            lhs: x,
            rhs,
            site: None,
        };
        push(quotient, Scalar::I32)
    });
    let bounded = Expr::Bounded {
        index: x,
        len: x,
        site: None,
    };
    let bounded = push(bounded, Scalar::Usize);
    assert_eq!(k.hazard(x), Hazard::None);
    assert_eq!(k.hazard(int), Hazard::Overflow(Arithmetic::Add));
    assert_eq!(k.hazard(float), Hazard::None);
    let due = [
        Hazard::None,
        Hazard::None,
        Hazard::Fault,
        Hazard::Fault,
        Hazard::Fault,
    ];
    assert_eq!(quotients.map(|quotient| k.hazard(quotient)), due);
    assert_eq!(k.hazard(bounded), Hazard::Fault);
}

#[test]
fn every_expression_takes_its_operands_back() {
    let mut k = Kernel::new("k");
    let args: Vec<ExprId> = (0..2)
        .map(|v| k.push_literal(Value::U32(v), Loc::default()))
        .collect();
    let new = [args[1], args[0]];
    for (mut expr, _) in exprs() {
        if matches!(expr, Expr::Compound(_)) {
            continue;
        }
        if let Expr::Call { args: list, .. } = &mut expr {
            *list = k.push_list(&args);
        }
        let mut at = 0;
        expr.each_operand(&mut |operand| {
            *operand = args[at];
            at += 1;
        });
        let id = k.push_expr(expr, Scalar::U32, Loc::default());
        let operands = k.operands(id);
        assert_eq!(operands, args[..operands.len()], "{expr:?}");
        let other = k.with_operands(expr, &new[..operands.len()]);
        let id = k.push_expr(other, Scalar::U32, Loc::default());
        assert_eq!(k.operands(id), new[..operands.len()], "{expr:?}");
        let back = k.with_operands(other, &operands);
        assert_eq!(back.facts(), expr.facts(), "{expr:?}");
    }
}

#[test]
fn walks_go_from_the_outside_inwards_in_source_order() {
    let mut k = Kernel::new("k");
    let [a, b, c] = [1, 2, 3].map(|v| k.push_literal(Value::U32(v), Loc::default()));
    let binary = |k: &mut Kernel, lhs, rhs| {
        let op = BinaryOp::Add;
        k.push_expr(Expr::Binary { op, lhs, rhs }, Scalar::U32, Loc::default())
    };
    let inner = binary(&mut k, a, b);
    let outer = binary(&mut k, inner, c);
    assert_eq!(
        k.exprs_in([outer, a]).collect::<Vec<_>>(),
        [outer, inner, a, b, c, a]
    );
    let push = |k: &mut Kernel, stmt| k.push_stmt(stmt, Loc::default());
    let [first, second, third] = [(); 3].map(|()| push(&mut k, Stmt::Barrier));
    let [then, otherwise] = [first, second].map(|stmt| k.push_block(&[stmt]));
    let branch = Stmt::If {
        cond: outer,
        then,
        otherwise,
    };
    let branch = push(&mut k, branch);
    let body = k.push_block(&[branch, third]);
    let label = LabelId(0);
    let cond = None;
    let around = push(&mut k, Stmt::Loop { label, cond, body });
    assert_eq!(
        k.stmts_in([around]).collect::<Vec<_>>(),
        [around, branch, first, second, third]
    );
    k.body = k.push_block(&[around]);
    assert_eq!(k.used_exprs().collect::<Vec<_>>(), [outer, inner, a, b, c]);
}
