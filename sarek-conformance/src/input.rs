//! Inputs: sizes, and lists of values.

pub use sarek::testing::{Random, Sample};

/// Lane counts and ragged sizes that the simple kernels run over; 0 is among them.
pub const SIZES: [usize; 10] = [0, 1, 3, 32, 33, 255, 256, 1000, 1024, 4099];

/// Block sizes; those that a device cannot run are left out by [`block_sizes`].
const BLOCKS: [usize; 7] = [1, 3, 32, 33, 255, 256, 1024];

/// The block sizes that the device can run along x, but the largest on the reference, which takes a thread of the operating system for each.
pub fn block_sizes(device: &sarek::Device) -> impl Iterator<Item = usize> {
    let info = device.info();
    let most = match device.backend() == "reference" {
        true => 256,
        false => info.max_block_threads.min(info.max_block[0]) as usize,
    };
    BLOCKS.into_iter().filter(move |&b| b <= most)
}

/// Every edge value, then random ones.
pub fn values<T: Sample>(seed: u64, random: usize) -> Vec<T> {
    let mut values = T::edges();
    values.extend(Random::new(seed).values::<T>(random));
    values
}

/// Every pair of edge values, then random pairs.
pub fn pairs<A: Sample, B: Sample>(seed: u64, random: usize) -> Vec<(A, B)> {
    let (left, right) = (A::edges(), B::edges());
    let edges = left
        .iter()
        .flat_map(|&a| right.iter().map(move |&b| (a, b)));
    let mut source = Random::new(seed);
    let more = (0..random).map(|_| (A::random(&mut source), B::random(&mut source)));
    edges.chain(more).collect()
}
