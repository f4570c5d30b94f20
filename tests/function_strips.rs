//! Loops in `#[device]` functions: compares the native device, which runs them for strips of lanes, with the
//! interpreter, which runs each thread alone.

#![deny(warnings)]

use sarek::prelude::*;

/// Lengths beside the widths of strips and blocks.
const LENGTHS: [usize; 7] = [1, 3, 31, 64, 257, 1000, 4099];

#[device]
fn escapes(cx: f32, cy: f32, most: u32) -> u32 {
    let (mut x, mut y, mut turns) = (0.0f32, 0.0f32, 0u32);
    while turns < most && x * x + y * y < 4.0 {
        let next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        turns += 1;
    }
    turns
}

#[kernel]
fn one_bound(x: &[f32], n: &[u32], out: &mut [u32], most: u32) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = escapes(x[i], x[i] * 0.5, most) + 2 * n[i];
    }
}

#[kernel]
fn own_bounds(x: &[f32], n: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = escapes(x[i], x[i] * 0.5, n[i]);
    }
}

#[device]
fn first_above(x: f32, limit: f32, most: u32) -> u32 {
    let mut sum = x;
    for turn in 0..most {
        if sum > limit {
            return turn;
        }
        sum += x * 0.75;
    }
    most + 1000
}

#[kernel]
fn returns_in_loops(x: &[f32], n: &[u32], out: &mut [u32], most: u32) {
    let i = global_idx_x();
    if i >= out.len() {
        return;
    }
    out[i] = first_above(x[i], 2.0, most) + n[i];
}

#[device]
fn pairs(n: u32, most: u32) -> u32 {
    for a in 0..most {
        let mut b = 0u32;
        while b < most {
            if a * b > n {
                return 100 * a + b;
            }
            b += 1;
        }
    }
    0
}

#[kernel]
fn returns_in_inner_loops(n: &[u32], out: &mut [u32], most: u32) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = pairs(n[i], most);
    }
}

#[device]
fn horner(x: f32, factors: &[f32]) -> f32 {
    let mut sum = 0.0;
    for k in 0..factors.len() {
        sum = sum * x + factors[k];
    }
    sum
}

#[kernel]
fn of_slices(x: &[f32], factors: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = horner(x[i], factors);
    }
}

#[kernel]
fn of_own_arrays(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let mut own = [0.0f32; 20];
        for k in 0..20usize {
            own[k] = x[i] + k as f32;
        }
        out[i] = horner(0.5, &own);
    }
}

#[device]
fn halved(v: &mut f32, turns: u32) -> u32 {
    let mut k = 0;
    while k < turns {
        *v = *v * 0.5 + 1.0;
        k += 1;
    }
    k
}

#[kernel]
fn of_references(x: &[f32], out: &mut [f32], turns: u32) {
    let i = global_idx_x();
    if i < out.len() {
        let mut v = x[i];
        let turned = halved(&mut v, turns);
        out[i] = v + turned as f32;
    }
}

/// A number with a weight.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Weighted {
    value: f32,
    weight: f32,
}

#[device]
impl Weighted {
    fn spread(self, turns: u32) -> Weighted {
        let mut at = self;
        for _ in 0..turns {
            at = Weighted {
                value: at.value * at.weight + 0.25,
                weight: at.weight * 0.99,
            };
        }
        at
    }

    fn add_all<const N: usize>(&mut self, from: &[f32], turns: u32) {
        for k in 0..N * turns as usize {
            self.value += from[k % from.len()];
        }
        self.weight = self.weight + 0.5;
    }

    fn powers<const N: u32>(&self) -> f32 {
        let mut all = 1.0;
        for _ in 0..N {
            all *= self.value * 0.25;
        }
        all
    }

    fn drift(&mut self, turns: u32) -> f32 {
        let mut sum = 0.0;
        for k in 0..turns {
            self.value += 0.125;
            sum += self.value * k as f32;
        }
        sum
    }
}

#[kernel]
fn of_methods(x: &[f32], out: &mut [f32], turns: u32) {
    let i = global_idx_x();
    if i < out.len() {
        let first: Weighted = Weighted {
            value: x[i],
            weight: 0.5,
        };
        let spread: Weighted = first.spread(turns);
        let mut at: Weighted = spread;
        at.add_all::<2>(x, turns);
        let sum = at.drift(turns);
        out[i] = spread.value + at.value + sum + at.powers::<24>();
    }
}

#[device]
fn twice(x: f32, y: f32, most: u32) -> u32 {
    escapes(x, y, most) + escapes(y, x, most)
}

#[kernel]
fn through_functions(x: &[f32], out: &mut [u32], most: u32) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = twice(x[i], x[i] * 0.5, most);
    }
}

#[kernel]
fn in_loops_and_branches(x: &[f32], n: &[u32], out: &mut [u32], most: u32) {
    let i = global_idx_x();
    if i < out.len() {
        let mut sum = 0;
        for k in 0..3u32 {
            sum += escapes(x[i], 0.125 * k as f32, most);
        }
        if n[i] % 2 == 0 {
            sum += escapes(x[i], 0.5, most);
        }
        out[i] = sum;
    }
}

#[device]
fn power<const N: u32>(x: u32) -> u32 {
    let mut all = 1u32;
    for _ in 0..N {
        all = all.wrapping_mul(x);
    }
    all
}

#[kernel]
fn of_generics(n: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = power::<40>(n[i] + 1);
    }
}

#[kernel(block = (16, 4))]
fn beside_barriers(x: &[f32], out: &mut [u32], most: u32) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_y() * 16 + thread_idx_x();
    let at = block_idx_x() * 64 + t;
    let turns = if at < x.len() { most } else { 0 };
    tile[t] = first_above(at as f32 * 0.01, 1.0, most) + turns;
    barrier();
    if at < out.len() {
        out[at] = tile[63 - t];
    }
}

#[device]
fn mirrored(v: u32, limit: usize) -> u32 {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = 1000;
    barrier();
    if t < limit {
        tile[t] = v;
    }
    barrier();
    let found = tile[63 - t];
    barrier();
    found
}

/// A guard of a collective function whose limit is each thread's own.
#[kernel(block = 64)]
fn own_limits(n: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let limit = if i < n.len() { n[i] as usize * 3 } else { 64 };
    let found = mirrored(i as u32, limit);
    if i < out.len() {
        out[i] = found;
    }
}

/// The results on a device, for all lengths.
fn results(device: &Device, n: usize) -> sarek::Result<Vec<Vec<u32>>> {
    let at = |i: usize| (i * 37 % 101) as f32 / 25.0 - 2.0;
    let x = Vector::from_vec((0..n).map(at).collect::<Vec<f32>>());
    let counts = Vector::from_vec((0..n).map(|i| (i * 13 % 29) as u32).collect::<Vec<u32>>());
    let factors = Vector::from_vec((0..33).map(|k| 1.0 / (k + 1) as f32).collect::<Vec<f32>>());
    let mut all = vec![];
    let mut turns = Vector::filled(n, 7u32);
    for most in [0, 1, 20] {
        one_bound(&x, &counts, &mut turns, most)
            .over(n)
            .run_on(device)?;
        all.push(turns.to_vec()?);
        returns_in_loops(&x, &counts, &mut turns, most)
            .over(n)
            .run_on(device)?;
        all.push(turns.to_vec()?);
        returns_in_inner_loops(&counts, &mut turns, most)
            .over(n)
            .run_on(device)?;
        all.push(turns.to_vec()?);
        through_functions(&x, &mut turns, most)
            .over(n)
            .run_on(device)?;
        all.push(turns.to_vec()?);
        in_loops_and_branches(&x, &counts, &mut turns, most)
            .over(n)
            .run_on(device)?;
        all.push(turns.to_vec()?);
        beside_barriers(&x, &mut turns, most)
            .grid(n.div_ceil(64))
            .run_on(device)?;
        all.push(turns.to_vec()?);
    }
    own_bounds(&x, &counts, &mut turns).over(n).run_on(device)?;
    all.push(turns.to_vec()?);
    own_limits(&counts, &mut turns)
        .grid(n.div_ceil(64))
        .run_on(device)?;
    all.push(turns.to_vec()?);
    of_generics(&counts, &mut turns).over(n).run_on(device)?;
    all.push(turns.to_vec()?);
    let mut y = Vector::filled(n, 7.0f32);
    let mut keep = |y: &Vector<f32>| -> sarek::Result<()> {
        all.push(y.to_vec()?.into_iter().map(f32::to_bits).collect());
        Ok(())
    };
    of_slices(&x, &factors, &mut y).over(n).run_on(device)?;
    keep(&y)?;
    of_own_arrays(&x, &mut y).over(n).run_on(device)?;
    keep(&y)?;
    for most in [0, 1, 20] {
        of_references(&x, &mut y, most).over(n).run_on(device)?;
        keep(&y)?;
        of_methods(&x, &mut y, most).over(n).run_on(device)?;
        keep(&y)?;
    }
    Ok(all)
}

#[test]
fn functions_compute_in_strips_what_each_thread_computes() {
    let device = |backend| Device::of(backend).expect("built in");
    let [native, interpreter] = ["native", "interpreter"].map(device);
    for n in LENGTHS {
        let expected = results(&interpreter, n).expect("the interpreter runs");
        let got = results(&native, n).expect("native runs");
        for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(got, expected, "result {at} of {n} elements");
        }
    }
}
