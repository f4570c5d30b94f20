//! Type inference: variables, unification and defaults, as rustc's.
//!
//! What the macro cannot see stays a *hole*: the type of a field, of an element, of a variant's payload. A hole
//! meets another type as a variable does, and becomes it; where nothing tells more it stays, and is resolved when
//! the kernel is linked. The same holds of a named type, which may be an alias. rustc checks all of it again.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use sarek_ir::{CallableId, FunctionId, LinkId, NameId, Scalar};

use super::callee::Typed;
use super::length::Dim;
use crate::parse::{LETTERS, Packed};

/// A type being inferred.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(u32);

/// What a type is known to be.
#[derive(Clone)]
pub(super) enum Node {
    Known(Scalar),
    /// Nothing is known.
    Any,
    /// An integer literal's type; `i32` by default.
    Int,
    /// A float literal's type; `f64` by default.
    Float,
    Array(Ty, Dim),
    Tuple(Vec<Ty>),
    Named(Named),
    Hole(Hole),
    /// Same as another.
    Same(Ty),
}

/// A type by its path.
#[derive(Clone)]
pub(super) struct Named {
    /// The path, without the arguments of its last segment.
    pub path: TokenStream,
    /// The arguments of its last segment. None may mean that they are not written.
    pub args: Vec<Arg>,
    /// What vector of the façade's it is, if any.
    pub packed: Option<Packed>,
    /// The literal that made it, if that alone tells its arguments.
    pub literal: Option<Literal>,
}

/// A literal of a type whose arguments are not written: those of `Complex { re, im }` are up to its fields.
#[derive(Clone)]
pub(super) struct Literal {
    /// How the source names the struct or variant.
    pub path: TokenStream,
    pub variant: Option<NameId>,
    /// The fields: their types, and what their values tell of them.
    pub fields: Vec<(NameId, Ty, Typed)>,
    /// Is its type another than what else is of its name, for all that is known?
    apart: bool,
}

/// A generic argument.
#[derive(Clone)]
pub(super) enum Arg {
    Type(Ty),
    Const(TokenStream),
}

/// A type that is a part of another, which the macro cannot see into.
#[derive(Clone)]
pub(super) enum Hole {
    Field {
        of: Ty,
        name: NameId,
    },
    Element {
        of: Ty,
    },
    /// `path` is how the source names the variant.
    Payload {
        of: Ty,
        variant: NameId,
        name: NameId,
        path: TokenStream,
    },
    /// What a function yields.
    Result(FunctionId),
    /// What a constant is.
    Constant(LinkId),
    /// What a function takes.
    Parameter {
        of: FunctionId,
        index: u32,
    },
    /// What that which a function is given to call takes at a position, or yields.
    Callable {
        of: FunctionId,
        callable: CallableId,
        takes: Option<u32>,
    },
}

/// What is known of a type, in short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// All of it.
    Scalar(Scalar),
    /// It is some integer.
    Int,
    /// It is some float.
    Float,
    /// Nothing.
    Nothing,
    /// It has several parts.
    Compound,
    /// It is what only rustc knows: a type by its name, or a part of one.
    Foreign,
}

/// Two types that should be one and are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub left: Known,
    pub right: Known,
}

/// The union-find of all types of a kernel.
#[derive(Default)]
pub struct Types {
    nodes: Vec<Node>,
    /// The holes that were made, by what they are parts of.
    holes: HashMap<(String, u32, u32), Ty>,
}

impl Types {
    pub fn known(&mut self, scalar: Scalar) -> Ty {
        self.push(Node::Known(scalar))
    }

    pub fn any(&mut self) -> Ty {
        self.push(Node::Any)
    }

    pub fn int(&mut self) -> Ty {
        self.push(Node::Int)
    }

    pub fn float(&mut self) -> Ty {
        self.push(Node::Float)
    }

    pub(super) fn array(&mut self, elem: Ty, len: Dim) -> Ty {
        self.push(Node::Array(elem, len))
    }

    pub(super) fn tuple(&mut self, types: Vec<Ty>) -> Ty {
        self.push(Node::Tuple(types))
    }

    pub(super) fn named(&mut self, path: TokenStream, args: Vec<Arg>) -> Ty {
        self.push(Node::Named(Named {
            path,
            args,
            packed: None,
            literal: None,
        }))
    }

    /// The type of a literal, whose fields are told later.
    pub(super) fn literal(
        &mut self,
        named: TokenStream,
        path: TokenStream,
        variant: Option<NameId>,
    ) -> Ty {
        let literal = Literal {
            path,
            variant,
            fields: vec![],
            apart: true,
        };
        self.push(Node::Named(Named {
            path: named,
            args: vec![],
            packed: None,
            literal: Some(literal),
        }))
    }

    /// Tells the type of a literal one of its fields.
    pub(super) fn tell_field(&mut self, of: Ty, name: NameId, ty: Ty, value: Typed) {
        let root = self.find(of);
        if let Node::Named(Named {
            literal: Some(literal),
            ..
        }) = &mut self.nodes[root.0 as usize]
        {
            literal.fields.push((name, ty, value));
        }
    }

    /// A vector of the façade's.
    pub(super) fn packed(&mut self, path: TokenStream, packed: Packed) -> Ty {
        self.push(Node::Named(Named {
            path,
            args: vec![],
            packed: Some(packed),
            literal: None,
        }))
    }

    /// The type of a field, `text` being its name.
    pub(super) fn field(&mut self, of: Ty, name: NameId, text: &str) -> Ty {
        if let Node::Tuple(types) = self.node(of)
            && let Some(ty) = text.parse().ok().and_then(|i: usize| types.get(i))
        {
            return *ty;
        }
        if let Node::Named(Named {
            packed: Some(packed),
            ..
        }) = self.node(of)
            && LETTERS[..packed.count].contains(&text)
        {
            let lane = packed.lane;
            return self.known(lane);
        }
        self.hole((self.key(of), name.0, u32::MAX), Hole::Field { of, name })
    }

    /// The type of an array's elements.
    pub(super) fn element(&mut self, of: Ty) -> Ty {
        if let Node::Array(elem, _) = self.node(of) {
            return *elem;
        }
        let key = (self.key(of), u32::MAX, u32::MAX);
        self.hole(key, Hole::Element { of })
    }

    /// The type of a variant's field.
    pub(super) fn payload(
        &mut self,
        of: Ty,
        variant: NameId,
        name: NameId,
        path: TokenStream,
    ) -> Ty {
        let key = (self.key(of), name.0, variant.0);
        let hole = Hole::Payload {
            of,
            variant,
            name,
            path,
        };
        self.hole(key, hole)
    }

    /// What a function yields.
    pub(super) fn result(&mut self, function: FunctionId) -> Ty {
        let key = (String::new(), function.0, u32::MAX);
        self.hole(key, Hole::Result(function))
    }

    /// What a function takes.
    pub(super) fn parameter(&mut self, of: FunctionId, index: u32) -> Ty {
        let key = (String::new(), of.0, index);
        self.hole(key, Hole::Parameter { of, index })
    }

    /// What that which a function is given to call takes, or yields.
    pub(super) fn callable(
        &mut self,
        of: FunctionId,
        callable: CallableId,
        takes: Option<u32>,
    ) -> Ty {
        let key = format!("call{}", callable.0);
        let hole = Hole::Callable {
            of,
            callable,
            takes,
        };
        self.hole((key, of.0, takes.unwrap_or(u32::MAX)), hole)
    }

    /// What a constant is.
    pub(super) fn constant(&mut self, link: LinkId) -> Ty {
        self.push(Node::Hole(Hole::Constant(link)))
    }

    fn hole(&mut self, key: (String, u32, u32), hole: Hole) -> Ty {
        if let Some(ty) = self.holes.get(&key) {
            return *ty;
        }
        let ty = self.push(Node::Hole(hole));
        self.holes.insert(key, ty);
        ty
    }

    /// Two types of the same key are the same type.
    fn key(&self, ty: Ty) -> String {
        let root = self.find(ty);
        match self.node(root) {
            Node::Known(scalar) => scalar.name().to_string(),
            Node::Named(named) if named.is_apart() => format!("#{}", root.0),
            Node::Named(named) => {
                let args = named.args.iter().map(|arg| match arg {
                    Arg::Type(ty) => self.key(*ty),
                    Arg::Const(tokens) => super::path_text(tokens),
                });
                let args: Vec<String> = args.collect();
                format!("{}<{}>", super::path_text(&named.path), args.join(","))
            }
            Node::Hole(Hole::Field { of, name }) => format!("{}.{}", self.key(*of), name.0),
            Node::Hole(Hole::Element { of }) => format!("{}[]", self.key(*of)),
            Node::Hole(Hole::Payload {
                of, variant, name, ..
            }) => format!("{}.{}.{}", self.key(*of), variant.0, name.0),
            Node::Hole(Hole::Result(function)) => format!("fn{}", function.0),
            Node::Hole(Hole::Parameter { of, index }) => format!("fn{}#{index}", of.0),
            Node::Hole(Hole::Callable {
                of,
                callable,
                takes,
            }) => format!("fn{}#{}{takes:?}", of.0, callable.0),
            Node::Hole(Hole::Constant(link)) => format!("const{}", link.0),
            Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Same(_) => format!("#{}", root.0),
        }
    }

    fn push(&mut self, node: Node) -> Ty {
        self.nodes.push(node);
        Ty(self.nodes.len() as u32 - 1)
    }

    fn find(&self, ty: Ty) -> Ty {
        match self.nodes[ty.0 as usize] {
            Node::Same(other) => self.find(other),
            _ => ty,
        }
    }

    /// Were the two made one?
    pub(super) fn are_same(&self, a: Ty, b: Ty) -> bool {
        self.find(a) == self.find(b)
    }

    /// What it is known to be so far.
    pub(super) fn node(&self, ty: Ty) -> &Node {
        &self.nodes[self.find(ty).0 as usize]
    }

    /// What is known of it so far, in short.
    pub fn look(&self, ty: Ty) -> Known {
        match self.node(ty) {
            Node::Known(scalar) => Known::Scalar(*scalar),
            Node::Int => Known::Int,
            Node::Float => Known::Float,
            Node::Any => Known::Nothing,
            Node::Array(..) | Node::Tuple(_) => Known::Compound,
            Node::Named(_) | Node::Hole(_) => Known::Foreign,
            Node::Same(_) => unreachable!("find returns a representative"),
        }
    }

    /// Makes two types one.
    pub fn unify(&mut self, a: Ty, b: Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let mismatch = Mismatch {
            left: self.look(a),
            right: self.look(b),
        };
        let (from, to) = match self.weight(a) < self.weight(b) {
            true => (a, b),
            false => (b, a),
        };
        if !self.fits(from, to) || self.occurs(from, to) {
            return Err(mismatch);
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

    fn unify_arguments(&mut self, old: Named, new: Named, to: Ty) -> Result<(), Mismatch> {
        if super::path_text(&old.path) != super::path_text(&new.path) {
            return Ok(());
        }
        let are_apart = old.is_apart() && new.is_apart();
        let literals = [old.literal, new.literal];
        let args = match new.args.is_empty() {
            true => old.args,
            false => {
                for (a, b) in old.args.into_iter().zip(&new.args) {
                    if let (Arg::Type(a), Arg::Type(b)) = (a, b) {
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
            packed: new.packed,
        });
        // What the literals' fields are, those of the type are.
        for literal in literals.into_iter().flatten() {
            for (name, ty, _) in literal.fields {
                let of_both = match literal.variant {
                    Some(variant) => self.payload(to, variant, name, literal.path.clone()),
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

    /// Of two types, the one that weighs more says what both are.
    fn weight(&self, ty: Ty) -> u32 {
        match self.node(ty) {
            Node::Any => 0,
            Node::Int | Node::Float => 1,
            // Of it no expression can be made up.
            Node::Hole(Hole::Parameter { .. } | Hole::Callable { .. }) => 2,
            // It is what its literal's fields are.
            Node::Hole(Hole::Field { of, .. } | Hole::Payload { of, .. }) if self.is_apart(*of) => {
                2
            }
            Node::Hole(_) => 3,
            Node::Named(_) => 4,
            Node::Array(..) | Node::Tuple(_) => 5,
            Node::Known(_) => 6,
            Node::Same(_) => unreachable!("node looks through it"),
        }
    }

    /// Is it a literal's type, of which nothing else is known?
    fn is_apart(&self, ty: Ty) -> bool {
        matches!(self.node(ty), Node::Named(named) if named.is_apart())
    }

    /// May the lighter of two types be the heavier?
    fn fits(&self, light: Ty, heavy: Ty) -> bool {
        match (self.node(light), self.node(heavy)) {
            (Node::Known(a), Node::Known(b)) => a == b,
            (Node::Int, Node::Known(scalar)) => scalar.is_int(),
            // Rust has no literals of 16-bit floats.
            (Node::Float, Node::Known(scalar)) => scalar.is_float() && !scalar.is_half(),
            (Node::Int, Node::Int) | (Node::Float, Node::Float) => true,
            (Node::Int, Node::Float) | (Node::Float, Node::Int) => false,
            (Node::Int | Node::Float, Node::Array(..) | Node::Tuple(_)) => false,
            (Node::Array(..) | Node::Tuple(_), Node::Known(_)) => false,
            (Node::Tuple(a), Node::Tuple(b)) => a.len() == b.len(),
            (Node::Array(..), Node::Tuple(_)) | (Node::Tuple(_), Node::Array(..)) => false,
            _ => true,
        }
    }

    /// Does one type stand inside of another?
    fn occurs(&self, inner: Ty, outer: Ty) -> bool {
        let parts = match self.node(outer) {
            Node::Array(elem, _) => vec![*elem],
            Node::Tuple(types) => types.clone(),
            Node::Named(named) => named.args.iter().filter_map(Arg::ty).collect(),
            Node::Hole(
                Hole::Field { of, .. } | Hole::Element { of } | Hole::Payload { of, .. },
            ) => {
                vec![*of]
            }
            Node::Hole(
                Hole::Result(_)
                | Hole::Parameter { .. }
                | Hole::Callable { .. }
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

    /// The final type, if it is a scalar: what is known, or the literal's default. `None` when nothing tells.
    pub fn resolve(&self, ty: Ty) -> Option<Scalar> {
        match self.look(ty) {
            Known::Scalar(scalar) => Some(scalar),
            Known::Int => Some(Scalar::I32),
            Known::Float => Some(Scalar::F64),
            Known::Nothing | Known::Compound | Known::Foreign => None,
        }
    }
}

impl Named {
    fn is_apart(&self) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.apart)
    }
}

impl Arg {
    fn ty(&self) -> Option<Ty> {
        match self {
            Arg::Type(ty) => Some(*ty),
            Arg::Const(_) => None,
        }
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Known::Scalar(scalar) => write!(f, "`{scalar}`"),
            Known::Int => f.write_str("an integer"),
            Known::Float => f.write_str("a float"),
            Known::Nothing => f.write_str("unknown"),
            Known::Compound => f.write_str("a tuple or array"),
            Known::Foreign => f.write_str("a type of your own"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_take_the_type_of_what_they_meet() {
        let mut types = Types::default();
        let (lit, x) = (types.int(), types.known(Scalar::U64));
        types.unify(lit, x).unwrap();
        assert_eq!(types.resolve(lit), Some(Scalar::U64));
    }

    #[test]
    fn an_integer_literal_is_no_float() {
        let mut types = Types::default();
        let (lit, x) = (types.int(), types.known(Scalar::F32));
        let mismatch = types.unify(lit, x).unwrap_err();
        assert_eq!(
            mismatch,
            Mismatch {
                left: Known::Int,
                right: Known::Scalar(Scalar::F32)
            }
        );
    }

    #[test]
    fn defaults_are_rustcs_but_never_for_a_linked_constant() {
        let mut types = Types::default();
        let (i, f, linked) = (types.int(), types.float(), types.constant(LinkId(0)));
        assert_eq!(types.resolve(i), Some(Scalar::I32));
        assert_eq!(types.resolve(f), Some(Scalar::F64));
        types.unify(f, linked).unwrap();
        assert_eq!(types.resolve(f), None);
    }

    #[test]
    fn a_hole_becomes_what_it_meets_wherever_it_stands() {
        let mut types = Types::default();
        let p = types.named(quote::quote!(P), vec![]);
        let x = types.field(p, NameId(0), "x");
        let q = types.named(quote::quote!(P), vec![]);
        let again = types.field(q, NameId(0), "x");
        let f32_ty = types.known(Scalar::F32);
        types.unify(x, f32_ty).unwrap();
        assert_eq!(types.resolve(again), Some(Scalar::F32));
    }

    #[test]
    fn tuples_unify_part_by_part_and_never_contain_themselves() {
        let mut types = Types::default();
        let (a, b) = (types.any(), types.int());
        let left = types.tuple(vec![a, b]);
        let (c, d) = (types.known(Scalar::Bool), types.known(Scalar::U64));
        let right = types.tuple(vec![c, d]);
        types.unify(left, right).unwrap();
        assert_eq!(types.resolve(a), Some(Scalar::Bool));
        assert_eq!(types.resolve(b), Some(Scalar::U64));
        let open = types.any();
        let around = types.tuple(vec![open]);
        assert!(types.unify(open, around).is_err());
    }
}
