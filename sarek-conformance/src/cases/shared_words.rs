//! Buffers of 8- and 16-bit elements, of which devices without such elements keep several in a word: a store changes one
//! element and none of its neighbours, which other threads store, and so does a copy that begins or ends in a word.

use super::faults::fault_of;
use crate::check::{Check, checked_output, ensure, expect, sentinel_filled};
use crate::input::{Random, Sample};
use crate::{Capability, Case};
use sarek::FaultKind;
use sarek::prelude::*;

const BYTES: &[Capability] = &[Capability::Storage8];
const BOTH: &[Capability] = &[Capability::Storage8, Capability::Storage16];

pub const CASES: &[Case] = &[
    Case::new("shared_words/neighbours", BOTH, neighbours),
    Case::new("shared_words/scattered", BOTH, scattered),
    Case::new("shared_words/changes", BOTH, changes),
    Case::new("shared_words/barriers", BYTES, barriers),
    Case::new("shared_words/indices", BYTES, indices),
    Case::new("shared_words/views", BOTH, views),
    Case::new("shared_words/structs", BOTH, structs),
    Case::new("shared_words/parts", BOTH, parts),
    Case::new("shared_words/graphs", BOTH, graphs),
    Case::new("shared_words/faults", BYTES, faults),
];

/// Lengths that end at each place of a word.
const LENGTHS: [usize; 8] = [1, 2, 3, 5, 32, 255, 1001, 4099];

/// Runs a check for each small type.
macro_rules! for_small {
    ($check:ident($($arg:expr),*)) => {
        $check::<bool>($($arg),*)?;
        $check::<i8>($($arg),*)?;
        $check::<u8>($($arg),*)?;
        $check::<i16>($($arg),*)?;
        $check::<u16>($($arg),*)?;
        $check::<bf16>($($arg),*)?;
    };
}

fn random<T: Sample>(seed: usize, n: usize) -> Vec<T> {
    Random::new(seed as u64).values(n)
}

/// Writes all elements, in the other order than the threads have.
#[kernel]
fn reversed_kernel<T: Scalar>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < x.len() {
        y[x.len() - 1 - i] = x[i];
    }
}

/// Writes every third element.
#[kernel]
fn thirds_kernel<T: Scalar>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if 3 * i + 1 < x.len() {
        y[3 * i + 1] = x[3 * i + 1];
    }
}

fn neighbours_of<T: Sample + Scalar>(device: &Device) -> Check {
    for n in LENGTHS {
        let x: Vec<T> = random(n, n);
        let input = Vector::from_slice(&x);
        let mut y = sentinel_filled(n);
        reversed_kernel(&input, &mut y).cover(n).run_on(device)?;
        let mut expected: Vec<T> = x.iter().rev().copied().collect();
        expect(&format!("{n} reversed"), &y, &expected)?;
        thirds_kernel(&input, &mut y).cover(n).run_on(device)?;
        for k in (1..n).step_by(3) {
            expected[k] = x[k];
        }
        expect(&format!("thirds of {n}"), &y, &expected)?;
    }
    Ok(())
}

fn neighbours(device: &Device) -> Check {
    for_small!(neighbours_of(device));
    Ok(())
}

/// # Safety
/// No two elements of `at` are equal.
#[kernel(block = 32)]
unsafe fn scattered_kernel<T: Scalar>(at: &[u32], x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    y[at[i] as usize] = x[i];
}

/// The numbers below `n` in a random order.
fn shuffled(n: usize) -> Vec<u32> {
    let mut random = Random::new(n as u64);
    let mut numbers: Vec<u32> = (0..n as u32).collect();
    for k in (1..n).rev() {
        numbers.swap(k, random.below(k as u64 + 1) as usize);
    }
    numbers
}

/// Threads of different blocks store the elements of a word.
fn scattered_of<T: Sample + Scalar>(device: &Device) -> Check {
    for n in LENGTHS {
        let (at, x) = (shuffled(n), random::<T>(n + 1, n));
        let mut y = sentinel_filled(n);
        let (places, input) = (Vector::from_slice(&at), Vector::from_slice(&x));
        // SAFETY: the places are different.
        unsafe { scattered_kernel(&places, &input, &mut y) }
            .over(n)
            .run_on(device)?;
        let mut expected = x.clone();
        for (at, x) in at.iter().zip(&x) {
            expected[*at as usize] = *x;
        }
        expect(&format!("{n} scattered"), &y, &expected)?;
    }
    Ok(())
}

fn scattered(device: &Device) -> Check {
    for_small!(scattered_of(device));
    Ok(())
}

macro_rules! changes {
    ($t:ident $check:ident $kernel:ident) => {
        /// Reads and writes its own elements many times, and some of them only in some threads.
        #[kernel]
        fn $kernel(x: &[$t], y: &mut [$t]) {
            let i = global_idx_x();
            for k in 0..9 {
                y[2 * i] = y[2 * i].wrapping_mul(3).wrapping_add(x[i]);
                if (i + k) % 3 == 0 {
                    y[2 * i + 1] ^= x[i] >> 1;
                    y[2 * i + 1] = !y[2 * i + 1];
                }
            }
            y.swap(2 * i, 2 * i + 1);
        }

        fn $check(device: &Device) -> Check {
            for n in LENGTHS {
                let x: Vec<$t> = random(n, n);
                let mut expected: Vec<$t> = vec![$t::SENTINEL; 2 * n];
                for (i, pair) in expected.chunks_mut(2).enumerate() {
                    for k in 0..9 {
                        pair[0] = pair[0].wrapping_mul(3).wrapping_add(x[i]);
                        if (i + k) % 3 == 0 {
                            pair[1] = !(pair[1] ^ x[i] >> 1);
                        }
                    }
                    pair.reverse();
                }
                let mut y = sentinel_filled(2 * n);
                $kernel(&Vector::from_slice(&x), &mut y)
                    .over(n)
                    .run_on(device)?;
                expect(stringify!($t), &y, &expected)?;
            }
            Ok(())
        }
    };
}

changes!(i8 changes_i8 changes_i8_kernel);
changes!(u8 changes_u8 changes_u8_kernel);
changes!(i16 changes_i16 changes_i16_kernel);
changes!(u16 changes_u16 changes_u16_kernel);

fn changes(device: &Device) -> Check {
    changes_i8(device)?;
    changes_u8(device)?;
    changes_i16(device)?;
    changes_u16(device)
}

/// Exchanges elements within a block through a buffer, in both directions.
///
/// # Safety
/// `y` has an element for each thread.
#[kernel(block = 64)]
unsafe fn barriers_kernel(rounds: u32, y: &mut [u8]) {
    let t = thread_idx_x();
    let first = global_idx_x() - t;
    for _ in 0..rounds {
        let next = y[first + (t + 1) % 64];
        barrier();
        y[first + t] = next.wrapping_mul(5).wrapping_add(1);
        barrier();
    }
}

fn barriers(device: &Device) -> Check {
    let n = 256;
    let mut expected: Vec<u8> = random(3, n);
    let mut y = Vector::from_slice(&[&expected[..], &[u8::SENTINEL; crate::check::TAIL]].concat());
    // SAFETY: the vector has an element for each thread.
    unsafe { barriers_kernel(7, &mut y) }
        .cover(n)
        .run_on(device)?;
    for _ in 0..7 {
        for block in expected.chunks_mut(64) {
            block.rotate_left(1);
            let next = |x: &mut u8| *x = x.wrapping_mul(5).wrapping_add(1);
            block.iter_mut().for_each(next);
        }
    }
    expect("exchanged", &y, &expected)
}

/// Elements as indices of elements.
#[kernel]
fn indices_kernel(x: &[u8], flags: &[bool], y: &mut [i8]) {
    let i = global_idx_x();
    let far = x[x[x[i] as usize] as usize];
    y[i] = if flags[far as usize] && x[i] < 200 {
        -(far as i8 & 63)
    } else {
        far as i8
    };
}

fn indices(device: &Device) -> Check {
    let (x, flags): (Vec<u8>, Vec<bool>) = (random(4, 256), random(5, 256));
    let expected: Vec<i8> = (0..256)
        .map(|i| {
            let far = x[usize::from(x[usize::from(x[i])])];
            match flags[usize::from(far)] && x[i] < 200 {
                true => -(far as i8 & 63),
                false => far as i8,
            }
        })
        .collect();
    let mut y = sentinel_filled(256);
    indices_kernel(&Vector::from_slice(&x), &Vector::from_slice(&flags), &mut y)
        .over(256)
        .run_on(device)?;
    expect("indices", &y, &expected)
}

#[kernel]
fn transposed_kernel<T: Scalar>(x: View2<T>, mut y: ViewMut2<T>) {
    let row = global_idx_y();
    let col = global_idx_x();
    if row < y.rows() && col < y.cols() {
        y[[row, col]] = x[[col, row]];
    }
}

/// A window that begins and ends in words.
fn views_of<T: Sample + Scalar>(device: &Device) -> Check {
    let (rows, cols) = (13, 11);
    let x: Vec<T> = random(6, rows * cols);
    let input = Vector::from_slice(&x);
    let mut y = sentinel_filled(15 * 17);
    let window = y
        .strided_mut([15, 17], 0, [17, 1])?
        .window([2, 3], [cols, rows])?;
    transposed_kernel(input.view2(rows, cols)?, window)
        .over((rows, cols))
        .run_on(device)?;
    let mut expected = vec![T::SENTINEL; 15 * 17];
    for row in 0..rows {
        for col in 0..cols {
            expected[(2 + col) * 17 + 3 + row] = x[row * cols + col];
        }
    }
    expect("window", &y, &expected)
}

fn views(device: &Device) -> Check {
    for_small!(views_of(device));
    Ok(())
}

/// 12 bytes, and a tail of padding.
#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Mixed {
    wide: u32,
    byte: u8,
    flag: bool,
    short: i16,
    last: u8,
}

/// 3 bytes.
#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Pixel {
    rgb: [u8; 3],
}

#[kernel]
fn structs_kernel(x: &[Pixel], y: &mut [Pixel], z: &mut [Mixed]) {
    let i = global_idx_x();
    let [r, g, b] = x[i].rgb;
    y[i] = Pixel { rgb: [b, g, r] };
    z[i].short = z[i].short - r as i16;
    z[i].flag = !z[i].flag && g > 99;
    z[i].wide += b as u32;
}

fn structs(device: &Device) -> Check {
    let n = 333;
    let bytes: Vec<u8> = random(7, 3 * n);
    let x: Vec<Pixel> = bytes
        .chunks(3)
        .map(|c| Pixel {
            rgb: [c[0], c[1], c[2]],
        })
        .collect();
    let mut mixed: Vec<Mixed> = (0..n as u32)
        .map(|i| Mixed {
            wide: i.wrapping_mul(0x0101_0101) >> 1,
            byte: i as u8,
            flag: i % 5 == 0,
            short: i as i16 * 90,
            last: !(i as u8),
        })
        .collect();
    let mut y = Vector::filled(n + 1, Pixel { rgb: [9; 3] });
    let mut z = Vector::from_slice(&mixed);
    structs_kernel(&Vector::from_slice(&x), &mut y, &mut z)
        .over(n)
        .run_on(device)?;
    let mut expected = vec![Pixel { rgb: [9; 3] }; n + 1];
    for (i, Pixel { rgb: [r, g, b] }) in x.into_iter().enumerate() {
        expected[i] = Pixel { rgb: [b, g, r] };
        mixed[i].short -= i16::from(r);
        mixed[i].flag = !mixed[i].flag && g > 99;
        mixed[i].wide += u32::from(b);
    }
    ensure(y.to_vec()? == expected, || "pixels".into())?;
    let got = z.to_vec()?;
    let bad = (0..n).find(|i| got[*i] != mixed[*i]);
    ensure(bad.is_none(), || {
        let i = bad.unwrap_or_default();
        format!("[{i}]: {:?} instead of {:?}", got[i], mixed[i])
    })
}

/// Copies and parts with every place of a word at their ends.
fn parts_of<T: Sample + Scalar>(device: &Device) -> Check {
    let (n, more) = (101, random::<T>(8, 40));
    let mut mirror: Vec<T> = random(9, n);
    let mut v = Vector::filled(n, T::SENTINEL);
    let input = Vector::from_slice(&mirror);
    let mut source = Vector::filled(more.len(), T::SENTINEL);
    // Makes the device's copies the only ones.
    thirds_kernel(&input, &mut v).cover(n).run_on(device)?;
    reversed_kernel(&input, &mut v).cover(n).run_on(device)?;
    reversed_kernel(&Vector::from_slice(&more), &mut source)
        .cover(more.len())
        .run_on(device)?;
    mirror.reverse();
    let more: Vec<T> = more.into_iter().rev().collect();
    for (at, len) in [(0, 1), (3, 2), (5, 5), (10, 3), (17, 8), (98, 3), (60, 33)] {
        let range = at..at + len;
        let read = v.read(range.clone())?;
        ensure(read == mirror[range.clone()], || format!("read {range:?}"))?;
        v.write(at, &more[..len])?;
        mirror[range.clone()].copy_from_slice(&more[..len]);
        ensure(v.get(at)? == mirror[at], || format!("get {at}"))?;
        let to = (at + 37) % (n - len);
        v.copy_from(to, &source, 1..len + 1)?;
        mirror[to..to + len].copy_from_slice(&more[1..len + 1]);
        // From word to word, but to the middle of the last one.
        let to = at / 4 * 4;
        v.copy_from(to, &source, 4..len + 4)?;
        mirror[to..to + len].copy_from_slice(&more[4..len + 4]);
        let own = v.sub_vector(range.clone())?.to_vec()?;
        ensure(own == mirror[range.clone()], || format!("part {range:?}"))?;
        let mut part = v.part_mut(range.clone())?;
        reversed_kernel(&source.sub_vector(2..2 + len)?, &mut *part)
            .cover(len)
            .run_on(device)?;
        drop(part);
        let reversed = more[2..2 + len].iter().rev().copied();
        mirror.splice(range.clone(), reversed);
        // A whole that is valid on the device only.
        thirds_kernel(&Vector::from_slice(&mirror), &mut v)
            .cover(n)
            .run_on(device)?;
    }
    ensure(v.to_vec()? == mirror, || "the whole".into())?;
    let stream = device.stream();
    for value in [T::default(), T::SENTINEL] {
        v.fill_on(&stream, value)?;
        thirds_kernel(&input, &mut v).cover(n).run_on(device)?;
        let input = input.to_vec()?;
        let expected: Vec<T> = (0..n)
            .map(|k| if k % 3 == 1 { input[k] } else { value })
            .collect();
        ensure(v.to_vec()? == expected, || format!("filled with {value:?}"))?;
    }
    Ok(())
}

fn parts(device: &Device) -> Check {
    for_small!(parts_of(device));
    Ok(())
}

fn graph_of<T: Sample + Scalar>(device: &Device) -> Check {
    let n = 101;
    let mut x = Vector::from_slice(&random::<T>(10, n));
    let (mut y, mut z) = (sentinel_filled(n), sentinel_filled(n));
    let mut recording = device.record_graph();
    recording.fill(&mut y, T::SENTINEL)?;
    recording.launch(reversed_kernel(&x, &mut y).cover(n))?;
    recording.copy(&mut z, 1, &y, 3..6)?;
    recording.copy(&mut z, 7, &y, 8..98)?;
    recording.fill(&mut x, T::default())?;
    let graph = recording.finish();
    for round in 0..2 {
        let mut expected = x.to_vec()?;
        expected.reverse();
        graph.replay((&mut x, &mut y, &mut z))?;
        let z = checked_output(&z)?;
        let copied = z[1..4] == expected[3..6] && z[7..97] == expected[8..98];
        ensure(copied, || format!("round {round}: {z:?}"))?;
        let rest = [&z[..1], &z[4..7], &z[97..]].concat();
        ensure(rest.iter().all(|e| e.same(T::SENTINEL)), || {
            format!("round {round}: around the copies: {rest:?}")
        })?;
        expect("graph", &y, &expected)?;
        ensure(x.to_vec()? == vec![T::default(); n], || "filled".into())?;
        x.copy_from_slice(&random(11, n))?;
    }
    Ok(())
}

fn graphs(device: &Device) -> Check {
    for_small!(graph_of(device));
    Ok(())
}

/// An index behind the last element, in the same word, is out of bounds.
fn faults(device: &Device) -> Check {
    for n in [1, 2, 3, 5, 1001] {
        let mut at: Vec<u32> = (0..n).collect();
        at[n as usize / 2] = n;
        let x: Vec<u8> = random(12, n as usize);
        let mut y = Vector::filled(n as usize, 1);
        let (places, input) = (Vector::from_slice(&at), Vector::from_slice(&x));
        // SAFETY: the places are different.
        let result = unsafe { scattered_kernel(&places, &input, &mut y) }
            .over(n as usize)
            .run_on(device);
        let fault = fault_of(result, &mut y)?;
        ensure(matches!(fault.kind, FaultKind::Index { .. }), || {
            format!("{n} elements: {fault:?}")
        })?;
    }
    Ok(())
}
