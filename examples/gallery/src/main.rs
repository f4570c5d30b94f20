//! `cargo run --release -p sarek-gallery -- NAME [--size WIDTHxHEIGHT] [--steps N] [OUTPUT.png]`
//!
//! The device is the best one, or that of the backend named in `SAREK_BACKEND`.

use std::error::Error;
use std::time::Instant;

use sarek::Device;
use sarek_gallery::{EXAMPLES, Example, find};

/// The command line.
struct Arguments {
    example: &'static Example,
    size: (usize, usize),
    steps: usize,
    output: String,
}

impl Arguments {
    /// `None` if no picture is named.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, Box<dyn Error>> {
        let Some(name) = words.next() else {
            return Ok(None);
        };
        let example = find(&name).ok_or_else(|| {
            format!("there is no picture `{name}`; run it without a name for the list")
        })?;
        let (mut size, mut steps) = (example.size, example.steps);
        let mut output = format!("{name}.png");
        while let Some(word) = words.next() {
            match word.as_str() {
                "--size" => {
                    let text = words.next().unwrap_or_default();
                    let parsed = text
                        .split_once('x')
                        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
                    size = parsed
                        .filter(|&(w, h)| w >= 16 && h >= 16)
                        .ok_or("`--size` needs WIDTHxHEIGHT, each at least 16")?;
                }
                "--steps" => {
                    let text = words.next().unwrap_or_default();
                    steps = text.parse().map_err(|_| "`--steps` needs a number")?;
                }
                option if option.starts_with('-') => {
                    return Err(format!("unknown option `{option}`").into());
                }
                path => output = path.into(),
            }
        }
        Ok(Some(Arguments {
            example,
            size,
            steps,
            output,
        }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(Arguments {
        example,
        size: (width, height),
        steps,
        output,
    }) = Arguments::parse(std::env::args().skip(1))?
    else {
        println!(
            "cargo run --release -p sarek-gallery -- NAME [--size WIDTHxHEIGHT] [--steps N] [OUTPUT.png]\n"
        );
        for Example { name, about, .. } in EXAMPLES {
            println!("  {name:<12} {about}");
        }
        return Ok(());
    };
    let device = Device::best()?;
    println!(
        "{}: {} on {} ({})",
        example.name,
        example.about,
        device.name(),
        device.backend()
    );
    let start = Instant::now();
    let pixels = (example.draw)(&device, width, height, steps)?;
    let time = start.elapsed();
    let (w, h) = (width.try_into()?, height.try_into()?);
    image::RgbImage::from_raw(w, h, pixels.into_flattened())
        .ok_or("the picture has another size")?
        .save(&output)?;
    println!("wrote {output} ({width} x {height}, drawn in {time:.2?})");
    Ok(())
}
