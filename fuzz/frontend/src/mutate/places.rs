//! Finds positions in a token tree by their number.

use proc_macro2::Delimiter;

use crate::seeds::statements;
use crate::tree::Tree;

/// The boundaries of the statements in a body.
pub(super) fn bounds(body: &[Tree]) -> Vec<usize> {
    let mut bounds = vec![0];
    for statement in statements(body) {
        bounds.push(bounds[bounds.len() - 1] + statement.len());
    }
    bounds
}

/// Finds the token with this number, in pre-order. Returns the list that contains it, and its position there.
pub(super) fn nth(list: &mut Vec<Tree>, mut number: usize) -> (&mut Vec<Tree>, usize) {
    let mut at = 0;
    loop {
        let size = list[at].size();
        if number == 0 {
            return (list, at);
        }
        if number >= size {
            number -= size;
            at += 1;
            continue;
        }
        number -= 1;
        let Tree::Group(_, inner) = &mut list[at] else {
            unreachable!("a leaf is one token");
        };
        return nth(inner, number);
    }
}

/// Calls `see` for the content of each pair of braces.
pub(super) fn braces(list: &[Tree], see: &mut impl FnMut(&[Tree])) {
    for tree in list {
        if let Tree::Group(delimiter, inner) = tree {
            if *delimiter == Delimiter::Brace {
                see(inner);
            }
            braces(inner, see);
        }
    }
}

/// The content of the braces with this number. Counts `number` down on the way.
pub(super) fn nth_body<'t>(
    list: &'t mut Vec<Tree>,
    number: &mut usize,
) -> Option<&'t mut Vec<Tree>> {
    for tree in list {
        if let Tree::Group(delimiter, inner) = tree {
            if *delimiter == Delimiter::Brace {
                match number.checked_sub(1) {
                    None => return Some(inner),
                    Some(left) => *number = left,
                }
            }
            if let Some(found) = nth_body(inner, number) {
                return Some(found);
            }
        }
    }
    None
}
