//! Random kernels, run thread by thread: what was proved must hold.

use super::{ArgFact, LaunchFacts, Ranges, analyse};
use crate::analysis::random::{Rng, Watched, kernel, threads};
use crate::eval::thread::Thread;
use crate::{BinaryOp, Expr, ExprId, Kernel, Scalar, Value};

/// What came out of the runs, lest they prove nothing or never get anywhere.
#[derive(Default)]
struct Tally {
    open: usize,
    narrow: usize,
    /// Proved divisions and loads that a thread came to.
    reached: usize,
}

/// Whether an operation left its type's range, given the values of its operands.
fn overflows(kernel: &Kernel, id: ExprId, values: &[Option<i128>], result: Value) -> bool {
    let Some(result) = result.as_int() else {
        return false;
    };
    let value = |e: ExprId| values[e.index()];
    let exact = match kernel.expr(id) {
        Expr::Binary { op, lhs, rhs } => {
            let (Some(l), Some(r)) = (value(lhs), value(rhs)) else {
                return false;
            };
            match op {
                BinaryOp::Add => l + r,
                BinaryOp::Sub => l - r,
                BinaryOp::Mul => l.saturating_mul(r),
                _ => return false,
            }
        }
        Expr::Cast { arg } => match value(arg) {
            Some(v) => v,
            None => return false,
        },
        _ => return false,
    };
    exact != result
}

fn hold(kernel: &Kernel, ranges: &Ranges, id: ExprId, value: Value, values: &mut [Option<i128>]) {
    if overflows(kernel, id, values, value) {
        let text = kernel.expr_text(id);
        assert!(!ranges.no_overflow(id), "`{text}` overflows in\n{kernel}");
    }
    if kernel.type_of(id) == Scalar::Usize && value.as_int() > Some(u32::MAX.into()) {
        let text = kernel.expr_text(id);
        assert!(!ranges.fits_u32(), "`{text}` is {value:?} in\n{kernel}");
    }
    values[id.index()] = value.as_int();
}

fn try_one(seed: u64, tally: &mut Tally) {
    let kernel = kernel(seed);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    let mut rng = Rng(!seed);
    let extent = [1 + rng.below(9), 1 + rng.below(3), 1];
    let block = [1 + rng.below(4) as u32, 1 + rng.below(2) as u32, 1];
    let grid = [0, 1, 2].map(|a| extent[a].div_ceil(block[a].into()));
    let len = rng.pick(&[0, 1, 4, 7, 9, 27]);
    let scalars = [
        Value::Bool(false),
        Value::Usize(rng.pick(&[0, 1, 3, 9, u64::MAX])),
        Value::I32(rng.pick(&[0, 1, 4, -1, i32::MIN])),
        Value::U32(rng.pick(&[0, 1, 6, u32::MAX])),
    ];
    let mut args = scalars.map(ArgFact::Scalar);
    args[0] = ArgFact::Len(len);
    let facts = LaunchFacts {
        grid,
        block,
        extent,
        args: &args,
    };
    let ranges = analyse(&kernel, &facts);
    tally.open += ranges.proved.iter().filter(|p| !**p).count();
    tally.narrow += usize::from(ranges.fits_u32());
    let mut values = vec![None; kernel.exprs.len()];
    let mut watch = |id: ExprId, value: Value| hold(&kernel, &ranges, id, value, &mut values);
    let mut host = Watched {
        buffer: (0..len as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9) >> (i % 32))
            .collect(),
        scalars,
        watch: &mut watch,
    };
    let mut thread = Thread::new(&kernel);
    for ids in threads(extent, block) {
        if let Err(fault) = thread.run(&ids, &mut host) {
            let site = fault.site;
            assert!(
                !ranges.proved(site),
                "site {site:?} failed, seed {seed}, {facts:?}\n{kernel}"
            );
        }
    }
    let reached = |(i, e): (usize, &Expr)| match e {
        Expr::Load { site, .. } | Expr::Divide { site, .. } => {
            values[i].is_some() && site.is_some_and(|s| ranges.proved(s))
        }
        _ => false,
    };
    tally.reached += kernel
        .exprs
        .iter()
        .enumerate()
        .filter(|e| reached(*e))
        .count();
}

#[test]
fn what_is_proved_holds_in_every_thread() {
    let mut tally = Tally::default();
    for seed in 0..2000 {
        try_one(seed, &mut tally);
    }
    let Tally {
        open,
        narrow,
        reached,
    } = tally;
    assert!(open > 1000, "{open} sites stay open");
    assert!(narrow > 100, "{narrow} kernels fit 32 bits");
    assert!(reached > 1000, "{reached} proved sites were reached");
}
