use crate::sketch::Sketch;
use crate::{
    Axis, Builtin, DivideOp, Intrinsic, Kernel, LinkId, NativeText, Piece, Precondition, Scalar,
    Unroll, Value,
};

fn sample() -> Kernel {
    let s = Sketch::new("sample");
    let a = s.scalar("a", Scalar::F32);
    let x = s.slice("x", Scalar::F32);
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.if_else(
        i.get()
            .lt(s.len(y))
            .and(i.get().ne(s.n(3)).or(i.get().eq(s.n(4)))),
        || s.store(y, i.get(), s.arg(a) * (s.load(x, i.get()) + s.f32(-1.5))),
        || s.if_(i.get().gt(s.n(9)), || s.return_()),
    );
    let acc = s.let_mut("acc", s.i32(-7).divide(DivideOp::RemEuclid, s.i32(4)));
    s.for_("i", s.n(0), s.link("N", Scalar::Usize), |i, l| {
        s.unroll(l, Unroll::Link(LinkId(0)));
        s.if_((i.get() % s.n(2)).eq(s.n(1)), || s.continue_(l));
        s.set(
            acc,
            s.call(Intrinsic::Abs, &[-(acc.get() - (acc.get() - s.i32(1)))]),
        );
    });
    s.assert(
        acc.get().cast(Scalar::F32).lt(s.f32(f32::INFINITY)),
        "a \"bound\"",
    );
    let piece = |t: &'static str| Piece::Text(t.into());
    let pieces = vec![
        piece("{ "),
        Piece::Param(y),
        piece("[0] += "),
        Piece::Local(acc.id),
        piece("; }"),
    ];
    let text = NativeText {
        target: "cuda".into(),
        pieces: pieces.into(),
        origin: Default::default(),
    };
    s.native(vec![text], Some(&|| s.set(acc, s.i32(0))));
    s.while_(s.lit(Value::Bool(true)), |l| {
        s.unroll(l, Unroll::Times(2));
        s.break_(l);
    });
    let mut kernel = s.finish();
    kernel.block = Some([64, 1, 1]);
    kernel.sites.to_mut()[0].provable = false;
    kernel
        .preconditions
        .to_mut()
        .push(Precondition::SingleThread(Axis::Y));
    kernel
}

#[test]
fn prints_every_statement_form() {
    let expected = r#"link N: usize
requires global_dim_y() <= 1
block (64, 1, 1)
kernel sample(a: f32, x: &[f32], y: &mut [f32]) {
    let i: usize = global_idx_x();
    if i < y.len() && (i != 3usize || i == 4usize) {
        y[i]!1 = a * (x[i]!0? + -1.5f32);
    } else if i > 9usize {
        return;
    }
    let mut acc: i32 = (-7i32).rem_euclid!2(4i32);
    #[unroll(N)] 'l0: for i.1: usize in 0usize..N {
        if i.1 %!3 2usize == 1usize {
            continue 'l0;
        }
        acc = (-(acc - (acc - 1i32))).abs();
    }
    assert!4 acc as f32 < f32::from_bits(0x7f800000), "a \"bound\"";
    native {
        "cuda" => "{{ {y}[0] += {acc}; }}",
        _ => {
            acc = 0i32;
        },
    }
    #[unroll(2)] 'l1: while true {
        break 'l1;
    }
}
"#;
    let kernel = sample();
    assert_eq!(crate::validate(&kernel), Ok(()));
    assert_eq!(kernel.to_string(), expected);
}

#[test]
fn parentheses_stand_where_rust_needs_them() {
    let s = Sketch::new("k");
    let a = s.scalar("a", Scalar::I32);
    let v = || s.arg(a);
    let cases = [
        ((v() + v()) * v(), "(a + a) * a"),
        (v() + v() * v(), "a + a * a"),
        (v() - (v() - v()), "a - (a - a)"),
        (v() - v() - v(), "a - a - a"),
        ((v() << v()) + v(), "(a << a) + a"),
        (-(v() + v()).cast(Scalar::I64), "-((a + a) as i64)"),
        ((-v()).cast(Scalar::I64), "-a as i64"),
        (v().lt(v()).eq(v().lt(v())), "(a < a) == (a < a)"),
        (!v().lt(v()), "!(a < a)"),
        ((v() & v()) | (v() ^ v()), "a & a | a ^ a"),
    ];
    let ids: Vec<_> = cases.iter().map(|(e, text)| (e.id, *text)).collect();
    let kernel = s.finish();
    for (id, text) in ids {
        assert_eq!(kernel.expr_text(id), text);
    }
}
