//! Reduces a failing input to a small one that still fails, by delta debugging (Zeller and Hildebrandt, 2002) on its token tree.

use crate::input::Input;
use crate::tree::{Tree, size};

/// Returns the smallest input found for which `fails` holds, starting at `from`, for which it holds too. Calls `fails` at most `most` times.
pub fn shrink(from: &Input, mut most: usize, mut fails: impl FnMut(&Input) -> bool) -> Input {
    let mut best = from.clone();
    loop {
        let (mut improved, mut at) = (false, 0);
        while let Some(candidate) = candidate(&best, at) {
            if most == 0 {
                return best;
            }
            most -= 1;
            if fails(&candidate) {
                best = candidate;
                improved = true;
            } else {
                at += 1;
            }
        }
        if !improved {
            return best;
        }
    }
}

/// The candidate with this number; `None` past the last.
fn candidate(from: &Input, at: usize) -> Option<Input> {
    let mut smaller = from.clone();
    let mut left = at;
    let done = runs(&mut smaller.item, &mut left)
        || runs(&mut smaller.attribute, &mut left)
        || simpler(&mut smaller.item, &mut left);
    done.then_some(smaller)
}

fn here(left: &mut usize) -> bool {
    match left.checked_sub(1) {
        None => true,
        Some(less) => {
            *left = less;
            false
        }
    }
}

/// Removes a half, a quarter, and so on, down to a single token of a list; then does the same inside groups.
fn runs(list: &mut Vec<Tree>, left: &mut usize) -> bool {
    let mut run = list.len();
    while run > 0 {
        for start in (0..list.len()).step_by(run) {
            if here(left) {
                list.drain(start..(start + run).min(list.len()));
                return true;
            }
        }
        run /= 2;
    }
    list.iter_mut().any(|tree| match tree {
        Tree::Group(_, inner) => runs(inner, left),
        Tree::Leaf(_) => false,
    })
}

/// Replaces a group by its content, or a leaf by a shorter one.
fn simpler(list: &mut Vec<Tree>, left: &mut usize) -> bool {
    for at in 0..list.len() {
        match list[at].clone() {
            Tree::Group(_, inner) => {
                if size(&inner) < 200 && here(left) {
                    list.splice(at..=at, inner);
                    return true;
                }
            }
            Tree::Leaf(text) => {
                for short in ["0", "a"] {
                    if text.len() > 1 && here(left) {
                        list[at] = Tree::leaf(short);
                        return true;
                    }
                }
            }
        }
    }
    list.iter_mut().any(|tree| match tree {
        Tree::Group(_, inner) => simpler(inner, left),
        Tree::Leaf(_) => false,
    })
}
