//! The usual forms of index functions, for the arguments of a call.
//!
//! Arguments that differ between threads are coordinates, the others are sizes or offsets. A form is a mixed-radix number
//! of the coordinates: `row * width + column`. The factors are sizes, named constants of the kernel, or any numbers.
//! Offsets and a number may be added.

use super::{Coefficient, Operator, Tree};
use crate::analysis::linear::Resolver;
use crate::analysis::race::ConstantBound;
use crate::{Axis, Builtin, CallId, Compound, Expr, ExprId, Kernel, LinkId, NameId};

/// More named constants than these are not tried as factors.
const MOST_CONSTANTS: usize = 2;

/// More arguments than these are not tried as sizes and offsets: the number of forms grows with its square.
const MOST_SIZES: usize = 20;

/// More numbers than these are not tried as operands.
const MOST_LITERALS: usize = 2;

/// An argument of a call, or a field of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Argument {
    /// The position of the argument.
    pub position: u32,
    /// The field.
    pub field: Option<NameId>,
}

/// A factor of a [`Term`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// An argument.
    Argument(Argument),
    /// A value that is no polynomial of the arguments.
    Tree(Tree),
}

impl From<Argument> for Part {
    fn from(argument: Argument) -> Part {
        Part::Argument(argument)
    }
}

impl From<Tree> for Part {
    fn from(tree: Tree) -> Part {
        Part::Tree(tree)
    }
}

impl Argument {
    /// The argument as an operand.
    fn tree(self) -> Tree {
        Tree::Parameter(self.position, self.field)
    }
}

/// A form of the result of a call: a sum of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    /// The terms.
    pub terms: Vec<Term>,
}

/// A term of a [`Form`]: a product of arguments, and a factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// The arguments, in ascending order.
    pub arguments: Vec<Part>,
    /// True if the term is subtracted.
    pub is_negative: bool,
    /// The factor.
    pub scale: Scale,
}

/// The factor of a [`Term`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scale {
    /// 1
    One,
    /// The product of constants that the kernel names.
    Constants(Vec<LinkId>),
    /// Any number in these bounds.
    Between(u64, Option<u64>),
}

impl Form {
    /// A sum of coordinates with their factors and of offsets, to which any number may be added.
    fn new(mut terms: Vec<Term>, offsets: &[Argument]) -> Form {
        terms.extend(offsets.iter().map(|of| term(&[*of], Scale::One)));
        for is_negative in [false, true] {
            terms.push(Term {
                is_negative,
                ..term::<Argument>(&[], ANY)
            });
        }
        Form { terms }
    }

    /// True if it has quotients, bits or minima.
    pub(super) fn has_trees(&self) -> bool {
        let parts = self.terms.iter().flat_map(|term| &term.arguments);
        let mut trees = parts.filter(|part| matches!(part, Part::Tree(tree) if !tree.is_closed()));
        trees.next().is_some()
    }

    /// True if it is a single quotient or remainder.
    pub(super) fn is_quotient(&self) -> bool {
        let mut parts = self.terms.iter().flat_map(|term| &term.arguments);
        let first = parts.next();
        let is_division = |part: &Part| match part {
            Part::Tree(Tree::Binary(Operator::Div, _)) => true,
            Part::Tree(Tree::Binary(Operator::Rem, of)) => matches!(of[0], Tree::Parameter(..)),
            Part::Tree(_) | Part::Argument(_) => false,
        };
        first.is_some_and(is_division) && parts.next().is_none()
    }

    /// True if it is a multiple of a single argument by any number, apart from offsets.
    pub(super) fn is_multiple(&self) -> bool {
        let is_any = |term: &&Term| !term.arguments.is_empty() && term.scale == ANY;
        self.terms.iter().filter(is_any).count() == 1
            && self.terms.iter().all(|term| term.arguments.len() <= 1)
    }

    /// The form with the bounds of its coefficients that a proof assumes.
    pub(super) fn under(&self, coefficients: &[Coefficient], bounds: &[ConstantBound]) -> Form {
        let mut form = self.clone();
        for term in &mut form.terms {
            let Scale::Between(least, most) = &mut term.scale else {
                continue;
            };
            let own = coefficients
                .iter()
                .find(|own| own.arguments == term.arguments && own.is_negative == term.is_negative);
            let of_own = bounds
                .iter()
                .filter(|bound| bound.times == [None; 2])
                .filter(|bound| own.is_some_and(|own| own.link == bound.link));
            for bound in of_own {
                match bound.is_least {
                    true => *least = bound.number.max(*least),
                    false => *most = Some(most.map_or(bound.number, |m| m.min(bound.number))),
                }
            }
        }
        form
    }
}

const ANY: Scale = Scale::Between(0, None);

fn term<P: Clone + Into<Part>>(arguments: &[P], scale: Scale) -> Term {
    let mut arguments: Vec<Part> = arguments.iter().cloned().map(Into::into).collect();
    arguments.sort();
    Term {
        arguments,
        is_negative: false,
        scale,
    }
}

/// The forms to try for calls of one function, the most likely first. Each has the arguments that it does not use as
/// offsets, or none. Fields are offsets in the last forms only.
pub(super) fn of(kernel: &Kernel, calls: &[CallId]) -> Vec<Form> {
    let Some(Arguments {
        coordinates,
        sizes,
        constants,
    }) = Arguments::of(kernel, calls)
    else {
        return vec![];
    };
    let (mut forms, mut late): (Vec<Form>, Vec<Form>) = (vec![], vec![]);
    let mut add = |terms: Vec<Term>| {
        let used = |size: &&Argument| {
            let uses = |part: &Part| match part {
                Part::Argument(argument) => argument == *size,
                Part::Tree(tree) => tree.uses(size.tree()),
            };
            terms.iter().any(|term| term.arguments.iter().any(uses))
        };
        let rest = sizes.iter().filter(|size| !used(size)).copied();
        let (rest, fields): (Vec<_>, Vec<_>) = rest.partition(|size| size.field.is_none());
        let plain = Form::new(terms.clone(), &[]);
        if plain.has_trees() {
            forms.push(plain);
            return;
        }
        for offsets in [&rest[..], &[]] {
            let form = Form::new(terms.clone(), offsets);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        for field in fields {
            let offsets = [&rest[..], &[field]].concat();
            late.push(Form::new(terms.clone(), &offsets));
        }
    };
    match coordinates[..] {
        [] => {
            add(sizes.iter().map(|size| term(&[*size], ANY)).collect());
            of_ids(&sizes).into_iter().for_each(&mut add);
            forms.splice(0..0, strides());
        }
        [a] => {
            add(vec![term(&[a], Scale::One)]);
            add(vec![Term {
                is_negative: true,
                ..term(&[a], Scale::One)
            }]);
            for size in &sizes {
                add(vec![term(&[a, *size], Scale::One)]);
            }
            add(vec![term(&[a], ANY)]);
            of_trees(a, &sizes, &numbers(kernel))
                .into_iter()
                .for_each(&mut add);
        }
        [a, b] => {
            for [high, low] in [[a, b], [b, a]] {
                let low = term(&[low], Scale::One);
                for size in &sizes {
                    add(vec![term(&[high, *size], Scale::One), low.clone()]);
                }
            }
            let named = constants.iter().map(|of| Scale::Constants(vec![*of]));
            for scale in named.chain([ANY]) {
                for [high, low] in [[a, b], [b, a]] {
                    add(vec![term(&[high], scale.clone()), term(&[low], Scale::One)]);
                }
            }
        }
        [a, b, c] => {
            for [high, middle, low] in [[a, b, c], [c, b, a], [b, a, c], [c, a, b]] {
                let low = term(&[low], Scale::One);
                for (i, width) in sizes.iter().enumerate() {
                    for (j, height) in sizes.iter().enumerate() {
                        if i != j {
                            add(vec![
                                term(&[high, *height, *width], Scale::One),
                                term(&[middle, *width], Scale::One),
                                low.clone(),
                            ]);
                        }
                    }
                }
                for width in &constants {
                    for height in &constants {
                        add(vec![
                            term(&[high], Scale::Constants(vec![*height, *width])),
                            term(&[middle], Scale::Constants(vec![*width])),
                            low.clone(),
                        ]);
                    }
                }
            }
        }
        _ => {}
    }
    forms.extend(late);
    forms
}

/// The forms of functions that read ids themselves.
fn of_ids(sizes: &[Argument]) -> Vec<Vec<Term>> {
    let id = |id: Builtin| term(&[Tree::Id(id)], Scale::One);
    let [x, y] = [Axis::X, Axis::Y].map(Builtin::GlobalIdx);
    let (block, thread) = (Builtin::BlockIdx(Axis::X), Builtin::ThreadIdx(Axis::X));
    let rows = |by: Part| {
        let high = vec![Part::Tree(Tree::Id(y)), by];
        vec![term(&high, Scale::One), id(x)]
    };
    let extent = Tree::Id(Builtin::BlockDim(Axis::X));
    let in_blocks = vec![
        term(&[Tree::Id(block), extent.clone()], Scale::One),
        id(thread),
    ];
    let width = Part::Tree(Tree::Id(Builtin::GlobalDim(Axis::X)));
    let plain = [
        vec![id(x)],
        in_blocks,
        vec![id(Builtin::GlobalThreadId)],
        rows(width),
    ];
    let by_size = sizes.iter().map(|size| rows(Part::Argument(*size)));
    let multiples = sizes.iter().map(|size| {
        vec![term(
            &[Part::Tree(Tree::Id(x)), Part::Argument(*size)],
            Scale::One,
        )]
    });
    let any = vec![term(&[Tree::Id(x)], ANY)];
    let all = by_size.chain(plain);
    all.chain(multiples).chain([any]).collect()
}

/// The strides of loops over all elements. A number cannot be added to these.
fn strides() -> [Form; 2] {
    let id = |id: fn(Axis) -> Builtin| Tree::Id(id(Axis::X));
    let [threads, blocks] = [id(Builtin::BlockDim), id(Builtin::GridDim)];
    let products = [vec![id(Builtin::GlobalDim)], vec![blocks, threads]];
    products.map(|product| Form {
        terms: vec![term(&product, Scale::One)],
    })
}

/// The forms of functions of one coordinate with quotients, remainders, bits and minima.
fn of_trees(a: Argument, sizes: &[Argument], numbers: &[i128]) -> Vec<Vec<Term>> {
    use Operator::{Add, Div, Min, Rem, Sub, Xor};
    let one = |tree: Tree| vec![term(&[tree], Scale::One)];
    let by = |op: Operator, other: Tree| Tree::binary(op, a.tree(), other);
    let others = sizes.iter().map(|size| size.tree());
    let others = others.chain(numbers.iter().map(|n| Tree::Number(*n)));
    let others: Vec<Tree> = others.collect();
    let mut found = vec![];
    for other in &others {
        found.push(one(by(Div, other.clone())));
        found.push(one(by(Rem, other.clone())));
    }
    for size in sizes {
        let last = Tree::binary(Sub, size.tree(), Tree::Number(1));
        found.push(one(by(Min, last)));
        for shift in sizes.iter().filter(|shift| *shift != size) {
            let sum = by(Add, shift.tree());
            found.push(one(Tree::binary(Rem, sum, size.tree())));
        }
    }
    for other in &others {
        found.push(one(by(Xor, other.clone())));
    }
    found.push(one(by(Xor, by(Div, Tree::Number(2)))));
    found
}

/// Numbers of the kernel that are tried as operands.
fn numbers(kernel: &Kernel) -> Vec<i128> {
    let literals = kernel.exprs.iter().filter_map(|expr| match expr {
        Expr::Literal(value) => value.as_int(),
        _ => None,
    });
    let extents = kernel.block.into_iter().flatten().map(i128::from);
    let mut found: Vec<i128> = vec![];
    for number in literals.chain(extents).filter(|n| (2..=1024).contains(n)) {
        if !found.contains(&number) {
            found.push(number);
        }
    }
    found.truncate(MOST_LITERALS);
    found
}

/// The arguments of calls of one function.
struct Arguments {
    /// Those that may differ between threads.
    coordinates: Vec<Argument>,
    /// The others, and fields.
    sizes: Vec<Argument>,
    /// Named constants of the kernel.
    constants: Vec<LinkId>,
}

impl Arguments {
    /// `None` if the calls have different arguments.
    fn of(kernel: &Kernel, calls: &[CallId]) -> Option<Arguments> {
        let mut resolver = Resolver::new(kernel);
        let mut is_uniform = |id: ExprId| {
            let value = resolver.affine(id);
            value.is_some_and(|value| value.form.uniform().is_some())
        };
        let (mut coordinates, mut sizes) = (vec![], vec![]);
        let first = &kernel.calls[calls.first()?.index()];
        for position in 0..first.args.len() as u32 {
            let each = calls.iter().map(|call| {
                let args = &kernel.calls[call.index()].args;
                match *args.get(position as usize)? {
                    crate::Argument::Value(value) => Some(value),
                    crate::Argument::Memory(_) | crate::Argument::Local(_) => None,
                }
            });
            let Some(values) = each.collect::<Option<Vec<ExprId>>>() else {
                continue;
            };
            let is_int = |id: &ExprId| {
                kernel
                    .type_of(*id)
                    .as_scalar()
                    .is_some_and(|ty| ty.is_int())
            };
            if values.iter().all(is_int) {
                let argument = Argument {
                    position,
                    field: None,
                };
                match values.iter().all(|id| is_uniform(*id)) {
                    true => sizes.push(argument),
                    false => coordinates.push(argument),
                }
                continue;
            }
            let bases: Option<Vec<Expr>> = values.iter().map(|id| leaf(kernel, *id)).collect();
            let Some(bases) = bases else { continue };
            for name in fields(kernel, bases[0]) {
                let uses = bases.iter().map(|base| field(kernel, *base, name));
                let Some(uses) = uses.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let argument = Argument {
                    position,
                    field: Some(name),
                };
                match uses.iter().all(|(_, value)| is_uniform(*value)) {
                    true => sizes.push(argument),
                    false => coordinates.push(argument),
                }
            }
        }
        sizes.truncate(MOST_SIZES);
        let constants = (0..kernel.links.len() as u32).map(LinkId);
        let constants = constants.filter(|link| {
            let ty = kernel.links[link.index()].ty.as_scalar();
            ty.is_some_and(|ty| ty.is_int())
        });
        Some(Arguments {
            coordinates,
            sizes,
            constants: constants.take(MOST_CONSTANTS).collect(),
        })
    }
}

/// An expression of a type with fields that can be read again: an immutable local or a parameter.
pub(super) fn leaf(kernel: &Kernel, id: ExprId) -> Option<Expr> {
    let expr = kernel.expr(id);
    match expr {
        Expr::Local(local) => (!kernel.locals[local.index()].mutable).then_some(expr),
        Expr::Param(param) => match kernel.params[param.index()].kind {
            crate::ParamKind::Value(_) => Some(expr),
            crate::ParamKind::Scalar(_)
            | crate::ParamKind::Reference(_)
            | crate::ParamKind::Slice { .. } => None,
        },
        _ => None,
    }
}

/// The fields of a value that the kernel reads.
fn fields(kernel: &Kernel, of: Expr) -> Vec<NameId> {
    let mut found = vec![];
    for compound in kernel.compounds.iter() {
        if let Compound::Field { base, name } = *compound
            && kernel.expr(base) == of
            && !found.contains(&name)
        {
            found.push(name);
        }
    }
    found
}

/// An expression that reads a field of a value, and an integer with its value: itself or a cast of it. The type of a
/// field that is cast need not be known.
pub(super) fn field(kernel: &Kernel, of: Expr, name: NameId) -> Option<(ExprId, ExprId)> {
    let is_read = |id: &ExprId| match kernel.expr(*id) {
        Expr::Compound(compound) => match kernel.compounds[compound.index()] {
            Compound::Field { base, name: read } => kernel.expr(base) == of && read == name,
            _ => false,
        },
        _ => false,
    };
    let is_int = |id: ExprId| kernel.type_of(id).as_scalar().is_some_and(|ty| ty.is_int());
    let all = || (0..kernel.exprs.len() as u32).map(ExprId);
    let value = |id: ExprId| {
        let mut casts = all().filter(|cast| kernel.expr(*cast) == Expr::Cast { arg: id });
        match is_int(id) {
            true => Some(id),
            false => casts.find(|cast| is_int(*cast)),
        }
    };
    let mut reads = all().filter(is_read);
    reads.find_map(|id| Some((id, value(id)?)))
}
