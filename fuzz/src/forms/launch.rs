//! Draws launches of candidates.

use sarek::testing::Random;

use crate::case::{Launch, Shape};

/// The most threads of a launch.
const MOST_THREADS: usize = 256;

/// A launch of one thread, for printing.
pub(super) fn small(seed: u64) -> Launch {
    Launch {
        seed,
        shape: Shape::Grid([1; 3], [1; 3]),
        scalars: vec![1; 4],
        lens: vec![1, 1],
        views: vec![],
        items: vec![],
        generics: vec![],
        host: false,
    }
}

/// Draws a launch. `block` is the size of a block if the kernel declares it.
pub(super) fn draw(seed: u64, block: Option<[u32; 3]>) -> Launch {
    let mut random = Random::new(seed);
    let mut pick = |from: &[usize]| from[random.below(from.len() as u64) as usize];
    let block = match block {
        Some(block) => block.map(|n| n as usize),
        None => [
            pick(&[1, 2, 3, 4, 5, 7, 8, 16, 32]),
            pick(&[1, 1, 2, 3, 4]),
            1,
        ],
    };
    let mut grid = [pick(&[1, 2, 2, 3, 4]), pick(&[1, 1, 1, 2, 3]), 1];
    let threads = |grid: [usize; 3]| grid.iter().chain(&block).product::<usize>();
    if threads(grid) > MOST_THREADS {
        grid = [2, 1, 1];
    }
    let threads = threads(grid);
    let [w, h] = [0, 1].map(|axis| grid[axis] * block[axis]);
    let near = [
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        8,
        9,
        15,
        16,
        17,
        block[0],
        block[1],
        w,
        w,
        h,
        h,
        w + 1,
        w - 1,
    ];
    let (wide, high, some) = (pick(&near), pick(&near), pick(&near));
    let n = match pick(&[0, 1, 2, 3]) {
        0 => wide * high,
        1 => threads,
        2 => 2 * w + 3,
        _ => pick(&near),
    };
    // Long enough that most indices are in bounds; at times ragged.
    let len = [4096, 4096, n.max(1), threads, 1 + pick(&near)];
    let len = len[pick(&[0, 1, 2, 3, 4])];
    Launch {
        shape: Shape::Grid(grid, block),
        scalars: [n, wide, high, some].map(|value| value as u64).into(),
        lens: vec![1 + pick(&near), len],
        ..small(seed)
    }
}
