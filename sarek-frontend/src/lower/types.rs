//! Type inference: variables, unification and defaults, as rustc's.
//!
//! What the macro cannot see stays a *hole*: the type of a field, of an element, of a variant's payload. A hole
//! meets another type as a variable does, and becomes it; where nothing tells more it stays, and is resolved when
//! the kernel is linked. The same holds of a named type, which may be an alias. rustc checks all of it again.

mod hole;
mod node;
mod unify;

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use sarek_ir::{NameId, Scalar};

use super::length::Dim;
use super::path_text;
use crate::parse::Packed;

pub(super) use node::{Arg, Hole, Literal, LiteralField, Named, Node};

/// A type being inferred.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(u32);

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
    /// The same, and no other type.
    Parameter,
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
    /// What stands inside of tuples, arrays and the like that were made one with a hole.
    joined: Vec<Ty>,
    /// Names of type parameters.
    parameters: HashSet<String>,
}

impl Types {
    /// With these type parameters.
    pub(super) fn among(parameters: HashSet<String>) -> Types {
        Types {
            parameters,
            ..Types::default()
        }
    }

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

    /// The elements of an array that is known to be one, and how many there are.
    pub(super) fn as_array(&self, ty: Ty) -> Option<(Ty, Dim)> {
        match self.node(ty) {
            Node::Array(elem, len) => Some((*elem, len.clone())),
            Node::Known(_)
            | Node::Int
            | Node::Float
            | Node::Any
            | Node::Tuple(_)
            | Node::Named(_)
            | Node::Hole(_)
            | Node::Same(_) => None,
        }
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
    pub(super) fn tell_field(&mut self, of: Ty, field: LiteralField) {
        let root = self.find(of);
        if let Node::Named(Named {
            literal: Some(literal),
            ..
        }) = &mut self.nodes[root.0 as usize]
        {
            literal.fields.push(field);
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
            Node::Named(named) if self.is_parameter(named) => Known::Parameter,
            Node::Named(_) | Node::Hole(_) => Known::Foreign,
            Node::Same(_) => unreachable!("find returns a representative"),
        }
    }

    /// The final type, if it is a scalar: what is known, or the literal's default. `None` when nothing tells.
    pub fn resolve(&self, ty: Ty) -> Option<Scalar> {
        match self.look(ty) {
            Known::Scalar(scalar) => Some(scalar),
            Known::Int => Some(Scalar::I32),
            Known::Float => Some(Scalar::F64),
            Known::Nothing | Known::Compound | Known::Foreign | Known::Parameter => None,
        }
    }

    /// Is it one of the type parameters?
    fn is_parameter(&self, named: &Named) -> bool {
        !self.parameters.is_empty() && self.parameters.contains(&path_text(&named.path))
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
            Known::Parameter => f.write_str("a type parameter"),
        }
    }
}

#[cfg(test)]
mod tests {
    use sarek_ir::LinkId;

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
