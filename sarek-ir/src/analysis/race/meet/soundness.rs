//! Soundness test of the proof by refutation: if a kernel with mutable locals, loops and quotients is accepted, no two
//! threads meet when it runs thread by thread.
//!
//! A condition on overflow counts as met if no operation overflowed in the run. Launches check it by range analysis,
//! which proves less, so that fewer kernels would run.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::super::check;
use super::random::{MARKS, kernel};
use crate::analysis::random::{Rng, threads};
use crate::interp::{Host, Machine};
use crate::{
    BinaryOp, Expr, ExprId, Intrinsic, Kernel, ParamId, Precondition, SUBGROUP, Stmt, Value,
};

/// Long enough for most indices to be in bounds, unless they wrap.
const LEN: u64 = 1 << 40;
/// The evaluations of a thread, before it is stopped.
const BUDGET: u32 = 1500;

/// Records the threads that access each element, and the operations that overflowed.
struct Run<'k> {
    kernel: &'k Kernel,
    sizes: [u64; 2],
    thread: usize,
    /// The block and the barrier interval; always 0 for a kernel without shared memory.
    at: (u64, u64),
    /// For each element: the first thread, and whether another thread accessed it, and whether any wrote it.
    elements: HashMap<(u64, u64, u64), (usize, bool, bool)>,
    values: Vec<Option<i128>>,
    overflowed: HashSet<ExprId>,
    /// The operations that wrap by definition, and that wrapped.
    wrapped: HashSet<ExprId>,
    left: u32,
}

/// The kernels of a test.
const SEEDS: u64 = 250;

/// The end of a thread that takes too long.
struct Tired;

impl Run<'_> {
    fn touch(&mut self, index: u64, writes: bool) {
        let (me, (block, phase)) = (self.thread, self.at);
        let key = (block, phase, index);
        let element = self.elements.entry(key).or_insert((me, false, false));
        element.1 |= element.0 != me;
        element.2 |= writes;
    }

    fn exact(&self, id: ExprId) -> Option<i128> {
        let value = |e: ExprId| self.values[e.index()];
        match self.kernel.expr(id) {
            Expr::Binary { op, lhs, rhs } => {
                let (l, r) = (value(lhs)?, value(rhs)?);
                match op {
                    BinaryOp::Add => Some(l + r),
                    BinaryOp::Sub => Some(l - r),
                    BinaryOp::Mul => Some(l.saturating_mul(r)),
                    BinaryOp::Shl => Some(l.saturating_mul(1 << r.clamp(0, 64))),
                    _ => None,
                }
            }
            Expr::Cast { arg } => value(arg),
            Expr::Call { intrinsic, args } => {
                let args: Vec<ExprId> = self.kernel.list(args).collect();
                let &[l, r] = args.as_slice() else {
                    return None;
                };
                let (l, r) = (value(l)?, value(r)?);
                match intrinsic {
                    Intrinsic::WrappingAdd => Some(l + r),
                    Intrinsic::WrappingSub => Some(l - r),
                    Intrinsic::WrappingMul => Some(l.saturating_mul(r)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// True if nothing overflowed in the expression, nor in the initialisers of its locals.
    fn is_exact(&self, id: ExprId) -> bool {
        self.kernel.exprs_in([id]).into_iter().all(|e| {
            let init = match self.kernel.expr(e) {
                Expr::Local(local) if !self.kernel.locals[local.index()].mutable => {
                    self.kernel.stmts.iter().find_map(|stmt| match stmt {
                        Stmt::Let { local: of, init } if *of == local => *init,
                        _ => None,
                    })
                }
                _ => None,
            };
            !self.overflowed.contains(&e) && init.is_none_or(|init| self.is_exact(init))
        })
    }

    fn meets(&self, needs: &[Precondition], block: [u32; 3], extent: [u64; 3]) -> bool {
        needs.iter().all(|need| match need {
            Precondition::SingleThread(axis) => extent[axis.index()] <= 1,
            Precondition::ExtentAtMost(axis, n) => extent[axis.index()] <= *n,
            Precondition::BlockAtMost(axis, n) => u64::from(block[axis.index()]) <= *n,
            Precondition::GridAtMost(axis, n) => {
                extent[axis.index()] <= n * u64::from(block[axis.index()])
            }
            Precondition::BlockMultipleOf(n) => {
                extent[0] <= block[0].into() || block[0].is_multiple_of(*n)
            }
            Precondition::NoOverflow(e) => self.is_exact(*e) && !self.wrapped.contains(e),
            Precondition::Holds(_) | Precondition::SubgroupSizeIs(_) => false,
            Precondition::Positive(ParamId(0)) => LEN > 0,
            Precondition::Positive(param) => self.sizes[param.index() - 1] > 0,
            Precondition::SubgroupSize(n) => u64::from(*n) == SUBGROUP,
            Precondition::EqualSubgroups => true,
            Precondition::WholeSubgroups => {
                extent[0] <= block[0].into() || u64::from(block[0]) % SUBGROUP == 0
            }
            Precondition::BlockOfSubgroups => u64::from(block[0]) % SUBGROUP == 0,
        })
    }
}

impl Host for Run<'_> {
    fn scalar(&self, param: ParamId) -> Value {
        Value::Usize(self.sizes[param.index() - 1])
    }

    fn len(&self, _: ParamId) -> u64 {
        LEN
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        match slice.index() {
            // The data.
            3 => Value::U32((index.wrapping_mul(7) % 5) as u32),
            _ => {
                self.touch(index, false);
                Value::U32(3)
            }
        }
    }

    fn store(&mut self, slice: ParamId, index: u64, _: Value) {
        match slice {
            MARKS => self.at.1 += 1,
            _ => self.touch(index, true),
        }
    }

    fn evaluated(&mut self, id: ExprId, value: Value) {
        self.left -= 1;
        if self.left == 0 {
            resume_unwind(Box::new(Tired));
        }
        let exact = self.exact(id);
        if exact.is_some() && value.as_int().is_some() && exact != value.as_int() {
            let by_definition = matches!(self.kernel.expr(id), Expr::Call { .. });
            let found = match by_definition {
                true => &mut self.wrapped,
                false => &mut self.overflowed,
            };
            found.insert(id);
        }
        self.values[id.index()] = value.as_int();
    }
}

/// The numbers of kernels that were accepted, of runs that met the conditions, and of runs in which threads met.
#[derive(Debug, Default)]
struct Tally {
    accepted: u32,
    ran: u32,
    met: u32,
}

fn try_all(seeds: std::ops::Range<u64>, in_block: bool) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let (checked, run) = (kernel(seed, in_block, true), kernel(seed, in_block, false));
        assert_eq!(crate::validate(&checked), Ok(()), "{checked}");
        let found = check(&checked);
        tally.accepted += u32::from(found.is_ok());
        let Ok(needs) = found else { continue };
        let mut rng = Rng(!seed);
        for _ in 0..4 {
            let huge = [u64::MAX, 1 << 63, 1 << 32, (1 << 63) + 1];
            let n = match rng.below(4) {
                0 => rng.pick(&huge),
                _ => rng.below(6),
            };
            let tall = needs
                .iter()
                .all(|need| *need != Precondition::SingleThread(crate::Axis::Y));
            let block = [
                1 + rng.below(5) as u32,
                1 + rng.below(2) as u32 * u32::from(tall),
                1,
            ];
            let extent = match in_block {
                true => block.map(u64::from),
                false => [2 + rng.below(6), u64::from(block[1]), 1],
            };
            let mut host = Run {
                kernel: &run,
                sizes: [rng.below(6), n],
                thread: 0,
                at: (0, 0),
                elements: HashMap::new(),
                values: vec![],
                overflowed: HashSet::new(),
                wrapped: HashSet::new(),
                left: 0,
            };
            let mut machine = Machine::new(&run);
            for (i, ids) in threads(extent, block).into_iter().enumerate() {
                (host.thread, host.at, host.left) = (i, (0, 0), BUDGET);
                host.values = vec![None; run.exprs.len()];
                // A thread that faults or is stopped keeps its recorded accesses.
                let ran = catch_unwind(AssertUnwindSafe(|| {
                    let _ = machine.run(&ids, [1; 3], &mut host);
                }));
                if ran.is_err_and(|end| !end.is::<Tired>()) {
                    panic!("seed {seed}");
                }
            }
            let race = host.elements.values().any(|e| e.1 && e.2);
            tally.met += u32::from(race);
            if host.meets(&needs, block, extent) {
                tally.ran += u32::from(!host.elements.is_empty());
                let sizes = host.sizes;
                assert!(
                    !race,
                    "seed {seed}: threads meet, {sizes:?}, {block:?} of {extent:?}, {needs:?} in\n{checked}"
                );
            }
        }
    }
    tally
}

#[test]
fn no_two_threads_meet_at_an_element_of_a_slice() {
    let tally = try_all(0..2 * SEEDS, false);
    assert!(
        tally.accepted > 100 && tally.ran > 160 && tally.met > 1,
        "{tally:?}"
    );
}

#[test]
fn no_two_threads_meet_between_barriers() {
    let tally = try_all(0..SEEDS, true);
    assert!(
        tally.accepted > 50 && tally.ran > 60 && tally.met > 15,
        "{tally:?}"
    );
}
