//! Tests that generated kernels are valid, have the intended sizes, and cover every construct.

use super::*;

#[test]
fn generated_kernels_are_accepted() {
    for seed in 0..60 {
        let case = generate(seed).case();
        if let Err(why) = crate::judge::lower(&case) {
            panic!("seed {seed}: {why}\n{case}");
        }
    }
}

/// Texts that some kernels must contain, whether or not rustc links them.
const EVERYWHERE: &[&str] = &[
    "#[unroll(2)]",
    "#[unroll]",
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
    " @ ..] = ",
    ".checked_mul(",
    ".is_some()",
    ".isqrt()",
    ".midpoint(",
    ".next_multiple_of(",
    ".next_power_of_two()",
    ".overflowing_add(",
    ".unwrap_or(",
    "[0 | 3, .., last] => last",
    ": &[bf16]",
    ": &[f16]",
    ": &[u16]",
    ": &mut [i8]",
    ": E0",
    ": S0",
    "i64",
    "f64",
];

/// Texts that some kernels must contain if rustc links them.
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
fn sizes_cover_their_range() {
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

/// A thread that has ended would leave its element of a function's own shared array uninitialised.
#[test]
fn no_thread_ends_where_others_read_its_element() {
    let texts = (0..3000).map(|seed| generate(seed).case().to_string());
    for text in texts.filter(|text| text.contains("let tile = shared_array")) {
        let kernel = text.split_once("#[kernel").expect("a kernel").1;
        assert!(!kernel.contains("{ return; }"), "{text}");
    }
}
