//! The planner of the optimizer: chooses the transformations of a launch, see [`sarek_ir::optimize`].
//!
//! It knows a few patterns, and for each a list of plans, best first. A plan is taken if it applies to the kernel and
//! leaves enough threads to fill the device. Everything else runs as it was written: launches that are too small to gain,
//! kernels whose checks are not all proved, and kernels that were declared `unsafe`, because nothing proves that their
//! threads may run in any order.

mod plans;
mod random;
mod variants;

use std::sync::Arc;

use sarek_ir::optimize::{Footprint, Optimization, Privatize, Refusal, Stage};
use sarek_ir::{Axis, Expr, Kernel, Length, Memory, ParamId, Value};

use super::dims::Dims;
use super::prove::Proof;
use super::space::{Shape, physical_grid};
use super::{Arg, Call};
use crate::host::IndexSpace;
use crate::plugin::backend::DeviceInfo;
use crate::plugin::tag::DeviceKind;
use crate::settings::Optimize;
use plans::{Accesses, Plan};
pub(super) use variants::Variants;

/// A kernel that was transformed for a launch, and the threads that run it.
#[derive(Debug)]
pub(super) struct Optimized {
    pub(super) optimization: Optimization,
    pub(super) kernel: Arc<Kernel>,
    pub(super) space: IndexSpace,
    pub(super) grid: [u32; 3],
    /// The length of each shared array, in elements.
    pub(super) shared: Arc<[u64]>,
}

/// The launch, as far as plans depend on it.
pub(super) struct Planning<'a, 'c> {
    pub(super) call: &'a Call<'c>,
    pub(super) info: &'a DeviceInfo,
    pub(super) space: IndexSpace,
    pub(super) proof: &'a Proof,
    /// The language of the device's texts.
    pub(super) target: &'a str,
    /// See [`Renderer::ends_loops`](crate::plugin::backend::Renderer::ends_loops).
    pub(super) ends_loops: bool,
    pub(super) mode: Optimize,
}

/// The reason why a launch runs as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    Off,
    Forbidden,
    NoGpu,
    Small,
    NoPattern,
    Folded,
    Shared,
    Registers,
    Refused(Refusal),
}

impl Kept {
    pub(super) fn words(self) -> &'static str {
        match self {
            Kept::Off => "SAREK_OPTIMIZE is `off`",
            Kept::Forbidden => "the kernel is `unsafe`, or `optimize = false` forbids it",
            Kept::NoGpu => "the device is no GPU",
            Kept::Small => "the launch is too small to gain",
            Kept::NoPattern => "no known pattern",
            Kept::Folded => "its grid would be folded",
            Kept::Registers => "a thread would take too many registers",
            Kept::Shared => "the device has too little shared memory",
            Kept::Refused(refusal) => refusal.words(),
        }
    }
}

/// The threads, times an estimate of their loops' turns, below which a launch only waits for the device.
const LEAST_WORK: u64 = 100_000;
/// The estimate of a loop's turns.
const TURNS: u64 = 16;
/// The threads for each processor that a merged launch must still have.
const LEAST_THREADS: u64 = 256;
/// The number of processors of a device that does not tell.
const PROCESSORS: u64 = 64;
/// The bytes of a wide access.
const WIDE: u32 = 16;
/// The largest number of threads along an axis of a tile.
const LARGEST_TILE: u64 = 4096;
/// The most bytes of shared memory of a block. Every device declares that many without being asked for more.
const MOST_SHARED: u64 = 48 << 10;
/// The most registers of a thread, and of all threads of a block.
const MOST_REGISTERS: [u64; 2] = [240, 1 << 16];

impl Planning<'_, '_> {
    /// The optimized launch, or the reason why it stays as it is.
    pub(super) fn choose(&self) -> Result<Arc<Optimized>, Kept> {
        let mode = self.mode;
        if mode == Optimize::Off {
            return Err(Kept::Off);
        }
        if !self.call.optimize {
            return Err(Kept::Forbidden);
        }
        if !self.proof.checked.is_empty() {
            return Err(Kept::Refused(Refusal::Check));
        }
        let needs = &self.call.kernel.needs;
        if needs.barriers || needs.subgroups || needs.prints {
            return Err(Kept::Refused(Refusal::Cooperation));
        }
        if mode == Optimize::On && self.info.kind != DeviceKind::gpu() {
            return Err(Kept::NoGpu);
        }
        let kernel = &*self.call.kernel.kernel;
        if mode == Optimize::On && self.space.threads() * TURNS < LEAST_WORK {
            return Err(Kept::Small);
        }
        let footprint = self.call.kernel.variants.footprint(kernel);
        if footprint.loops && self.ends_loops {
            return Err(Kept::Refused(Refusal::Check));
        }
        if self.call.kernel.private.largest.is_some() {
            // Each lane would have arrays of its own.
            return Err(Kept::Refused(Refusal::Size));
        }
        let turns = if footprint.loops { TURNS } else { 1 };
        if mode == Optimize::On && self.space.threads() * turns < LEAST_WORK {
            return Err(Kept::Small);
        }
        let plans = match mode {
            Optimize::Seed(seed) => self.any(seed),
            Optimize::On | Optimize::Off => self.plans(footprint),
        };
        let mut kept = Kept::NoPattern;
        for plan in plans {
            match self.apply(kernel, footprint, &plan) {
                Ok(optimized) => return Ok(Arc::new(optimized)),
                Err(reason) => kept = reason,
            }
        }
        Err(kept)
    }

    fn apply(
        &self,
        kernel: &Kernel,
        footprint: &Footprint,
        plan: &Plan,
    ) -> Result<Optimized, Kept> {
        let (stage, mut merges) = plan.steps(self.space.extent);
        let mut square = None;
        if let Some((turned, factors)) = plan.turned(self.space.extent) {
            (square, merges) = (Some(turned), factors);
        }
        let stage = stage.map(|stage| Stage {
            rest: !self.fills_chunks(kernel, stage),
            ..stage
        });
        let copies = plan.copies;
        // WGSL has no wide accesses beside others, which a guard would need.
        let guard = copies.filter(|_| self.target != "wgsl").and_then(|_| {
            Privatize::guard(kernel, self.space.extent[0], &|expr| {
                self.launch_value(expr)
            })
        });
        if guard.is_some() {
            let along_x = merges.iter_mut().filter(|merge| merge.axis == Axis::X);
            along_x.for_each(|merge| merge.missing = 0);
        }
        // An id plus the size of a tile, or of all turns of a block, must still fit.
        let most = match copies {
            Some(_) => u64::from(u32::MAX) / 2,
            None => u64::from(u32::MAX) - LARGEST_TILE,
        };
        if self.proof.fits_u32 && self.space.extent.iter().any(|threads| *threads > most) {
            return Err(Kept::Folded);
        }
        let aligned = self.call.args.iter().zip(0..);
        let aligned = aligned.filter(|(arg, param): &(&Arg<'_>, u32)| {
            arg.vector().is_some() && self.holds_one(footprint, ParamId(*param))
        });
        let holds = self.proof.holds.iter().copied();
        let mut optimization = Optimization {
            holds: holds.filter(|cond| Some(*cond) != guard).collect(),
            aligned: match self.call.is_aligned() && plan.accesses != Accesses::Scalar {
                true => aligned.map(|(_, param)| ParamId(param)).collect(),
                false => vec![],
            },
            multiples: self.multiples(footprint, plan),
            dense: !self.call.strided,
            stage,
            square,
            merges,
            unrolled: plan
                .short
                .iter()
                .flat_map(|short| short.labels.clone())
                .collect(),
            settled: self.settled(plan),
            privatize: None,
        };
        let merged = optimization.threads(self.space.extent);
        optimization.privatize =
            copies.map(|copies| copies.steps(merged, self.processors(), guard.is_some()));
        let extent = optimization.threads(self.space.extent);
        if self.mode == Optimize::On && !self.fills(plan, extent) {
            return Err(Kept::Small);
        }
        let variant = self.call.kernel.variants.get(kernel, &optimization);
        if let Some(stage) = stage {
            let (registers, [most, of_block]) = (variant.registers, MOST_REGISTERS);
            let threads: u64 = stage.block.iter().map(|n| u64::from(*n)).product();
            if registers > most || registers * threads > of_block {
                return Err(Kept::Registers);
            }
        }
        let kernel = variant.kernel.map_err(Kept::Refused)?;
        let shared = self.shared(&kernel)?;
        if let Some(tile) = plan.stage {
            let buffers = if tile.double { 2 } else { 1 };
            if shared.iter().sum::<u64>() < buffers * u64::from(tile.least) {
                return Err(Kept::Refused(Refusal::NoTile));
            }
        }
        let space = match optimization.keeps_threads() {
            true => self.space,
            false => {
                let shape = Shape::Over(Dims(extent.map(|threads| threads as usize)));
                let space = shape.space((kernel.block, false), None, self.info, None);
                space.map_err(|_| Kept::Folded)?
            }
        };
        let grid = physical_grid(space.grid, self.info.max_grid).ok_or(Kept::Folded)?;
        // Tiles are placed by the ids of blocks, which a folded grid computes.
        let has_tiles = stage.is_some() || square.is_some() || copies.is_some();
        if has_tiles && grid.map(u64::from) != space.grid {
            return Err(Kept::Folded);
        }
        Ok(Optimized {
            optimization,
            kernel,
            space,
            grid,
            shared,
        })
    }

    /// The values and lengths that bound the loops which are unrolled.
    fn settled(&self, plan: &Plan) -> Vec<(ParamId, u64)> {
        let params = plan.short.iter().flat_map(|short| &short.params);
        let settled = params.filter_map(|param| {
            let value = match self.call.args[param.index()].scalar() {
                Some(value) => u64::try_from(value.as_int()?).ok()?,
                None => self.call.args[param.index()].units(),
            };
            Some((*param, value))
        });
        settled.collect()
    }

    /// The scalar parameters of indices that are multiples of a wide access.
    fn multiples(&self, footprint: &Footprint, plan: &Plan) -> Vec<(ParamId, u32)> {
        let factors = plan.merges.iter().filter(|(axis, _)| *axis == Axis::X);
        let by = match plan.stage {
            Some(_) => WIDE / 4,
            None => factors.map(|(_, factor)| *factor).max().unwrap_or(1),
        };
        let multiples = footprint.pitches.iter().filter_map(|param| {
            let value = self.usize_arg(*param)?;
            (by > 1 && value > 0 && value.is_multiple_of(by.into())).then_some((*param, by))
        });
        multiples.collect()
    }

    /// True if a slice is long enough for a buffer of wide elements: WGSL requires one element.
    fn holds_one(&self, footprint: &Footprint, slice: ParamId) -> bool {
        let units = self.call.args[slice.index()].units();
        let mut accesses = footprint.accesses.iter().filter(|a| a.slice == slice);
        self.target != "wgsl"
            || accesses.all(|a| units.saturating_mul(a.size.into()) >= WIDE.into())
    }

    /// True if the turns of a staged loop plainly fill its chunks.
    fn fills_chunks(&self, kernel: &Kernel, stage: Stage) -> bool {
        let turns = stage.turns(kernel, &|expr| self.launch_value(expr));
        turns.is_some_and(|turns| turns.is_multiple_of(stage.chunk.into()))
    }

    /// The value of a constant, a parameter or a length.
    fn launch_value(&self, expr: Expr) -> Option<u64> {
        match expr {
            Expr::Literal(value) => value.as_int().and_then(|n| u64::try_from(n).ok()),
            Expr::Param(param) => {
                let value = self.call.args[param.index()].scalar()?.as_int()?;
                u64::try_from(value).ok()
            }
            Expr::Len(Memory::Slice(param)) => Some(self.call.args[param.index()].units()),
            _ => None,
        }
    }

    /// True if the transformed launch of `extent` threads fills the device.
    fn fills(&self, plan: &Plan, extent: [u64; 3]) -> bool {
        let threads = extent.iter().fold(1u64, |n, e| n.saturating_mul(*e));
        match plan.stage {
            // The patterns chose a tile for the number of processors.
            Some(_) => true,
            None => threads >= self.processors() * LEAST_THREADS,
        }
    }

    /// The lengths of the shared arrays of a transformed kernel.
    fn shared(&self, kernel: &Kernel) -> Result<Arc<[u64]>, Kept> {
        if kernel.fixed_shared_bytes(self.info.least_element())
            > self.info.max_shared.min(MOST_SHARED)
        {
            return Err(Kept::Shared);
        }
        let lens = kernel.shared.iter().map(|array| match array.len {
            Length::Fixed(len) => len,
            Length::Launch(_) | Length::Link(_) => unreachable!("tiles have fixed lengths"),
        });
        Ok(lens.collect())
    }

    fn processors(&self) -> u64 {
        match self.info.compute_units {
            0 => PROCESSORS,
            units => units.into(),
        }
    }

    fn usize_arg(&self, param: ParamId) -> Option<u64> {
        match self.call.args[param.index()].scalar() {
            Some(Value::Usize(value)) => Some(value),
            _ => None,
        }
    }
}

impl Call<'_> {
    /// True if all vectors begin at the alignment of the device's allocations, whatever replays bind.
    pub(super) fn is_aligned(&self) -> bool {
        let mut vectors = self.args.iter().filter_map(Arg::vector);
        !self.rebound && vectors.all(|vector| vector.is_aligned())
    }
}
