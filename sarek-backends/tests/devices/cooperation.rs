//! Tests shared memory and cooperation of a block's threads on devices.

use sarek_ir::write::{FAULT_WORDS, IndexWidth};
use sarek_ir::{AtomicOp, Kernel, Scalar, SubgroupOp, Value};

use crate::blocks;
use crate::call::{Call, Given};
use crate::rig::{Bytes, Rig};
use crate::subgroups;

/// The block sizes to test, as far as a device supports them.
fn lane_counts(rig: &Rig) -> impl Iterator<Item = u32> {
    let info = rig.device.info();
    let most = info.max_block_threads.min(info.max_block[0]);
    [1, 3, 32, 33, 255, 256, 1024]
        .into_iter()
        .filter(move |n| *n <= most)
}

fn widths(rig: &Rig) -> Vec<IndexWidth> {
    match rig.device.info().features.i64 {
        true => vec![IndexWidth::Bits32, IndexWidth::Bits64],
        false => vec![IndexWidth::Bits32],
    }
}

/// Every kind of rendering: with and without checks, in both widths.
fn renderings(rig: &Rig) -> Vec<(bool, IndexWidth)> {
    let widths = widths(rig).into_iter();
    widths
        .flat_map(|width| [(false, width), (true, width)])
        .collect()
}

fn given<T: Bytes>(rig: &Rig, data: &[T]) -> (sarek_runtime::backend::Slice, Given) {
    let slice = rig.upload(data);
    (slice.clone(), Given::Slice(slice, data.len() as u64))
}

const NO_FAULT: [u32; FAULT_WORDS] = [0; FAULT_WORDS];

pub fn blocks_reduce(rig: &Rig) {
    let kernel = blocks::reduction();
    for lanes in lane_counts(rig) {
        for (checked, index) in renderings(rig) {
            let n = 3 * lanes - lanes / 2;
            let data: Vec<f32> = (0..n).map(|i| (i % 7) as f32 + 1.0).collect();
            let (_, x) = given(rig, &data);
            let (sums, out) = given(rig, &[-1.0f32; 3]);
            let faults = Call {
                kernel: &kernel,
                grid: [3, 1, 1],
                block: [lanes, 1, 1],
                given: vec![x, out],
                checked,
                index,
            }
            .run(rig);
            assert_eq!(faults, NO_FAULT);
            let expected: Vec<f32> = data
                .chunks(lanes as usize)
                .map(|c| c.iter().sum())
                .collect();
            let mut got = rig.download::<f32>(&sums);
            got.truncate(expected.len());
            assert_eq!(got, expected, "{lanes} lanes, {checked}, {index:?}");
        }
    }
}

pub fn blocks_transpose(rig: &Rig) {
    let kernel = blocks::transpose();
    let (w, h) = (35u32, 50u32);
    let data: Vec<f32> = (0..w * h).map(|i| i as f32).collect();
    for (checked, index) in renderings(rig) {
        let (_, x) = given(rig, &data);
        let (y, out) = given(rig, &vec![-1.0f32; data.len()]);
        let size = |n: u32| Given::Scalar(Value::Usize(n.into()));
        let faults = Call {
            kernel: &kernel,
            grid: [w.div_ceil(16), h.div_ceil(16), 1],
            block: [16, 16, 1],
            given: vec![size(w), size(h), x, out],
            checked,
            index,
        }
        .run(rig);
        assert_eq!(faults, NO_FAULT);
        let at = |i: u32| data[((i % h) * w + i / h) as usize];
        let expected: Vec<f32> = (0..w * h).map(at).collect();
        assert_eq!(rig.download::<f32>(&y), expected, "{checked}, {index:?}");
    }
}

fn count(rig: &Rig, lanes: u32, data: &[u32], checked: bool) -> (Vec<u32>, Vec<u32>) {
    let (_, x) = given(rig, data);
    let (bins, out) = given(rig, &[5u32; 64]);
    let faults = Call {
        kernel: &blocks::histogram(),
        grid: [4, 1, 1],
        block: [lanes, 1, 1],
        given: vec![x, out],
        checked,
        index: IndexWidth::Bits32,
    }
    .run(rig);
    (rig.download(&bins), faults)
}

pub fn blocks_count(rig: &Rig) {
    for lanes in lane_counts(rig) {
        let data: Vec<u32> = (0..4 * lanes).map(|i| i * i % 61).collect();
        let mut expected = vec![5u32; 64];
        data.iter().for_each(|v| expected[*v as usize] += 1);
        for checked in [false, true] {
            let (bins, faults) = count(rig, lanes, &data, checked);
            assert_eq!(
                (bins, faults),
                (expected.clone(), NO_FAULT.to_vec()),
                "{lanes} lanes"
            );
        }
    }
}

pub fn a_fault_changes_nothing_else(rig: &Rig) {
    let mut data: Vec<u32> = (0..128).map(|i| i % 61).collect();
    let mut expected = vec![5u32; 64];
    data.iter().for_each(|v| expected[*v as usize] += 1);
    expected[data[70] as usize] -= 1;
    data[70] = 64;
    let (bins, faults) = count(rig, 32, &data, true);
    // The faulting thread leaves its loops, so its block's count of 6 is not passed on.
    expected[6] -= 1;
    assert_eq!(
        bins, expected,
        "others are counted, and the barrier is passed"
    );
    assert_eq!((faults[0], faults[2], faults[4]), (1, 64, 70));
}

pub fn launches_size_shared_arrays(rig: &Rig) {
    if !rig.device.info().features.f64 {
        return eprintln!("skipped: {} has no f64", rig.device.info().name);
    }
    let kernel = blocks::launch_sized();
    for lanes in lane_counts(rig) {
        for (checked, index) in renderings(rig) {
            let n = 2 * lanes;
            let words: Vec<u64> = (0..n).map(|i| f64::from(i).to_bits()).collect();
            let (x, given_x) = given(rig, &words);
            let (flags, out) = given(rig, &vec![9u32; n as usize]);
            let faults = Call {
                kernel: &kernel,
                grid: [2, 1, 1],
                block: [lanes, 1, 1],
                given: vec![given_x, out],
                checked,
                index,
            }
            .run(rig);
            assert_eq!(faults, NO_FAULT);
            let from = |i: u32| i / lanes * lanes + (lanes - 1 - i % lanes);
            let expected: Vec<u64> = (0..n).map(|i| f64::from(from(i)).to_bits()).collect();
            assert_eq!(rig.download::<u64>(&x), expected, "{lanes} lanes");
            let odd: Vec<u32> = (0..n).map(|i| from(i) % lanes % 2).collect();
            assert_eq!(rig.download::<u32>(&flags), odd, "{lanes} lanes");
        }
    }
}

pub fn much_shared_memory_is_given(rig: &Rig) {
    let kernel = blocks::large();
    if kernel.fixed_shared_bytes(1) > rig.device.info().max_shared {
        return eprintln!("skipped: {} has not so much", rig.device.info().name);
    }
    let (x, out) = given(rig, &[0.0f32; 64]);
    Call {
        kernel: &kernel,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        given: vec![out],
        checked: false,
        index: IndexWidth::Bits32,
    }
    .run(rig);
    assert_eq!(rig.download::<f32>(&x), [3.0; 64]);
}

pub fn local_arrays_are_each_threads_own(rig: &Rig) {
    let has = rig.device.info().features;
    let can = |ty: &Scalar| match ty {
        Scalar::I64 | Scalar::U64 => has.i64,
        Scalar::F64 => has.f64 && has.i64,
        Scalar::F16 => has.f16,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::Usize
        | Scalar::Bf16
        | Scalar::F32 => true,
    };
    let types: Vec<Scalar> = Scalar::ALL.into_iter().filter(can).collect();
    let kernel = blocks::local_arrays(&types);
    for (checked, index) in renderings(rig) {
        let (sums, out) = given(rig, &[0u32; 100]);
        let faults = Call {
            kernel: &kernel,
            grid: [4, 1, 1],
            block: [25, 1, 1],
            given: vec![out],
            checked,
            index,
        }
        .run(rig);
        assert_eq!(faults, NO_FAULT);
        let each = 4 * (types.len() as u32 - 1);
        let expected: Vec<u32> = (0..100).map(|i| 1 + (i + 1) * each).collect();
        assert_eq!(rig.download::<u32>(&sums), expected, "{checked}, {index:?}");
    }
}

/// A loop with barriers ends even if the thread that should end it has faulted.
pub fn a_fault_ends_a_loop_with_barriers(rig: &Rig) {
    for (index, faulted) in [(0u32, 0u32), (7, 1)] {
        let (_, at) = given(rig, &[index]);
        let (x, out) = given(rig, &[0u32; 128]);
        let faults = Call {
            kernel: &blocks::endless(),
            grid: [2, 1, 1],
            block: [64, 1, 1],
            given: vec![at, out],
            checked: true,
            index: IndexWidth::Bits32,
        }
        .run(rig);
        assert_eq!(faults[0], faulted);
        assert_eq!(rig.download::<u32>(&x), [1 - faulted; 128]);
    }
}

fn words(ty: Scalar, values: &[u64]) -> Vec<u32> {
    let halves = |v: &u64| [*v as u32, (*v >> 32) as u32];
    values
        .iter()
        .flat_map(|v| halves(v).into_iter().take(ty.size() / 4))
        .collect()
}

fn from_words(ty: Scalar, words: &[u32]) -> Vec<u64> {
    let join = |c: &[u32]| c.iter().rev().fold(0, |v, w| v << 32 | u64::from(*w));
    words.chunks(ty.size() / 4).map(join).collect()
}

/// Runs [`blocks::contended`]. For each operation, returns the threads' results and the final element.
fn contend(
    rig: &Rig,
    ty: Scalar,
    shared: bool,
    (first, values): (&[u64], &[u64]),
) -> Vec<(Vec<u64>, u64)> {
    let kernel: Kernel = blocks::contended(ty, shared);
    let slice = |values: &[u64]| {
        let slice = rig.upload(&words(ty, values));
        (slice.clone(), Given::Slice(slice, values.len() as u64))
    };
    let (_, given_first) = slice(first);
    let (_, given_values) = slice(values);
    let (out, given_out) = slice(&vec![0; first.len() * values.len()]);
    let (end, given_end) = slice(&vec![0; first.len()]);
    let faults = Call {
        kernel: &kernel,
        grid: [1, 1, 1],
        block: [values.len() as u32, 1, 1],
        given: vec![given_first, given_values, given_out, given_end],
        checked: true,
        index: IndexWidth::Bits32,
    }
    .run(rig);
    assert_eq!(faults, NO_FAULT);
    let got = from_words(ty, &rig.download::<u32>(&out));
    let ends = from_words(ty, &rig.download::<u32>(&end));
    got.chunks(values.len())
        .map(<[u64]>::to_vec)
        .zip(ends)
        .collect()
}

/// Small numbers of a type, as bits. Their sums are exact.
fn bits(ty: Scalar, v: i64) -> u64 {
    match ty {
        Scalar::F32 => u64::from((v as f32).to_bits()),
        Scalar::F64 => (v as f64).to_bits(),
        Scalar::I32 | Scalar::U32 => u64::from(v as u32),
        Scalar::I64 | Scalar::U64 => v as u64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::Usize => {
            panic!("{ty} is not atomic")
        }
    }
}

/// The same values in one order.
fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

/// The final element, given the threads' results `got`.
fn expected_end(
    op: AtomicOp,
    ty: Scalar,
    numbers: &[i64],
    first: i64,
    got: &[u64],
    end: u64,
) -> u64 {
    let all: Vec<u64> = numbers.iter().map(|v| bits(ty, *v)).collect();
    let start = bits(ty, first);
    // Unsigned types hold negative numbers as large ones.
    let number = |v: i64| match ty {
        Scalar::U32 => i64::from(v as u32),
        _ => v,
    };
    let fold = |f: fn(i64, i64) -> i64| {
        bits(
            ty,
            numbers.iter().map(|v| number(*v)).fold(number(first), f),
        )
    };
    match op {
        AtomicOp::Add => fold(i64::wrapping_add),
        AtomicOp::Sub => fold(i64::wrapping_sub),
        AtomicOp::Min if ty == Scalar::U64 => fold(|a, b| (a as u64).min(b as u64) as i64),
        AtomicOp::Max if ty == Scalar::U64 => fold(|a, b| (a as u64).max(b as u64) as i64),
        AtomicOp::Min => fold(i64::min),
        AtomicOp::Max => fold(i64::max),
        AtomicOp::And => fold(|a, b| a & b),
        AtomicOp::Or => fold(|a, b| a | b),
        AtomicOp::Xor => fold(|a, b| a ^ b),
        AtomicOp::Load => {
            assert!(got.iter().all(|v| *v == start));
            start
        }
        AtomicOp::Store => {
            assert!(all.contains(&end));
            end
        }
        AtomicOp::Swap => {
            let (mut seen, mut put) = (got.to_vec(), all.clone());
            seen.push(end);
            put.push(start);
            assert_eq!(sorted(seen), sorted(put), "every value is seen once");
            end
        }
        AtomicOp::CompareExchange => {
            let winners: Vec<usize> = (0..all.len()).filter(|i| got[*i] == start).collect();
            assert_eq!(winners.len(), 1, "one exchange succeeds");
            assert!(got.iter().all(|v| *v == start || *v == end));
            all[winners[0]]
        }
    }
}

pub fn atomics_lose_nothing(rig: &Rig) {
    let info = rig.device.info();
    let most = info.max_block_threads.min(info.max_block[0]).min(200);
    let numbers: Vec<i64> = (0..i64::from(most)).map(|i| i * 37 % 211 - 100).collect();
    for ty in [
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ] {
        if ty.size() == 8 && !info.features.atomics64 || ty == Scalar::F64 && !info.features.f64 {
            eprintln!("skipped: {} has no atomic {ty}", info.name);
            continue;
        }
        let ops = blocks::operations(ty);
        let first = |op: &AtomicOp| if *op == AtomicOp::And { -1 } else { 1000 };
        let starts: Vec<u64> = ops.iter().map(|op| bits(ty, first(op))).collect();
        let values: Vec<u64> = numbers.iter().map(|v| bits(ty, *v)).collect();
        for shared in [false, true] {
            let all = contend(rig, ty, shared, (&starts, &values));
            assert_eq!(all.len(), ops.len());
            for (op, (got, end)) in ops.iter().zip(all) {
                let expected = expected_end(*op, ty, &numbers, first(op), &got, end);
                assert_eq!(end, expected, "{op:?} on {ty}, shared: {shared}");
            }
        }
    }
}

pub fn atomic_extremes_treat_nan_as_rust(rig: &Rig) {
    let number = |v: f32| u64::from(v.to_bits());
    let of = |i: u32| {
        if i.is_multiple_of(2) {
            f32::NAN
        } else {
            i as f32
        }
    };
    let values: Vec<u64> = (0..64).map(|i| number(of(i))).collect();
    let ops = blocks::operations(Scalar::F32);
    let starts = vec![number(f32::NAN); ops.len()];
    for shared in [false, true] {
        let all = contend(rig, Scalar::F32, shared, (&starts, &values));
        for (op, expected) in [(AtomicOp::Min, 1.0), (AtomicOp::Max, 63.0f32)] {
            let at = ops
                .iter()
                .position(|o| *o == op)
                .expect("an operation on floats");
            assert_eq!(all[at].1, number(expected), "{op:?}, shared: {shared}");
        }
    }
}

pub fn subgroups_work_together(rig: &Rig) {
    let info = rig.device.info();
    if !info.features.subgroups {
        return eprintln!("skipped: {} has no subgroups", info.name);
    }
    for ty in [
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ] {
        if ty.size() == 8 && !(info.features.i64 && info.features.f64) {
            continue;
        }
        for (_, op) in SubgroupOp::ALL {
            if op.result(ty).is_some() {
                for lane in [0, 1, 3, 40] {
                    subgroups::check(rig, op, ty, lane);
                    if !op.takes_lane() {
                        break;
                    }
                }
            }
        }
    }
}
