//! The macro reports invalid tokens and never panics.

mod common;

use common::expand;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

const KERNELS: [&str; 6] = [
    "/// Doc. \n #[deprecated] pub unsafe fn k(mut n: i32, x: &'static [f32], y: &mut [f32]) -> () { let i: usize = global_idx_x(); if i < y.len() && n > 0 { y[i] = 1. + x[i].clamp(0.0, 1e3) * -2f32; n -= 1; } else { return; } }",
    "unsafe fn k(a: u32, y: &mut [u32]) { 'o: for i in (0..=a).rev().step_by(3) { let v = 'b: { if i == 0xE { break 'b 1; } else if i < 0b1 { continue 'o; } 2 }; y[0] += v << 3; let _ = loop { break i; }; } }",
    "unsafe fn k(y: &mut [i64]) { const N: i64 = -3; const M: i64 = N * 2; let t; t = f64::MAX as i64 % N; while { y[1] = M; t > 0 } && true || false { let mut u = t.rem_euclid(7); u ^= !u; _ = u; } }",
    "unsafe fn k(i: usize, x: &[f32], y: &mut [f32]) { unsafe { native! { \"cuda\" => \"y[{i}] = __ldg(&x[{i}]); {{ }}\", _ => { *y.get_unchecked_mut(i) = *x.get_unchecked(i); native!(\"opencl\", \"{i}\"); } } } }",
    "unsafe fn k(p: bool, y: &mut [f64]) { let m = std::f64::consts::PI; let v = if p { f64::from_bits(1u64) } else { m.powi(2).mul_add(m, m) }; y[global_thread_id()] /= v; (y)[block_idx_y()] = { v }; }",
    "unsafe fn k(r#in: i32, y: &mut [i32]) { for mut i in r#in..5 { i += i32::max(i, -2147483648) as u64 as i32; y[i as usize] = i.wrapping_shl(40) - usize::MAX as i32; } }",
];

/// Pseudo-random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// The token trees of a stream and of its groups; each group is followed by its content.
fn flatten(stream: TokenStream, out: &mut Vec<TokenTree>) {
    for tree in stream {
        out.push(tree.clone());
        if let TokenTree::Group(group) = tree {
            flatten(group.stream(), out);
        }
    }
}

/// Deletes, doubles, swaps or replaces one token tree somewhere.
fn mutate(stream: TokenStream, random: &mut Random, pool: &[TokenTree]) -> TokenStream {
    let mut trees: Vec<TokenTree> = stream.into_iter().collect();
    if trees.is_empty() {
        return pool
            .get(random.below(pool.len()))
            .cloned()
            .into_iter()
            .collect();
    }
    let at = random.below(trees.len());
    if let TokenTree::Group(group) = &trees[at]
        && random.below(8) > 0
    {
        let inner = mutate(group.stream(), random, pool);
        let delimiters = [
            Delimiter::Parenthesis,
            Delimiter::Brace,
            Delimiter::Bracket,
            Delimiter::None,
        ];
        let delimiter = match random.below(40) {
            n if n < delimiters.len() => delimiters[n],
            _ => group.delimiter(),
        };
        trees[at] = Group::new(delimiter, inner).into();
        return trees.into_iter().collect();
    }
    let other = random.below(trees.len());
    let from_pool = pool[random.below(pool.len())].clone();
    match random.below(5) {
        0 => drop(trees.remove(at)),
        1 => trees.insert(at, trees[at].clone()),
        2 => trees.swap(at, other),
        3 => trees[at] = from_pool,
        _ => trees.insert(at, from_pool),
    }
    trees.into_iter().collect()
}

#[test]
fn no_tokens_make_the_macro_panic() {
    let mut pool = vec![];
    for source in KERNELS {
        flatten(source.parse().expect("the source is tokens"), &mut pool);
    }
    let mut random = Random(0x5a_4e_4b);
    let rounds = std::env::var("SAREK_FUZZ_ROUNDS").map_or(4000, |n| n.parse().expect("a number"));
    for round in 0..rounds {
        let source = KERNELS[round % KERNELS.len()];
        let mut tokens: TokenStream = source.parse().expect("the source is tokens");
        for _ in 0..=random.below(4) {
            tokens = mutate(tokens, &mut random, &pool);
        }
        let text = tokens.to_string();
        let result = std::panic::catch_unwind(|| {
            sarek_frontend::expand::kernel(TokenStream::new(), tokens)
                .tokens
                .to_string()
        });
        assert!(result.is_ok(), "round {round}: {text}");
    }
}

#[test]
fn the_kernels_that_are_mutated_are_right() {
    let errors = KERNELS.map(|source| expand(source).errors);
    assert!(errors.iter().all(Vec::is_empty), "{errors:#?}");
}
