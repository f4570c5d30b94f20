//! Vectors of two to four components: operators, methods, swizzles, and values in every kind of place.

use crate::check::{Check, Expected, ensure, unary};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::Tolerance;

pub const CASES: &[Case] = &[
    Case::new("packed/arithmetic", &[], arithmetic),
    Case::new("packed/geometry", &[], geometry),
    Case::new("packed/integers", &[], integers),
    Case::new("packed/swizzles", &[], swizzles),
    Case::new("packed/doubles", &[Capability::F64], doubles),
    Case::new("packed/structs", &[], structs),
    Case::new("packed/control", &[], control),
    Case::new("packed/offsets", &[], offsets),
];

/// Numbers of elements, most of which fill no block.
const COUNTS: [usize; 6] = [1, 3, 33, 256, 1000, 4099];

/// A multiple of 1/8; sums and products of a few such numbers are exact.
fn tame(random: &mut Random) -> f32 {
    (random.below(512) as f32 - 256.0) / 8.0
}

fn fours(seed: u64, n: usize) -> Vec<f32x4> {
    let mut random = Random::new(seed);
    (0..n)
        .map(|_| f32x4::from([(); 4].map(|()| tame(&mut random))))
        .collect()
}

fn threes(seed: u64, n: usize) -> Vec<f32x3> {
    fours(seed, n)
        .iter()
        .map(|v| f32x3::new(v.x, v.y, v.z))
        .collect()
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &[T], expected: &[T]) -> Check {
    let bad = got.iter().zip(expected).position(|(g, d)| g != d);
    ensure(bad.is_none() && got.len() == expected.len(), || {
        let i = bad.unwrap_or_default();
        format!("[{i}]: {:?} instead of {:?}", got[i], expected[i])
    })
}

#[kernel]
fn arithmetic_kernel(s: f32, a: &[f32x4], b: &[f32x4], out: &mut [f32x4]) {
    let i = global_idx_x();
    if i < out.len() {
        let v = a[i] * s + b[i];
        let mut w = 2.0 * v - a[i] * b[i];
        w += 0.5;
        w -= f32x4::splat(0.25) + f32x4::new(1.0, 2.0, 3.0, 4.0);
        w *= s;
        out[i] = -w.min(b[i] + f32x4::ONE).max(f32x4::ZERO - 100.0).abs();
        out[i] += v;
    }
}

fn arithmetic(device: &Device) -> Check {
    for n in COUNTS {
        let (a, b) = (fours(201, n), fours(202, n));
        let mut out = Vector::filled(n, f32x4::splat(9.0));
        arithmetic_kernel(
            0.5,
            &Vector::from_slice(&a),
            &Vector::from_slice(&b),
            &mut out,
        )
        .over(n + 7)
        .run_on(device)?;
        let expected = a.iter().zip(&b).map(|(a, b)| {
            let (a, b): ([f32; 4], [f32; 4]) = ((*a).into(), (*b).into());
            let each = |k: usize| {
                let v = a[k] * 0.5 + b[k];
                let w = 2.0 * v - a[k] * b[k] + 0.5 - (0.25 + (k + 1) as f32);
                -(w * 0.5).min(b[k] + 1.0).max(-100.0).abs() + v
            };
            f32x4::from([0, 1, 2, 3].map(each))
        });
        equal(&out.to_vec()?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

#[kernel]
fn geometry_kernel(a: &[f32x3], b: &[f32x3], out: &mut [f32]) {
    let i = global_idx_x();
    let (u, v) = (a[i], b[i]);
    out[8 * i] = u.dot(v);
    let c = u.cross(v);
    out[8 * i + 1] = c.x;
    out[8 * i + 2] = c.y;
    out[8 * i + 3] = c.z;
    out[8 * i + 4] = (u - v).length();
    out[8 * i + 5] = u.distance(v) - u.length_squared();
    let n = (u + 1000.0).normalize();
    out[8 * i + 6] = n[0];
    out[8 * i + 7] = n.mul_add(f32x3::ZERO, f32x3::splat(v.y.floor())).z;
}

fn geometry(device: &Device) -> Check {
    let near = |ulps| Tolerance {
        ulps,
        absolute: 2e-4,
        flush: true,
    };
    let (a, b) = (threes(203, 500), threes(204, 500));
    let of = |v: f32x3| [v.x, v.y, v.z].map(f64::from);
    let pairs: Vec<u32> = (0..500).collect();
    let (left, right) = (Vector::from_slice(&a), Vector::from_slice(&b));
    unary(
        [
            "dot",
            "cross x",
            "y",
            "z",
            "length",
            "distance",
            "normalize",
            "mul_add",
        ],
        &pairs,
        |_, out, n| geometry_kernel(&left, &right, out).over(n).run_on(device),
        |i| {
            let (u, v) = (of(a[i as usize]), of(b[i as usize]));
            let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let apart = [u[0] - v[0], u[1] - v[1], u[2] - v[2]];
            let far = u.map(|x| x + 1000.0);
            let exact = |x: f64| Expected::Exactly(x as f32);
            [
                exact(dot(u, v)),
                exact(u[1] * v[2] - u[2] * v[1]),
                exact(u[2] * v[0] - u[0] * v[2]),
                exact(u[0] * v[1] - u[1] * v[0]),
                Expected::Near(dot(apart, apart).sqrt(), near(4.0)),
                Expected::Near(dot(apart, apart).sqrt() - dot(u, u), near(16.0)),
                Expected::Near(far[0] / dot(far, far).sqrt(), near(16.0)),
                exact(v[1].floor()),
            ]
        },
    )
}

#[kernel]
fn integers_kernel(k: i32, a: &[i32x2], out: &mut [i32x2], words: &mut [u32x4]) {
    let i = global_idx_x();
    let v = a[i];
    let w = (v * k - 3) / 4 % i32x2::new(7, 5);
    out[i] = -w
        .max(i32x2::splat(-k))
        .clamp(i32x2::splat(-4), i32x2::splat(4))
        .abs()
        ^ !v & 15;
    let same = v == w || v.x == v.y;
    let u = u32x4::new(v.x as u32, v.y as u32, i as u32, 7);
    words[i] = if same { u | 1 } else { u & u32x4::splat(0xff) };
    words[i].w += u.dot(u32x4::new(0, 0, 1, 1)).min(words[i].z);
    if v != w {
        words[i].y ^= 1;
    }
}

fn integers(device: &Device) -> Check {
    let mut random = Random::new(205);
    let mut number = || random.below(200) as i32 - 100;
    let n = 700;
    let a: Vec<i32x2> = (0..n).map(|_| i32x2::new(number(), number())).collect();
    let mut out = Vector::filled(n, i32x2::ZERO);
    let mut words = Vector::filled(n, u32x4::ONE);
    integers_kernel(3, &Vector::from_slice(&a), &mut out, &mut words)
        .over(n)
        .run_on(device)?;
    let each = |i: usize| {
        let v = [a[i].x, a[i].y];
        let w = [0, 1].map(|k| (v[k] * 3 - 3) / 4 % [7, 5][k]);
        let first = [0, 1].map(|k| (-w[k].max(-3).clamp(-4, 4).abs()) ^ (!v[k] & 15));
        let u = [v[0] as u32, v[1] as u32, i as u32, 7];
        let mut word = match v == w || v[0] == v[1] {
            true => u.map(|x| x | 1),
            false => u.map(|x| x & 0xff),
        };
        word[3] += (u[2] + 7).min(word[2]);
        word[1] ^= u32::from(v != w);
        (i32x2::from(first), u32x4::from(word))
    };
    let (first, second): (Vec<_>, Vec<_>) = (0..n).map(each).unzip();
    equal(&out.to_vec()?, &first)?;
    equal(&words.to_vec()?, &second)
}

#[kernel]
fn swizzles_kernel(a: &[f32x4], pairs: &mut [f32x2], triples: &mut [f32x3], out: &mut [f32x4]) {
    let i = global_idx_x();
    pairs[i] = a[i].wx() + a[i].zyx().xz();
    triples[i] = a[i].yyw() - pairs[i].xyx();
    out[i] = (a[i] * 2.0).wzyx() + triples[i].zzxy();
    out[i].y = a[i].xyzw().to_array()[2];
}

fn swizzles(device: &Device) -> Check {
    let n = 600;
    let a = fours(206, n);
    let mut pairs = Vector::filled(n, f32x2::ZERO);
    let mut triples = Vector::filled(n, f32x3::ZERO);
    let mut out = Vector::filled(n, f32x4::ZERO);
    swizzles_kernel(&Vector::from_slice(&a), &mut pairs, &mut triples, &mut out)
        .over(n)
        .run_on(device)?;
    let each = |v: &f32x4| {
        let pair = f32x2::new(v.w + v.z, v.x + v.x);
        let triple = f32x3::new(v.y - pair.x, v.y - pair.y, v.w - pair.x);
        let four = [
            v.w * 2.0 + triple.z,
            v.z,
            v.y * 2.0 + triple.x,
            v.x * 2.0 + triple.y,
        ];
        (pair, triple, f32x4::from(four))
    };
    let expected: Vec<_> = a.iter().map(each).collect();
    equal(
        &pairs.to_vec()?,
        &expected.iter().map(|d| d.0).collect::<Vec<_>>(),
    )?;
    equal(
        &triples.to_vec()?,
        &expected.iter().map(|d| d.1).collect::<Vec<_>>(),
    )?;
    equal(
        &out.to_vec()?,
        &expected.iter().map(|d| d.2).collect::<Vec<_>>(),
    )
}

#[kernel]
fn doubles_kernel(a: &[f64x3], b: &[f64x4], out: &mut [f64x2]) {
    let i = global_idx_x();
    out[i] = a[i].zx() * b[i].yw() + f64x2::splat(a[i].dot(b[i].xyz())) / 2.0;
}

fn doubles(device: &Device) -> Check {
    let n = 300;
    let wide = |v: &f32x4| [v.x, v.y, v.z, v.w].map(f64::from);
    let a: Vec<[f64; 4]> = fours(207, n).iter().map(wide).collect();
    let b: Vec<[f64; 4]> = fours(208, n).iter().map(wide).collect();
    let mut out = Vector::filled(n, f64x2::ZERO);
    let left = Vector::from_vec(a.iter().map(|v| f64x3::new(v[0], v[1], v[2])).collect());
    let right = Vector::from_vec(b.iter().map(|v| f64x4::from(*v)).collect());
    doubles_kernel(&left, &right, &mut out)
        .over(n)
        .run_on(device)?;
    let expected = a.iter().zip(&b).map(|(a, b)| {
        let half = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / 2.0;
        f64x2::new(a[2] * b[1] + half, a[0] * b[3] + half)
    });
    equal(&out.to_vec()?, &expected.collect::<Vec<_>>())
}

/// The struct has padding at its end, as `f32x4` is aligned to 16 bytes.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Body {
    at: f32x4,
    speed: f32x3,
    charge: f32,
    id: u32,
}

/// A struct with a larger alignment than its vector.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, align(16))]
struct Cell {
    corner: f32x2,
    count: u32,
}

#[device]
fn moved(body: Body, by: f32x3) -> f32x4 {
    let (start, charge): (f32x4, f32) = (body.at, body.charge);
    let at = start.xyz() + (body.speed + by) * charge;
    f32x4::new(at.x, at.y, at.z, start.w)
}

#[kernel]
fn structs_kernel(by: f32x3, bodies: &mut [Body], cells: &mut [Cell]) {
    let i = global_idx_x();
    let mut body = bodies[i];
    body.at = moved(body, by);
    body.speed.y *= 2.0;
    body.id += 1;
    bodies[i] = body;
    let end: f32x4 = body.at;
    cells[i].corner += end.xy();
    cells[i].count += body.id;
}

fn structs(device: &Device) -> Check {
    let n = 257;
    let (at, speed) = (fours(209, n), fours(210, n));
    let body = |i: usize| Body {
        at: at[i],
        speed: f32x3::new(speed[i].x, speed[i].y, speed[i].z),
        charge: speed[i].w,
        id: i as u32,
    };
    let before: Vec<Body> = (0..n).map(body).collect();
    let cell = Cell {
        corner: f32x2::ONE,
        count: 5,
    };
    let mut bodies = Vector::from_slice(&before);
    let mut cells = Vector::filled(n, cell);
    structs_kernel(f32x3::new(1.0, 2.0, 3.0), &mut bodies, &mut cells)
        .over(n)
        .run_on(device)?;
    let after: Vec<Body> = before
        .iter()
        .map(|b| Body {
            at: f32x4::new(
                b.at.x + (b.speed.x + 1.0) * b.charge,
                b.at.y + (b.speed.y + 2.0) * b.charge,
                b.at.z + (b.speed.z + 3.0) * b.charge,
                b.at.w,
            ),
            speed: f32x3::new(b.speed.x, b.speed.y * 2.0, b.speed.z),
            id: b.id + 1,
            ..*b
        })
        .collect();
    equal(&bodies.to_vec()?, &after)?;
    let expected = after.iter().map(|b| Cell {
        corner: f32x2::new(1.0 + b.at.x, 1.0 + b.at.y),
        count: 5 + b.id,
    });
    equal(&cells.to_vec()?, &expected.collect::<Vec<_>>())
}

#[kernel]
fn control_kernel(a: &[f32x4], out: &mut [f32x4]) {
    let i = global_idx_x();
    let mut sum = f32x4::ZERO;
    let mut kept = [f32x4::ONE; 3];
    for k in 0..3 {
        let v = if a[i].x > 0.0 { a[i] } else { a[i].yxwz() };
        if v == f32x4::ZERO {
            break;
        }
        kept[k] += v * (k as f32);
        sum += kept[k] - v;
    }
    let mut steps = 0u32;
    while sum.dot(sum) > 64.0 {
        sum = sum / 2.0;
        steps += 1;
    }
    let f32x4 { x, y, .. } = sum;
    out[i] = f32x4 {
        x: y,
        y: x,
        z: sum.z + steps as f32,
        ..sum
    };
}

fn control(device: &Device) -> Check {
    let n = 1000;
    let a = fours(211, n);
    let mut out = Vector::filled(n, f32x4::ZERO);
    control_kernel(&Vector::from_slice(&a), &mut out)
        .over(n)
        .run_on(device)?;
    let expected = a.iter().map(|v| {
        let own = v.to_array();
        let turned = [own[1], own[0], own[3], own[2]];
        let v = if own[0] > 0.0 { own } else { turned };
        let mut sum = [0.0f32; 4];
        for k in 0..3 {
            if v == [0.0; 4] {
                break;
            }
            for c in 0..4 {
                sum[c] += 1.0 + v[c] * k as f32 - v[c];
            }
        }
        let mut steps = 0.0;
        while sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3] > 64.0 {
            sum = sum.map(|s| s / 2.0);
            steps += 1.0;
        }
        f32x4::new(sum[1], sum[0], sum[2] + steps, sum[3])
    });
    equal(&out.to_vec()?, &expected.collect::<Vec<_>>())
}

/// Reads elements at indices that no launch proves in bounds, and of some elements only single components.
#[kernel]
fn offsets_kernel(order: &[u32], a: &[f32x4], b: &[f32x2], out: &mut [f32x4], ends: &mut [f32x2]) {
    let i = global_idx_x();
    let k = order[i] as usize;
    out[i] = a[k] + b[k].xyxy();
    out[i].w = a[k].z;
    ends[i] = a[k].zw();
    ends[i].y += b[k].y;
}

fn offsets(device: &Device) -> Check {
    let n = 513;
    let (a, b) = (fours(212, n), fours(213, n));
    let b: Vec<f32x2> = b.iter().map(|v| f32x2::new(v.x, v.y)).collect();
    let order: Vec<u32> = (0..n as u32).map(|i| i * 7 % n as u32).collect();
    let mut out = Vector::filled(n, f32x4::ZERO);
    let mut ends = Vector::filled(n, f32x2::ZERO);
    let (left, right) = (Vector::from_slice(&a), Vector::from_slice(&b));
    offsets_kernel(
        &Vector::from_slice(&order),
        &left,
        &right,
        &mut out,
        &mut ends,
    )
    .over(n)
    .run_on(device)?;
    let expected = order.iter().map(|&k| {
        let (a, b) = (a[k as usize], b[k as usize]);
        let out = f32x4::new(a.x + b.x, a.y + b.y, a.z + b.x, a.z);
        (out, f32x2::new(a.z, a.w + b.y))
    });
    let (first, second): (Vec<_>, Vec<_>) = expected.unzip();
    equal(&out.to_vec()?, &first)?;
    equal(&ends.to_vec()?, &second)
}
