//! The generator: a seed gives a kernel and its launch.
//!
//! Each file adds rules for one part of the language to the tables [`EXPRESSIONS`] and [`STATEMENTS`]. A rule says
//! where it fits and makes a node. What a rule makes is well-typed, ends, and is free of races; integers
//! wrap. Floats that decide anything are exact by construction ([`Facts`]), so that all targets agree on them.

mod array;
mod boolean;
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

use sarek::ir::Scalar;
use sarek::testing::Random;

use crate::case::{Case, Launch};
use crate::tree::{Block, Expr, Facts, Function, Node};

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
    callees: Vec<item::Callee>,
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

impl Gen {
    /// Uniform below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let at = self.below(choices.len());
        &choices[at]
    }

    /// Some type that satisfies `fits`; there is one.
    fn ty(&mut self, fits: impl Fn(Scalar) -> bool) -> Scalar {
        let types = self.traits.types.clone();
        let fitting: Vec<_> = types.into_iter().filter(|t| fits(*t)).collect();
        *self.pick(&fitting)
    }

    fn has(&self, ty: Scalar) -> bool {
        self.traits.types.contains(&ty)
    }

    /// A name that nothing has.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn choose<T>(&mut self, tables: &[&'static [Rule<T>]], ty: Scalar) -> &'static Rule<T> {
        let fitting: Vec<&'static Rule<T>> = tables
            .iter()
            .flat_map(|table| table.iter())
            .filter(|rule| (rule.fits)(self, ty))
            .collect();
        let total: u32 = fitting.iter().map(|rule| rule.weight).sum();
        let mut at = self.below(total as usize) as u32;
        for rule in fitting {
            match at.checked_sub(rule.weight) {
                None => return rule,
                Some(rest) => at = rest,
            }
        }
        unreachable!("the number is below the sum of the weights")
    }

    /// An exact expression of a type.
    fn expr(&mut self, ty: Scalar) -> Expr {
        if self.depth >= self.traits.depth || self.once_in(5) {
            return self.leaf(ty);
        }
        self.depth += 1;
        let rule = self.choose(EXPRESSIONS, ty);
        let expr = (rule.make)(self, ty);
        self.depth -= 1;
        debug_assert_eq!(expr.ty, ty, "{expr:?}");
        expr
    }

    /// A variable or, at times, a literal.
    fn leaf(&mut self, ty: Scalar) -> Expr {
        let fits = |v: &&Var| v.ty == ty && (v.uniform || !self.uniform);
        let fitting: Vec<_> = self.scope.iter().filter(fits).cloned().collect();
        if fitting.is_empty() || self.once_in(6) {
            return self.literal(ty);
        }
        // The latest ones more often, so that values flow on.
        let late = fitting.len().saturating_sub(4);
        let from = if self.once_in(2) { late } else { 0 };
        let var = self.pick(&fitting[from..]).clone();
        // What is in a struct of the kernel's own is known to rustc alone.
        let text = match var.name.contains(".f") {
            true => format!("({{ let it: {ty} = {}; it }})", var.name),
            false => var.name,
        };
        Expr {
            node: Node::leaf(text),
            ty,
            facts: var.facts,
        }
    }

    fn literal(&mut self, ty: Scalar) -> Expr {
        match ty {
            Scalar::Bool => boolean::literal(self),
            Scalar::F32 | Scalar::F64 => float::literal(self, ty),
            Scalar::F16 | Scalar::Bf16 => half::literal(self, ty),
            _ => integer::literal(self, ty),
        }
    }

    fn statement(&mut self) -> Node {
        self.budget = self.budget.saturating_sub(1);
        let rule = self.choose(STATEMENTS, Scalar::Bool);
        (rule.make)(self, Scalar::Bool)
    }

    /// A block of a few statements with a scope of its own, run `trips` times.
    fn block(&mut self, trips: usize) -> Block {
        self.block_before(trips, false)
    }

    /// As [`Gen::block`]; with `keeps_names`, something made before stands at its end.
    fn block_before(&mut self, trips: usize, keeps_names: bool) -> Block {
        let together = std::mem::replace(&mut self.together, false);
        let block = self.scoped(trips, keeps_names, Gen::statement);
        self.together = together;
        block
    }

    /// A block of a few statements that `statement` makes.
    fn scoped(
        &mut self,
        trips: usize,
        keeps_names: bool,
        mut statement: impl FnMut(&mut Gen) -> Node,
    ) -> Block {
        let (scope, outer, depth) = (self.scope.clone(), self.trips, self.depth);
        let (arrays, sums) = (self.arrays.clone(), self.sums.clone());
        let records = self.records.clone();
        let (vectors, closures) = (self.vectors.clone(), self.closures.clone());
        let keeps_names = std::mem::replace(&mut self.keeps_names, keeps_names);
        self.trips *= trips;
        self.nest += 1;
        self.depth = 0;
        let count = (1 + self.below(4)).min(self.budget.max(1));
        let block = (0..count).map(|_| statement(self)).collect();
        self.nest -= 1;
        self.keeps_names = keeps_names;
        (self.scope, self.trips, self.depth) = (scope, outer, depth);
        (self.arrays, self.sums, self.records) = (arrays, sums, records);
        (self.vectors, self.closures) = (vectors, closures);
        block
    }

    /// May another block stand here?
    fn is_roomy(&self) -> bool {
        self.budget > 0 && self.nest < DEEPEST && !self.uniform
    }

    /// May another loop of so many trips stand here?
    fn affords(&self, trips: usize) -> bool {
        self.is_roomy() && self.trips * trips <= if self.traits.team { 24 } else { 96 }
    }

    /// Brings a name into scope, in place of one of the same text.
    fn bind(&mut self, name: &str, ty: Scalar, facts: Facts, mutable: bool) {
        self.scope.retain(|var| var.name != name);
        self.scope.push(Var {
            name: name.to_owned(),
            ty,
            facts,
            mutable,
            uniform: false,
        });
    }

    /// The same for a name whose value all threads of the block share.
    fn bind_uniform(&mut self, name: &str, ty: Scalar, facts: Facts) {
        self.bind(name, ty, facts, false);
        if let Some(var) = self.scope.last_mut() {
            var.uniform = true;
        }
    }
}

/// An expression from a text with holes.
fn make(ty: Scalar, facts: Facts, text: impl Into<String>, exprs: Vec<Expr>) -> Expr {
    Expr {
        node: Node::new(text, exprs, vec![]),
        ty,
        facts,
    }
}

/// A float with which arithmetic has 24 bits at least.
fn is_wide(ty: Scalar) -> bool {
    [Scalar::F32, Scalar::F64].contains(&ty)
}

/// What is known of a value below a bound.
fn within(bound: f64) -> Facts {
    Facts {
        bound,
        ..Facts::ANY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_generated_is_a_kernel() {
        for seed in 0..60 {
            let case = generate(seed).case();
            if let Err(why) = crate::judge::lower(&case) {
                panic!("seed {seed}: {why}\n{case}");
            }
        }
    }

    /// What is a part of the text of some kernels for either way.
    const EVERYWHERE: &[&str] = &[
        "Atomic<",
        "Option<",
        "#[item] ",
        "View2<",
        "View3<",
        "ViewMut2<",
        "again((n",
        "assert!",
        "barrier();",
        "bool = ",
        "break '",
        "continue",
        "else { return; };",
        "else { break '",
        "else { continue '",
        "bf16::from_",
        "f16::from_",
        "fetch_add",
        "f32x4",
        "if let ",
        "impl Fn(",
        "let s2 = shared_array::<",
        "match ",
        "panic!",
        "shared_array::<[",
        "shared_array::<bf16",
        "shared_array::<f16",
        "shared_array::<i16",
        "shared_array::<u8",
        "shared_slice::<",
        "subgroup_exclusive_sum(1u32)",
        "subgroup_min(",
        "superstep!",
        "tile: &mut [",
        "while let ",
        ": &[bf16]",
        ": &[f16]",
        ": &[u16]",
        ": &mut [i8]",
        ": E0",
        ": S0",
        "i64",
        "f64",
    ];

    /// What rustc alone links.
    const WITH_RUSTC: &[&str] = &[
        " as Kind>::weight",
        "#[derive(Clone, Copy, KernelType)]\n#[repr(C)]\npub struct G<T>",
        "fn k<T: Int, const N: usize",
        "impl<T: Int> G<T>",
        "h0::<",
        "judged::<",
        "mixed::<",
        "fn m0_0(&mut self",
        "fn m0_0(&self",
        "fn m0_0(self",
        "subgroup_shuffle",
    ];

    #[test]
    fn every_construct_is_made() {
        let texts = |generate: fn(u64) -> Generated| -> Vec<String> {
            (0..1500)
                .map(|seed| generate(seed).case().to_string())
                .collect()
        };
        let find = |texts: &[String], words: &[&str]| {
            for word in words {
                let count = texts.iter().filter(|text| text.contains(word)).count();
                assert!(count > 1, "{count} kernels with `{word}`");
            }
        };
        find(&texts(generate), EVERYWHERE);
        let compiled = texts(generate_for_rustc);
        find(&compiled, EVERYWHERE);
        find(&compiled, WITH_RUSTC);
    }

    #[test]
    fn sizes_are_what_they_should_be() {
        let sizes: Vec<_> = (0..300)
            .map(|seed| crate::tree::statements(&generate(seed).function.body))
            .collect();
        assert!(sizes.iter().all(|s| (10..=260).contains(s)), "{sizes:?}");
        let (least, most) = (sizes.iter().min(), sizes.iter().max());
        assert!(
            least < Some(&20) && most > Some(&150),
            "from {least:?} to {most:?}"
        );
    }
}
