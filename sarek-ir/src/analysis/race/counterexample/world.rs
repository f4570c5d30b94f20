//! Small launches.

use std::cell::Cell;

use crate::nodes::Ids;
use crate::{
    Access, Axis, Builtin, Compound, Expr, Kernel, Memory, ParamId, ParamKind, Value, ViewPart,
};

/// The values that are tried for arguments and lengths.
pub(super) const VALUES: [u64; 6] = [5, 64, 3, 2, 1, 0];

/// The length of slices where it differs from the value of arguments.
pub(super) const LONG: u64 = 64;

/// A value of all arguments and lengths but one, and the values that are tried for that one.
const SPECIAL: [(u64, &[u64]); 2] = [(5, &[LONG, 6, 4, 2, 1]), (LONG, &[5, 2, 1, 0])];

/// The length of slices whose length the kernel does not read: longer than any index that is found.
const LONGEST: u64 = 1 << 40;

/// Facts about a kernel that hold in all launches.
pub(super) struct Facts<'k> {
    pub kernel: &'k Kernel,
    /// The axes along which the kernel asks for an id; x if there is none.
    pub axes: [bool; 3],
    /// For each parameter: true if it is a slice and the kernel reads its length.
    measured: Vec<bool>,
    /// For each parameter: its part in a view, if it has one.
    parts: Vec<Option<ViewPart>>,
}

impl<'k> Facts<'k> {
    pub fn of(kernel: &'k Kernel) -> Facts<'k> {
        let mut facts = Facts {
            kernel,
            axes: [false; 3],
            measured: vec![false; kernel.params.len()],
            parts: vec![None; kernel.params.len()],
        };
        for expr in kernel.exprs.iter() {
            match *expr {
                Expr::Builtin(
                    Builtin::ThreadIdx(axis) | Builtin::BlockIdx(axis) | Builtin::GlobalIdx(axis),
                ) => facts.axes[axis.index()] = true,
                Expr::Len(Memory::Slice(param)) => facts.measured[param.index()] = true,
                _ => {}
            }
        }
        if facts.axes == [false; 3] {
            facts.axes[Axis::X.index()] = true;
        }
        for compound in kernel.compounds.iter() {
            if let Compound::At { view, indices } = compound {
                facts.mark_parts(*view, indices.len);
            }
        }
        facts
    }

    fn mark_parts(&mut self, view: ParamId, rank: u32) {
        let parts = (0..rank).flat_map(|d| [ViewPart::Extent(d), ViewPart::Stride(d)]);
        for part in parts.chain([ViewPart::Offset]) {
            let param = Kernel::view_param(view, rank, part);
            if let Some(of) = self.parts.get_mut(param.index()) {
                *of = Some(part);
            }
        }
    }

    /// The kinds of arguments to try: if read-only slices contain zeros, and if lengths differ from arguments.
    pub fn families(&self) -> Vec<(bool, bool)> {
        let is = |kind: fn(&ParamKind) -> bool| self.kernel.params.iter().any(|p| kind(&p.kind));
        let reads = is(|kind| {
            matches!(
                kind,
                ParamKind::Slice {
                    access: Access::Read,
                    ..
                }
            )
        });
        let scalars = is(|kind| matches!(kind, ParamKind::Scalar(scalar) if scalar.is_int()));
        let measures = self.measured.contains(&true) || self.parts.iter().any(Option::is_some);
        let all = [(false, false), (false, true), (true, false), (true, true)];
        let possible = |(zeros, differ): &(bool, bool)| {
            (!zeros || reads) && (!differ || (scalars && measures))
        };
        all.into_iter().filter(possible).collect()
    }

    /// The values to try, the usual ones first. If `differ` is true, lengths differ from arguments.
    pub fn values(&self, differ: bool) -> Vec<Values> {
        let same = VALUES.iter().map(|&arguments| Values {
            arguments,
            lengths: if differ { LONG } else { arguments },
            special: None,
        });
        same.collect()
    }

    /// Values of which one differs from all others.
    pub fn special_values(&self) -> Vec<Values> {
        let params = (0..self.kernel.params.len() as u32).map(ParamId);
        let params: Vec<ParamId> = params.filter(|param| self.has_value(*param)).collect();
        if params.len() < 2 {
            return vec![];
        }
        let values = SPECIAL.iter().flat_map(|(most, special)| {
            let pairs = params
                .iter()
                .flat_map(move |param| special.iter().map(move |value| (*param, *value)));
            pairs.map(move |special| Values {
                arguments: *most,
                lengths: *most,
                special: Some(special),
            })
        });
        values.collect()
    }

    /// True for an integer argument, and for a slice whose length the kernel reads.
    fn has_value(&self, param: ParamId) -> bool {
        let derived = matches!(
            self.parts[param.index()],
            Some(ViewPart::Offset | ViewPart::Stride(_))
        );
        match self.kernel.params[param.index()].kind {
            ParamKind::Scalar(scalar) => scalar.is_int() && !derived,
            ParamKind::Slice { .. } => self.measured[param.index()],
            ParamKind::Value(_) | ParamKind::Reference(_) => false,
        }
    }

    /// The launches to try, each with its block and its grid.
    pub fn launches(&self, shared: bool) -> Vec<[[u64; 3]; 2]> {
        let count = self.axes.iter().filter(|used| **used).count();
        let along = |n: u64| self.axes.map(|used| if used { n } else { 1 });
        if let Some(block) = self.kernel.block {
            return vec![[block.map(u64::from), along(2)]];
        }
        let (blocks, grid): (&[u64], u64) = match (count, shared) {
            (0 | 1, false) => (&[4, 32], 2),
            (2, false) => (&[3, 8], 2),
            (_, false) => (&[2, 4], 2),
            (0 | 1, true) => (&[32, 8, 2, 64, 256], 1),
            (2, true) => (&[8, 4, 2, 16], 1),
            (_, true) => (&[4, 2], 1),
        };
        blocks.iter().map(|n| [along(*n), along(grid)]).collect()
    }
}

/// The values of integer arguments, and the lengths of slices whose length the kernel reads.
#[derive(Clone, Copy)]
pub(super) struct Values {
    /// The value of each argument.
    pub arguments: u64,
    /// Each length.
    pub lengths: u64,
    /// The one that differs from all others.
    pub special: Option<(ParamId, u64)>,
}

impl Values {
    fn special(&self, param: ParamId) -> Option<u64> {
        let (of, value) = self.special?;
        (of == param).then_some(value)
    }
}

/// A launch of the kernel, with its arguments.
pub(super) struct World<'f> {
    pub facts: &'f Facts<'f>,
    pub block: [u64; 3],
    pub grid: [u64; 3],
    pub values: Values,
    /// True if the integers in slices that the kernel only reads are 0. Otherwise they are unknown.
    pub zeros: bool,
    /// The number of nodes that may still be evaluated.
    pub budget: &'f Cell<u32>,
}

impl<'f> World<'f> {
    pub fn kernel(&self) -> &'f Kernel {
        self.facts.kernel
    }

    /// The value of a parameter, if it is an integer; and true if it is a length.
    pub fn argument(&self, param: ParamId) -> Option<(Value, bool)> {
        let ParamKind::Scalar(scalar) = self.kernel().params[param.index()].kind else {
            return None;
        };
        let (value, is_length) = match self.facts.parts[param.index()] {
            None => (self.values.arguments, false),
            Some(ViewPart::Extent(_)) => (self.values.lengths, true),
            // The launch derives them from the buffer.
            Some(ViewPart::Offset | ViewPart::Stride(_)) => return None,
        };
        let exact = i128::from(self.values.special(param).unwrap_or(value));
        let value = Value::int(scalar, exact).filter(|v| v.as_int() == Some(exact))?;
        Some((value, is_length))
    }

    /// The length of a slice.
    pub fn len(&self, param: ParamId) -> u64 {
        match self.facts.measured[param.index()] {
            true => self.values.special(param).unwrap_or(self.values.lengths),
            false => LONGEST,
        }
    }

    /// The threads of a block, x fastest.
    pub fn threads(&self, block_idx: [u64; 3]) -> impl Iterator<Item = Ids> + use<> {
        let (block_dim, grid_dim) = (self.block, self.grid);
        points(block_dim).map(move |thread_idx| Ids {
            thread_idx,
            block_idx,
            block_dim,
            grid_dim,
            global_dim: [0, 1, 2].map(|a| block_dim[a].saturating_mul(grid_dim[a])),
        })
    }
}

/// The points of a box, x fastest.
pub(super) fn points([w, h, d]: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z])))
}
