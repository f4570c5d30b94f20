//! Storage of the leaves of a value, and access to one leaf.

use std::rc::Rc;

use super::build::Linker;
use super::shape::{Leaf, Shape};
use crate::{
    BinaryOp, DivideOp, Expr, ExprId, Intrinsic, Loc, LocalId, Memory, ParamId, Scalar, SharedId,
    SiteId, SiteKind, Stmt, TableId, Value,
};

/// Storage of the leaves of a value.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    /// A local for each leaf; an array if the leaf is inside arrays.
    Locals(Rc<[LocalId]>),
    /// A scalar parameter for each leaf.
    Params(Rc<[ParamId]>),
    /// A value for each leaf; a table if the leaf is inside arrays.
    Constant(Rc<[Known]>),
    /// A shared array for each leaf of an element.
    Shared(Rc<[SharedId]>),
    /// The elements of a slice, as units.
    Slice(ParamId, Unit),
}

/// A leaf of a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    One(Value),
    Table(TableId),
}

/// The units of a slice's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub scalar: Scalar,
    /// The number of units in an element.
    pub per: u64,
}

/// A part of the value in a [`Storage`].
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub storage: Storage,
    /// The type of the whole value; for memory, of an element.
    pub whole: Shape,
    /// The type of the part.
    pub shape: Shape,
    /// The position of its first leaf.
    pub first: usize,
    /// The indices into memory and arrays that lead to it.
    pub indices: Vec<Index>,
}

/// One index on the way to a part. For memory, the first one selects the element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub expr: ExprId,
    pub site: Option<SiteId>,
}

impl Part {
    /// The whole value.
    pub fn whole(storage: Storage, shape: Shape) -> Part {
        Part {
            storage,
            whole: shape.clone(),
            shape,
            first: 0,
            indices: vec![],
        }
    }

    pub fn field(mut self, name: &str) -> Part {
        let (field, at) = self.shape.field(name);
        self.first += at;
        self.shape = field.shape.clone();
        self
    }

    pub fn payload(mut self, variant: &str, name: &str) -> Part {
        let (field, at) = self.shape.payload(variant, name);
        self.first += at;
        self.shape = field.shape.clone();
        self
    }

    /// Selects an element of an array.
    pub fn index(mut self, index: Index) -> Part {
        self.shape = self.shape.elem().clone();
        self.indices.push(index);
        self
    }

    /// The same memory seen as elements of type `elem`, which may be arrays of its own elements.
    pub fn lent_as(self, elem: Shape) -> Part {
        let shape = match (&self.storage, &self.whole) {
            (Storage::Locals(_) | Storage::Constant(_), Shape::Array(own, len))
                if **own != elem =>
            {
                Shape::Array(elem.clone().into(), len / elem.rows_of(own))
            }
            (Storage::Shared(_), own) if *own != elem => elem,
            _ => return self,
        };
        Part::whole(self.storage, shape)
    }

    /// Selects an enum's tag.
    pub fn tag(mut self) -> Part {
        self.shape = Shape::Scalar(self.shape.tag());
        self
    }

    /// True for an element of memory, or a part of one.
    fn in_memory(&self) -> bool {
        match self.storage {
            Storage::Shared(_) | Storage::Slice(..) => true,
            Storage::Locals(_) | Storage::Params(_) | Storage::Constant(_) => false,
        }
    }
}

impl Linker {
    /// Makes the indices of a part usable several times.
    pub fn settle(&mut self, part: &mut Part, loc: Loc) {
        for i in 0..part.indices.len() {
            if self.is_settled(part.indices[i]) {
                continue;
            }
            let index = self.checked_index(part, i, loc);
            let local = self.bind("i", index, loc);
            part.indices[i] = Index {
                expr: self.read_local(local, loc),
                site: None,
            };
        }
    }

    /// True for an unchecked, immutable local.
    fn is_settled(&self, index: Index) -> bool {
        let Expr::Local(local) = self.out.expr(index.expr) else {
            return false;
        };
        index.site.is_none() && !self.out.locals[local.index()].mutable
    }

    /// The same part with new nodes for its indices, which must be settled.
    pub fn again(&mut self, part: &Part, loc: Loc) -> Part {
        let mut part = part.clone();
        for index in &mut part.indices {
            index.expr = match self.out.expr(index.expr) {
                Expr::Local(local) => self.read_local(local, loc),
                other => unreachable!("{other:?} is not settled"),
            };
        }
        part
    }

    /// The `i`th index of a part, with its bounds check.
    pub fn checked_index(&mut self, part: &Part, i: usize, loc: Loc) -> ExprId {
        let Index { expr, site } = part.indices[i];
        let Some(site) = site else { return expr };
        let len = match (part.in_memory(), i) {
            (true, 0) => self.memory_len(part, loc),
            (in_memory, i) => {
                let leaf = &part.whole.leaves()[part.first];
                let n = leaf.dims[i - usize::from(in_memory)].0;
                self.literal(Value::Usize(n), loc)
            }
        };
        let bounded = Expr::Bounded {
            index: expr,
            len,
            site: Some(site),
        };
        self.out.push_expr(bounded, Scalar::Usize, loc)
    }

    /// The number of elements of memory. A slice has as many as its units make up.
    pub fn memory_len(&mut self, part: &Part, loc: Loc) -> ExprId {
        let (memory, per) = match &part.storage {
            Storage::Slice(param, unit) => (Memory::Slice(*param), unit.per),
            Storage::Shared(arrays) => {
                let first = &part.whole.leaves()[0];
                (Memory::Shared(arrays[0]), first.count())
            }
            Storage::Locals(_) | Storage::Params(_) | Storage::Constant(_) => {
                unreachable!("these are no memory")
            }
        };
        let len = self.out.push_expr(Expr::Len(memory), Scalar::Usize, loc);
        if per == 1 {
            return len;
        }
        let divide = Expr::Divide {
            op: DivideOp::Div,
            lhs: len,
            rhs: self.literal(Value::Usize(per), loc),
            site: None,
        };
        self.out.push_expr(divide, Scalar::Usize, loc)
    }

    /// An index with a site for its check at the access. The arrays of all leaves have the same length.
    fn checked_there(&mut self, index: Index, memory: Memory) -> (ExprId, Option<SiteId>) {
        let Index { expr, site } = index;
        if let Some(site) = site
            && let SiteKind::Index(of) = &mut self.out.sites.to_mut()[site.index()].kind
        {
            *of = memory;
        }
        (expr, site)
    }

    /// Reads a scalar part. Consumes its indices.
    pub fn read(&mut self, part: &Part, loc: Loc) -> ExprId {
        let leaf = part.whole.leaves()[part.first].clone();
        assert_eq!(
            leaf.scalar,
            part.shape.scalar(),
            "a part that is read is a scalar"
        );
        match &part.storage {
            Storage::Constant(values) => self.read_constant(values[part.first], part, &leaf, loc),
            Storage::Params(params) => {
                self.out
                    .push_expr(Expr::Param(params[part.first]), leaf.scalar, loc)
            }
            Storage::Locals(locals) => {
                let local = locals[part.first];
                if leaf.dims.is_empty() {
                    return self.read_local(local, loc);
                }
                if let ([index], [_]) = (&part.indices[..], &leaf.dims[..]) {
                    let memory = Memory::Local(local);
                    let index = self.checked_there(*index, memory);
                    return self.load_checked(memory, index, leaf.scalar, loc);
                }
                let index = self.flat_index(part, 0, &leaf.dims, loc);
                self.load(Memory::Local(local), index, leaf.scalar, loc)
            }
            Storage::Shared(arrays) => {
                let array = Memory::Shared(arrays[part.first]);
                if let ([index], []) = (&part.indices[..], &leaf.dims[..]) {
                    let index = self.checked_there(*index, array);
                    return self.load_checked(array, index, leaf.scalar, loc);
                }
                let index = self.shared_index(part, &leaf.dims, loc);
                self.load(array, index, leaf.scalar, loc)
            }
            Storage::Slice(param, unit) => self.read_units(*param, *unit, part, loc),
        }
    }

    /// Reads a scalar of a constant. An element at literal indices is replaced by its value.
    fn read_constant(&mut self, known: Known, part: &Part, leaf: &Leaf, loc: Loc) -> ExprId {
        let table = match known {
            Known::One(value) => return self.literal(value, loc),
            Known::Table(table) => table,
        };
        if let Some(value) = self.known_element(table, part, leaf) {
            return self.literal(value, loc);
        }
        let memory = Memory::Table(table);
        if let ([index], [_]) = (&part.indices[..], &leaf.dims[..]) {
            let index = self.checked_there(*index, memory);
            return self.load_checked(memory, index, leaf.scalar, loc);
        }
        let index = self.flat_index(part, 0, &leaf.dims, loc);
        self.load(memory, index, leaf.scalar, loc)
    }

    /// The element at the indices, if all of them are literals within bounds.
    fn known_element(&self, table: TableId, part: &Part, leaf: &Leaf) -> Option<Value> {
        let mut at = 0;
        for (d, &(n, _)) in leaf.dims.iter().enumerate() {
            let index = match part.indices.get(d) {
                Some(index) => self.out.literal(index.expr)?.as_int()?,
                None => 0,
            };
            let index = u64::try_from(index).ok().filter(|i| *i < n)?;
            at = at * n + index;
        }
        self.out.tables[table.index()]
            .values()
            .get(at as usize)
            .copied()
    }

    /// Writes a scalar part. Consumes its indices.
    pub fn write(&mut self, part: &Part, value: ExprId, loc: Loc) {
        let leaf = part.whole.leaves()[part.first].clone();
        match &part.storage {
            Storage::Constant(_) | Storage::Params(_) => {
                unreachable!("rustc does not let these be written")
            }
            Storage::Locals(locals) => {
                let local = locals[part.first];
                if leaf.dims.is_empty() {
                    return self.push(Stmt::Assign { local, value }, loc);
                }
                if let ([index], [_]) = (&part.indices[..], &leaf.dims[..]) {
                    let memory = Memory::Local(local);
                    let index = self.checked_there(*index, memory);
                    return self.store(memory, index, value, loc);
                }
                let index = self.flat_index(part, 0, &leaf.dims, loc);
                self.store(Memory::Local(local), (index, None), value, loc);
            }
            Storage::Shared(arrays) => {
                let array = Memory::Shared(arrays[part.first]);
                if let ([index], []) = (&part.indices[..], &leaf.dims[..]) {
                    let index = self.checked_there(*index, array);
                    return self.store(array, index, value, loc);
                }
                let index = self.shared_index(part, &leaf.dims, loc);
                self.store(array, (index, None), value, loc);
            }
            Storage::Slice(param, unit) => self.write_units(*param, *unit, part, value, loc),
        }
    }

    /// `((i0 * n1 + i1) * n2 + i2) …` over the indices from `from` on. Missing indices count as 0.
    fn flat_index(&mut self, part: &Part, from: usize, dims: &[(u64, u64)], loc: Loc) -> ExprId {
        let mut flat: Option<ExprId> = None;
        for (d, &(n, _)) in dims.iter().enumerate() {
            let scaled = flat.map(|at| self.scale(at, n, loc));
            let index =
                (from + d < part.indices.len()).then(|| self.checked_index(part, from + d, loc));
            flat = match (scaled, index) {
                (Some(a), Some(b)) => Some(self.sum(a, b, loc)),
                (one, other) => one.or(other),
            };
        }
        flat.unwrap_or_else(|| self.literal(Value::Usize(0), loc))
    }

    /// The index into the array for one leaf of a shared array's elements.
    fn shared_index(&mut self, part: &Part, dims: &[(u64, u64)], loc: Loc) -> ExprId {
        let element = self.checked_index(part, 0, loc);
        let count: u64 = dims.iter().map(|(n, _)| n).product();
        if dims.is_empty() {
            return element;
        }
        let inner = self.flat_index(part, 1, dims, loc);
        let outer = self.scale(element, count, loc);
        self.sum(outer, inner, loc)
    }

    pub fn scale(&mut self, at: ExprId, by: u64, loc: Loc) -> ExprId {
        if by == 1 {
            return at;
        }
        let by = self.literal(Value::Usize(by), loc);
        self.binary(BinaryOp::Mul, at, by, Scalar::Usize, loc)
    }

    pub fn sum(&mut self, a: ExprId, b: ExprId, loc: Loc) -> ExprId {
        if self.out.literal(b) == Some(Value::Usize(0)) {
            return a;
        }
        self.binary(BinaryOp::Add, a, b, Scalar::Usize, loc)
    }

    pub fn binary(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        ty: Scalar,
        loc: Loc,
    ) -> ExprId {
        self.out.push_expr(Expr::Binary { op, lhs, rhs }, ty, loc)
    }

    pub fn cast(&mut self, arg: ExprId, to: Scalar, loc: Loc) -> ExprId {
        if self.out.scalar_of(arg) == to {
            return arg;
        }
        self.out.push_expr(Expr::Cast { arg }, to, loc)
    }

    pub fn intrinsic(&mut self, intrinsic: Intrinsic, arg: ExprId, loc: Loc) -> ExprId {
        let ty = intrinsic.result_type(self.out.scalar_of(arg));
        let args = self.out.push_list(&[arg]);
        self.out.push_expr(Expr::Call { intrinsic, args }, ty, loc)
    }
}
