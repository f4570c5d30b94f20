//! Footprints: how the threads of a launch access each memory, in the terms that plans are made of.
//!
//! An access is described along each axis by the distance between the elements of neighbouring threads: none, one
//! element, or any other. Threads at no distance use the same element, so a thread that does the work of several loads
//! it once. Threads at a distance of one element use neighbouring elements, so it loads them by one wide access.
//!
//! The distance follows from the index as a sum of products: it is the coefficient of the id along the axis.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::analysis::shape::same;
use crate::facts::{Effect, Reads};
use crate::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, LocalId, Memory, ParamId, ParamKind,
    Stmt, Value,
};

use super::lane::split;
use super::varying::Varying;

/// The distance between the elements that neighbouring threads along an axis access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    /// They access the same element.
    None,
    /// They access neighbouring elements.
    One,
    /// Any other distance, also one that differs between threads.
    Other,
}

/// One load or store of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The slice.
    pub slice: ParamId,
    /// The size of an element in bytes.
    pub size: u32,
    /// True for a store.
    pub stores: bool,
    /// The number of loops around it.
    pub depth: u32,
    /// The distance along each axis.
    pub distance: [Distance; 3],
    /// The largest power of two, at most [`MOST`], that divides the index if it divides the id along x, the extent along x
    /// and all parameters. A wide access of so many elements begins at a multiple of its width.
    pub multiple: u64,
}

/// The largest number of elements in a wide access.
pub const MOST: u64 = 16;

/// The accesses of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// All loads and stores of slices, in source order.
    pub accesses: Vec<Access>,
    /// True if the kernel has a loop.
    pub loops: bool,
    /// True for each axis along which some loop takes different iterations in different threads.
    pub uneven: [bool; 3],
    /// The `usize` parameters that occur in indices.
    pub pitches: Vec<ParamId>,
    /// True if threads load or store two neighbouring elements one after the other, as those of a struct, which begin at a
    /// multiple of two, and lie a fixed even number of elements before those of the next thread along x.
    pub runs: bool,
}

impl Footprint {
    /// Describes a closed kernel.
    pub fn of(kernel: &Kernel) -> Footprint {
        let varying = Axis::ALL.map(|axis| Varying::of(kernel, axis));
        let mut footprint = Footprint {
            uneven: [0, 1, 2].map(|axis| varying[axis].has_loops()),
            ..Footprint::default()
        };
        Reader {
            kernel,
            varying: &varying,
            last: None,
            coefficients: HashMap::new(),
            multiples: HashMap::new(),
            footprint: &mut footprint,
        }
        .block(kernel.body, 0);
        footprint
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.stores { "stores" } else { "loads" };
        write!(f, "{what}")?;
        for (axis, distance) in Axis::ALL.iter().zip(self.distance) {
            let words = match distance {
                // Most kernels have threads along x alone.
                Distance::None if *axis != Axis::X => continue,
                Distance::None => "the same element",
                Distance::One => "the next element",
                Distance::Other => "another element",
            };
            write!(f, ", along {} {words}", axis.name())?;
        }
        let loops = if self.depth == 0 { "" } else { ", in a loop" };
        f.write_str(loops)
    }
}

struct Reader<'a> {
    kernel: &'a Kernel,
    varying: &'a [Varying; 3],
    /// The last access.
    last: Option<(Access, ExprId)>,
    /// The growth of immutable locals along axes, see [`Reader::coefficient`]. Chains of locals would take exponential time
    /// without it.
    coefficients: HashMap<(LocalId, Axis), Option<i64>>,
    /// See [`Reader::multiple`].
    multiples: HashMap<LocalId, u64>,
    footprint: &'a mut Footprint,
}

impl Reader<'_> {
    fn block(&mut self, block: Block, depth: u32) {
        for id in self.kernel.block(block) {
            let stmt = self.kernel.stmt(id);
            for operand in self.kernel.exprs_in(self.kernel.operands_of(id)) {
                if let Expr::Load {
                    memory: Memory::Slice(slice),
                    index,
                    ..
                } = self.kernel.expr(operand)
                {
                    self.access(slice, index, false, depth);
                }
            }
            if let (Effect::Store(Memory::Slice(slice)), Stmt::Store { index, .. }) =
                (stmt.facts().effect, stmt)
            {
                self.access(slice, index, true, depth);
            }
            let is_loop = stmt.loop_label().is_some();
            self.footprint.loops |= is_loop;
            for inner in self.kernel.blocks_of(id) {
                self.block(inner, depth + u32::from(is_loop));
            }
        }
    }

    fn access(&mut self, slice: ParamId, index: ExprId, stores: bool, depth: u32) {
        let ParamKind::Slice { elem, .. } = self.kernel.params[slice.index()].kind else {
            return;
        };
        self.pitches(index);
        let access = Access {
            slice,
            size: elem.scalar().size() as u32,
            stores,
            depth,
            distance: Axis::ALL.map(|axis| self.distance(index, axis)),
            multiple: self.multiple(index),
        };
        self.footprint.runs |= self.is_run(access, index);
        self.last = Some((access, index));
        self.footprint.accesses.push(access);
    }

    /// See [`Footprint::runs`].
    fn is_run(&mut self, access: Access, index: ExprId) -> bool {
        let Some((last, before)) = self.last else {
            return false;
        };
        let ((base, at), (other, next)) = (split(self.kernel, before), split(self.kernel, index));
        let same_base = base
            .zip(other)
            .is_some_and(|(a, b)| same(self.kernel, a, b));
        let same_kind = (last.slice, last.stores) == (access.slice, access.stores);
        let words = self.coefficient(before, Axis::X);
        let apart = words.is_some_and(|words| words > 1 && words % 2 == 0 && last.multiple > 1);
        same_kind && same_base && apart && at + 1 == next
    }

    /// Adds the parameters of an index.
    fn pitches(&mut self, index: ExprId) {
        let (mut left, mut seen) = (vec![index], HashSet::new());
        while let Some(index) = left.pop() {
            for id in self.kernel.exprs_in([index]) {
                match self.kernel.expr(id).facts().reads {
                    Reads::Param(param) if !self.footprint.pitches.contains(&param) => {
                        self.footprint.pitches.push(param);
                    }
                    Reads::Local(local) if seen.insert(local) => left.extend(self.init(local)),
                    _ => {}
                }
            }
        }
    }

    fn distance(&mut self, index: ExprId, axis: Axis) -> Distance {
        if !self.varying[axis.index()].is_expr(self.kernel, index) {
            return Distance::None;
        }
        match self.coefficient(index, axis) {
            Some(0) => Distance::None,
            Some(1) => Distance::One,
            Some(_) | None => Distance::Other,
        }
    }

    /// The number by which a value grows from one thread to the next along an axis; `None` if that is no number.
    fn coefficient(&mut self, id: ExprId, axis: Axis) -> Option<i64> {
        if !self.varying[axis.index()].is_expr(self.kernel, id) {
            return Some(0);
        }
        match self.kernel.expr(id) {
            Expr::Builtin(Builtin::GlobalIdx(own)) => Some(i64::from(own == axis)),
            Expr::Builtin(Builtin::GlobalThreadId) => Some(1).filter(|_| axis == Axis::X),
            Expr::Local(local) => {
                if let Some(known) = self.coefficients.get(&(local, axis)) {
                    return *known;
                }
                let init = self.init(local)?;
                let found = self.coefficient(init, axis);
                self.coefficients.insert((local, axis), found);
                found
            }
            Expr::Bounded { index, .. } => self.coefficient(index, axis),
            Expr::Binary { op, lhs, rhs } => {
                let (left, right) = (self.coefficient(lhs, axis)?, self.coefficient(rhs, axis)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Sub => left.checked_sub(right),
                    BinaryOp::Mul => {
                        let literal = |id| self.kernel.literal(id).and_then(Value::as_int);
                        let factor = literal(rhs).or_else(|| literal(lhs))?;
                        (left + right).checked_mul(i64::try_from(factor).ok()?)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// See [`Access::multiple`].
    fn multiple(&mut self, id: ExprId) -> u64 {
        match self.kernel.expr(id) {
            Expr::Literal(value) => value.as_int().map_or(1, |n| match n.trailing_zeros() {
                zeros if zeros < 4 => 1 << zeros,
                _ => MOST,
            }),
            Expr::Builtin(Builtin::GlobalIdx(Axis::X) | Builtin::GlobalDim(Axis::X))
            | Expr::Param(_) => MOST,
            Expr::Local(local) => {
                if let Some(known) = self.multiples.get(&local) {
                    return *known;
                }
                let init = self.init(local);
                let found = init.map_or(1, |init| self.multiple(init));
                self.multiples.insert(local, found);
                found
            }
            Expr::Bounded { index, .. } => self.multiple(index),
            Expr::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs,
            } => self.multiple(lhs).min(self.multiple(rhs)),
            Expr::Binary {
                op: BinaryOp::Mul,
                lhs,
                rhs,
            } => MOST.min(self.multiple(lhs) * self.multiple(rhs)),
            _ => 1,
        }
    }

    /// The value of an immutable local.
    fn init(&self, local: LocalId) -> Option<ExprId> {
        if self.kernel.locals[local.index()].mutable {
            return None;
        }
        self.kernel.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Let { local: of, init } if *of == local => *init,
            _ => None,
        })
    }
}
