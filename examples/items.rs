//! A kernel over items, which prints and asserts: `cargo run --release --example items`.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Particle {
    at: f32,
    speed: f32,
}

/// A step of a particle that bounces between walls at 0 and 1.
#[kernel]
fn step(time: f32, #[item] particle: &mut Particle, #[item] bounces: &mut u32) {
    particle.at += particle.speed * time;
    if particle.at < 0.0 || particle.at > 1.0 {
        particle.speed = -particle.speed;
        *bounces += 1;
        if item_id() < 3 {
            println!("particle {} bounces at {:.3}", item_id(), particle.at);
        }
    }
    assert!(particle.speed.abs() < 10.0, "too fast for the walls");
}

fn main() -> sarek::Result<()> {
    let device = Device::best()?;
    println!("on {device}");
    let start = |i: usize| Particle {
        at: (i % 100) as f32 / 100.0,
        speed: (i % 7) as f32 - 3.0,
    };
    let mut particles = Vector::from_vec((0..100_000).map(start).collect());
    let mut bounces = Vector::zeros(particles.len());
    for _ in 0..20 {
        step(0.02, &mut particles, &mut bounces).run_on(&device)?;
    }
    device.sync()?;
    let mut expected = vec![0u32; particles.len()];
    for (i, expected) in expected.iter_mut().enumerate() {
        let mut particle = start(i);
        for _ in 0..20 {
            particle.at += particle.speed * 0.02;
            if particle.at < 0.0 || particle.at > 1.0 {
                particle.speed = -particle.speed;
                *expected += 1;
            }
        }
    }
    let bounces = bounces.to_vec()?;
    // Close to a wall, rounding decides if a particle bounces, so devices may differ.
    let differ = bounces
        .iter()
        .zip(&expected)
        .filter(|(a, b)| a != b)
        .count();
    println!(
        "{} bounces; plain Rust differs for {differ} of {} particles",
        bounces.iter().sum::<u32>(),
        expected.len()
    );
    Ok(())
}
