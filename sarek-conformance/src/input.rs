//! Inputs of the cases: sizes, and lists of values.

pub use sarek::testing::{Random, Sample};

/// Sizes that the simple kernels run over: 0, common lane counts, and sizes that fill no block.
pub const SIZES: [usize; 10] = [0, 1, 3, 32, 33, 255, 256, 1000, 1024, 4099];

/// Block sizes, of which [`block_sizes`] selects those that a device can run.
const BLOCKS: [usize; 7] = [1, 3, 32, 33, 255, 256, 1024];

/// The block sizes that the device can run along x. The reference gets at most 256, since it runs each thread of a block
/// on a thread of the operating system.
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
