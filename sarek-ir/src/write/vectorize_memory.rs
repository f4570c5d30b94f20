//! Vectorizes memory accesses: merges consecutive loads or stores of neighbouring elements of a buffer or of a shared array
//! into one access of up to 16 bytes.
//!
//! Such accesses come from values that are loaded and stored whole, and from the optimizer. After linking, a slice of
//! structs is a slice of units, and a vector or struct of two or four units is that many statements in a row. The
//! statements stay in the kernel; this module only lists those to write as one. The first index of a group is a multiple
//! of its size, and so is the address, as [`crate::Param::align`] and [`SHARED_ALIGNMENT`] guarantee.
//!
//! Elements of 8 and 16 bits have no vector types of 16 bytes in most languages. Words hold them, and shifts take them
//! apart.

use std::collections::HashMap;

use super::Dialect;
use crate::analysis::shape::same;
use crate::{
    BinaryOp, Block, Expr, ExprId, Intrinsic, Kernel, LocalId, Memory, Piece, SHARED_ALIGNMENT,
    Scalar, Stmt, StmtId, Value,
};

/// Consecutive statements that form one access.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The accessed slice or shared array.
    pub memory: Memory,
    pub ty: Scalar,
    /// The index, in groups of this size.
    pub index: ExprId,
    pub parts: Parts,
}

/// The destinations of loads, or the stored values.
#[derive(Clone, Debug)]
pub(super) enum Parts {
    Load(Vec<Taken>),
    Store(Vec<ExprId>),
}

/// The destination of a loaded element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub local: LocalId,
    /// True if the load declares the local.
    pub declares: bool,
    /// True if the local holds the float with the loaded bits.
    pub from_bits: bool,
}

impl Group {
    pub fn count(&self) -> usize {
        match &self.parts {
            Parts::Load(taken) => taken.len(),
            Parts::Store(values) => values.len(),
        }
    }

    /// The type of the access.
    pub fn wide(&self, dialect: &dyn Dialect) -> Wide {
        Wide::of(dialect, self.ty, self.count()).unwrap_or_else(|| unreachable!("it was asked for"))
    }
}

/// The type of one access to several elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub name: &'static str,
    /// The number of components; 1 for a word that is no vector.
    pub components: usize,
    /// The number of elements in each component: several small ones, lowest bits first.
    pub packed: usize,
}

impl Wide {
    /// The type of an access to `count` elements, if the target has one.
    fn of(dialect: &dyn Dialect, ty: Scalar, count: usize) -> Option<Wide> {
        if let Some(name) = dialect.wide_type(ty, count) {
            return Some(Wide {
                name,
                components: count,
                packed: 1,
            });
        }
        let word = Scalar::U32;
        let packed = word.size() / ty.size();
        if packed < 2 || !count.is_multiple_of(packed) || dialect.wide_buffers() {
            return None;
        }
        let components = count / packed;
        let name = match components {
            1 => dialect.type_name(word),
            _ => dialect.wide_type(word, components)?,
        };
        Some(Wide {
            name,
            components,
            packed,
        })
    }

    /// Component `at` of a value.
    pub fn component(&self, value: &str, at: usize) -> String {
        match self.components {
            1 => value.into(),
            _ => format!("{value}.{}", ["x", "y", "z", "w"][at]),
        }
    }
}

/// The groups of a lowered kernel, by their first statements.
pub(super) fn groups(
    kernel: &mut Kernel,
    dialect: &dyn Dialect,
    given: &[bool],
) -> HashMap<StmtId, Group> {
    let mut found = HashMap::new();
    for stmts in blocks(kernel) {
        let mut at = 0;
        while at < stmts.len() {
            match widest(kernel, (dialect, given), &stmts[at..]) {
                Some(group) => {
                    let first = stmts[at];
                    at += group.count();
                    found.insert(first, group);
                }
                None => at += 1,
            }
        }
    }
    if dialect.wide_buffers() {
        let uniform = uniform(kernel, &found);
        found.retain(|_, group| uniform.get(&group.memory) == Some(&group.count()));
    }
    found
}

/// The statements of every reachable block.
fn blocks(kernel: &Kernel) -> Vec<Vec<StmtId>> {
    fn collect(kernel: &Kernel, block: Block, out: &mut Vec<Vec<StmtId>>) {
        let stmts: Vec<StmtId> = kernel.block(block).collect();
        for &stmt in &stmts {
            for inner in kernel.blocks_of(stmt) {
                collect(kernel, inner, out);
            }
        }
        out.push(stmts);
    }
    let mut out = vec![];
    collect(kernel, kernel.body, &mut out);
    out
}

/// The largest group that begins at the first statement.
fn widest(
    kernel: &mut Kernel,
    (dialect, given): (&dyn Dialect, &[bool]),
    stmts: &[StmtId],
) -> Option<Group> {
    let first = Access::of(kernel, *stmts.first()?)?;
    let align = match first.memory {
        Memory::Slice(param) => kernel.params[param.index()].align as usize,
        Memory::Shared(shared) if given[shared.index()] => 0,
        Memory::Shared(_) => dialect
            .wide_shared()
            .map_or(0, |_| SHARED_ALIGNMENT as usize),
        Memory::Local(_) | Memory::Table(_) => 0,
    };
    let align = align / first.ty.size();
    [16, 8, 4, 2].into_iter().find_map(|count| {
        let fits = count <= align && first.ty.size() * count <= 16 && count <= stmts.len();
        if !fits || Wide::of(dialect, first.ty, count).is_none() {
            return None;
        }
        let all: Option<Vec<Access>> = stmts[..count]
            .iter()
            .map(|s| Access::of(kernel, *s))
            .collect();
        let all = all?;
        let follows =
            |(k, access): (usize, &Access)| first.is_followed_by(kernel, access, k as u64);
        if !all.iter().enumerate().all(follows) || !are_independent(kernel, &all) {
            return None;
        }
        let index = divided(kernel, first.index, count as u64)?;
        let loads: Option<Vec<_>> = all.iter().map(|a| a.to).collect();
        let parts = match loads {
            Some(taken) => Parts::Load(taken),
            None => Parts::Store(all.iter().filter_map(|a| a.value).collect()),
        };
        Some(Group {
            memory: first.memory,
            ty: first.ty,
            index,
            parts,
        })
    })
}

/// An unchecked load or store of one element.
struct Access {
    memory: Memory,
    ty: Scalar,
    index: ExprId,
    /// The destination, for a load.
    to: Option<Taken>,
    /// The stored value, for a store.
    value: Option<ExprId>,
}

impl Access {
    fn of(kernel: &Kernel, stmt: StmtId) -> Option<Access> {
        let stmt = kernel.stmt(stmt);
        if let Stmt::Store {
            memory,
            index,
            value,
            site: None,
        } = stmt
        {
            return Some(Access {
                memory,
                ty: kernel.scalar_of(value),
                index,
                to: None,
                value: Some(value),
            });
        }
        let (local, value, declares) = if let Stmt::Let {
            local,
            init: Some(value),
        } = stmt
        {
            (local, value, true)
        } else if let Stmt::Assign { local, value } = stmt {
            (local, value, false)
        } else {
            return None;
        };
        let bits = if let Expr::Call {
            intrinsic: Intrinsic::FromBits,
            args,
        } = kernel.expr(value)
        {
            kernel.list(args).next()
        } else {
            None
        };
        let loaded = bits.unwrap_or(value);
        let Expr::Load {
            memory,
            index,
            site: None,
        } = kernel.expr(loaded)
        else {
            return None;
        };
        let to = Taken {
            local,
            declares,
            from_bits: bits.is_some(),
        };
        Some(Access {
            memory,
            ty: kernel.scalar_of(loaded),
            index,
            to: Some(to),
            value: None,
        })
    }

    /// True if `other` is the same access, `k` elements further.
    fn is_followed_by(&self, kernel: &Kernel, other: &Access, k: u64) -> bool {
        let ((base, at), (other_base, other_at)) =
            (split(kernel, self.index), split(kernel, other.index));
        let same_kind = self.to.is_some() == other.to.is_some();
        let same_base = match (base, other_base) {
            // An index that reads memory may differ between the statements, and each checked one may fault.
            (Some(a), Some(b)) => same(kernel, a, b) && is_fixed(kernel, a),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_kind && same_base && self.memory == other.memory && at + k == other_at
    }
}

/// Splits an index into an expression, if any, and a constant offset.
fn split(kernel: &Kernel, index: ExprId) -> (Option<ExprId>, u64) {
    let number = |id| kernel.literal(id).and_then(Value::as_int);
    if let Some(n) = number(index) {
        return (None, n as u64);
    }
    if let Expr::Binary {
        op: BinaryOp::Add,
        lhs,
        rhs,
    } = kernel.expr(index)
        && let Some(n) = number(rhs)
    {
        return (Some(lhs), n as u64);
    }
    (Some(index), 0)
}

/// True if an expression reads no memory and checks nothing.
fn is_fixed(kernel: &Kernel, id: ExprId) -> bool {
    kernel.exprs_in([id]).all(|e| {
        let facts = kernel.expr(e).facts();
        let is_checked = facts.check.site().is_some() || kernel.overflow_site(e).is_some();
        facts.reads.memory().is_none() && !is_checked
    })
}

/// True if no access changes anything that a later one reads.
fn are_independent(kernel: &Kernel, all: &[Access]) -> bool {
    all.iter().all(|access| match access.to {
        Some(taken) => {
            let mut indices = kernel.exprs_in(all.iter().map(|other| other.index));
            !indices.any(|e| kernel.expr(e) == Expr::Local(taken.local))
        }
        None => {
            let stored = access.memory;
            let values = all.iter().filter_map(|other| other.value);
            let mut exprs = values.chain(all.iter().map(|other| other.index));
            !exprs.any(|id| kernel.loads(id, stored))
        }
    })
}

/// An index divided by a group's size. `None` unless the index is evidently a multiple. Wrapping keeps that property at
/// any width, since the size is a power of two.
fn divided(kernel: &mut Kernel, index: ExprId, by: u64) -> Option<ExprId> {
    let (ty, loc) = (kernel.scalar_of(index), kernel.expr_locs[index.index()]);
    if let Some(n) = kernel.literal(index).and_then(Value::as_int) {
        let quotient = (n % i128::from(by) == 0).then(|| n / i128::from(by))?;
        let value = Value::int(ty, quotient)?;
        return Some(kernel.push_literal(value, loc));
    }
    let Expr::Binary { op, lhs, rhs } = kernel.expr(index) else {
        return None;
    };
    let (lhs, rhs) = if matches!(op, BinaryOp::Add | BinaryOp::Sub) {
        (divided(kernel, lhs, by)?, divided(kernel, rhs, by)?)
    } else if op == BinaryOp::Mul {
        let (one, other) = match divided(kernel, rhs, by) {
            Some(rhs) => (lhs, rhs),
            None => (rhs, divided(kernel, lhs, by)?),
        };
        if kernel.literal(other).and_then(Value::as_int) == Some(1) {
            return Some(one);
        }
        (one, other)
    } else {
        return None;
    };
    Some(kernel.push_expr(Expr::Binary { op, lhs, rhs }, ty, loc))
}

/// The buffers whose accesses all are in groups of one size, with that size.
fn uniform(kernel: &Kernel, found: &HashMap<StmtId, Group>) -> HashMap<Memory, usize> {
    let mut single: HashMap<Memory, usize> = HashMap::new();
    for stmt in kernel.stmts_in(kernel.block(kernel.body)) {
        let exprs = kernel.exprs_in(kernel.operands_of(stmt));
        let loaded = exprs.filter_map(|e| kernel.expr(e).facts().reads.memory());
        for memory in loaded.chain(kernel.stmt(stmt).facts().effect.memory()) {
            if let Memory::Slice(_) = memory {
                *single.entry(memory).or_default() += 1;
            }
        }
    }
    let mut sizes: HashMap<Memory, Option<usize>> = HashMap::new();
    for group in found.values() {
        *single.entry(group.memory).or_default() -= group.count();
        let size = sizes.entry(group.memory).or_insert(Some(group.count()));
        if *size != Some(group.count()) {
            *size = None;
        }
    }
    let pieces = kernel.natives.iter().flat_map(|n| n.texts.iter());
    let named = |memory: Memory| {
        let mut pieces = pieces.clone().flat_map(|text| text.pieces.iter());
        pieces.any(|piece| matches!(piece, Piece::Param(param) if Memory::Slice(*param) == memory))
    };
    let sizes = sizes.into_iter();
    let sizes = sizes.filter_map(|(memory, size)| Some((memory, size?)));
    let whole = |(memory, _): &(Memory, usize)| single[memory] == 0 && !named(*memory);
    sizes.filter(whole).collect()
}
