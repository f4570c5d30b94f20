//! Generates arguments: all bits of an `f32` in steps, random numbers, and critical values of formulas.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

use sarek::testing::Random;

/// Values where functions change or end. Their neighbours and both signs are tested as well.
const CENTRES: [f64; 30] = [
    0.0,
    5e-324,
    1e-310,
    2.2250738585072014e-308,
    1e-300,
    1e-45,
    1e-40,
    1.1754943508222875e-38,
    1e-20,
    1e-9,
    0.25,
    0.5,
    FRAC_1_SQRT_2,
    0.75,
    FRAC_PI_4,
    1.0,
    SQRT_2,
    FRAC_PI_2,
    2.0,
    PI,
    10.0,
    22.0,
    88.7,
    104.0,
    128.0,
    150.0,
    709.782712893384,
    745.1332191019411,
    16777217.0,
    1e300,
];

/// The critical values with their neighbours, infinities and NaN.
pub fn edges() -> Vec<f64> {
    let around = CENTRES
        .iter()
        .flat_map(|x| [x.next_down(), *x, x.next_up()]);
    let signed = around.flat_map(|x| [x, -x]);
    signed
        .chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN])
        .collect()
}

/// A random number: mostly of everyday size, sometimes with arbitrary bits.
pub fn random(random: &mut Random, narrow: bool) -> f64 {
    let bits = random.bits();
    match random.below(6) {
        0 => random.between(-1.0, 1.0),
        1 => 1.0 + random.between(-1.0, 1.0) / 64.0,
        2 => random.between(-20.0, 20.0),
        3 => random.between(-800.0, 800.0),
        4 => random.between(0.0, 3.2),
        _ if narrow => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// `count` random tuples, after all tuples of edges, thinned out to at most `count`.
pub fn tuples(arity: usize, count: usize, seed: u64, narrow: bool) -> Vec<[f64; 3]> {
    let mut source = Random::new(seed);
    let edges = edges();
    let mut all: Vec<[f64; 3]> = match arity {
        1 => edges.iter().map(|x| [*x, 0.0, 0.0]).collect(),
        _ => {
            let pairs = edges
                .iter()
                .flat_map(|x| edges.iter().map(move |y| (*x, *y)));
            pairs
                .map(|(x, y)| [x, y, random(&mut source, narrow)])
                .collect()
        }
    };
    if all.len() > count {
        // Takes every `step`th pair.
        let step = all.len() / count + 1;
        all = all.into_iter().step_by(step).collect();
    }
    all.extend((0..count).map(|_| [(); 3].map(|()| random(&mut source, narrow))));
    all
}
