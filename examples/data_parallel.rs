//! Data-parallel training on two devices. Each computes the gradient of its half of the samples. Merge buffers add both
//! gradients, so both devices make the same step.
//!
//! ```sh
//! cargo run --release --example data_parallel
//! ```

use sarek::context::{Bound, Context, Routine, Target, Uses};
use sarek::prelude::*;

/// The number of samples of each device, and the number of weights.
const SAMPLES: usize = 512;
const WEIGHTS: usize = 8;

/// The gradient of the squared error of `weights · features = target`, with one thread for each weight.
#[kernel]
fn gradient(features: &[f32], targets: &[f32], weights: &[f32], gradient: &mut [f32]) {
    let w = global_idx_x();
    let mut sum = 0.0f32;
    for s in 0..targets.len() {
        let mut error = -targets[s];
        for i in 0..weights.len() {
            error += weights[i] * features[s * weights.len() + i];
        }
        sum += error * features[s * weights.len() + w];
    }
    gradient[w] = sum;
}

#[kernel]
fn add(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i] + y[i];
}

#[kernel]
fn step(rate: f32, gradient: &[f32], weights: &mut [f32]) {
    let i = global_idx_x();
    weights[i] -= rate * gradient[i];
}

/// Random features of a device's samples, and their targets for the weights 1, 2, 3, …
fn samples(seed: u32) -> (Vec<f32>, Vec<f32>) {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let features: Vec<f32> = (0..SAMPLES * WEIGHTS).map(|_| random()).collect();
    let target = |sample: &[f32]| sample.iter().zip(1..).map(|(x, w)| x * w as f32).sum();
    let targets = features.chunks(WEIGHTS).map(target).collect();
    (features, targets)
}

fn prepare(device: &Device, seed: u32) -> sarek::Result<Context> {
    let (features, targets) = samples(seed);
    Context::new(device)?
        .init_from_host("features", features)?
        .init_from_host("targets", targets)?
        .init_from_host("weights", vec![0.0f32; WEIGHTS])?
        .init_from_host("gradient", vec![0.0f32; WEIGHTS])
}

fn own_gradient(context: &Context) -> sarek::Result<Routine> {
    let uses = Uses::new()
        .reads("features")
        .reads("targets")
        .reads("weights")
        .writes("gradient");
    context.link(uses, |bound: &Bound<'_>| {
        let (features, targets) = (bound.input("features")?, bound.input("targets")?);
        let (weights, mut sum) = (bound.input("weights")?, bound.output("gradient")?);
        let launch = gradient(&features, &targets, &weights, &mut sum).over(WEIGHTS);
        launch.enqueue(bound.stream()).map(drop)
    })
}

/// Adds the other device's gradient from the merge buffer to the own one, and makes a step.
fn joint_step(context: &Context) -> sarek::Result<Routine> {
    let uses = Uses::new()
        .writes("gradient")
        .writes("weights")
        .merges("gradient");
    context.link(uses, |bound: &Bound<'_>| {
        let (mut sum, mut weights) = (bound.output("gradient")?, bound.output("weights")?);
        add(bound.merged()?, &mut sum)
            .over(WEIGHTS)
            .enqueue(bound.stream())?;
        let launch = step(1e-3, &sum, &mut weights).over(WEIGHTS);
        launch.enqueue(bound.stream()).map(drop)
    })
}

fn main() -> sarek::Result<()> {
    // Two devices if the machine has two, else the same one twice.
    let devices: Vec<Device> = Device::all().into_iter().cycle().take(2).collect();
    println!("training on {} and {}", devices[0], devices[1]);
    let contexts = [prepare(&devices[0], 1)?, prepare(&devices[1], 2)?];
    let gradients = [own_gradient(&contexts[0])?, own_gradient(&contexts[1])?];
    let bring =
        |to: usize| contexts[to].transfer::<f32>("gradient", &contexts[1 - to], Target::Merge);
    let transfers = [bring(0), bring(1)].map(|t| t.expect("both have a gradient"));
    let steps = [
        joint_step(transfers[0].context())?,
        joint_step(transfers[1].context())?,
    ];
    for _ in 0..60 {
        for routine in gradients.iter().chain(&transfers).chain(&steps) {
            routine.run()?;
        }
    }
    let [one, two] = [0, 1].map(|i: usize| contexts[i].to_host::<f32>("weights"));
    let (one, two) = (one?, two?);
    println!("weights: {one:.3?}");
    for ((a, b), expected) in one.iter().zip(&two).zip(1..) {
        assert!(
            (a - b).abs() < 1e-3 && (a - expected as f32).abs() < 1e-2,
            "{one:?}, {two:?}"
        );
    }
    Ok(())
}
