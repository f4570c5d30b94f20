//! A generated function as a tree of texts with holes.
//!
//! A [`Node`]'s text has an `@` where its next expression goes, and a `#` where its next block goes; `#[` begins an
//! attribute. What the text says is the generator's business; printing and shrinking need the holes alone. So a new construct of
//! the language is a new text.

use sarek_ir::Scalar;

/// What is no hole.
const ATTRIBUTE: &str = "#[";

/// And where it gives a name to the rest of an array.
const REST: &str = "@ ..";

/// Text with holes.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The text.
    pub text: String,
    /// What goes where `@` stands, in order.
    pub exprs: Vec<Expr>,
    /// What goes where `#` stands, in order.
    pub blocks: Vec<Block>,
    /// What it has to do with other threads of the block, after its expressions and before its blocks.
    pub touches: Vec<Touch>,
}

/// What a node has to do with other threads; arrays are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Touch {
    /// Waits for all.
    Barrier,
    /// From here on, elements have values.
    Fill(usize),
    /// Reads or writes the thread's own element.
    Own(usize),
    /// Reads any element.
    Any(usize),
    /// Changes any element by an operation whose order is no matter.
    Update(usize),
    /// A loop of this number, in which all threads of the block are together.
    Loop(u32),
    /// Leaves that loop, or goes on in it.
    Leave(u32),
}

/// Statements, with a hole-free end: nothing, as their values go to variables.
pub type Block = Vec<Node>;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Its text.
    pub node: Node,
    /// Its type.
    pub ty: Scalar,
    /// What is known of its value.
    pub facts: Facts,
}

/// What is known of a value. The surrounding text may count on it: a float's exactness, a loop's end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Facts {
    /// The largest magnitude.
    pub bound: f64,
    /// A float is a multiple of 2 to the minus this.
    pub frac: u8,
    /// It is not 0.
    pub nonzero: bool,
}

impl Facts {
    /// Nothing is known; also any float.
    pub const ANY: Facts = Facts {
        bound: f64::INFINITY,
        frac: u8::MAX,
        nonzero: false,
    };

    /// Does whoever counts on `other` get what it counts on?
    pub fn refine(self, other: Facts) -> bool {
        self.bound <= other.bound && self.frac <= other.frac && (self.nonzero || !other.nonzero)
    }
}

impl Node {
    /// A text with expressions in its holes.
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
            touches: vec![],
        }
    }

    /// The node, doing these things too.
    pub fn touching(mut self, touches: &[Touch]) -> Node {
        self.touches.extend(touches);
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

    /// The number of statements in it, itself not counted.
    pub fn statements(&self) -> usize {
        let exprs: usize = self.exprs.iter().map(|e| e.node.statements()).sum();
        exprs + self.blocks.iter().map(|b| statements(b)).sum::<usize>()
    }
}

/// The number of statements of a block.
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
    /// What it does.
    pub body: Block,
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = format!("{} {{", self.head);
        print_block(&self.body, 1, &mut text);
        writeln!(f, "{text}}}")
    }
}
