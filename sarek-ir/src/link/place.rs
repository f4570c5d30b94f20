//! Writes values of any type.

use super::build::{Frame, Linker};
use super::leaf::{Index, Part, Storage};
use super::shape::Shape;
use crate::{
    BinaryOp, Block, Compound, Expr, ExprId, List, Loc, Local, PlaceId, Root, Scalar, Step, Stmt,
    Value,
};

/// The length up to which arrays are filled without a loop.
const UNROLLED: u64 = 8;

impl Linker {
    /// Translates the place left of `=`.
    pub fn place(&mut self, frame: &mut Frame<'_>, id: PlaceId) -> Part {
        let place = &frame.ir.places[id.index()];
        let mut part = match place.root {
            Root::Local(local) => frame.local(local),
            Root::Param(param) => frame.params[param.index()].clone(),
            Root::Element {
                memory,
                index,
                site,
            } => self.element(frame, memory, index, site),
        };
        for step in place.steps.iter() {
            part = match *step {
                Step::Field(name) => part.field(frame.ir.name(name)),
                Step::Index { index, site } => {
                    let expr = self.expr(frame, index);
                    let site = self.site(frame, site);
                    part.index(Index { expr, site })
                }
            };
        }
        part
    }

    /// Writes a value to a place that the value may read. The value is fully evaluated first.
    pub fn assign(&mut self, frame: &mut Frame<'_>, to: Part, value: ExprId, loc: Loc) {
        let is_made = if let Expr::Compound(id) = frame.ir.expr(value) {
            match frame.ir.compounds[id.index()] {
                Compound::Construct { .. } | Compound::Array { .. } | Compound::Repeat { .. } => {
                    true
                }
                Compound::Field { .. }
                | Compound::Index { .. }
                | Compound::IsVariant { .. }
                | Compound::Payload { .. }
                | Compound::Len { .. }
                | Compound::At { .. } => false,
            }
        } else {
            false
        };
        if !is_made {
            return self.initialise(frame, to, value, loc);
        }
        let made = self.declare("made", &to.shape, loc);
        self.initialise(frame, made.clone(), value, loc);
        self.copy(made, to, loc);
    }

    /// Writes a value to a place that the value does not read.
    pub fn initialise(&mut self, frame: &mut Frame<'_>, mut to: Part, value: ExprId, loc: Loc) {
        if let Some(from) = self.part(frame, value) {
            return self.copy(from, to, loc);
        }
        let ir = frame.ir;
        let Expr::Compound(compound) = ir.expr(value) else {
            let value = self.expr(frame, value);
            return self.write(&to, value, loc);
        };
        self.settle(&mut to, loc);
        match &ir.compounds[compound.index()] {
            Compound::Construct {
                variant,
                fields,
                rest,
            } => {
                let variant = variant.map(|v| ir.name(v));
                if let Some(name) = variant {
                    let tag = to.shape.variant(name).tag;
                    let tag = self.literal(tag, loc);
                    let part = self.again(&to, loc).tag();
                    self.write(&part, tag, loc);
                }
                for (name, value) in fields.iter() {
                    let part = self.again(&to, loc);
                    let part = match variant {
                        Some(variant) => part.payload(variant, ir.name(*name)),
                        None => part.field(ir.name(*name)),
                    };
                    self.initialise(frame, part, *value, loc);
                }
                if let Some(rest) = rest {
                    let named = |n: &str| fields.iter().any(|(f, _)| ir.name(*f) == n);
                    self.rest(frame, &to, *rest, &named, loc);
                }
            }
            Compound::Array { items } => self.items(frame, &to, *items, loc),
            Compound::Repeat { value } => self.repeat(frame, &to, *value, loc),
            Compound::IsVariant { .. } | Compound::Len { .. } | Compound::At { .. } => {
                let value = self.expr(frame, value);
                self.write(&to, value, loc);
            }
            Compound::Field { .. } | Compound::Index { .. } | Compound::Payload { .. } => {
                unreachable!("these are parts")
            }
        }
    }

    /// Copies the fields that a struct takes from another value.
    fn rest(
        &mut self,
        frame: &mut Frame<'_>,
        to: &Part,
        rest: ExprId,
        named: &dyn Fn(&str) -> bool,
        loc: Loc,
    ) {
        let Some(mut from) = self.part(frame, rest) else {
            unreachable!("the rest of a struct is a part")
        };
        self.settle(&mut from, loc);
        let Shape::Struct(fields, _) = to.shape.clone() else {
            unreachable!("rustc takes fields of structs only")
        };
        for field in fields.iter().filter(|f| !named(&f.name)) {
            let (from, to) = (self.again(&from, loc), self.again(to, loc));
            self.copy(from.field(&field.name), to.field(&field.name), loc);
        }
    }

    fn items(&mut self, frame: &mut Frame<'_>, to: &Part, items: List, loc: Loc) {
        let items: Vec<ExprId> = frame.ir.list(items).collect();
        for (i, item) in items.into_iter().enumerate() {
            let expr = self.literal(Value::Usize(i as u64), loc);
            let part = self.again(to, loc).index(Index { expr, site: None });
            self.initialise(frame, part, item, loc);
        }
    }

    fn repeat(&mut self, frame: &mut Frame<'_>, to: &Part, value: ExprId, loc: Loc) {
        let one = self.declare("each", to.shape.elem(), loc);
        self.initialise(frame, one.clone(), value, loc);
        self.each_element(to, loc, &mut |this, part| this.copy(one.clone(), part, loc));
    }

    /// Calls `f` for each element of an array. The indices of the array must be settled.
    fn each_element(&mut self, array: &Part, loc: Loc, f: &mut dyn FnMut(&mut Linker, Part)) {
        let Shape::Array(_, n) = array.shape else {
            unreachable!("only arrays have elements")
        };
        if n <= UNROLLED {
            for i in 0..n {
                let expr = self.literal(Value::Usize(i), loc);
                let part = self.again(array, loc).index(Index { expr, site: None });
                f(self, part);
            }
            return;
        }
        let local = self.out.push_local(Local {
            name: "i".into(),
            ty: Scalar::Usize.into(),
            mutable: false,
        });
        let (start, end) = (
            self.literal(Value::Usize(0), loc),
            self.literal(Value::Usize(n), loc),
        );
        let body = self.in_block(|this| {
            let expr = this.read_local(local, loc);
            let part = this.again(array, loc).index(Index { expr, site: None });
            f(this, part);
        });
        let label = self.fresh_label();
        let each = Stmt::For {
            label,
            local,
            start,
            end,
            body,
        };
        self.push(each, loc);
    }

    /// Copies a value.
    pub fn copy(&mut self, mut from: Part, mut to: Part, loc: Loc) {
        if let Shape::Scalar(_) = to.shape {
            let value = self.read(&from, loc);
            return self.write(&to, value, loc);
        }
        self.settle(&mut from, loc);
        self.settle(&mut to, loc);
        match to.shape.clone() {
            Shape::Scalar(_) => unreachable!("copied above"),
            Shape::Struct(fields, _) => {
                for field in fields.iter() {
                    let (from, to) = (self.again(&from, loc), self.again(&to, loc));
                    self.copy(from.field(&field.name), to.field(&field.name), loc);
                }
            }
            Shape::Enum(_) => self.copy_enum(&from, &to, loc),
            Shape::Array(..) => {
                self.each_element(&to, loc, &mut |this, element| {
                    let at = *element.indices.last().expect("an element has an index");
                    let expr = this.same(at.expr, loc);
                    let from = this.again(&from, loc).index(Index { expr, site: None });
                    this.copy(from, element, loc);
                });
            }
        }
    }

    /// A new node for the same local or literal.
    fn same(&mut self, id: ExprId, loc: Loc) -> ExprId {
        match self.out.expr(id) {
            Expr::Local(local) => self.read_local(local, loc),
            Expr::Literal(value) => self.literal(value, loc),
            other => unreachable!("{other:?} is no index of a copied element"),
        }
    }

    /// Copies an enum. Its variants share bytes in slices, so only the active one is copied.
    fn copy_enum(&mut self, from: &Part, to: &Part, loc: Loc) {
        let Shape::Enum(variants) = &to.shape else {
            unreachable!("an enum is copied")
        };
        let tag = self.again(from, loc).tag();
        let tag = self.read(&tag, loc);
        let tag = self.bind("tag", tag, loc);
        let value = self.read_local(tag, loc);
        let place = self.again(to, loc).tag();
        self.write(&place, value, loc);
        let overlaps = |part: &Part| matches!(part.storage, Storage::Slice(..));
        let guarded = overlaps(from) || overlaps(to);
        for variant in variants.iter().filter(|v| !v.fields.is_empty()) {
            let copy = |this: &mut Linker| {
                for field in variant.fields.iter() {
                    let from = this.again(from, loc).payload(variant.name, &field.name);
                    let to = this.again(to, loc).payload(variant.name, &field.name);
                    this.copy(from, to, loc);
                }
            };
            if !guarded {
                copy(self);
                continue;
            }
            let then = self.in_block(copy);
            let found = self.read_local(tag, loc);
            let wanted = self.literal(variant.tag, loc);
            let cond = self.binary(BinaryOp::Eq, found, wanted, Scalar::Bool, loc);
            let branch = Stmt::If {
                cond,
                then,
                otherwise: Block::EMPTY,
            };
            self.push(branch, loc);
        }
    }
}
