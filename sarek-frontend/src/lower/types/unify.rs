//! Unification of types.

use std::cmp::Ordering;

use super::{GenericArg, Hole, LiteralField, Mismatch, Named, Node, Ty, Types};
use crate::tokens::path_text;

impl Types {
    /// Unifies two types.
    pub fn unify(&mut self, a: Ty, b: Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let mismatch = Mismatch {
            left: self.look(a),
            right: self.look(b),
        };
        let (from, to) = match self.weight(a).cmp(&self.weight(b)) {
            Ordering::Less => (a, b),
            Ordering::Equal if self.latest_call(b) < self.latest_call(a) => (a, b),
            Ordering::Equal | Ordering::Greater => (b, a),
        };
        if !self.fits(from, to) {
            return Err(mismatch);
        }
        if self.occurs(from, to) {
            return self
                .unify_with_own_elements(from, to)
                .unwrap_or(Err(mismatch));
        }
        if self.is_of_literals(to) {
            self.tell_literals(from, to)?;
        }
        if self.is_foreign(from) {
            self.open_literals(to);
        }
        if self.is_determined_by(to, from) {
            self.nodes[to.0 as usize] = Node::Same(from);
            return Ok(());
        }
        let (old, new) = (self.node(from).clone(), self.node(to).clone());
        self.nodes[from.0 as usize] = Node::Same(to);
        match (old, new) {
            (Node::Array(a, _), Node::Array(b, _)) => self.unify(a, b),
            (Node::Tuple(a), Node::Tuple(b)) => {
                let mut pairs = a.into_iter().zip(b);
                pairs.try_for_each(|(a, b)| self.unify(a, b))
            }
            (Node::Named(a), Node::Named(b)) => self.unify_arguments(a, b, to),
            _ => Ok(()),
        }
    }

    /// True for an array whose element type only literals determine.
    fn is_of_literals(&self, ty: Ty) -> bool {
        match self.node(ty) {
            Node::Array(elem, _) => match self.node(*elem) {
                Node::Int | Node::Float => true,
                Node::Array(..) => self.is_of_literals(*elem),
                Node::Known(_)
                | Node::Any
                | Node::Tuple(_)
                | Node::Named(_)
                | Node::Hole(_)
                | Node::Same(_) => false,
            },
            Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Tuple(_)
            | Node::Named(_)
            | Node::Hole(_)
            | Node::Same(_) => false,
        }
    }

    /// True for a type that only rustc knows, such as a possible alias.
    fn is_foreign(&self, ty: Ty) -> bool {
        match self.node(ty) {
            Node::Hole(Hole::Literal { .. }) => false,
            Node::Hole(_) => true,
            Node::Named(named) => named.args.is_empty() && !self.is_parameter(named),
            Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Same(_) => false,
        }
    }

    /// True for a value such as `None` or `Ok(1)` that is passed to a function. The function's
    /// parameter determines the rest of its type.
    fn is_determined_by(&self, ty: Ty, hole: Ty) -> bool {
        let is_any = |arg: &GenericArg| {
            let ty = arg.ty();
            ty.is_some_and(|ty| matches!(self.node(ty), Node::Any))
        };
        match (self.node(ty), self.node(hole)) {
            (Node::Named(named), Node::Hole(Hole::Parameter { .. })) => {
                named.args.iter().any(is_any)
            }
            _ => false,
        }
    }

    /// Leaves the types of literals to rustc, as in `f((1, 2))`. They occur in a value that is
    /// unified with a type that only rustc knows.
    fn open_literals(&mut self, ty: Ty) {
        let parts = match self.node(ty) {
            Node::Array(elem, _) => vec![*elem],
            Node::Tuple(types) => types.clone(),
            Node::Named(named) => named.args.iter().filter_map(GenericArg::ty).collect(),
            Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Hole(_)
            | Node::Same(_) => vec![],
        };
        for part in parts {
            self.joined.push(part);
            let root = self.find(part);
            match self.node(root) {
                Node::Int => self.nodes[root.0 as usize] = literal(false),
                Node::Float => self.nodes[root.0 as usize] = literal(true),
                Node::Array(..) | Node::Tuple(_) | Node::Named(_) => self.open_literals(part),
                Node::Known(_) | Node::Any | Node::Hole(_) | Node::Same(_) => {}
            }
        }
    }

    /// Unifies the literals in `S { x: [1.0, 2.0] }` with the element type of the field.
    fn tell_literals(&mut self, hole: Ty, array: Ty) -> Result<(), Mismatch> {
        let (Node::Hole(_), Node::Array(elem, _)) = (self.node(hole), self.node(array)) else {
            return Ok(());
        };
        let elem = *elem;
        // The hole itself becomes the array, so its elements hang on a copy.
        let whole = self.push(self.node(hole).clone());
        let own = self.element(whole);
        let root = self.find(own);
        if let Node::Hole(Hole::Element { of }) = &mut self.nodes[root.0 as usize] {
            *of = whole;
        }
        self.unify(elem, own)
    }

    /// Unifies `[x[1], x[0]]` with the type of `x`, where that is a hole. The hole stays one, since
    /// its element type is derived from it.
    fn unify_with_own_elements(&mut self, hole: Ty, array: Ty) -> Option<Result<(), Mismatch>> {
        let (Node::Hole(_), Node::Array(elem, _)) = (self.node(hole), self.node(array)) else {
            return None;
        };
        let elem = *elem;
        // An array whose elements have the type of the hole itself would be an infinite type.
        if self.find(elem) == hole {
            return None;
        }
        let own = self.element(hole);
        let unified = self.unify(elem, own);
        let array = self.find(array);
        self.nodes[array.0 as usize] = Node::Same(hole);
        Some(unified)
    }

    fn unify_arguments(&mut self, old: Named, new: Named, to: Ty) -> Result<(), Mismatch> {
        if path_text(&old.path) != path_text(&new.path) {
            return Ok(());
        }
        let are_apart = old.is_apart() && new.is_apart();
        let literals = [old.literal, new.literal];
        let args = match new.args.is_empty() {
            true => old.args,
            false => {
                for (a, b) in old.args.into_iter().zip(&new.args) {
                    if let (GenericArg::Type(a), GenericArg::Type(b)) = (a, b) {
                        self.unify(a, *b)?;
                    }
                }
                new.args
            }
        };
        let mut literal = literals.iter().flatten().next().cloned();
        if let Some(literal) = &mut literal {
            literal.apart = are_apart;
        }
        self.nodes[to.0 as usize] = Node::Named(Named {
            path: new.path,
            literal: literal.filter(|_| args.is_empty()),
            args,
            simd: new.simd,
        });
        // The fields of the literals have the types of the unified type's fields.
        for literal in literals.into_iter().flatten() {
            for LiteralField {
                name, ty, pattern, ..
            } in literal.fields
            {
                let of_both = match literal.variant {
                    Some(variant) => self.payload(to, variant, name, pattern),
                    None => self.hole(
                        (self.key(to), name.0, u32::MAX),
                        Hole::Field { of: to, name },
                    ),
                };
                self.unify(ty, of_both)?;
            }
        }
        Ok(())
    }

    /// The priority of a type. Of two unified types, the one with the higher weight remains.
    fn weight(&self, ty: Ty) -> u32 {
        match self.node(ty) {
            Node::Any => 0,
            Node::Int | Node::Float => 1,
            Node::Hole(Hole::Literal { .. }) => 2,
            // No probe can be written for such a type.
            Node::Hole(Hole::Parameter { .. } | Hole::Callable { .. }) => 3,
            // Its type follows from the field of the literal.
            Node::Hole(Hole::Field { of, .. } | Hole::Payload { of, .. }) if self.is_apart(*of) => {
                3
            }
            Node::Hole(_) => 4,
            Node::Named(_) => 5,
            Node::Array(..) | Node::Tuple(_) => 6,
            Node::Known(_) => 7,
            Node::Same(_) => unreachable!("node looks through it"),
        }
    }

    /// The number of the last call on whose result a type depends; 0 if there is none. rustc infers the earlier calls first.
    fn latest_call(&self, ty: Ty) -> u32 {
        match self.node(ty) {
            Node::Hole(Hole::Result(function)) => function.0 + 1,
            Node::Hole(
                Hole::Field { of, .. } | Hole::Element { of } | Hole::Payload { of, .. },
            ) => self.latest_call(*of),
            Node::Named(named) => {
                let args = named.args.iter().filter_map(GenericArg::ty);
                args.map(|arg| self.latest_call(arg)).max().unwrap_or(0)
            }
            Node::Hole(
                Hole::Constant(_)
                | Hole::Parameter { .. }
                | Hole::Callable { .. }
                | Hole::Literal { .. },
            )
            | Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Same(_) => 0,
        }
    }

    /// True for the type of a struct literal, about which nothing else is known.
    fn is_apart(&self, ty: Ty) -> bool {
        matches!(self.node(ty), Node::Named(named) if named.is_apart())
    }

    /// True if the lighter of two types may equal the heavier one.
    fn fits(&self, light: Ty, heavy: Ty) -> bool {
        let plain = |ty| match self.node(ty) {
            Node::Hole(Hole::Literal { float: false }) => &Node::Int,
            Node::Hole(Hole::Literal { float: true }) => &Node::Float,
            node => node,
        };
        match (plain(light), plain(heavy)) {
            (Node::Known(a), Node::Known(b)) => a == b,
            (Node::Int, Node::Known(scalar)) => scalar.is_int(),
            // Rust has no literals of 16-bit floats.
            (Node::Float, Node::Known(scalar)) => scalar.is_float() && !scalar.is_half(),
            (Node::Int, Node::Int) | (Node::Float, Node::Float) => true,
            (Node::Int, Node::Float) | (Node::Float, Node::Int) => false,
            (Node::Int | Node::Float, Node::Array(..) | Node::Tuple(_)) => false,
            (Node::Array(..) | Node::Tuple(_), Node::Known(_)) => false,
            (Node::Tuple(a), Node::Tuple(b)) => a.len() == b.len(),
            (Node::Int | Node::Float, Node::Named(named)) => !self.is_parameter(named),
            (Node::Named(named), Node::Known(_) | Node::Array(..) | Node::Tuple(_)) => {
                !self.is_parameter(named)
            }
            (Node::Array(..), Node::Tuple(_)) | (Node::Tuple(_), Node::Array(..)) => false,
            _ => true,
        }
    }

    /// The occurs check: true if one type is a part of another.
    fn occurs(&self, inner: Ty, outer: Ty) -> bool {
        let parts = match self.node(outer) {
            Node::Array(elem, _) => vec![*elem],
            Node::Tuple(types) => types.clone(),
            Node::Named(named) => named.args.iter().filter_map(GenericArg::ty).collect(),
            Node::Hole(
                Hole::Field { of, .. } | Hole::Element { of } | Hole::Payload { of, .. },
            ) => {
                vec![*of]
            }
            Node::Hole(
                Hole::Result(_)
                | Hole::Parameter { .. }
                | Hole::Callable { .. }
                | Hole::Literal { .. }
                | Hole::Constant(_),
            )
            | Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Same(_) => vec![],
        };
        let mut parts = parts.into_iter();
        parts.any(|part| self.find(part) == self.find(inner) || self.occurs(inner, part))
    }
}

fn literal(float: bool) -> Node {
    Node::Hole(Hole::Literal { float })
}
