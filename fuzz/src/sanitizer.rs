//! Runs a launch under the interpreter's sanitizer.

use sarek_ir::Kernel;
use sarek_ir::interp::{Finding, Ids, Machine, Sanitize, Stop};

use crate::case::Launch;
use crate::replay::Memory;

/// An error that the sanitizer found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Two threads race, as described.
    Race(String),
    /// A read of an element of a shared array that no thread has written.
    Uninitialised,
}

/// Runs a launch of a linked kernel and returns the first error that the sanitizer finds. `order` chooses the order of threads and blocks.
pub fn first_error(kernel: &Kernel, launch: &Launch, order: u64) -> Option<Found> {
    run(kernel, launch, order, false)
}

/// Runs a launch of a linked kernel, which may read uninitialised elements, and describes the first race.
pub fn first_race(kernel: &Kernel, launch: &Launch, order: u64) -> Option<String> {
    match run(kernel, launch, order, true) {
        Some(Found::Race(message)) => Some(message),
        Some(Found::Uninitialised) | None => None,
    }
}

fn run(kernel: &Kernel, launch: &Launch, order: u64, unwritten: bool) -> Option<Found> {
    let settings = Sanitize {
        seed: order,
        unwritten,
        overflow: false,
    };
    let (grid, block) = launch.shape.blocks();
    let grid = grid.map(|n| n as u64);
    let extent = [0, 1, 2].map(|axis| grid[axis] * block[axis] as u64);
    let mut machine = Machine::sanitizing(kernel, settings);
    let mut memory = Memory::new(kernel, launch);
    let mut blocks: Vec<[u64; 3]> = points(grid).collect();
    machine.order(&mut blocks);
    for at in blocks {
        let (ids, size) = Ids::of_block(at, block.map(|n| n as u32), grid, extent);
        match machine.run(&ids, size, &mut memory) {
            Ok(()) => {}
            Err(Stop::Found(found)) => match *found {
                Finding::Uninitialised { .. } => return Some(Found::Uninitialised),
                Finding::Race { .. } => return Some(Found::Race(found.text(kernel))),
                Finding::Overflow { .. } => unreachable!("overflow is not looked for"),
            },
            // The next blocks would not run on any device.
            Err(Stop::Fault { .. } | Stop::Divergence { .. }) => return None,
        }
    }
    None
}

/// The points of a box.
fn points([nx, ny, nz]: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}
