use super::{COUNTS, same};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("types/spheres", &[], spheres)];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Ray {
    origin: Vec3,
    direction: Vec3,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Sphere {
    centre: Vec3,
    radius: f32,
    material: u32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Hit {
    Miss,
    At { distance: f32, material: u32 },
}

/// Finds the nearest sphere that each ray hits. All numbers are small and whole, and `floor` takes the place of the square root.
#[kernel]
fn trace(rays: &[Ray], spheres: &[Sphere], hits: &mut [Hit]) {
    let i = global_idx_x();
    if i < rays.len() && i < hits.len() {
        let Ray { origin, direction } = rays[i];
        let mut nearest = Hit::Miss;
        for k in 0..spheres.len() {
            let s = spheres[k];
            let to = Vec3 {
                x: s.centre.x - origin.x,
                y: s.centre.y - origin.y,
                z: s.centre.z - origin.z,
            };
            let along = to.x * direction.x + to.y * direction.y + to.z * direction.z;
            let square = to.x * to.x + to.y * to.y + to.z * to.z;
            let inside = s.radius * s.radius - (square - along * along);
            if inside < 0.0 || along < 0.0 {
                continue;
            }
            let distance = along - inside.floor();
            nearest = match nearest {
                Hit::At { distance: d, .. } if d <= distance => nearest,
                _ => Hit::At {
                    distance,
                    material: s.material,
                },
            };
        }
        hits[i] = nearest;
    }
}

fn spheres(device: &Device) -> Check {
    for n in COUNTS {
        let rays: Vec<Ray> = (0..n)
            .map(|i| Ray {
                origin: Vec3 {
                    x: (i % 13) as f32 - 6.0,
                    y: (i / 13) as f32 - 4.0,
                    z: 0.0,
                },
                direction: Vec3 {
                    x: 0.0,
                    y: 0.0,
                    z: 1.0,
                },
            })
            .collect();
        let spheres: Vec<Sphere> = (0..5)
            .map(|k| Sphere {
                centre: Vec3 {
                    x: k as f32 * 3.0 - 6.0,
                    y: k as f32 - 2.0,
                    z: 40.0 - k as f32,
                },
                radius: 3.0,
                material: k,
            })
            .collect();
        let mut hits = Vector::filled(n, Hit::Miss);
        let scene = Vector::from_slice(&spheres);
        trace(&Vector::from_slice(&rays), &scene, &mut hits)
            .over(n)
            .run_on(device)?;
        let expected: Vec<Hit> = rays.iter().map(|ray| nearest(ray, &spheres)).collect();
        same("hits", &hits, &expected)?;
    }
    Ok(())
}

fn nearest(ray: &Ray, spheres: &[Sphere]) -> Hit {
    let mut hits: Vec<(f32, u32)> = vec![];
    for s in spheres {
        let (dx, dy) = (s.centre.x - ray.origin.x, s.centre.y - ray.origin.y);
        let inside = s.radius * s.radius - (dx * dx + dy * dy);
        if inside >= 0.0 {
            hits.push((s.centre.z - inside.floor(), s.material));
        }
    }
    let mut best = Hit::Miss;
    for (distance, material) in hits {
        match best {
            Hit::At { distance: d, .. } if d <= distance => {}
            _ => best = Hit::At { distance, material },
        }
    }
    best
}
