//! Each picture is the same on every backend, as exactly as its entry says.

use std::collections::HashSet;
use std::time::Instant;

use sarek::Device;
use sarek_gallery::{Agreement, EXAMPLES, Example, Pixels};

/// A small size. With a few steps, the kernels are those of the large pictures.
const SIZE: (usize, usize) = (50, 36);

fn draw(example: &Example, device: &Device) -> Pixels {
    let start = Instant::now();
    // The interpreter takes long for more than a few paths of light.
    let steps = if example.name == "mandelbrot" { 60 } else { 3 };
    let pixels = (example.draw)(device, SIZE.0, SIZE.1, steps)
        .unwrap_or_else(|why| panic!("{} on {}: {why}", example.name, device.backend()));
    println!(
        "{} on {}: {:.2?}",
        example.name,
        device.backend(),
        start.elapsed()
    );
    pixels
}

/// The part of the pixels of which a channel differs by more than `visible`.
fn difference(a: &Pixels, b: &Pixels, visible: u8) -> f32 {
    let differs =
        |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > visible);
    a.iter().zip(b).filter(differs).count() as f32 / a.len() as f32
}

#[test]
fn every_backend_draws_the_same_pictures() {
    let native = Device::of("native").expect("native is always there");
    let devices = Device::all();
    for example in EXAMPLES {
        let expected = draw(example, &native);
        assert_eq!(expected.len(), SIZE.0 * SIZE.1, "{}", example.name);
        let colours: HashSet<_> = expected.iter().collect();
        assert!(colours.len() > 3, "{} is nearly empty", example.name);
        for device in &devices {
            let (visible, allowed) = match example.agreement {
                Agreement::Within(part) if !device.info().features.strict => (8, part),
                Agreement::Within(_) | Agreement::Exact => (0, 0.0),
            };
            let found = difference(&expected, &draw(example, device), visible);
            assert!(
                found <= allowed,
                "{} on {}: {found} of the pixels differ, {allowed} may",
                example.name,
                device.backend()
            );
        }
    }
    let backends: HashSet<_> = devices.iter().map(Device::backend).collect();
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    for backend in required
        .split(',')
        .filter(|name| !matches!(*name, "" | "nvrtc"))
    {
        assert!(backends.contains(backend), "{backend} did not draw");
    }
}
