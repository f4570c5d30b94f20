//! Collects the macro calls in this repository, and their parts, for mutations to reuse.

use proc_macro2::Delimiter;

use crate::input::{Input, Macro};
use crate::tree::{Class, Tree, read, size};

/// The content of all files with kernels, each ended by [`END`].
const FILES: &str = include_str!(concat!(env!("OUT_DIR"), "/seeds.txt"));

const END: &str = "//// end of file";

/// The material for inputs.
pub struct Seeds {
    /// The macro calls.
    pub inputs: Vec<Input>,
    /// Identifiers, each as often as it occurs.
    pub idents: Vec<Tree>,
    /// Literals.
    pub literals: Vec<Tree>,
    /// Operators.
    pub puncts: Vec<Tree>,
    /// Delimited groups.
    pub groups: Vec<Tree>,
    /// Statements of function bodies, with their `;`.
    pub stmts: Vec<Vec<Tree>>,
}

impl Seeds {
    /// Reads the embedded files.
    pub fn read() -> Seeds {
        let mut seeds = Seeds {
            inputs: vec![],
            idents: vec![],
            literals: vec![],
            puncts: vec![],
            groups: vec![],
            stmts: vec![],
        };
        for file in FILES.split(END) {
            calls(&read(file).unwrap_or_default(), &mut seeds.inputs);
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        seeds.inputs.retain(|input| size(&input.item) <= LARGEST);
        for at in 0..seeds.inputs.len() {
            let input = seeds.inputs[at].clone();
            seeds.collect(&input.attribute);
            seeds.collect(&input.item);
        }
        seeds
    }

    fn collect(&mut self, trees: &[Tree]) {
        for tree in trees {
            match (tree.class(), tree) {
                (Some(Class::Ident), _) => self.idents.push(tree.clone()),
                (Some(Class::Literal), _) => self.literals.push(tree.clone()),
                (Some(Class::Punct), _) => self.puncts.push(tree.clone()),
                (Some(Class::Lifetime), _) => {}
                (None, Tree::Group(delimiter, inner)) => {
                    if size(inner) <= 60 {
                        self.groups.push(tree.clone());
                    }
                    if *delimiter == Delimiter::Brace {
                        let short = statements(inner).map(<[Tree]>::to_vec);
                        self.stmts.extend(short.filter(|s| size(s) <= 60));
                    }
                    self.collect(inner);
                }
                (None, Tree::Leaf(_)) => unreachable!("leaves have classes"),
            }
        }
    }
}

/// The maximum number of tokens in an item. Larger items take too long for what they find.
const LARGEST: usize = 400;

/// Splits a body into approximate statements: each ends with a `;` or with braces.
pub fn statements(body: &[Tree]) -> impl Iterator<Item = &[Tree]> {
    body.split_inclusive(|tree| tree.is(";") || matches!(tree, Tree::Group(Delimiter::Brace, _)))
}

/// Finds the macro calls in a file's tokens, including those in modules and macros.
fn calls(trees: &[Tree], found: &mut Vec<Input>) {
    let mut at = 0;
    while at < trees.len() {
        if let Some(attribute) = attribute_at(trees, at)
            && let Some((of, options)) = call(attribute)
        {
            let (start, end) = item(trees, at);
            let item = &trees[start..end];
            if !contains(item, "$") && !contains(&options, "$") {
                found.push(Input {
                    of,
                    attribute: options,
                    item: item.to_vec(),
                });
            }
        }
        if let Tree::Group(_, inner) = &trees[at] {
            calls(inner, found);
        }
        at += 1;
    }
}

/// The content of the attribute `#[…]` at this position, if there is one.
fn attribute_at(trees: &[Tree], at: usize) -> Option<&[Tree]> {
    match trees.get(at..at + 2)? {
        [hash, Tree::Group(Delimiter::Bracket, inner)] if hash.is("#") => Some(inner),
        _ => None,
    }
}

/// The macro that an attribute calls, and its arguments.
fn call(attribute: &[Tree]) -> Option<(Macro, Vec<Tree>)> {
    let path = attribute
        .iter()
        .take_while(|t| !matches!(t, Tree::Group(..)));
    let name = path.last()?;
    let options = match attribute.last() {
        Some(Tree::Group(_, options)) => options.clone(),
        _ => vec![],
    };
    match () {
        () if name.is("kernel") => Some((Macro::Kernel, options)),
        () if name.is("kernel_test") => Some((Macro::KernelTest, options)),
        () if name.is("device") => Some((Macro::Device, options)),
        () if name.is("derive") && contains(&options, "KernelType") => {
            Some((Macro::Derive, vec![]))
        }
        () => None,
    }
}

/// The range of the item below the attribute at `at`, without that attribute.
fn item(trees: &[Tree], at: usize) -> (usize, usize) {
    let ends = |tree: &Tree| tree.is(";") || matches!(tree, Tree::Group(Delimiter::Brace, _));
    let start = at + 2;
    let end = trees[start..].iter().position(ends);
    (start, end.map_or(trees.len(), |e| start + e + 1))
}

fn contains(trees: &[Tree], text: &str) -> bool {
    trees.iter().any(|tree| match tree {
        Tree::Leaf(_) => tree.is(text),
        Tree::Group(_, inner) => contains(inner, text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{Outcome, execute};

    #[test]
    fn seeds_are_of_every_kind_and_most_are_accepted() {
        let seeds = Seeds::read();
        let count = |of| seeds.inputs.iter().filter(|i| i.of == of).count();
        let counts = [Macro::Kernel, Macro::Device, Macro::Derive].map(count);
        assert!(counts.iter().all(|c| *c > 30), "{counts:?}");
        let accepted = seeds
            .inputs
            .iter()
            .filter(|i| execute(i) == Ok(Outcome::Accepted));
        assert!(accepted.count() * 2 > seeds.inputs.len());
    }
}
