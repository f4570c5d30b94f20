//! Glass, metal and chalk by path tracing (Kajiya, 1986). All randomness comes from a hash of the pixel and the path.

use sarek::prelude::*;

use crate::{Pixels, colour, is_strict};

const METAL: u32 = 1;
const GLASS: u32 = 2;
const LIGHT: u32 = 3;

/// A sphere. Its `material` is `METAL`, `GLASS` or `LIGHT`, or else chalk.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Sphere {
    centre: f32x3,
    radius: f32,
    colour: f32x3,
    material: u32,
}

#[device]
fn hash(x: u32) -> u32 {
    let a = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let b = (a ^ (a >> 13)).wrapping_mul(0xc2b2_ae35);
    b ^ (b >> 16)
}

/// A random number from 0 to 1.
#[device]
fn random(seed: u32) -> f32 {
    (hash(seed) >> 8) as f32 / 16_777_216.0
}

/// A random direction.
#[device]
fn direction(seed: u32) -> f32x3 {
    let (x, y) = (random(seed), random(seed.wrapping_add(1)));
    let point = 2.0 * f32x3::new(x, y, random(seed.wrapping_add(2))) - f32x3::ONE;
    point / (point.length() + 1e-6)
}

/// The distance along a ray to a sphere; a billion if it is never reached. The ray's direction has length 1.
#[device]
fn distance(sphere: Sphere, origin: f32x3, ray: f32x3) -> f32 {
    let (centre, radius): (f32x3, f32) = (sphere.centre, sphere.radius);
    let to = centre - origin;
    let along = to.dot(ray);
    let square = along * along - to.dot(to) + radius * radius;
    if square < 0.0 {
        return 1e9;
    }
    let (near, far) = (along - square.sqrt(), along + square.sqrt());
    if near > 1e-3 {
        near
    } else if far > 1e-3 {
        far
    } else {
        1e9
    }
}

/// The direction in which a ray leaves a surface that it hits. The normal points outwards.
#[device]
fn scatter(material: u32, ray: f32x3, outwards: f32x3, seed: u32) -> f32x3 {
    let facing = ray.dot(outwards);
    let mirrored = ray - 2.0 * facing * outwards;
    if material == METAL {
        return mirrored;
    }
    if material != GLASS {
        let aside: f32x3 = direction(seed);
        return outwards + 0.99 * aside;
    }
    // Snell's law. Schlick's approximation is the probability of a reflection.
    let enters = facing < 0.0;
    let ratio = if enters { 1.0 / 1.5 } else { 1.5 };
    let normal = if enters { outwards } else { -outwards };
    let cosine = facing.abs();
    let bent = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    let c = 1.0 - cosine;
    let reflected = 0.04 + 0.96 * c * c * c * c * c;
    if bent < 0.0 || random(seed) < reflected {
        mirrored
    } else {
        ratio * ray + (ratio * cosine - bent.sqrt()) * normal
    }
}

/// The light that arrives along a ray.
#[device]
fn trace(mut origin: f32x3, mut ray: f32x3, mut seed: u32, scene: &[Sphere]) -> f32x3 {
    let mut filter = f32x3::ONE;
    for _ in 0..8 {
        ray = ray / ray.length();
        let mut nearest = 1e9f32;
        let mut hit = 0;
        for k in 0..scene.len() {
            let d: f32 = distance(scene[k], origin, ray);
            if d < nearest {
                nearest = d;
                hit = k;
            }
        }
        if nearest >= 1e9 {
            // The sky.
            return filter * (f32x3::new(0.7, 0.75, 0.9) - ray.y * f32x3::new(0.35, 0.2, 0.0));
        }
        let sphere = scene[hit];
        let (centre, radius, colour): (f32x3, f32, f32x3) =
            (sphere.centre, sphere.radius, sphere.colour);
        filter = filter * colour;
        if sphere.material == LIGHT {
            return filter;
        }
        origin = origin + nearest * ray;
        seed = hash(seed.wrapping_add(0x9e37_79b9));
        let outwards = (origin - centre) / radius;
        ray = scatter(sphere.material, ray, outwards, seed);
    }
    f32x3::ZERO
}

/// The mean light of the paths through a pixel.
#[device]
fn light(
    col: usize,
    row: usize,
    width: usize,
    height: usize,
    paths: u32,
    scene: &[Sphere],
) -> f32x3 {
    let mut sum = f32x3::ZERO;
    for path in 0..paths {
        let seed = hash((row * width + col) as u32).wrapping_add(path.wrapping_mul(0x9e37_79b9));
        let x = (col as f32 + random(seed) - 0.5 * width as f32) / height as f32;
        let y = (0.5 * height as f32 - row as f32 - random(seed.wrapping_add(1))) / height as f32;
        let ray = f32x3::new(x, y - 0.08, 1.2);
        let arrived: f32x3 = trace(f32x3::new(0.0, 1.1, -4.2), ray, seed, scene);
        sum = sum + arrived;
    }
    sum / paths as f32
}

/// Traces the paths of all pixels.
#[kernel(strict)]
fn render(width: usize, height: usize, paths: u32, scene: &[Sphere], picture: &mut [f32x3]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width {
        picture[row * width + col] = light(col, row, width, height, paths, scene);
    }
}

/// The same for devices without strict floats.
#[kernel]
fn render_loosely(
    width: usize,
    height: usize,
    paths: u32,
    scene: &[Sphere],
    picture: &mut [f32x3],
) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width {
        picture[row * width + col] = light(col, row, width, height, paths, scene);
    }
}

fn scene() -> Vec<Sphere> {
    let sphere = |[x, y, z]: [f32; 3], radius: f32, [r, g, b]: [f32; 3], material| Sphere {
        centre: f32x3::new(x, y, z),
        radius,
        colour: f32x3::new(r, g, b),
        material,
    };
    let mut scene = vec![
        sphere([0.0, -200.0, 0.0], 200.0, [0.55, 0.55, 0.5], 0),
        sphere([-1.3, 0.7, 0.6], 0.7, [0.95, 0.78, 0.4], METAL),
        sphere([0.1, 0.6, -0.6], 0.6, [1.0, 1.0, 1.0], GLASS),
        sphere([1.5, 0.8, 0.5], 0.8, [0.75, 0.2, 0.15], 0),
        sphere([0.4, 4.5, 2.0], 1.2, [5.0, 4.6, 4.0], LIGHT),
    ];
    for k in 0..12 {
        let random = |i: u32| colour::unit(9 * k + i);
        let x = -2.6 + 5.2 * (k as f32 + random(0)) / 12.0;
        let tint = [2, 3, 4].map(|i| 0.3 + 0.7 * random(i));
        scene.push(sphere([x, 0.18, -1.4 + 0.5 * random(1)], 0.18, tint, k % 3));
    }
    scene
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let render = if is_strict(device) {
        render
    } else {
        render_loosely
    };
    let scene = Vector::from_vec(scene());
    let mut picture = Vector::from_vec(vec![f32x3::ZERO; width * height]);
    render(width, height, steps as u32, &scene, &mut picture)
        .over((width, height))
        .run_on(device)?;
    let byte = |v: f32| (255.0 * v.clamp(0.0, 1.0).sqrt()) as u8;
    let pixel = |light: &f32x3| light.to_array().map(byte);
    Ok(picture.into_vec()?.iter().map(pixel).collect())
}
