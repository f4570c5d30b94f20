use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("transpose", &[], run)];

#[kernel]
fn transpose(width: usize, height: usize, input: &[u32], output: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        output[x * height + y] = input[y * width + x];
    }
}

fn run(device: &Device) -> Check {
    for (width, height) in [
        (1, 1),
        (1, 33),
        (33, 1),
        (32, 32),
        (31, 65),
        (255, 3),
        (100, 41),
    ] {
        let input: Vec<u32> = Random::new((width * height) as u64).values(width * height);
        let mut expected = Vec::with_capacity(input.len());
        for x in 0..width {
            expected.extend((0..height).map(|y| input[x + width * y]));
        }
        let input = Vector::from_vec(input);
        let mut output = sentinel_filled(width * height);
        transpose(width, height, &input, &mut output)
            .over((width, height))
            .run_on(device)?;
        expect(&format!("{width}x{height}"), &output, &expected)?;
    }
    Ok(())
}
