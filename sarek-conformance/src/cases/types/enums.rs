use super::{COUNTS, same};
use crate::check::Check;
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/enums/data", &[Capability::Storage8], data),
    Case::new("types/enums/bare", &[], bare),
    Case::new("types/enums/nested", &[Capability::Storage8], nested),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Shape {
    Circle { r: f32 },
    Rectangle { w: f32, h: f32 },
    Square(f32),
    Labelled(u32, bool),
    Point,
}

fn shapes(random: &mut Random, n: usize) -> Vec<Shape> {
    let mut one = |_| {
        let a = random.below(64) as f32 / 4.0;
        match random.below(5) {
            0 => Shape::Circle { r: a },
            1 => Shape::Rectangle { w: a, h: a + 1.0 },
            2 => Shape::Square(a),
            3 => Shape::Labelled(random.below(9) as u32, random.below(2) == 0),
            _ => Shape::Point,
        }
    };
    (0..n).map(&mut one).collect()
}

#[kernel]
fn grow(shapes: &mut [Shape], areas: &mut [f32]) {
    let i = global_idx_x();
    if i < shapes.len() && i < areas.len() {
        let s = shapes[i];
        areas[i] = match s {
            Shape::Circle { r } if r > 8.0 => 3.0 * r * r,
            Shape::Circle { r } => r * r,
            Shape::Rectangle { w, h } => w * h,
            Shape::Square(a) => a * a,
            Shape::Labelled(0 | 1, _) => 100.0,
            Shape::Labelled(n, true) => n as f32,
            Shape::Labelled(..) | Shape::Point => 0.0,
        };
        shapes[i] = match s {
            Shape::Circle { r } => Shape::Circle { r: r + 1.0 },
            Shape::Rectangle { w, .. } => Shape::Square(w),
            Shape::Square(w) => Shape::Rectangle { h: w, w: 2.0 },
            Shape::Labelled(n, b) => Shape::Labelled(n + 1, !b),
            Shape::Point => Shape::Labelled(7, false),
        };
    }
}

fn area(s: Shape) -> f32 {
    match s {
        Shape::Circle { r } if r > 8.0 => 3.0 * r * r,
        Shape::Circle { r } => r * r,
        Shape::Rectangle { w, h } => w * h,
        Shape::Square(a) => a * a,
        Shape::Labelled(0 | 1, _) => 100.0,
        Shape::Labelled(n, true) => n as f32,
        Shape::Labelled(..) | Shape::Point => 0.0,
    }
}

fn grown(s: Shape) -> Shape {
    match s {
        Shape::Circle { r } => Shape::Circle { r: r + 1.0 },
        Shape::Rectangle { w, .. } => Shape::Square(w),
        Shape::Square(w) => Shape::Rectangle { h: w, w: 2.0 },
        Shape::Labelled(n, b) => Shape::Labelled(n + 1, !b),
        Shape::Point => Shape::Labelled(7, false),
    }
}

fn data(device: &Device) -> Check {
    for n in COUNTS {
        let host = shapes(&mut Random::new(n as u64), n);
        let mut s = Vector::from_slice(&host);
        let mut areas = Vector::zeros(n);
        grow(&mut s, &mut areas).over(n).run_on(device)?;
        let expected: Vec<f32> = host.iter().map(|s| area(*s)).collect();
        same("areas", &areas, &expected)?;
        let expected: Vec<Shape> = host.iter().map(|s| grown(*s)).collect();
        same("shapes", &s, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(u32)]
enum Light {
    Red = 3,
    Amber,
    Green = 10,
}

#[kernel]
fn next(lights: &mut [Light]) {
    let i = global_idx_x();
    if i < lights.len() {
        lights[i] = match lights[i] {
            Light::Red => Light::Green,
            Light::Green => Light::Amber,
            Light::Amber => Light::Red,
        };
    }
}

fn bare(device: &Device) -> Check {
    let all = [Light::Red, Light::Amber, Light::Green];
    for n in COUNTS {
        let host: Vec<Light> = (0..n).map(|i| all[i % 3]).collect();
        let mut lights = Vector::from_slice(&host);
        next(&mut lights).over(n).run_on(device)?;
        let after = [Light::Green, Light::Red, Light::Amber];
        let expected: Vec<Light> = (0..n).map(|i| after[i % 3]).collect();
        same("lights", &lights, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Event {
    Nothing,
    Seen { shape: Shape, light: Light },
}

#[kernel]
fn handle(events: &[Event], out: &mut [i32]) {
    let i = global_idx_x();
    if i < events.len() && i < out.len() {
        out[i] = match events[i] {
            Event::Nothing => -1,
            Event::Seen {
                shape: Shape::Square(a) | Shape::Circle { r: a },
                light: Light::Red,
            } => a as i32,
            Event::Seen {
                light: Light::Amber | Light::Green,
                shape: Shape::Labelled(n @ 2..=5, _),
            } => n as i32 * 100,
            Event::Seen { light, .. } if matches!(light, Light::Amber) => -2,
            Event::Seen { .. } => -3,
        };
    }
}

fn handled(event: Event) -> i32 {
    match event {
        Event::Nothing => -1,
        Event::Seen { shape, light } => match (shape, light) {
            (Shape::Square(a), Light::Red) => a as i32,
            (Shape::Circle { r }, Light::Red) => r as i32,
            (Shape::Labelled(n, _), Light::Amber | Light::Green) if (2..=5).contains(&n) => {
                n as i32 * 100
            }
            (_, Light::Amber) => -2,
            _ => -3,
        },
    }
}

fn nested(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let all = [Light::Red, Light::Amber, Light::Green];
        let host: Vec<Event> = shapes(&mut random, n)
            .into_iter()
            .map(|shape| match random.below(4) {
                0 => Event::Nothing,
                k => Event::Seen {
                    shape,
                    light: all[k as usize - 1],
                },
            })
            .collect();
        let mut out = Vector::zeros(n);
        handle(&Vector::from_slice(&host), &mut out)
            .over(n)
            .run_on(device)?;
        let expected: Vec<i32> = host.into_iter().map(handled).collect();
        same("out", &out, &expected)?;
    }
    Ok(())
}
