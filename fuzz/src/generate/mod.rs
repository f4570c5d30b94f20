//! The generator: produces a kernel and its launch from a seed.
//!
//! It picks weighted rules at random, top-down. Each file adds rules for one part of the language to the tables [`EXPRESSIONS`] and
//! [`STATEMENTS`]. A [`Rule`] has a condition for where it applies, and a function that makes a node.
//!
//! Each generated kernel is well-typed, terminates, and is free of races; its integers wrap. Floats that influence control flow or exact results are
//! exact by construction ([`Facts`]), so all targets agree on them.

mod any_float;
mod array;
mod basics;
mod boolean;
mod call;
mod choice;
mod closure;
mod control;
mod cooperative;
mod enums;
mod float;
mod flow;
mod generic;
mod half;
mod inexact;
mod integer;
mod intrinsic;
mod items;
mod memory;
pub mod panics;
mod shared_memory;
mod signature;
mod statement;
mod tuple;
mod uniform;
mod vectors;
mod view;

use sarek::testing::Random;
use sarek_ir::Scalar;

use crate::case::{Case, Launch};
use crate::tree::{Expr, Facts, Function, Node};

use basics::{is_wide, make, within};

/// The maximum nesting depth of blocks.
const DEEPEST: u32 = 4;

/// A production of the generator: an expression of a given type, or a statement.
pub struct Rule<T> {
    /// The probability relative to the other rules that apply.
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
    items::RULES,
    memory::RULES,
    vectors::RULES,
    panics::RULES,
    enums::RULES,
    shared_memory::RULES,
    any_float::RULES,
];

const STATEMENTS: &[&[Rule<Node>]] = &[
    array::STORES,
    closure::STATEMENTS,
    cooperative::RULES,
    flow::RULES,
    items::STATEMENTS,
    memory::STORES,
    vectors::STATEMENTS,
    panics::STATEMENTS,
    inexact::RULES,
    statement::RULES,
    enums::STATEMENTS,
    shared_memory::STORES,
    uniform::RULES,
    tuple::RULES,
];

/// A local in scope, or a scalar parameter.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Scalar,
    facts: Facts,
    mutable: bool,
    /// True if the value is uniform, that is, the same for all threads of a block. Then only the module [`uniform`] assigns to it.
    uniform: bool,
}

/// A parameter with elements: a slice, a view or an item.
#[derive(Clone, Debug)]
struct Slice {
    name: String,
    elem: Scalar,
    role: Role,
    form: Form,
}

/// The form of such a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `&[T]`
    Slice,
    /// `View2<T>` or `View3<T>`, by its number of dimensions.
    View(usize),
    /// `#[item] x: T`: only the thread's own element.
    Item,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// An input, read at any index. If `covers`, it has at least one element for each thread.
    In { covers: bool },
    /// An input of arbitrary floats, NaN included: [`any_float`].
    AnyFloat,
    /// An output with `each` elements for each thread.
    Out { each: usize },
    /// The same, for results that may be inexact: [`inexact`].
    Inexact { each: usize },
    /// Memory that threads share, with the access mode changing at barriers: [`shared_memory`].
    Shared,
}

/// A loop or labelled block around the current position.
#[derive(Clone, Debug)]
struct Loop {
    label: String,
    /// True for a labelled block.
    is_block: bool,
    /// The type of the value that `break` carries.
    value: Option<Scalar>,
    /// For a loop that all threads of the block run uniformly: its number, and the access mode of each shared array at its start.
    uniform: Option<(u32, Vec<shared_memory::AccessMode>)>,
}

/// The features that a kernel may use.
struct Traits {
    types: Vec<Scalar>,
    /// Accesses and divisions that may fault.
    faults: bool,
    /// Mathematical functions of `f64`.
    f64_math: bool,
    /// The launch sets the block size.
    fixed_block: bool,
    /// The maximum nesting depth of expressions.
    depth: u32,
    /// Shared memory and barriers.
    shared_memory: bool,
    /// Subgroup operations.
    subgroups: bool,
    /// The kernel is only for host devices, which take blocks of any size.
    host: bool,
    /// rustc links the kernel.
    rustc: bool,
    /// `#[item]` parameters, with one thread for each element.
    items: bool,
    /// Slices with elements of 8 and 16 bits.
    narrow: bool,
    /// A safe kernel along x. Ids of another axis would mean that it has several threads there.
    along_x: bool,
}

/// The state of the generator.
pub struct Gen {
    random: Random,
    traits: Traits,
    scope: Vec<Var>,
    slices: Vec<Slice>,
    arrays: Vec<array::Array>,
    /// The local variables of enum types.
    enum_locals: Vec<enums::Local>,
    /// The structs in scope, nested ones included: the name, the type, and true if it is mutable.
    records: Vec<(String, items::Struct, bool)>,
    structs: Vec<items::Struct>,
    enums: Vec<enums::Enum>,
    callees: Vec<call::Callee>,
    /// The total size of the functions called so far, which limits further calls.
    called: usize,
    cooperative_fns: Vec<cooperative::CooperativeFn>,
    vectors: Vec<vectors::Vector>,
    /// The closures in scope.
    closures: Vec<closure::Closure>,
    /// True inside the body of a `#[device]` function or of a closure.
    in_function: bool,
    in_closure: bool,
    shared_arrays: Vec<shared_memory::SharedArray>,
    loops: Vec<Loop>,
    /// True in uniform control flow: all threads of the block that have not ended reach this point.
    converged: bool,
    /// True while the current expression must be uniform.
    uniform: bool,
    /// The number of statements still to be made.
    budget: usize,
    names: u32,
    /// The nesting depth of the current expression.
    depth: u32,
    /// The nesting depth of the current block.
    nest: u32,
    /// True if the end of this block was made before its statements, so these must not shadow names.
    keeps_names: bool,
    /// True in the condition of a `while` loop, and in code made before the block that will contain it. There, `break` and `continue` need a label.
    labels_all: bool,
    /// An upper bound on the number of times that the innermost block runs.
    trips: usize,
}

/// A kernel and its launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// The items before the kernel.
    pub items: String,
    /// The options in the kernel's attribute.
    pub options: String,
    /// The tree.
    pub function: Function,
    /// The launch.
    pub launch: Launch,
}

impl Generated {
    /// Prints it as a case.
    pub fn case(&self) -> Case {
        Case {
            items: self.items.clone(),
            options: self.options.clone(),
            function: self.function.to_string(),
            launch: self.launch.clone(),
        }
    }
}

/// One in this many kernels of a run has a usual form of indices.
const FORMS_EACH: u64 = 4;

/// Generates the kernel of a seed for a run, in which some kernels are those of [`crate::forms`]. `for_rustc` is true if rustc links them.
pub fn of_seed(seed: u64, for_rustc: bool) -> Generated {
    let is_form = seed.is_multiple_of(FORMS_EACH);
    let form = is_form.then(|| crate::forms::generated(seed)).flatten();
    form.unwrap_or_else(|| match for_rustc {
        true => generate_for_rustc(seed),
        false => generate(seed),
    })
}

/// Generates the kernel of a seed. It is for any device, and [`crate::items`] can link it.
pub fn generate(seed: u64) -> Generated {
    made(seed, false)
}

/// Generates the kernel of a seed, for rustc to link. Half of these kernels are only for devices with the host's subgroups.
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
    let shared_memory = random.below(4) < if host { 3 } else { 2 };
    let traits = Traits {
        types,
        faults: random.below(4) == 0,
        f64_math: random.below(4) == 0,
        fixed_block: false,
        depth: 2 + random.below(3) as u32,
        shared_memory,
        subgroups: shared_memory && random.below(3) == 0,
        host,
        rustc,
        items: !shared_memory && random.below(6) == 0,
        narrow: random.below(3) == 0,
        along_x: false,
    };
    // Log-uniform from 5 to 80, or to 200 without shared memory. The statements at both ends of the body come on top.
    let most: f64 = if shared_memory { 16.0 } else { 40.0 };
    let budget = 5.0 * most.powf(random.between(0.0, 1.0));
    let mut gen_ = Gen {
        random,
        traits,
        scope: vec![],
        slices: vec![],
        arrays: vec![],
        enum_locals: vec![],
        records: vec![],
        structs: vec![],
        enums: vec![],
        callees: vec![],
        called: 0,
        cooperative_fns: vec![],
        vectors: vec![],
        closures: vec![],
        in_function: false,
        in_closure: false,
        shared_arrays: vec![],
        loops: vec![],
        converged: shared_memory,
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
        options: String::new(),
        function: Function { head, body },
        launch,
    }
}

#[cfg(test)]
mod tests;
