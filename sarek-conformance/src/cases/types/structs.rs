use super::{COUNTS, same};
use crate::check::Check;
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/structs/fields", &[], fields),
    Case::new("types/structs/nested", &[Capability::Storage8], nested),
    Case::new("types/structs/arrays", &[], arrays),
    Case::new("types/structs/generic", &[], generic),
    Case::new("types/structs/by_value", &[], by_value),
    Case::new("types/structs/tuple_struct", &[], tuple_struct),
    Case::new("types/structs/layouts", &[], layouts),
    Case::new("types/structs/in_arrays", &[], in_arrays),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Particle {
    at: Point,
    speed: Point,
    id: u32,
    alive: bool,
}

fn points(random: &mut Random, n: usize) -> Vec<Point> {
    let mut next = || (random.below(2000) as f32 - 1000.0) / 8.0;
    (0..n)
        .map(|_| Point {
            x: next(),
            y: next(),
        })
        .collect()
}

fn particles(random: &mut Random, n: usize) -> Vec<Particle> {
    let at = points(random, n);
    let speed = points(random, n);
    let each = at.into_iter().zip(speed).zip(0..);
    each.map(|((at, speed), id)| Particle {
        at,
        speed,
        id,
        alive: random.below(3) > 0,
    })
    .collect()
}

#[kernel]
fn swap_fields(p: &mut [Point], lengths: &mut [f32]) {
    let i = global_idx_x();
    if i < p.len() && i < lengths.len() {
        let q = p[i];
        lengths[i] = q.x * 2.0 + q.y.abs().max(q.x);
        p[i].x = q.y;
        p[i].y = -q.x + 1.0;
    }
}

fn fields(device: &Device) -> Check {
    for n in COUNTS {
        let host = points(&mut Random::new(n as u64), n);
        let mut p = Vector::from_slice(&host);
        let mut lengths = Vector::zeros(n);
        swap_fields(&mut p, &mut lengths).over(n).run_on(device)?;
        let expected: Vec<f32> = host
            .iter()
            .map(|q| q.x * 2.0 + q.y.abs().max(q.x))
            .collect();
        same("lengths", &lengths, &expected)?;
        let expected: Vec<Point> = host
            .iter()
            .map(|q| Point {
                x: q.y,
                y: -q.x + 1.0,
            })
            .collect();
        same("points", &p, &expected)?;
    }
    Ok(())
}

#[kernel]
fn step(dt: f32, p: &mut [Particle]) {
    let i = global_idx_x();
    if i < p.len() && p[i].alive {
        p[i].at.x += p[i].speed.x * dt;
        let moved = Point {
            y: p[i].at.y + p[i].speed.y * dt,
            ..p[i].at
        };
        p[i].at = moved;
        if moved.x < 0.0 {
            p[i] = Particle {
                alive: false,
                id: p[i].id + 1000,
                ..p[i]
            };
        }
    }
}

fn stepped(dt: f32, mut p: Particle) -> Particle {
    if p.alive {
        p.at.x += p.speed.x * dt;
        p.at.y += p.speed.y * dt;
        if p.at.x < 0.0 {
            p.alive = false;
            p.id += 1000;
        }
    }
    p
}

fn nested(device: &Device) -> Check {
    for n in COUNTS {
        let host = particles(&mut Random::new(n as u64), n);
        let mut p = Vector::from_slice(&host);
        step(0.5, &mut p).over(n).run_on(device)?;
        let expected: Vec<Particle> = host.into_iter().map(|p| stepped(0.5, p)).collect();
        same("particles", &p, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Row {
    values: [i32; 5],
    corners: [Point; 2],
    at: u32,
}

#[kernel]
fn rotate(rows: &mut [Row], sums: &mut [i32]) {
    let i = global_idx_x();
    if i < rows.len() && i < sums.len() {
        let mut row = rows[i];
        let mut sum = 0;
        for k in 0..5 {
            sum += row.values[k];
        }
        let first = row.values[row.at as usize % 5];
        row.values[0] = first;
        row.corners[1] = row.corners[0];
        row.corners[0].x += 1.0;
        rows[i] = row;
        rows[i].values[4] -= 7;
        rows[i].corners[1].y = 2.5;
        sums[i] = sum;
    }
}

fn arrays(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let host: Vec<Row> = (0..n)
            .map(|_| Row {
                values: std::array::from_fn(|_| random.below(100) as i32),
                corners: [Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }],
                at: random.below(100) as u32,
            })
            .collect();
        let mut rows = Vector::from_slice(&host);
        let mut sums = Vector::zeros(n);
        rotate(&mut rows, &mut sums).over(n).run_on(device)?;
        let sum = |row: &Row| row.values.iter().sum();
        let expected: Vec<i32> = host.iter().map(sum).collect();
        same("sums", &sums, &expected)?;
        let expected: Vec<Row> = host
            .into_iter()
            .map(|mut row| {
                row.values[0] = row.values[row.at as usize % 5];
                row.corners[1] = row.corners[0];
                row.corners[0].x += 1.0;
                row.values[4] -= 7;
                row.corners[1].y = 2.5;
                row
            })
            .collect();
        same("rows", &rows, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Pair<A, B> {
    first: A,
    second: B,
}

#[kernel]
fn turn(pairs: &[Pair<u32, f32>], out: &mut [Pair<f32, [u32; 2]>]) {
    let i = global_idx_x();
    if i < pairs.len() && i < out.len() {
        let p = pairs[i];
        out[i] = Pair {
            first: p.second / 2.0,
            second: [p.first, p.first / 3],
        };
    }
}

fn generic(device: &Device) -> Check {
    for n in COUNTS {
        let host: Vec<Pair<u32, f32>> = (0..n as u32)
            .map(|i| Pair {
                first: i * 5,
                second: i as f32,
            })
            .collect();
        let zero = Pair {
            first: 0.0,
            second: [0; 2],
        };
        let mut out = Vector::filled(n, zero);
        turn(&Vector::from_slice(&host), &mut out)
            .over(n)
            .run_on(device)?;
        let expected: Vec<Pair<f32, [u32; 2]>> = host
            .iter()
            .map(|p| Pair {
                first: p.second / 2.0,
                second: [p.first, p.first / 3],
            })
            .collect();
        same("pairs", &out, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Settings {
    offset: Point,
    weights: [f32; 3],
    count: u32,
    negate: bool,
}

#[kernel]
fn apply(a: u32, settings: Settings, scale: f32, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let w = settings.weights[i % 3];
        let x = settings.offset.x + w * scale + settings.offset.y;
        let x = if settings.negate { -x } else { x };
        out[i] = x + (settings.count + a) as f32;
    }
}

fn by_value(device: &Device) -> Check {
    for n in COUNTS {
        let settings = Settings {
            offset: Point { x: 1.5, y: -2.0 },
            weights: [0.5, 2.0, -4.0],
            count: 3,
            negate: n % 2 == 1,
        };
        let mut out = Vector::zeros(n);
        apply(9, settings, 2.0, &mut out).over(n).run_on(device)?;
        let value = |i: usize| {
            let x = settings.offset.x + settings.weights[i % 3] * 2.0 + settings.offset.y;
            (if settings.negate { -x } else { x }) + 12.0
        };
        let expected: Vec<f32> = (0..n).map(value).collect();
        same("out", &out, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Rgb(f32, f32, f32);

#[kernel]
fn grey(colours: &[Rgb], out: &mut [Rgb]) {
    let i = global_idx_x();
    if i < colours.len() && i < out.len() {
        let Rgb(r, g, b) = colours[i];
        let mean = (r + g + b) / 4.0;
        out[i] = Rgb(mean, colours[i].1, mean - b);
        out[i].0 *= 2.0;
    }
}

fn tuple_struct(device: &Device) -> Check {
    for n in COUNTS {
        let host: Vec<Rgb> = (0..n).map(|i| Rgb(i as f32, 2.0, i as f32 / 2.0)).collect();
        let mut out = Vector::filled(n, Rgb(0.0, 0.0, 0.0));
        grey(&Vector::from_slice(&host), &mut out)
            .over(n)
            .run_on(device)?;
        let expected: Vec<Rgb> = host
            .iter()
            .map(|&Rgb(r, g, b)| {
                let mean = (r + g + b) / 4.0;
                Rgb(mean * 2.0, g, mean - b)
            })
            .collect();
        same("colours", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn to_columns(p: &[Point], x: &mut [f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < p.len() && i < x.len() && i < y.len() {
        let Point { x: px, y: py } = p[i];
        x[i] = px;
        y[i] = py;
    }
}

#[kernel]
fn to_rows(x: &[f32], y: &[f32], p: &mut [Point]) {
    let i = global_idx_x();
    if i < p.len() && i < x.len() && i < y.len() {
        let (x, y) = (x[i], y[i]);
        p[i] = Point { x, y };
    }
}

/// Converts an array of structs to one array for each field, and back.
fn layouts(device: &Device) -> Check {
    for n in COUNTS {
        let host = points(&mut Random::new(n as u64), n);
        let p = Vector::from_slice(&host);
        let (mut x, mut y) = (Vector::zeros(n), Vector::zeros(n));
        to_columns(&p, &mut x, &mut y).over(n).run_on(device)?;
        same("x", &x, &host.iter().map(|p| p.x).collect::<Vec<_>>())?;
        same("y", &y, &host.iter().map(|p| p.y).collect::<Vec<_>>())?;
        let mut back = Vector::filled(n, Point { x: 0.0, y: 0.0 });
        to_rows(&x, &y, &mut back).over(n).run_on(device)?;
        same("points", &back, &host)?;
    }
    Ok(())
}

#[kernel]
fn matrix_rows(rows: &[[f32; 3]], out: &mut [[f32; 2]]) {
    let i = global_idx_x();
    if i < rows.len() && i < out.len() {
        let row = rows[i];
        out[i] = [row[0] + row[2], rows[i][1]];
        out[i][1] *= 3.0;
    }
}

fn in_arrays(device: &Device) -> Check {
    for n in COUNTS {
        let host: Vec<[f32; 3]> = (0..n).map(|i| [i as f32, 1.0, 0.5 * i as f32]).collect();
        let mut out = Vector::filled(n, [0.0f32; 2]);
        matrix_rows(&Vector::from_slice(&host), &mut out)
            .over(n)
            .run_on(device)?;
        let expected: Vec<[f32; 2]> = host.iter().map(|r| [r[0] + r[2], r[1] * 3.0]).collect();
        same("rows", &out, &expected)?;
    }
    Ok(())
}
