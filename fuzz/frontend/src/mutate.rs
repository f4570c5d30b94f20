//! Makes the input of a number: random tokens, or a seed with a few mutations.

mod places;
mod unusual_tokens;

use proc_macro2::Delimiter;

use places::{bounds, braces, nth, nth_body};
use unusual_tokens::UNUSUAL_TOKENS;

use crate::input::{Input, Macro};
use crate::random::Random;
use crate::seeds::Seeds;
use crate::tree::{Class, Tree, size};

/// The number of tokens from which on an input is not mutated further. Only nesting may exceed it by far.
const LARGEST: usize = 600;

/// Makes the input of a number.
pub fn input(seeds: &Seeds, number: u64) -> Input {
    let mut mutator = Mutator {
        seeds,
        random: Random::new(number),
    };
    match mutator.random.below(10) {
        0 => mutator.random_tokens(),
        _ => mutator.mutant(),
    }
}

struct Mutator<'s> {
    seeds: &'s Seeds,
    random: Random,
}

impl Mutator<'_> {
    /// Random tokens: alone, or in the body or signature of an item.
    fn random_tokens(&mut self) -> Input {
        let mut attribute = vec![];
        if self.random.once_in(4) {
            attribute = self.tokens(10);
        }
        let of = match self.random.below(12) {
            0 => Macro::Native,
            1 => Macro::Superstep,
            2 | 3 => Macro::Derive,
            4 => Macro::KernelTest,
            5..=6 => Macro::Device,
            _ => Macro::Kernel,
        };
        let body = self.tokens(30);
        let item = match self.random.below(4) {
            0 => body,
            1 => {
                let mut item = words("fn k");
                item.push(Tree::Group(Delimiter::Parenthesis, self.tokens(12)));
                item.push(Tree::Group(Delimiter::Brace, body));
                item
            }
            2 => {
                let mut item = words("struct S");
                item.push(Tree::Group(Delimiter::Brace, body));
                item
            }
            _ => {
                let mut item = words("unsafe fn k");
                let parameters = words("a : f32 , x : & [ f32 ] , y : & mut [ i32 ]");
                item.push(Tree::Group(Delimiter::Parenthesis, parameters));
                item.push(Tree::Group(Delimiter::Brace, body));
                item
            }
        };
        Input {
            of,
            attribute,
            item,
        }
    }

    fn tokens(&mut self, most: usize) -> Vec<Tree> {
        let count = self.random.below(most + 1);
        let mut trees = vec![];
        while trees.len() < count {
            match self.random.below(8) {
                0 => {
                    let statement = self.random.pick(&self.seeds.stmts).clone();
                    trees.extend(statement);
                }
                1 => {
                    let inner = self.tokens(most / 2);
                    trees.push(Tree::Group(self.delimiter(), inner));
                }
                _ => trees.push(self.token()),
            }
        }
        trees
    }

    fn delimiter(&mut self) -> Delimiter {
        use Delimiter::{Brace, Bracket, None, Parenthesis};
        *self
            .random
            .pick(&[Brace, Bracket, None, Parenthesis, Parenthesis])
    }

    /// Any token.
    fn token(&mut self) -> Tree {
        let seeds = self.seeds;
        match self.random.below(5) {
            0 => Tree::leaf(self.random.pick::<&str>(UNUSUAL_TOKENS)),
            1 => self.random.pick(&seeds.idents).clone(),
            2 => self.random.pick(&seeds.literals).clone(),
            3 => self.random.pick(&seeds.puncts).clone(),
            _ => self.random.pick(&seeds.groups).clone(),
        }
    }

    fn mutant(&mut self) -> Input {
        let seeds = self.seeds;
        let (a, b) = (
            self.random.pick(&seeds.inputs),
            self.random.pick(&seeds.inputs),
        );
        // Small seeds are more likely, since they are fast.
        let mut input = if size(&a.item) <= size(&b.item) { a } else { b }.clone();
        if self.random.once_in(40) {
            input.of = *self.random.pick(&Macro::ALL);
        }
        let mutations = [1, 1, 1, 2, 2, 3, 5, 8][self.random.below(8)];
        for _ in 0..mutations {
            let in_attribute = !input.attribute.is_empty() && self.random.once_in(8);
            let trees = match in_attribute {
                true => &mut input.attribute,
                false => &mut input.item,
            };
            self.mutate(trees);
            if size(&input.item) > LARGEST {
                break;
            }
        }
        input
    }

    fn mutate(&mut self, all: &mut Vec<Tree>) {
        let count = size(all);
        if count == 0 {
            all.push(self.token());
            return;
        }
        match self.random.below(26) {
            0..=4 => self.replace_by_kin(all, count),
            5..=6 => self.replace_by_own(all, count),
            7 => self.replace_by_any(all, count),
            8 => {
                let (list, at) = self.place(all, count);
                list.remove(at);
            }
            9 => {
                let (list, at) = self.place(all, count);
                let twin = list[at].clone();
                list.insert(at, twin);
            }
            10 => {
                let new = self.token();
                let (list, at) = self.place(all, count);
                list.insert(at, new);
            }
            11 => {
                let (list, at) = self.place(all, count);
                let end = (at + 1 + self.random.below(5)).min(list.len());
                list.drain(at..end);
            }
            12 => {
                let (list, at) = self.place(all, count);
                let other = (at + 1 + self.random.below(3)) % list.len();
                list.swap(at, other);
            }
            13..=14 => self.exchange(all, count),
            15 => self.wrap(all, count),
            16 => {
                let (list, at) = self.place(all, count);
                if let Tree::Group(_, inner) = list[at].clone() {
                    list.splice(at..=at, inner);
                }
            }
            17 => self.repeat(all, count),
            18..=19 => self.insert_statement(all),
            20 => self.remove_statement(all),
            21 => self.move_statement(all),
            22 => self.attribute(all, count),
            23..=24 => self.retouch(all, count),
            _ => {
                let new = Tree::leaf(self.random.pick::<&str>(UNUSUAL_TOKENS));
                let (list, at) = self.place(all, count);
                list[at] = new;
            }
        }
    }

    /// A random token, as the list that contains it and its position there.
    fn place<'t>(&mut self, all: &'t mut Vec<Tree>, count: usize) -> (&'t mut Vec<Tree>, usize) {
        nth(all, self.random.below(count))
    }

    /// Replaces a token by a leaf of the same class, or by a group with the same delimiters.
    fn replace_by_kin(&mut self, all: &mut Vec<Tree>, count: usize) {
        let seeds = self.seeds;
        let (list, at) = self.place(all, count);
        let new = match list[at].class() {
            Some(Class::Ident) => self.random.pick(&seeds.idents).clone(),
            Some(Class::Literal) => self.random.pick(&seeds.literals).clone(),
            Some(Class::Punct) => self.random.pick(&seeds.puncts).clone(),
            Some(Class::Lifetime) => {
                Tree::leaf(self.random.pick::<&str>(&["'a", "'b", "'static", "'_"]))
            }
            None => {
                let Tree::Group(delimiter, _) = list[at] else {
                    unreachable!("leaves have classes");
                };
                let Tree::Group(_, inner) = self.random.pick(&seeds.groups) else {
                    unreachable!("these are groups");
                };
                Tree::Group(delimiter, inner.clone())
            }
        };
        list[at] = new;
    }

    /// Replaces a leaf by another one of the same input and class, since its types and names are more likely to fit.
    fn replace_by_own(&mut self, all: &mut Vec<Tree>, count: usize) {
        let (list, from) = self.place(all, count);
        let new = list[from].clone();
        for _ in 0..8 {
            let (list, at) = self.place(all, count);
            if list[at].class() == new.class() && new.class().is_some() {
                list[at] = new;
                return;
            }
        }
    }

    fn replace_by_any(&mut self, all: &mut Vec<Tree>, count: usize) {
        let new = self.token();
        let (list, at) = self.place(all, count);
        list[at] = new;
    }

    /// Swaps two tokens, if neither contains the other.
    fn exchange(&mut self, all: &mut Vec<Tree>, count: usize) {
        let mut numbers = [self.random.below(count), self.random.below(count)];
        numbers.sort_unstable();
        let [first, second] = numbers;
        let (list, at) = nth(all, first);
        let a = list[at].clone();
        if first + a.size() > second {
            return;
        }
        let (list, at) = nth(all, second);
        let b = std::mem::replace(&mut list[at], a);
        let (list, at) = nth(all, first);
        list[at] = b;
    }

    fn wrap(&mut self, all: &mut Vec<Tree>, count: usize) {
        let delimiter = self.delimiter();
        let more = self.random.below(3);
        let (list, at) = self.place(all, count);
        let end = (at + 1 + more).min(list.len());
        let inner: Vec<Tree> = list.drain(at..end).collect();
        list.insert(at, Tree::Group(delimiter, inner));
    }

    /// Repeats tokens many times in sequence, or nests one in many groups.
    fn repeat(&mut self, all: &mut Vec<Tree>, count: usize) {
        let times = *self.random.pick(&[2, 3, 5, 9, 17, 40, 100]);
        let run = 1 + self.random.below(3);
        let nests = self.random.once_in(2);
        let delimiter = self.delimiter();
        let (list, at) = self.place(all, count);
        if nests {
            for _ in 0..times {
                let inner = std::mem::replace(&mut list[at], Tree::Group(delimiter, vec![]));
                list[at] = Tree::Group(delimiter, vec![inner]);
            }
            return;
        }
        let end = (at + run).min(list.len());
        let part = list[at..end].to_vec();
        if size(&part) * times <= LARGEST {
            for _ in 0..times {
                list.splice(at..at, part.iter().cloned());
            }
        }
    }

    /// The content of a random pair of braces.
    fn body<'t>(&mut self, all: &'t mut Vec<Tree>) -> Option<&'t mut Vec<Tree>> {
        let mut bodies = 0;
        braces(all, &mut |_| bodies += 1);
        if bodies == 0 {
            return None;
        }
        nth_body(all, &mut self.random.below(bodies))
    }

    fn insert_statement(&mut self, all: &mut Vec<Tree>) {
        let new = self.random.pick(&self.seeds.stmts).clone();
        let Some(body) = self.body(all) else { return };
        let bounds = bounds(body);
        let at = *self.random.pick(&bounds);
        body.splice(at..at, new);
    }

    fn remove_statement(&mut self, all: &mut Vec<Tree>) {
        let Some(body) = self.body(all) else { return };
        let bounds = bounds(body);
        if bounds.len() > 1 {
            let at = self.random.below(bounds.len() - 1);
            body.drain(bounds[at]..bounds[at + 1]);
        }
    }

    /// Moves or copies a statement to another position.
    fn move_statement(&mut self, all: &mut Vec<Tree>) {
        let Some(body) = self.body(all) else { return };
        let from = bounds(body);
        if from.len() < 2 {
            return;
        }
        let at = self.random.below(from.len() - 1);
        let statement: Vec<Tree> = match self.random.once_in(2) {
            true => body.drain(from[at]..from[at + 1]).collect(),
            false => body[from[at]..from[at + 1]].to_vec(),
        };
        if let Some(body) = self.body(all) {
            let bounds = bounds(body);
            let to = *self.random.pick(&bounds);
            body.splice(to..to, statement);
        }
    }

    /// Inserts or removes characters in a string, or appends some to a number or name.
    fn retouch(&mut self, all: &mut Vec<Tree>, count: usize) {
        let inside = [
            "{", "}", ":", ".", "0", "_", " ", "x", ";", "#", "é", "{x}", "{}", "{0}", "/*", "?",
            "+", "r#",
        ];
        let behind = ["_", "0", "8", "u8", "usize", "f32", "f16", "e9", "x"];
        for _ in 0..8 {
            let (list, at) = self.place(all, count);
            let Tree::Leaf(old) = &list[at] else { continue };
            let mut text = old.to_string();
            match list[at].class() {
                Some(Class::Literal) if text.starts_with('"') && !text.contains('\\') => {
                    let bounds: Vec<usize> = text.char_indices().map(|(i, _)| i).skip(1).collect();
                    let place = *self.random.pick(&bounds);
                    if self.random.once_in(3) && place + 1 < text.len() {
                        text.remove(place);
                    } else {
                        text.insert_str(place, self.random.pick::<&str>(&inside));
                    }
                }
                Some(Class::Ident | Class::Literal) if !text.ends_with(['"', '\'', '#', '.']) => {
                    text.push_str(self.random.pick::<&str>(&behind));
                }
                _ => continue,
            }
            list[at] = Tree::leaf(&text);
            return;
        }
    }

    fn attribute(&mut self, all: &mut Vec<Tree>, count: usize) {
        let choices = [
            "cfg(test)",
            "cfg_attr(test, inline)",
            "inline",
            "allow(unused)",
            "unroll",
            "unroll(4)",
            "item",
            "doc = \"x\"",
            "repr(C)",
            "repr(C, u32)",
            "kernel",
            "device",
            "must_use",
            "expect(unused)",
            "rustfmt::skip",
            "kernel_type(crate = a::b)",
            "kernel_type(unsafe(crate = a::b))",
            "derive(Clone)",
        ];
        let inner = crate::tree::read(self.random.pick::<&str>(&choices)).unwrap_or_default();
        let (list, at) = self.place(all, count);
        list.insert(at, Tree::Group(Delimiter::Bracket, inner));
        list.insert(at, Tree::leaf("#"));
    }
}

fn words(text: &str) -> Vec<Tree> {
    crate::tree::read(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_determines_its_input() {
        let seeds = Seeds::read();
        for number in 0..200 {
            let made = input(&seeds, number);
            assert_eq!(made, input(&seeds, number));
            let kept = Input::parse(&made.to_string());
            // Mutations may produce an invalid token, such as `é` before a lifetime.
            if let Ok(kept) = kept {
                assert_eq!(kept.to_string(), made.to_string());
            }
        }
    }
}
