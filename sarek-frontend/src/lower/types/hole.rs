//! Holes: types that are parts of others. The same part of the same type is one hole.

use proc_macro2::TokenStream;
use sarek_ir::{CallableId, FunctionId, LinkId, NameId};

use super::{GenericArg, Hole, Named, Node, Ty, Types};
use crate::parse::LETTERS;
use crate::tokens::path_text;

impl Types {
    /// The type of a field; `text` is its name.
    pub(in crate::lower) fn field(&mut self, of: Ty, name: NameId, text: &str) -> Ty {
        if let Node::Tuple(types) = self.node(of)
            && let Some(ty) = text.parse().ok().and_then(|i: usize| types.get(i))
        {
            return *ty;
        }
        if let Node::Named(Named {
            simd: Some(simd), ..
        }) = self.node(of)
            && LETTERS[..simd.count].contains(&text)
        {
            let lane = simd.lane;
            return self.known(lane);
        }
        self.hole((self.key(of), name.0, u32::MAX), Hole::Field { of, name })
    }

    /// The type of an array's elements.
    pub(in crate::lower) fn element(&mut self, of: Ty) -> Ty {
        if let Node::Array(elem, _) = self.node(of) {
            return *elem;
        }
        let key = (self.key(of), u32::MAX, u32::MAX);
        self.hole(key, Hole::Element { of })
    }

    /// The type of a variant's field.
    pub(in crate::lower) fn payload(
        &mut self,
        of: Ty,
        variant: NameId,
        name: NameId,
        pattern: TokenStream,
    ) -> Ty {
        let key = (self.key(of), name.0, variant.0);
        let hole = Hole::Payload {
            of,
            variant,
            name,
            pattern,
        };
        self.hole(key, hole)
    }

    /// The result type of a function.
    pub(in crate::lower) fn result(&mut self, function: FunctionId) -> Ty {
        let key = (String::new(), function.0, u32::MAX);
        self.hole(key, Hole::Result(function))
    }

    /// The type of a function's parameter.
    pub(in crate::lower) fn parameter(&mut self, of: FunctionId, index: u32) -> Ty {
        let key = (String::new(), of.0, index);
        self.hole(key, Hole::Parameter { of, index })
    }

    /// A type in the signature of a function's callable parameter: that of a parameter, or the
    /// result if `takes` is `None`.
    pub(in crate::lower) fn callable(
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

    /// The type of a constant.
    pub(in crate::lower) fn constant(&mut self, link: LinkId) -> Ty {
        self.push(Node::Hole(Hole::Constant(link)))
    }

    /// True if a field of the type, or a part of another kind, was named, so that it is no number.
    pub(in crate::lower) fn has_parts(&self, ty: Ty) -> bool {
        let root = self.find(ty);
        self.holes
            .values()
            .any(|hole| match self.nodes[hole.0 as usize] {
                Node::Hole(
                    Hole::Field { of, .. } | Hole::Element { of } | Hole::Payload { of, .. },
                ) => self.find(of) == root,
                _ => false,
            })
    }

    /// The number of types that only rustc knows and that were unified with this one.
    pub(in crate::lower) fn holes_of(&self, ty: Ty) -> usize {
        let root = self.find(ty);
        let all = self.holes.values().chain(&self.joined);
        all.filter(|hole| self.find(**hole) == root).count()
    }

    pub(super) fn hole(&mut self, key: (String, u32, u32), hole: Hole) -> Ty {
        if let Some(ty) = self.holes.get(&key) {
            return *ty;
        }
        let ty = self.push(Node::Hole(hole));
        self.holes.insert(key, ty);
        ty
    }

    /// A key for a type. Equal keys denote the same type.
    pub(super) fn key(&self, ty: Ty) -> String {
        let root = self.find(ty);
        match self.node(root) {
            Node::Known(scalar) => scalar.name().to_string(),
            Node::Named(named) if named.is_apart() => format!("#{}", root.0),
            Node::Named(named) => {
                let args = named.args.iter().map(|arg| match arg {
                    GenericArg::Type(ty) => self.key(*ty),
                    GenericArg::Const(tokens) => path_text(tokens),
                });
                let args: Vec<String> = args.collect();
                format!("{}<{}>", path_text(&named.path), args.join(","))
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
            Node::Hole(Hole::Literal { .. })
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Same(_) => format!("#{}", root.0),
        }
    }
}
