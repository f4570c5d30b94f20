//! Compares the native device with the interpreter for every shape of the loops over lanes: all, each alone, and all but each.

use sarek::prelude::*;

use super::shaped::{self, Launched, Place};
use super::{agree, input};

/// Runs every shape of a kernel natively, and compares each result with the interpreter's.
fn mean_the_same(
    shapes: &[(&str, Launched)],
    (n, x): (usize, &Vector<u32>),
    len: usize,
    place: Place,
) {
    let run = |(name, launched): (&str, Launched), backend: &str| {
        let what = || format!("{name}, {n} of {}, {place:?} on {backend}", x.len());
        let device = Device::of(backend).expect("built in");
        let mut out = Vector::filled(len, 77);
        // SAFETY: each thread stores to elements of its own, with barriers between uses of shared ones.
        let launch = unsafe { launched(n, x, &mut out, place) };
        let done = launch.run_on(&device).and_then(|()| out.to_vec());
        (
            done.unwrap_or_else(|why| panic!("{}: {why}", what())),
            what(),
        )
    };
    let (expected, _) = run(shapes[0], "interpreter");
    assert!(expected.iter().any(|v| *v != 77), "{n}, {place:?}: nothing");
    for shape in shapes {
        let (got, what) = run(*shape, "native");
        assert_eq!(got, expected, "{what}");
    }
}

/// A one-dimensional grid of one-dimensional blocks.
fn row(grid: usize, block: usize) -> Place {
    Place::Blocks([grid, 1], [block, 1])
}

#[test]
fn loops() {
    for len in [1, 7, 31, 32, 33, 100, 500] {
        let x = input(len);
        for n in [0, 1, 3, 9, 40] {
            for shapes in [
                shaped::sums::SHAPES,
                shaped::strides::SHAPES,
                shaped::steps::SHAPES,
            ] {
                mean_the_same(shapes, (n, &x), len, Place::Over(len, 1));
            }
            let place = Place::Over(len.div_ceil(3), 3);
            mean_the_same(shaped::edges::SHAPES, (n, &x), len, place);
        }
    }
}

/// Strided loops, with blocks that fill wide strips, narrow strips, or neither.
#[test]
fn turns() {
    for len in [1, 31, 1000, 3000] {
        let x = input(len);
        for (grid, block) in [(1, 1), (3, 31), (2, 32), (2, 256), (1, 300), (2, 600)] {
            let place = row(grid, block);
            for n in [0, 1, 40, 700] {
                for shapes in [
                    shaped::turns::SHAPES,
                    shaped::pieces::SHAPES,
                    shaped::starts::SHAPES,
                ] {
                    mean_the_same(shapes, (n, &x), grid * block, place);
                }
            }
        }
    }
}

#[test]
fn rows_inside() {
    for len in [1, 16, 100, 400] {
        let x = input(len);
        for (grid, block) in [(3, 1), (3, 16), (2, 33), (2, 256)] {
            for n in [0, 1, 3, 40, 300] {
                let place = row(grid, block);
                mean_the_same(shaped::inside::SHAPES, (n, &x), grid * block, place);
            }
        }
    }
}

#[test]
fn parts() {
    for len in [1, 100] {
        let x = input(len);
        for (grid, block) in [(1, 1), (3, 31), (2, 32), (2, 77)] {
            for n in [0, 1, 9] {
                let place = row(grid, block);
                mean_the_same(shaped::parts::SHAPES, (n, &x), grid * block, place);
            }
        }
    }
}

#[kernel]
fn transposed(input: View2<u32>, mut output: ViewMut2<u32>) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x < input.cols() && y < input.rows() {
        output[[x, y]] = input[[y, x]];
    }
}

#[test]
fn columns() {
    let x = input(300);
    for (w, h) in [(1, 1), (1, 8), (8, 3), (5, 8), (8, 8)] {
        for n in [0, 3, 100] {
            let place = Place::Blocks([3, 2], [w, h]);
            mean_the_same(shaped::columns::SHAPES, (n, &x), w * h * 6, place);
            mean_the_same(shaped::across::SHAPES, (n, &x), w * h * 6, place);
        }
    }
    for (w, h) in [(1, 1), (7, 300), (300, 7), (33, 65)] {
        let x = input(w * h);
        let out = agree(&format!("transposed {w} by {h}"), w * h, |out, device| {
            let (input, output) = (x.view2(h, w)?, out.view2_mut(w, h)?);
            transposed(input, output).over((w, h)).run_on(device)
        });
        let x = x.as_slice().unwrap();
        assert!((0..w * h).all(|i| out[i] == x[i % h * w + i / h]));
    }
}

#[test]
fn tiles() {
    let x = input(300);
    for (w, h) in [(1, 1), (5, 3), (8, 8), (16, 16), (32, 4), (24, 24)] {
        for n in [0, 1, 4] {
            let place = Place::Blocks([2, 2], [w, h]);
            mean_the_same(shaped::tiles::SHAPES, (n, &x), w * h * 4, place);
        }
    }
    for n in [0, 1, 4] {
        let place = Place::Blocks([2, 2], [16, 8]);
        mean_the_same(shaped::fixed_tiles::SHAPES, (n, &x), 512, place);
        mean_the_same(shaped::products::SHAPES, (n, &x), 512, place);
        mean_the_same(shaped::register_tiles::SHAPES, (n, &x), 512, place);
    }
    // A stack has four rows, and a block has eight.
    for n in [1, 3, 4, 5, 8, 9, 14, 16, 40] {
        let place = Place::Blocks([2, 2], [16, 8]);
        mean_the_same(shaped::leftover::SHAPES, (n, &x), 512, place);
    }
}

/// Rows of several lengths, also ones that are shorter than a strip and ones that end inside of one.
#[test]
fn long_rows() {
    for (w, h) in [
        (5, 4),
        (16, 3),
        (17, 4),
        (40, 9),
        (64, 5),
        (300, 6),
        (1100, 2),
    ] {
        let x = input(w * h);
        for n in [1, 3, 4, 7, 40] {
            let place = Place::Over(w, h);
            mean_the_same(shaped::guarded::SHAPES, (n, &x), w * h * 3 + 1, place);
            mean_the_same(shaped::long_rows::SHAPES, (n, &x), w * h + 1, place);
        }
        for n in [1, 5] {
            mean_the_same(
                shaped::streams::SHAPES,
                (n, &x),
                w * h * n + 1,
                Place::Over(w, h),
            );
        }
    }
}

/// A product whose right factor is copied.
#[kernel]
fn product(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if row < n && col < n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + col];
        }
        c[row * n + col] = sum;
    }
}

#[test]
fn copied_factors() {
    for n in [1, 4, 17, 40, 70, 133] {
        let random = |seed: usize| {
            let each = (0..n * n).map(|i| (i * seed % 1009) as f32 * 0.01);
            Vector::from_vec(each.collect())
        };
        let (a, b) = (random(7919), random(104_729));
        agree(&format!("a product of {n}"), n * n, |c, device| {
            product(n, &a, &b, c).over((n, n)).run_on(device)
        });
    }
}

/// Threads that do not see their blocks run in others.
#[test]
fn blocks_of_the_launch() {
    let x = input(500);
    for (grid, block) in [
        ([3, 2], [5, 3]),
        ([2, 3], [16, 16]),
        ([7, 1], [8, 8]),
        ([9, 1], [1, 1]),
    ] {
        let threads = grid[0] * grid[1] * block[0] * block[1];
        for n in [1, 5, 40] {
            let place = Place::Blocks(grid, block);
            mean_the_same(shaped::guarded::SHAPES, (n, &x), threads * 3, place);
            mean_the_same(shaped::long_rows::SHAPES, (n, &x), threads, place);
        }
    }
}

#[test]
fn divergent_loops() {
    for len in [1, 31, 33, 100, 500] {
        let x = input(len);
        for n in [0, 1, 4] {
            mean_the_same(shaped::counted::SHAPES, (n, &x), len, Place::Over(len, 1));
        }
    }
}

#[test]
fn rows_of_given_blocks() {
    let x = input(300);
    for block in [
        [16, 4],
        [16, 16],
        [16, 8],
        [16, 6],
        [8, 8],
        [8, 3],
        [8, 16],
        [32, 2],
        [5, 5],
    ] {
        let threads = 4 * block[0] * block[1];
        for n in [0, 1, 4] {
            let place = Place::Blocks([2, 2], block);
            mean_the_same(shaped::given_products::SHAPES, (n, &x), threads, place);
        }
    }
    for block in [1, 2, 7, 8, 9, 32, 33, 64, 100, 256] {
        for n in [0, 3, 9, 33] {
            let place = row(2, block);
            mean_the_same(shaped::doubling::SHAPES, (n, &x), 2 * block, place);
            mean_the_same(shaped::halves::SHAPES, (n, &x), 2 * block, place);
        }
    }
}
