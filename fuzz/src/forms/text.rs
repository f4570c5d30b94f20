//! Writes the texts of forms, and divides them into statements.

use sarek::testing::Random;

use crate::tree::{Block, Node};

/// Draws the choices of a text.
pub(super) struct Writer {
    pub(super) random: Random,
    is_mutated: bool,
    /// The block's width, the width of a square block, and a small number.
    width: u64,
    side: u64,
    few: u64,
    /// The value of the constant `TILE`, if the block's width is named.
    tile: Option<u64>,
}

impl Writer {
    pub(super) fn new(mut random: Random, is_mutated: bool) -> Writer {
        let width = 4 << random.below(4);
        let tile = (random.below(3) == 0).then(|| match is_mutated && random.below(3) == 0 {
            true => [width / 2, width - 1, width + 1, 2 * width][random.below(4) as usize],
            false => width,
        });
        Writer {
            is_mutated,
            width,
            side: 4 << random.below(2),
            few: 2 + random.below(4),
            tile,
            random,
        }
    }

    /// The named constants, as items.
    pub(super) fn constants(&self) -> String {
        let tile = self
            .tile
            .map(|tile| format!("const TILE: usize = {tile};\n\n"));
        tile.unwrap_or_default()
    }

    /// Writes a text with its choices drawn and its placeholders replaced.
    pub(super) fn write(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['‹', '«', '$']) {
            written.push_str(&rest[..at]);
            let first = rest[at..].chars().next().expect("it was found");
            rest = &rest[at + first.len_utf8()..];
            if first == '$' {
                written.push_str(&self.placeholder(&rest[..1]));
                rest = &rest[1..];
                continue;
            }
            let (alternatives, after) = alternatives(rest);
            rest = after;
            let is_right = first == '‹' && !(self.is_mutated && self.random.below(3) == 0);
            let at = match is_right {
                true => 0,
                false => self.random.below(alternatives.len() as u64) as usize,
            };
            written.push_str(&self.write(alternatives[at]));
        }
        written.push_str(rest);
        written
    }

    fn placeholder(&mut self, name: &str) -> String {
        let (width, side, few) = (self.width, self.side, self.few);
        let named = self.tile.is_some();
        match name {
            // The block's width, its half and its double, which may be given by a constant.
            "B" if named => "TILE".into(),
            "H" if named => "(TILE / 2)".into(),
            "D" if named => "(2 * TILE)".into(),
            "B" => width.to_string(),
            "H" => (width / 2).to_string(),
            "D" => (2 * width).to_string(),
            // The block's width as a literal.
            "L" => width.to_string(),
            // The width of a square block.
            "S" => side.to_string(),
            // A small number.
            "K" => few.to_string(),
            // A value to store.
            "V" => self.value().into(),
            _ => unreachable!("no placeholder `${name}`"),
        }
    }

    fn value(&mut self) -> &'static str {
        const VALUES: [&str; 5] = [
            "7",
            "n as u32",
            "global_thread_id() as u32",
            "x[global_thread_id() % x.len()]",
            "x[i % x.len()] + c as u32",
        ];
        VALUES[self.random.below(VALUES.len() as u64) as usize]
    }

    /// At times puts statements under a guard or into a loop, or adds others. Shared arrays stay at the start.
    pub(super) fn surrounded(&mut self, body: &str) -> String {
        let is_array = |statement: &&str| statement.contains("= shared_array::");
        let arrays = body.split_inclusive("();").take_while(is_array);
        let (arrays, body) = body.split_at(arrays.map(str::len).sum());
        let body = match self.random.below(12) {
            0 => format!("if n > 3 {{ {body} }}"),
            1 => format!("for again in 0..2 {{ {body} }}"),
            2 => format!("for again in 0..2 {{ {body} barrier(); }}"),
            3 => format!("if i >= n {{ return; }} {body}"),
            4 => format!("{body} y[i] += 1;"),
            5 => format!("y[i] = 9; {body}"),
            _ => body.into(),
        };
        format!("{arrays}{body}")
    }
}

/// The alternatives of a choice that begins before this text, and the text after its end.
fn alternatives(text: &str) -> (Vec<&str>, &str) {
    let (mut found, mut start, mut depth) = (vec![], 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '‹' | '«' => depth += 1,
            '¦' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            '›' | '»' if depth == 0 => {
                found.push(&text[start..at]);
                return (found, &text[at + c.len_utf8()..]);
            }
            '›' | '»' => depth -= 1,
            _ => {}
        }
    }
    unreachable!("a choice ends: {text}")
}

/// Divides a text into statements. Control flow becomes a node with blocks, and any other statement a leaf.
pub(super) fn statements(text: &str) -> Block {
    let mut block = vec![];
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (node, after) = match is_control(rest) {
            true => control(rest),
            false => leaf(rest),
        };
        block.extend(node);
        rest = after.trim_start();
    }
    block
}

fn is_control(text: &str) -> bool {
    const WORDS: [&str; 4] = ["if ", "for ", "while ", "loop "];
    WORDS.iter().any(|word| text.starts_with(word))
}

/// A statement up to its semicolon; none for a semicolon alone.
fn leaf(text: &str) -> (Option<Node>, &str) {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ';' if depth == 0 => {
                let node = (at > 0).then(|| Node::leaf(&text[..=at]));
                return (node, &text[at + 1..]);
            }
            _ => {}
        }
    }
    unreachable!("a statement ends with a semicolon: {text}")
}

/// A statement with blocks, and those after `else`.
fn control(text: &str) -> (Option<Node>, &str) {
    let (mut template, mut blocks, mut rest) = (String::new(), vec![], text);
    loop {
        let open = rest.find('{').expect("a block");
        let close = open + closing(&rest[open..]);
        template.push_str(&rest[..open]);
        template.push_str("{#}");
        blocks.push(statements(&rest[open + 1..close]));
        rest = rest[close + 1..].trim_start();
        if !rest.starts_with("else") {
            return (Some(Node::new(template, vec![], blocks)), rest);
        }
        template.push(' ');
    }
}

/// The position of the brace that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    unreachable!("a block ends: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_trees_and_texts_again() {
        let text = "let a = if i < n { 1 } else { 2 }; while a < 3 { y[a] = 1; } if a == 1 { a = 2; } else if a == 2 { a = 3; } else { a = 4; }";
        let block = statements(text);
        assert_eq!(block.len(), 3);
        assert_eq!(crate::tree::statements(&block), 7);
        let function = crate::tree::Function {
            head: "fn k()".into(),
            body: block,
        };
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(
            words(&function.to_string()),
            words(&format!("fn k() {{ {text} }}"))
        );
    }

    #[test]
    fn only_mutations_take_wrong_choices() {
        let written = |is_mutated| -> Vec<String> {
            let of = |seed| Writer::new(Random::new(seed), is_mutated).write("«a‹1¦2›¦b»‹3¦4›");
            let mut all: Vec<String> = (0..100).map(of).collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(written(false), ["a13", "b3"]);
        assert_eq!(written(true), ["a13", "a14", "a23", "a24", "b3", "b4"]);
    }
}
