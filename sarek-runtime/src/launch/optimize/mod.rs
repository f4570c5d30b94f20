//! The planner of the optimizer: chooses the transformations of a launch, see [`sarek_ir::optimize`].
//!
//! It knows a few patterns, and for each a list of plans, best first. A plan is taken if it applies to the kernel and
//! leaves enough threads to fill the device. Everything else runs as it was written: launches that are too small to gain,
//! kernels whose checks are not all proved, and kernels that were declared `unsafe`, because nothing proves that their
//! threads may run in any order.

use std::sync::Arc;

use sarek_ir::optimize::footprint::{Access, Distance};
use sarek_ir::optimize::{Footprint, Merge, Optimization, Refusal};
use sarek_ir::{Axis, Kernel, ParamId, Value};

use super::prove::Proof;
use super::space::{Shape, physical_grid};
use super::{Arg, Call};
use crate::host::IndexSpace;
use crate::plugin::backend::DeviceInfo;
use crate::plugin::tag::DeviceKind;
use crate::settings::{self, Optimize};

/// A kernel that was transformed for a launch, and the threads that run it.
#[derive(Debug)]
pub(super) struct Optimized {
    pub(super) optimization: Optimization,
    pub(super) kernel: Kernel,
    pub(super) space: IndexSpace,
    pub(super) grid: [u32; 3],
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
/// The loads of one slice from which on threads along y share some.
const SHARED_LOADS: usize = 4;
/// The bytes of a wide access.
const WIDE: u32 = 16;
/// The words of a wide access.
const WORDS: u64 = 4;

impl Planning<'_, '_> {
    /// The optimized launch, or the reason why it stays as it is.
    pub(super) fn choose(&self) -> Result<Arc<Optimized>, Kept> {
        let mode = settings::optimize();
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
        let footprint = Footprint::of(kernel);
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
            Optimize::All => self.any(),
            Optimize::On | Optimize::Off => self.plans(&footprint),
        };
        let mut kept = Kept::NoPattern;
        for plan in plans {
            match self.apply(kernel, &footprint, &plan) {
                Ok(optimized) => return Ok(Arc::new(optimized)),
                Err(reason) => kept = reason,
            }
        }
        Err(kept)
    }

    /// The plans for the pattern of the kernel, best first.
    fn plans(&self, footprint: &Footprint) -> Vec<Vec<(Axis, u32)>> {
        let inner = footprint.accesses.iter().filter(|access| access.depth > 0);
        let is_shared = |access: &&Access, by: usize, not_by: usize| {
            access.distance[by] == Distance::None && access.distance[not_by] != Distance::None
        };
        let reused = [0, 1].map(|by| inner.clone().any(|access| is_shared(&access, by, 1 - by)));
        let even = |axis: usize| !footprint.uneven[axis] && self.space.extent[axis] > 1;
        let wide = self.width(footprint);
        let along_x = |count: u32| (Axis::X, count.min(wide));
        let plans = if reused == [true, true] && even(0) && even(1) {
            // A product: rows of one operand, columns of the other.
            vec![
                vec![along_x(4), (Axis::Y, 8)],
                vec![along_x(4), (Axis::Y, 4)],
                vec![along_x(2), (Axis::Y, 2)],
            ]
        } else if footprint.loops {
            let shares = |axis: usize| {
                let mut inner = inner.clone();
                let all =
                    inner.clone().count() > 0 && inner.all(|a| a.distance[axis] == Distance::None);
                all && even(axis)
            };
            match shares(0) {
                true => vec![vec![(Axis::X, 2)]],
                false => vec![],
            }
        } else if self.is_stencil(footprint) {
            vec![vec![(Axis::Y, 4)], vec![(Axis::Y, 2)]]
        } else {
            vec![vec![along_x(WIDE)]]
        };
        let merges = |plan: Vec<(Axis, u32)>| -> Vec<(Axis, u32)> {
            plan.into_iter().filter(|(_, factor)| *factor > 1).collect()
        };
        let plans = plans.into_iter().map(merges);
        plans.filter(|plan: &Vec<_>| !plan.is_empty()).collect()
    }

    /// True if threads along y load elements that their neighbours load, too.
    fn is_stencil(&self, footprint: &Footprint) -> bool {
        let mut slices = footprint.accesses.iter().map(|access| access.slice);
        let loads = |slice: ParamId| {
            let all = footprint
                .accesses
                .iter()
                .filter(|a| a.slice == slice && !a.stores);
            all.filter(|a| a.distance[0] == Distance::One).count()
        };
        self.space.extent[1] > 1 && slices.any(|slice| loads(slice) >= SHARED_LOADS)
    }

    /// The number of neighbouring elements that one access can load or store in all slices; 1 if that is not known.
    fn width(&self, footprint: &Footprint) -> u32 {
        if !self.call.is_aligned() || self.call.strided {
            return 1;
        }
        let wgsl = self.target == "wgsl";
        let mut widths = vec![];
        for access in &footprint.accesses {
            match access.distance[0] {
                Distance::None => {}
                // WGSL has no wide types for elements of 16 bits.
                Distance::One if !wgsl || access.size >= 4 => {
                    widths.push(access.multiple.min(u64::from(WIDE / access.size)));
                }
                Distance::One | Distance::Other => return 1,
            }
        }
        let mut width = widths.into_iter().min().unwrap_or(WORDS);
        while width > 1 && !self.fits(footprint, width) {
            width /= 2;
        }
        width as u32
    }

    /// True if rows and pitches are multiples of so many elements, so that each wide access begins at one.
    fn fits(&self, footprint: &Footprint, width: u64) -> bool {
        let is_multiple = |n: u64| n.is_multiple_of(width);
        let flat = self.space.extent[1] == 1 && self.space.extent[2] == 1;
        let whole = is_multiple(self.space.extent[0]);
        let mut pitches = footprint.pitches.iter();
        // The elements of a WGSL buffer have one width.
        let tail = whole || self.target != "wgsl";
        let pitches = pitches.all(|param| self.usize_arg(*param).is_some_and(is_multiple));
        pitches && tail && (flat || whole)
    }

    fn usize_arg(&self, param: ParamId) -> Option<u64> {
        match self.call.args[param.index()].scalar() {
            Some(Value::Usize(value)) => Some(value),
            _ => None,
        }
    }

    /// Some plan, good or bad, that depends on the kernel and its extent only.
    fn any(&self) -> Vec<Vec<(Axis, u32)>> {
        let name = self.call.kernel.name().bytes();
        let seed = name.fold(self.space.threads(), |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(byte.into())
        });
        let factor = |shift: u32| [2, 3, 4, 8, 16][(seed >> shift) as usize % 5];
        let (x, y) = ((Axis::X, factor(0)), (Axis::Y, factor(2)));
        match seed >> 4 & 3 {
            0 => vec![vec![x], vec![y]],
            1 => vec![vec![y], vec![x]],
            2 => vec![vec![y, x], vec![x]],
            _ => vec![vec![x, y, (Axis::Z, 2)], vec![x, y], vec![x], vec![y]],
        }
    }

    fn apply(
        &self,
        kernel: &Kernel,
        footprint: &Footprint,
        plan: &[(Axis, u32)],
    ) -> Result<Optimized, Kept> {
        let mut extent = self.space.extent;
        let mut merges = vec![];
        for &(axis, factor) in plan {
            let threads = &mut extent[axis.index()];
            let merge = Merge::new(axis, factor, *threads);
            *threads = merge.threads(*threads);
            merges.push(merge);
        }
        // An id plus a lane's number must still fit.
        let most = u64::from(u32::MAX) - 64;
        if self.proof.fits_u32 && self.space.extent.iter().any(|threads| *threads > most) {
            return Err(Kept::Folded);
        }
        let units = match self.info.compute_units {
            0 => PROCESSORS,
            units => units.into(),
        };
        let threads = extent.iter().fold(1u64, |n, e| n.saturating_mul(*e));
        if settings::optimize() == Optimize::On && threads < units * LEAST_THREADS {
            return Err(Kept::Small);
        }
        let factors = merges.iter().filter(|merge| merge.axis == Axis::X);
        let by = factors.map(|merge| merge.factor).max().unwrap_or(1);
        let multiples = footprint.pitches.iter().filter_map(|param| {
            let value = self.usize_arg(*param)?;
            (by > 1 && value > 0 && value.is_multiple_of(by.into())).then_some((*param, by))
        });
        let aligned = self.call.args.iter().zip(0..);
        let aligned = aligned.filter(|(arg, _): &(&Arg<'_>, u32)| arg.vector().is_some());
        let optimization = Optimization {
            holds: self.proof.holds.clone(),
            aligned: match self.call.is_aligned() {
                true => aligned.map(|(_, param)| ParamId(param)).collect(),
                false => vec![],
            },
            multiples: multiples.collect(),
            dense: !self.call.strided,
            merges,
        };
        let kernel = optimization.apply(kernel).map_err(Kept::Refused)?;
        let shape = Shape::Over(super::dims::Dims(extent.map(|threads| threads as usize)));
        let space = shape.space((None, false), self.info, None);
        let space = space.map_err(|_| Kept::Folded)?;
        let grid = physical_grid(space.grid, self.info.max_grid);
        let grid = grid
            .filter(|grid| grid.map(u64::from) == space.grid)
            .ok_or(Kept::Folded)?;
        Ok(Optimized {
            optimization,
            kernel,
            space,
            grid,
        })
    }
}

impl Call<'_> {
    /// True if all vectors begin at the alignment of the device's allocations, whatever replays bind.
    pub(super) fn is_aligned(&self) -> bool {
        let mut vectors = self.args.iter().filter_map(Arg::vector);
        !self.rebound && vectors.all(|vector| vector.is_aligned())
    }
}
