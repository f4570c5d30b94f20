//! Soundness test of range analysis: in random kernels, run thread by thread, everything that was proved must
//! hold.

use super::{ArgFact, LaunchFacts, Ranges, analyse_by};
use crate::analysis::random::{Rng, Watched, kernel, threads};
use crate::interp::{Machine, Stop};
use crate::{BinaryOp, Expr, ExprId, Kernel, ParamKind, Scalar, SiteId, Value, passes};

/// Counts of results, which show that the test covers enough cases.
#[derive(Default)]
pub(super) struct Tally {
    pub open: usize,
    pub narrow: usize,
    /// Proved divisions and loads that a thread has reached.
    pub reached: usize,
}

/// True if an operation overflowed, for these values of its operands.
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
    if kernel.scalar_of(id) == Scalar::Usize && value.as_int() > Some(u32::MAX.into()) {
        let text = kernel.expr_text(id);
        assert!(!ranges.fits_u32(), "`{text}` is {value:?} in\n{kernel}");
    }
    values[id.index()] = value.as_int();
}

/// A random kernel and a random launch of it.
pub(super) struct Case {
    kernel: Kernel,
    extent: [u64; 3],
    block: [u32; 3],
    args: [ArgFact; 4],
}

impl Case {
    pub(super) fn new(kernel: Kernel, seed: u64) -> Case {
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        let mut rng = Rng(!seed);
        Case {
            kernel,
            extent: [1 + rng.below(9), 1 + rng.below(3), 1],
            block: [1 + rng.below(4) as u32, 1 + rng.below(2) as u32, 1],
            args: [
                ArgFact::Len(rng.pick(&[0, 1, 4, 7, 9, 27])),
                ArgFact::Scalar(Value::Usize(rng.pick(&[0, 1, 3, 9, 100, u64::MAX]))),
                ArgFact::Scalar(Value::I32(rng.pick(&[0, 1, 4, -1, i32::MIN]))),
                ArgFact::Scalar(Value::U32(rng.pick(&[0, 1, 6, u32::MAX]))),
            ],
        }
    }

    /// True if sums prove something that intervals alone do not.
    pub(super) fn decided_by_sums(&self) -> bool {
        let by_intervals = self.analyse_by(false);
        let open = by_intervals.proved.iter().zip(self.analyse().proved);
        open.into_iter().any(|(before, now)| !before && now)
    }

    fn analyse(&self) -> Ranges {
        self.analyse_by(true)
    }

    fn analyse_by(&self, sums: bool) -> Ranges {
        let (extent, block) = (self.extent, self.block);
        let grid = [0, 1, 2].map(|a| extent[a].div_ceil(block[a].into()));
        let args = &self.args;
        let facts = LaunchFacts {
            grid,
            block,
            extent,
            args,
        };
        analyse_by(&self.kernel, &facts, sums)
    }

    /// Runs `kernel` with the arguments of the case, with `usize` narrowed if its parameter is. Returns memory,
    /// and how each thread ended.
    fn run(
        &self,
        kernel: &Kernel,
        watch: &mut dyn FnMut(ExprId, Value),
    ) -> (Vec<u32>, Vec<Result<(), SiteId>>) {
        let mut len = 0;
        let scalars = [0, 1, 2, 3].map(|i| match (self.args[i], kernel.params[i].kind) {
            (ArgFact::Len(n), _) => {
                len = n as u32;
                Value::Bool(false)
            }
            (ArgFact::Scalar(Value::Usize(v)), ParamKind::Scalar(Scalar::U32)) => {
                Value::U32(v as u32)
            }
            (ArgFact::Scalar(value), _) => value,
        });
        let mut host = Watched {
            buffer: (0..len)
                .map(|i| i.wrapping_mul(0x9e37_79b9) >> (i % 32))
                .collect(),
            scalars,
            watch,
        };
        let mut machine = Machine::new(kernel);
        let ends = threads(self.extent, self.block)
            .iter()
            .map(|ids| machine.run(ids, [1; 3], &mut host).map_err(site))
            .collect();
        (host.buffer, ends)
    }
}

fn site(stop: Stop) -> SiteId {
    match stop {
        Stop::Fault { fault, .. } => fault.site,
        Stop::Divergence { .. } => panic!("there is no barrier"),
        Stop::Found(_) => panic!("there is no sanitizer"),
    }
}

pub(super) fn try_one(case: &Case, seed: u64, tally: &mut Tally) {
    let kernel = &case.kernel;
    let ranges = case.analyse();
    tally.open += ranges.proved.iter().filter(|p| !**p).count();
    tally.narrow += usize::from(ranges.fits_u32());
    let mut values = vec![None; kernel.exprs.len()];
    let mut watch = |id: ExprId, value: Value| hold(kernel, &ranges, id, value, &mut values);
    let (_, ends) = case.run(kernel, &mut watch);
    for site in ends.into_iter().filter_map(Result::err) {
        assert!(
            !ranges.proved(site),
            "site {site:?} failed, seed {seed}\n{kernel}"
        );
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
        try_one(&Case::new(kernel(seed), seed), seed, &mut tally);
    }
    // In a debug build an operator yields fewer values, but the checks are the same.
    let (mut exact, mut open) = (Tally::default(), 0);
    for seed in 0..2000 {
        let mut kernel = kernel(seed);
        kernel.check_overflows();
        open += kernel.overflows.len();
        try_one(&Case::new(kernel, seed), seed, &mut exact);
    }
    assert!(exact.open < tally.open + open / 2, "most are proved");
    let Tally {
        open,
        narrow,
        reached,
    } = tally;
    assert!(open > 1000, "{open} sites stay open");
    assert!(narrow > 100, "{narrow} kernels fit 32 bits");
    assert!(reached > 1000, "{reached} proved sites were reached");
}

/// If every `usize` of a launch fits in 32 bits, the kernel computes the same with `u32` instead, and without
/// the proved checks.
#[test]
fn a_narrowed_kernel_computes_the_same() {
    let cases = (0..2000).map(|seed| (seed, Case::new(kernel(seed), seed)));
    let compared = narrowed(cases);
    assert!(compared > 200, "{compared} launches were narrowed");
}

/// Compares narrowed launches with the original ones, and returns their number.
pub(super) fn narrowed(cases: impl Iterator<Item = (u64, Case)>) -> usize {
    let mut compared = 0;
    for (seed, case) in cases {
        let ranges = case.analyse();
        if !ranges.fits_u32() {
            continue;
        }
        compared += 1;
        let mut narrow = case.kernel.clone();
        let sites = (0..narrow.sites.len() as u32).map(SiteId);
        let checked = sites.filter(|s| !ranges.proved(*s)).collect();
        passes::elide_checks(&mut narrow, &checked);
        passes::narrow_usize(&mut narrow);
        assert_eq!(crate::validate(&narrow), Ok(()), "{narrow}");
        let wide = case.run(&case.kernel, &mut |_, _| {});
        let kernel = &case.kernel;
        assert_eq!(
            wide,
            case.run(&narrow, &mut |_, _| {}),
            "seed {seed} in\n{kernel}"
        );
    }
    compared
}
