//! Flow past a cylinder, by the lattice Boltzmann method (D2Q9, Qian, d'Humières and Lallemand, 1992).

use sarek::prelude::*;

use crate::{Pixels, colour, is_strict};

/// The directions of the nine populations and their weights.
const DX: [i32; 9] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
const DY: [i32; 9] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
const WEIGHT: [f32; 9] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];
/// The direction that is opposite to each.
const BACK: [usize; 9] = [0, 3, 4, 1, 2, 7, 8, 5, 6];

/// The speed of what flows in from the left, in cells a step.
const SPEED: f32 = 0.1;

/// The part of a population in a fluid of density 1 that rests or moves.
#[device]
fn equilibrium(weight: f32, along: f32, square: f32) -> f32 {
    weight * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
}

strict_and_loose! {
    /// Pulls the populations of a cell from its neighbours, and lets them collide. Population `k` of cell `at` is
    /// `old[k * cells + at]`. Walls (`solid` 1) throw them back.
    fn flow, flow_loosely(
        width: usize,
        height: usize,
        rate: f32,
        solid: &[u32],
        old: &[f32],
        new: &mut [f32],
    ) {
        let (x, y) = (global_idx_x(), global_idx_y());
        if x >= width || y >= height {
            return;
        }
        let cells = width * height;
        let at = y * width + x;
        let mut f = [0.0f32; 9];
        let mut density = 0.0;
        let mut ux = 0.0;
        let mut uy = 0.0;
        for k in 0..9 {
            let from_x = (x as i32 - DX[k]).clamp(0, width as i32 - 1) as usize;
            let from_y = (y as i32 - DY[k] + height as i32) as usize % height;
            let from = from_y * width + from_x;
            f[k] = if solid[from] == 1 {
                old[BACK[k] * cells + at]
            } else {
                old[k * cells + from]
            };
            density += f[k];
            ux += f[k] * DX[k] as f32;
            uy += f[k] * DY[k] as f32;
        }
        ux /= density;
        uy /= density;
        // The left edge is the inflow.
        if x == 0 {
            density = 1.0;
            ux = SPEED;
            uy = 0.0;
        }
        for k in 0..9 {
            let along = DX[k] as f32 * ux + DY[k] as f32 * uy;
            let rest = density * equilibrium(WEIGHT[k], along, ux * ux + uy * uy);
            let part = if x == 0 { 1.0 } else { rate };
            new[k * cells + at] = if solid[at] == 1 {
                WEIGHT[k]
            } else {
                f[k] + part * (rest - f[k])
            };
        }
    }
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let flow = if is_strict(device) {
        flow
    } else {
        flow_loosely
    };
    let cells = width * height;
    let radius = height as f32 / 9.0;
    let is_solid = |at: usize| {
        let (x, y) = ((at % width) as f32, (at / width) as f32);
        (x - 0.22 * width as f32).hypot(y - 0.503 * height as f32) < radius
    };
    let solid: Vec<u32> = (0..cells).map(|at| u32::from(is_solid(at))).collect();
    let start = |i: usize| {
        // A wave to the side, so that the wake soon sways.
        let phase = std::f32::consts::TAU * (i % width) as f32 / height as f32;
        let along = DX[i / cells] as f32 * SPEED + DY[i / cells] as f32 * 0.4 * SPEED * phase.sin();
        WEIGHT[i / cells] * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * SPEED * SPEED)
    };
    // A Reynolds number of about 150, which sheds vortices.
    let viscosity = SPEED * 2.0 * radius / 150.0;
    let rate = 1.0 / (3.0 * viscosity + 0.5);
    let solids = Vector::from_slice(&solid);
    let mut old = Vector::from_vec((0..9 * cells).map(start).collect());
    let mut new = Vector::zeros(9 * cells);
    for _ in 0..steps {
        flow(width, height, rate, &solids, &old, &mut new)
            .over((width, height))
            .run_on(device)?;
        std::mem::swap(&mut old, &mut new);
    }
    let f = old.into_vec()?;
    let speed =
        |at: usize, d: [i32; 9]| (0..9).map(|k| f[k * cells + at] * d[k] as f32).sum::<f32>();
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        if solid[at] == 1 {
            return [50, 46, 42];
        }
        if x == 0 || x + 1 == width || y == 0 || y + 1 == height {
            return [245, 245, 245];
        }
        let curl =
            speed(at + 1, DY) - speed(at - 1, DY) - speed(at + width, DX) + speed(at - width, DX);
        colour::ramp(colour::SIGNED, 0.5 + 0.06 * radius * curl / SPEED)
    };
    Ok((0..cells).map(pixel).collect())
}
