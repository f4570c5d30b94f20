//! Compares subgroup operations on devices with the same operations on the host.

use sarek_ir::write::IndexWidth;
use sarek_ir::{Scalar, SubgroupOp};

use crate::blocks;
use crate::call::{Call, Given};
use crate::rig::Rig;

/// Small numbers, whose sums and products are exact in every type.
fn number(i: usize) -> f64 {
    [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0][i % 8]
}

fn encode(ty: Scalar, v: f64) -> Vec<u32> {
    let bits = match ty {
        Scalar::F32 => u64::from((v as f32).to_bits()),
        Scalar::F64 => v.to_bits(),
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => v as u64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::Usize => {
            panic!("no buffer of {ty}")
        }
    };
    [bits as u32, (bits >> 32) as u32][..ty.size() / 4].to_vec()
}

fn decode(ty: Scalar, words: &[u32]) -> f64 {
    let bits = words.iter().rev().fold(0, |v, w| v << 32 | u64::from(*w));
    match ty {
        Scalar::F32 => f32::from_bits(bits as u32).into(),
        Scalar::F64 => f64::from_bits(bits),
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => bits as f64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::Usize => {
            panic!("no buffer of {ty}")
        }
    }
}

/// Runs two blocks of 48 threads, which need not be a multiple of a subgroup.
pub fn check(rig: &Rig, op: SubgroupOp, ty: Scalar, lane: u64) {
    const BLOCK: usize = 48;
    const N: usize = 2 * BLOCK;
    let kernel = blocks::joined(op, ty, lane);
    let numbers: Vec<f64> = (0..N).map(number).collect();
    let words: Vec<u32> = numbers.iter().flat_map(|v| encode(ty, *v)).collect();
    let slice = |words: &[u32], len: usize| {
        let slice = rig.upload(words);
        (slice.clone(), Given::Slice(slice, len as u64))
    };
    let (_, x) = slice(&words, N);
    let (out, given_out) = slice(&vec![0; words.len()], N);
    let (lanes, given_lanes) = slice(&[99; N], N);
    let (sizes, given_sizes) = slice(&[99; N], N);
    Call {
        kernel: &kernel,
        grid: [2, 1, 1],
        block: [BLOCK as u32, 1, 1],
        given: vec![x, given_out, given_lanes, given_sizes],
        checked: false,
        index: IndexWidth::Bits32,
    }
    .run(rig);
    let sizes = rig.download::<u32>(&sizes);
    let size = sizes[0] as usize;
    assert!(size >= 1 && sizes.iter().all(|s| *s as usize == size));
    let expected_lanes: Vec<u32> = (0..N).map(|i| (i % BLOCK % size) as u32).collect();
    assert_eq!(rig.download::<u32>(&lanes), expected_lanes);
    let got: Vec<f64> = rig
        .download::<u32>(&out)
        .chunks(ty.size() / 4)
        .map(|words| decode(ty, words))
        .collect();
    let expected: Vec<f64> = numbers
        .chunks(BLOCK)
        .flat_map(|block| block.chunks(size))
        .flat_map(|group| (0..group.len()).map(|own| on_host(op, group, own, lane as usize)))
        .collect();
    assert_eq!(got, expected, "{op:?} on {ty}, lane {lane}, {size} lanes");
}

fn on_host(op: SubgroupOp, group: &[f64], own: usize, lane: usize) -> f64 {
    let at = |from: Option<usize>| {
        from.and_then(|i| group.get(i))
            .copied()
            .unwrap_or(group[own])
    };
    match op {
        SubgroupOp::Shuffle | SubgroupOp::Broadcast => at(Some(lane)),
        SubgroupOp::ShuffleUp => at(own.checked_sub(lane)),
        SubgroupOp::ShuffleDown => at(Some(own + lane)),
        SubgroupOp::ShuffleXor => at(Some(own ^ lane)),
        SubgroupOp::Sum => group.iter().sum(),
        SubgroupOp::Product => group.iter().product(),
        SubgroupOp::Min => group.iter().copied().fold(f64::INFINITY, f64::min),
        SubgroupOp::Max => group.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        SubgroupOp::InclusiveSum => group[..=own].iter().sum(),
        SubgroupOp::ExclusiveSum => group[..own].iter().sum(),
        SubgroupOp::All | SubgroupOp::Any | SubgroupOp::Ballot => panic!("not on numbers"),
    }
}
