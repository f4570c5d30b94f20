//! Type inference by unification, with rustc's type variables and defaults.
//!
//! A type that the macro cannot see is a *hole*: the type of a field, of an element, or of a
//! variant's payload. A hole unifies with another type like a variable does. A hole that is still
//! open at the end is resolved when the kernel is linked. The same applies to a named type, which
//! may be an alias. rustc checks all types again.

pub(super) mod error_type;
pub(super) mod generic_args;
mod hole;
mod node;
pub(super) mod type_syntax;
mod unify;

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use sarek_ir::{NameId, Scalar};

use super::memory::length::Dim;
use super::path_text;
use crate::parse::SimdType;

pub(super) use node::{GenericArg, Hole, Literal, LiteralField, Named, Node};

/// A type variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(u32);

/// A summary of the knowledge about a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// A known scalar.
    Scalar(Scalar),
    /// Some integer.
    Int,
    /// Some float.
    Float,
    /// Nothing.
    Nothing,
    /// A type of several parts.
    Compound,
    /// A type that only rustc knows: a named type, or a part of one.
    Foreign,
    /// A type parameter, which is equal to no other type.
    Parameter,
}

/// Two types that do not unify.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub left: Known,
    pub right: Known,
}

/// All types of a kernel, as a union-find structure.
#[derive(Default)]
pub struct Types {
    nodes: Vec<Node>,
    /// The holes, by the types and parts that they stand for.
    holes: HashMap<(String, u32, u32), Ty>,
    /// The parts of tuples, arrays and the like that were unified with a hole.
    joined: Vec<Ty>,
    /// Names of type parameters.
    parameters: HashSet<String>,
}

impl Types {
    /// An empty set of types, with these type parameters.
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

    /// The element type and the length of an array, if the type is known to be one.
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

    pub(super) fn named(&mut self, path: TokenStream, args: Vec<GenericArg>) -> Ty {
        self.push(Node::Named(Named {
            path,
            args,
            simd: None,
            literal: None,
        }))
    }

    /// The type of a struct literal, whose fields are added later.
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
            simd: None,
            literal: Some(literal),
        }))
    }

    /// Adds a field to the type of a struct literal.
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

    /// A SIMD vector type of the façade.
    pub(super) fn simd(&mut self, path: TokenStream, simd: SimdType) -> Ty {
        self.push(Node::Named(Named {
            path,
            args: vec![],
            simd: Some(simd),
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

    /// True if the two types were unified.
    pub(super) fn are_same(&self, a: Ty, b: Ty) -> bool {
        self.find(a) == self.find(b)
    }

    /// The current knowledge about a type.
    pub(super) fn node(&self, ty: Ty) -> &Node {
        &self.nodes[self.find(ty).0 as usize]
    }

    /// A summary of the current knowledge about a type.
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

    /// The final type, if it is a scalar: the known one, or the default of a literal. `None` if it
    /// is unknown.
    pub fn resolve(&self, ty: Ty) -> Option<Scalar> {
        match self.look(ty) {
            Known::Scalar(scalar) => Some(scalar),
            Known::Int => Some(Scalar::I32),
            Known::Float => Some(Scalar::F64),
            Known::Nothing | Known::Compound | Known::Foreign | Known::Parameter => None,
        }
    }

    /// True for a type parameter.
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
    fn the_elements_of_a_constant_that_becomes_an_array_do_not_hang_on_themselves() {
        let mut types = Types::default();
        let constant = types.constant(LinkId(0));
        let element = types.element(constant);
        let literal = types.int();
        let array = types.array(literal, Dim::fixed(1));
        types.unify(constant, array).unwrap();
        // These look through all parts of a type, so that they end only for a finite one.
        assert!(types.are_same(element, literal));
        assert!(types.unify(element, array).is_err());
        assert!(types.key(element).starts_with("const"));
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
