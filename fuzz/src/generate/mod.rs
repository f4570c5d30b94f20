//! The generator: a seed gives a kernel and its launch.
//!
//! Each file adds rules for one part of the language to the tables [`EXPRESSIONS`] and [`STATEMENTS`]. A rule says
//! where it fits and makes a node. What a rule makes is well-typed, ends, and is free of races; integers
//! wrap. Floats that decide anything are exact by construction ([`Facts`]), so that all targets agree on them.

mod array;
mod basics;
mod boolean;
mod call;
mod choice;
mod closure;
mod collective;
mod control;
mod float;
mod flow;
mod generic;
mod half;
mod integer;
mod intrinsic;
mod item;
mod memory;
mod packed;
pub mod says;
mod signature;
mod sink;
mod statement;
mod sum;
mod team;
mod together;
mod tuple;
mod view;
mod wild;

use sarek::testing::Random;
use sarek_ir::Scalar;

use crate::case::{Case, Launch};
use crate::tree::{Expr, Facts, Function, Node};

use basics::{is_wide, make, within};

/// How deep blocks nest.
const DEEPEST: u32 = 4;

/// Something that the generator can make, for a type or, of statements, for none.
pub struct Rule<T> {
    /// How often, compared with the others that fit.
    weight: u32,
    fits: fn(&Gen, Scalar) -> bool,
    make: fn(&mut Gen, Scalar) -> T,
}

const EXPRESSIONS: &[&[Rule<Expr>]] = &[
    array::RULES,
    boolean::RULES,
    choice::RULES,
    closure::RULES,
    control::RULES,
    float::RULES,
    half::RULES,
    integer::RULES,
    intrinsic::RULES,
    item::RULES,
    memory::RULES,
    packed::RULES,
    says::RULES,
    sum::RULES,
    team::RULES,
    wild::RULES,
];

const STATEMENTS: &[&[Rule<Node>]] = &[
    array::STORES,
    closure::STATEMENTS,
    collective::RULES,
    flow::RULES,
    item::STATEMENTS,
    memory::STORES,
    packed::STATEMENTS,
    says::STATEMENTS,
    sink::RULES,
    statement::RULES,
    sum::STATEMENTS,
    team::STORES,
    together::RULES,
    tuple::RULES,
];

/// A local in scope, or a scalar parameter.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Scalar,
    facts: Facts,
    mutable: bool,
    /// Is it the same for all threads of a block? Then only [`together`] assigns to it.
    uniform: bool,
}

/// A parameter of many elements.
#[derive(Clone, Debug)]
struct Slice {
    name: String,
    elem: Scalar,
    role: Role,
    form: Form,
}

/// How a kernel takes elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `&[T]`
    Slice,
    /// `View2<T>`, or of so many dimensions.
    View(usize),
    /// `#[item] x: T`: the thread's own alone.
    Item,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Read anywhere; at least one element for each thread if `covers`.
    In { covers: bool },
    /// Any floats.
    Wild,
    /// A thread's own so many elements.
    Out { each: usize },
    /// The same, of results that need not be exact.
    Near { each: usize },
    /// What the threads of a block, or all, use by turns: [`team`].
    Team,
}

/// A loop around what is being made.
#[derive(Clone, Debug)]
struct Loop {
    label: String,
    /// A labelled block.
    is_block: bool,
    /// What `break` carries.
    value: Option<Scalar>,
    /// If all threads of the block are together in it: its number, and whose turn it is when it begins.
    team: Option<(u32, Vec<team::Turn>)>,
}

/// What a kernel may have in it.
struct Traits {
    types: Vec<Scalar>,
    /// Accesses and divisions that may fail.
    faults: bool,
    /// Functions on f64.
    f64_math: bool,
    /// The launch says how large blocks are.
    fixed_block: bool,
    /// How deep expressions nest.
    depth: u32,
    /// The threads of a block work together.
    team: bool,
    /// Subgroups do, too.
    subgroups: bool,
    /// It is for the host, which takes blocks of any size.
    host: bool,
    /// rustc links it.
    rustc: bool,
    /// A thread for each element of what it takes by `#[item]`.
    items: bool,
    /// Elements of 8 and 16 bits may stand in slices.
    narrow: bool,
}

/// The state of the generator.
pub struct Gen {
    random: Random,
    traits: Traits,
    scope: Vec<Var>,
    slices: Vec<Slice>,
    arrays: Vec<array::Array>,
    /// Locals of enums.
    sums: Vec<sum::Local>,
    /// Structs in scope, inner ones too: the name, the type, and whether they may change.
    records: Vec<(String, item::Struct, bool)>,
    structs: Vec<item::Struct>,
    enums: Vec<sum::Sum>,
    callees: Vec<call::Callee>,
    /// The statements of the functions called so far, see [`item`].
    called: usize,
    collectives: Vec<collective::Collective>,
    vectors: Vec<packed::Packed>,
    /// What may be called by a name.
    closures: Vec<closure::Closure>,
    /// It is the body of a `#[device]` function or of a closure that is made.
    in_function: bool,
    in_closure: bool,
    teams: Vec<team::Team>,
    loops: Vec<Loop>,
    /// All threads of the block that are left are here.
    together: bool,
    /// What is being made has to be the same for all of them.
    uniform: bool,
    /// Statements still to be made.
    budget: usize,
    names: u32,
    /// The depth of the expression.
    depth: u32,
    /// The depth of the block.
    nest: u32,
    /// What follows the statements of this block was made before them.
    keeps_names: bool,
    /// In the condition of a `while`, or in a block to come: each label has to be written.
    labels_all: bool,
    /// How often the innermost block runs at most.
    trips: usize,
}

/// A kernel and its launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// What stands before the kernel.
    pub items: String,
    /// The tree.
    pub function: Function,
    /// The launch.
    pub launch: Launch,
}

impl Generated {
    /// As text.
    pub fn case(&self) -> Case {
        Case {
            items: self.items.clone(),
            function: self.function.to_string(),
            launch: self.launch.clone(),
        }
    }
}

/// The kernel of a seed, for any device, that [`crate::items`] can link.
pub fn generate(seed: u64) -> Generated {
    made(seed, false)
}

/// The kernel of a seed that rustc is to link; every other one for devices whose subgroups are the host's.
pub fn generate_for_rustc(seed: u64) -> Generated {
    made(seed, true)
}

fn made(seed: u64, rustc: bool) -> Generated {
    let mut random = Random::new(seed);
    let host = rustc && random.below(2) == 0;
    let mut types = vec![Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::Usize];
    let mut offer = |ty, of_10| {
        if random.below(10) < of_10 {
            types.push(ty);
        }
    };
    offer(Scalar::F32, 8);
    offer(Scalar::I64, 5);
    offer(Scalar::U64, 5);
    offer(Scalar::F64, 3);
    offer(Scalar::F16, 2);
    offer(Scalar::Bf16, 2);
    for ty in [Scalar::I8, Scalar::U8, Scalar::I16, Scalar::U16] {
        offer(ty, 2);
    }
    let team = random.below(4) < if host { 3 } else { 2 };
    let traits = Traits {
        types,
        faults: random.below(4) == 0,
        f64_math: random.below(4) == 0,
        fixed_block: false,
        depth: 2 + random.below(3) as u32,
        team,
        subgroups: team && random.below(3) == 0,
        host,
        rustc,
        items: !team && random.below(6) == 0,
        narrow: random.below(3) == 0,
    };
    // Log-uniform up to 200, from what makes 10 with the statements at both ends.
    let most: f64 = if team { 16.0 } else { 40.0 };
    let budget = 5.0 * most.powf(random.between(0.0, 1.0));
    let mut gen_ = Gen {
        random,
        traits,
        scope: vec![],
        slices: vec![],
        arrays: vec![],
        sums: vec![],
        records: vec![],
        structs: vec![],
        enums: vec![],
        callees: vec![],
        called: 0,
        collectives: vec![],
        vectors: vec![],
        closures: vec![],
        in_function: false,
        in_closure: false,
        teams: vec![],
        loops: vec![],
        together: team,
        uniform: false,
        budget: budget as usize,
        names: 0,
        depth: 0,
        nest: 0,
        keeps_names: false,
        labels_all: false,
        trips: 1,
    };
    let items = if gen_.once_in(2) {
        gen_.items()
    } else {
        String::new()
    };
    let (head, mut body, launch) = gen_.signature(seed);
    while gen_.budget > 0 {
        let stmt = gen_.statement();
        body.push(stmt);
    }
    gen_.gather(&mut body);
    gen_.results(&mut body);
    Generated {
        items,
        function: Function { head, body },
        launch,
    }
}

#[cfg(test)]
mod tests;
