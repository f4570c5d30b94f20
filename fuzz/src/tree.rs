//! A generated function as a tree of text templates.
//!
//! A [`Node`]'s text has two kinds of holes: `@` stands for its next expression, and `#` for its next block (but `#[` begins an
//! attribute). Printing and shrinking use only the holes, and never interpret the text. So a new construct of the language needs only
//! a new text in the generator.

use sarek_ir::Scalar;

/// The start of an attribute, which is not a hole.
const ATTRIBUTE: &str = "#[";

/// A pattern that binds the rest of an array, which is not a hole either.
const REST: &str = "@ ..";

/// A text template, with the nodes for its holes.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The text.
    pub text: String,
    /// The expressions for the `@` holes, in order.
    pub exprs: Vec<Expr>,
    /// The blocks for the `#` holes, in order.
    pub blocks: Vec<Block>,
    /// Its synchronisation and its accesses to arrays that threads of a block share. They happen after its expressions and before its blocks.
    pub effects: Vec<Effect>,
}

/// A barrier, or an access to an array that threads of a block share. Arrays are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// A barrier.
    Barrier,
    /// The array's elements are initialised from here on.
    Fill(usize),
    /// Reads or writes the thread's own element.
    Own(usize),
    /// Reads any element.
    Any(usize),
    /// Updates any element by a commutative atomic operation.
    Update(usize),
    /// A loop of this number, which all threads of the block run uniformly.
    Loop(u32),
    /// A `break` or `continue` of that loop.
    Leave(u32),
}

/// Statements. A block has no tail expression: results go to variables.
pub type Block = Vec<Node>;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Its text.
    pub node: Node,
    /// Its type.
    pub ty: Scalar,
    /// The bounds of its value.
    pub facts: Facts,
}

/// Bounds of a value. The surrounding text may rely on them, for a float's exactness or for a loop's termination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Facts {
    /// The largest magnitude.
    pub bound: f64,
    /// The number of fractional bits: a float is a multiple of 2^-frac.
    pub frac: u8,
    /// True if the value is never 0.
    pub nonzero: bool,
}

impl Facts {
    /// No bounds: any value, including NaN and infinities.
    pub const ANY: Facts = Facts {
        bound: f64::INFINITY,
        frac: u8::MAX,
        nonzero: false,
    };

    /// True if these bounds imply `other`.
    pub fn refine(self, other: Facts) -> bool {
        self.bound <= other.bound && self.frac <= other.frac && (self.nonzero || !other.nonzero)
    }
}

impl Node {
    /// A text with nodes for its holes.
    pub fn new(text: impl Into<String>, exprs: Vec<Expr>, blocks: Vec<Block>) -> Node {
        let text = text.into();
        let rests = text.matches(REST).count();
        debug_assert_eq!(text.matches('@').count() - rests, exprs.len(), "{text}");
        let attributes = text.matches(ATTRIBUTE).count();
        debug_assert_eq!(
            text.matches('#').count() - attributes,
            blocks.len(),
            "{text}"
        );
        Node {
            text,
            exprs,
            blocks,
            effects: vec![],
        }
    }

    /// Adds barriers and accesses to the node.
    pub fn with_effects(mut self, effects: &[Effect]) -> Node {
        self.effects.extend(effects);
        self
    }

    /// A text without holes.
    pub fn leaf(text: impl Into<String>) -> Node {
        Node::new(text, vec![], vec![])
    }

    fn print(&self, depth: usize, out: &mut String) {
        let (mut exprs, mut blocks) = (self.exprs.iter(), self.blocks.iter());
        for (at, c) in self.text.char_indices() {
            match c {
                _ if self.text[at..].starts_with(ATTRIBUTE) => out.push(c),
                _ if self.text[at..].starts_with(REST) => out.push(c),
                '@' => exprs.next().expect("a hole each").node.print(depth, out),
                '#' => {
                    print_block(blocks.next().expect("a hole each"), depth + 1, out);
                    indent(depth, out);
                }
                c => out.push(c),
            }
        }
    }

    /// The number of statements nested in it.
    pub fn statements(&self) -> usize {
        let exprs: usize = self.exprs.iter().map(|e| e.node.statements()).sum();
        exprs + self.blocks.iter().map(|b| statements(b)).sum::<usize>()
    }
}

/// The number of statements of a block, nested ones included.
pub fn statements(block: &[Node]) -> usize {
    block.iter().map(|s| 1 + s.statements()).sum()
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("    ", depth));
}

fn print_block(block: &[Node], depth: usize, out: &mut String) {
    out.push('\n');
    for stmt in block {
        indent(depth, out);
        stmt.print(depth, out);
        out.push('\n');
    }
}

/// A kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// `unsafe fn k(…)`
    pub head: String,
    /// Its statements.
    pub body: Block,
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = format!("{} {{", self.head);
        print_block(&self.body, 1, &mut text);
        writeln!(f, "{text}}}")
    }
}
