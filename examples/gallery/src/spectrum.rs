//! The spectrogram of a song of chirps: each block transforms one window, by Cooley and Tukey's FFT in shared memory.
//! The numbers have `FRACTION` fractional bits.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// The numbers of a window, and of threads of a block: each thread computes one butterfly of each pass.
const WINDOW: usize = 512;
const HALF: usize = WINDOW / 2;
const BITS: u32 = 9;
const FRACTION: i32 = 10;
/// One half, to round products.
const ROUND: i32 = 1 << (FRACTION - 1);

/// Writes the loudness of each frequency of window `block_idx_x()`. `roots` holds the cosines and sines of `HALF` angles.
#[kernel(block = 256)]
fn transform(hop: usize, sound: &[i32], shape: &[i32], roots: &[[i32; 2]], loudness: &mut [i32]) {
    let re = shared_array::<i32, WINDOW>();
    let im = shared_array::<i32, WINDOW>();
    let t = thread_idx_x();
    let first = block_idx_x() * hop;
    // The order of reversed bits: a thread's second number is the next one.
    let from = ((t as u32).reverse_bits() >> (32 - BITS)) as usize;
    re[t] = (sound[first + from] * shape[from] + ROUND) >> FRACTION;
    re[t + 256] = (sound[first + from + 1] * shape[from + 1] + ROUND) >> FRACTION;
    im[t] = 0;
    im[t + 256] = 0;
    barrier();
    let mut span = 1;
    while span < WINDOW {
        let low = t / span * span * 2 + t % span;
        let root = roots[t % span * (HALF / span)];
        let (c, d) = (re[low + span], im[low + span]);
        let x = (c * root[0] - d * root[1] + ROUND) >> FRACTION;
        let y = (c * root[1] + d * root[0] + ROUND) >> FRACTION;
        let (a, b) = (re[low], im[low]);
        re[low] = a + x;
        im[low] = b + y;
        re[low + span] = a - x;
        im[low + span] = b - y;
        barrier();
        span *= 2;
    }
    // The length of (re, im) within 4 %: "alpha max plus beta min".
    let (a, b) = (re[t].abs(), im[t].abs());
    loudness[block_idx_x() * HALF + t] = (31 * a.max(b) + 13 * a.min(b)) / 32;
}

fn fixed(x: f64) -> i32 {
    (x * f64::from(1 << FRACTION)).round() as i32
}

/// A song: chirps that rise and fall, each with an overtone.
fn song(n: usize) -> Vec<i32> {
    let tau = std::f64::consts::TAU;
    let mut phase = [0.0f64; 3];
    let value = |i: usize| {
        let beat = (i / 6000) as u32;
        let t = (i % 6000) as f64 / 6000.0;
        let note = |k: u32| 0.04 + 0.15 * f64::from(colour::unit(beat * 3 + k));
        let bend = (tau * (1.0 + f64::from(beat % 3)) * t).sin();
        let pitches = [
            note(0) + 0.03 * bend,
            2.0 * note(0) + 0.05 * bend,
            note(1) + 0.1 * t,
        ];
        let volume = (std::f64::consts::PI * t).sin();
        for (phase, pitch) in phase.iter_mut().zip(pitches) {
            *phase += tau * pitch;
        }
        let tones = phase[0].sin() + 0.4 * phase[1].sin() + 0.6 * phase[2].sin();
        fixed(volume * tones + 0.02 * f64::from(colour::unit(i as u32) - 0.5))
    };
    (0..n).map(value).collect()
}

pub fn draw(device: &Device, width: usize, height: usize, _: usize) -> sarek::Result<Pixels> {
    let hop = 96;
    let sound = Vector::from_vec(song(width * hop + WINDOW));
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / WINDOW as f64;
    let hann = |i| fixed(0.5 - 0.5 * turn(i).cos());
    let root = |i| [fixed(turn(i).cos()), fixed(-turn(i).sin())];
    let shape = Vector::from_vec((0..WINDOW).map(hann).collect());
    let roots = Vector::from_vec((0..HALF).map(root).collect());
    let mut loudness = Vector::zeros(width * HALF);
    transform(hop, &sound, &shape, &roots, &mut loudness)
        .cover(width * HALF)
        .run_on(device)?;
    let loudness = loudness.into_vec()?;
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        let band = (height - 1 - y) * HALF / height;
        let decibels = 20.0 * (loudness[x * HALF + band] as f32 / 1024.0 + 0.03).log10();
        colour::ramp(colour::FIRE, (decibels + 12.0) / 52.0)
    };
    Ok((0..width * height).map(pixel).collect())
}
