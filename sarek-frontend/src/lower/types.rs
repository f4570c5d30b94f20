//! Type inference: variables, unification and defaults, as rustc's for numeric types.

use sarek_ir::Scalar;

/// A type being inferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Known(Scalar),
    /// Nothing is known.
    Any,
    /// An integer literal's type; `i32` by default.
    Int,
    /// A float literal's type; `f64` by default.
    Float,
    /// Same as another.
    Same(Ty),
}

/// What is known of a type.
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
    /// Types that some constant of unknown type has: these take no default.
    linked: Vec<Ty>,
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

    /// The type of a constant that only rustc can see.
    pub fn linked(&mut self) -> Ty {
        let ty = self.any();
        self.linked.push(ty);
        ty
    }

    fn push(&mut self, node: Node) -> Ty {
        self.nodes.push(node);
        Ty(self.nodes.len() as u32 - 1)
    }

    fn find(&self, ty: Ty) -> Ty {
        match self.nodes[ty.0 as usize] {
            Node::Same(other) => self.find(other),
            Node::Known(_) | Node::Any | Node::Int | Node::Float => ty,
        }
    }

    /// What is known of it so far.
    pub fn look(&self, ty: Ty) -> Known {
        match self.nodes[self.find(ty).0 as usize] {
            Node::Known(scalar) => Known::Scalar(scalar),
            Node::Int => Known::Int,
            Node::Float => Known::Float,
            Node::Any => Known::Nothing,
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
        let (na, nb) = (self.nodes[a.0 as usize], self.nodes[b.0 as usize]);
        let fits = |scalar: Scalar, other: Node| match other {
            Node::Known(s) => s == scalar,
            Node::Int => scalar.is_int(),
            Node::Float => scalar.is_float(),
            Node::Any => true,
            Node::Same(_) => unreachable!("find returns a representative"),
        };
        let (from, to, ok) = match (na, nb) {
            (Node::Known(s), other) => (b, a, fits(s, other)),
            (other, Node::Known(s)) => (a, b, fits(s, other)),
            (Node::Any, _) => (a, b, true),
            (_, Node::Any) => (b, a, true),
            (Node::Int, Node::Int) | (Node::Float, Node::Float) => (a, b, true),
            (Node::Int, Node::Float) | (Node::Float, Node::Int) => (a, b, false),
            (Node::Same(_), _) | (_, Node::Same(_)) => {
                unreachable!("find returns a representative")
            }
        };
        if ok {
            self.nodes[from.0 as usize] = Node::Same(to);
        }
        ok.then_some(()).ok_or(mismatch)
    }

    /// The final type: what is known, or the literal's default. `None` when nothing tells.
    pub fn resolve(&self, ty: Ty) -> Option<Scalar> {
        let root = self.find(ty);
        let linked = || self.linked.iter().any(|l| self.find(*l) == root);
        match self.look(root) {
            Known::Scalar(scalar) => Some(scalar),
            Known::Int => (!linked()).then_some(Scalar::I32),
            Known::Float => (!linked()).then_some(Scalar::F64),
            Known::Nothing => None,
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
        let (i, f, linked) = (types.int(), types.float(), types.linked());
        assert_eq!(types.resolve(i), Some(Scalar::I32));
        assert_eq!(types.resolve(f), Some(Scalar::F64));
        types.unify(f, linked).unwrap();
        assert_eq!(types.resolve(f), None);
    }
}
