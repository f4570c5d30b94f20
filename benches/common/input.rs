//! Generates inputs: random numbers from a fixed seed. They are not zeros, with which some machines compute faster.

use sarek::f32x4;

/// `n` floats, uniformly distributed in `lo..hi`.
pub fn floats(n: usize, lo: f32, hi: f32) -> Vec<f32> {
    let unit = |z: u64| (z >> 40) as f32 / (1u32 << 24) as f32;
    numbers(n, |z| lo + (hi - lo) * unit(z))
}

/// `n` integers, uniformly distributed.
pub fn integers(n: usize) -> Vec<u32> {
    numbers(n, |z| (z >> 32) as u32)
}

/// `n` values, each made by `of` from 64 random bits. The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn numbers<T>(n: usize, of: impl Fn(u64) -> T) -> Vec<T> {
    let mut state = n as u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..n).map(|_| of(next())).collect()
}

/// `n` vectors of four floats, uniformly distributed in `lo..hi`.
pub fn fours(n: usize, lo: f32, hi: f32) -> Vec<f32x4> {
    let numbers = floats(4 * n, lo, hi);
    let fours = numbers.chunks_exact(4);
    fours.map(|v| f32x4::new(v[0], v[1], v[2], v[3])).collect()
}
