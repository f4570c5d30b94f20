//! Local arrays larger than registers and stacks: either they work, or the launch is refused with the array's
//! name, its size and the device's limit.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("arrays/local/6_kib", &[], of_6_kib),
    Case::new("arrays/local/64_kib", &[], of_64_kib),
    Case::new("arrays/local/2_mib", &[], of_2_mib),
    Case::new("arrays/local/around_barriers", &[], around_barriers),
    Case::new("arrays/local/in_functions", &[], in_functions),
    Case::new("arrays/local/in_values", &[], in_values),
];

/// True if the launch ran. For a refused one, checks that the device lacks room for so many bytes of a thread or of a block.
fn ran(
    device: &Device,
    name: &str,
    bytes: u64,
    block: u64,
    outcome: sarek::Result<()>,
) -> Result<bool, crate::check::CaseError> {
    let info = device.info();
    let reasons = match outcome {
        Ok(()) => {
            ensure(bytes <= info.max_private, || {
                format!("{bytes} bytes of a thread were accepted, above the limit")
            })?;
            return Ok(true);
        }
        Err(sarek::Error::NotEligible { reasons, .. }) => reasons.join("; "),
        Err(other) => return Err(other.into()),
    };
    let told = |words: [String; 3]| words.iter().all(|word| reasons.contains(word));
    let of_thread = told([
        format!("`{name}`"),
        bytes.to_string(),
        info.max_private.to_string(),
    ]);
    let of_block = told([
        format!("`{name}`"),
        bytes.to_string(),
        info.max_private_block.to_string(),
    ]);
    let is_right = match bytes > info.max_private {
        true => of_thread,
        false => of_block && bytes.saturating_mul(block) > info.max_private_block,
    };
    ensure(is_right, || format!("refused without a reason: {reasons}"))?;
    Ok(false)
}

#[kernel]
fn own_kernel<const N: usize>(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut own = [0u32; N];
    let first = x[i] as usize;
    for k in 0..9 {
        own[(first + 5 * k) % N] += first as u32 + k as u32;
    }
    let mut k = 0;
    let mut sum = own[(first + 10) % N];
    while k < x.len() % 7 {
        sum = sum.wrapping_mul(31) + own[(first + k) % N];
        k += 1;
    }
    out[i] = sum;
}

fn own_expected(n: usize, x: &[u32], i: usize) -> u32 {
    let mut own = vec![0u32; n];
    let first = x[i] as usize;
    for k in 0..9 {
        own[(first + 5 * k) % n] += first as u32 + k as u32;
    }
    let sum = own[(first + 10) % n];
    (0..x.len() % 7).fold(sum, |sum, k| {
        sum.wrapping_mul(31).wrapping_add(own[(first + k) % n])
    })
}

fn of_size<const N: usize>(device: &Device, threads: &[usize]) -> Check {
    for &n in threads {
        let x: Vec<u32> = (0..n as u32).map(|k| k * 977).collect();
        let mut out = sentinel_filled(n);
        let given = Vector::from_slice(&x);
        let outcome = own_kernel::<N>(&given, &mut out).over(n).run_on(device);
        let block = device.info().max_block_threads.into();
        if ran(device, "own", 4 * N as u64, block, outcome)? {
            let expected: Vec<u32> = (0..n).map(|i| own_expected(N, &x, i)).collect();
            expect("own arrays", &out, &expected)?;
        }
    }
    Ok(())
}

fn of_6_kib(device: &Device) -> Check {
    of_size::<1500>(device, &[1, 33, 300])
}

fn of_64_kib(device: &Device) -> Check {
    of_size::<16384>(device, &[3, 256])
}

fn of_2_mib(device: &Device) -> Check {
    of_size::<524_288>(device, &[1, 9])
}

#[kernel(block = 64)]
fn barriers_kernel<const N: usize>(x: &[u32], out: &mut [u32]) {
    let (i, t) = (global_idx_x(), thread_idx_x());
    let tile = shared_array::<u32, 64>();
    let mut own = [1u32; N];
    own[(7 * t) % N] = x[i];
    tile[t] = x[i] ^ 5;
    barrier();
    own[(7 * t + 1) % N] = tile[63 - t];
    barrier();
    out[i] = own[(7 * t) % N].wrapping_add(own[(7 * t + 1) % N]) + own[(7 * t + 2) % N];
}

fn barriers<const N: usize>(device: &Device) -> Check {
    let n = 128;
    let x: Vec<u32> = (0..n as u32).map(|k| k * 31).collect();
    let mut out = sentinel_filled(n);
    let given = Vector::from_slice(&x);
    let outcome = barriers_kernel::<N>(&given, &mut out)
        .grid(2)
        .run_on(device);
    if ran(device, "own", 4 * N as u64, 64, outcome)? {
        let other = |i: usize| x[i / 64 * 64 + 63 - i % 64] ^ 5;
        let expected: Vec<u32> = (0..n).map(|i| x[i] + other(i) + 1).collect();
        expect("around barriers", &out, &expected)?;
    }
    Ok(())
}

fn around_barriers(device: &Device) -> Check {
    barriers::<500>(device)?;
    barriers::<3000>(device)?;
    barriers::<16384>(device)
}

#[device]
fn last_of(table: &mut [u32], seed: u32) -> u32 {
    let mut own = [0u32; 600];
    for k in 0..600 {
        own[(k * 7) % 600] = seed.wrapping_add(k as u32);
    }
    let n = table.len();
    table[seed as usize % n] = own[5];
    own[seed as usize % 600]
}

#[kernel]
fn functions_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut table = [3u32; 700];
    let first = last_of(&mut table, x[i]);
    let mut sum = first;
    if i % 2 == 0 {
        sum = sum.wrapping_add(last_of(&mut table, x[i] + 1));
    }
    out[i] = sum.wrapping_add(table[x[i] as usize % 700]);
}

fn in_functions(device: &Device) -> Check {
    let own = |seed: u32| {
        let mut own = [0u32; 600];
        for k in 0..600 {
            own[(k * 7) % 600] = seed.wrapping_add(k as u32);
        }
        own
    };
    let x: Vec<u32> = (0..77).map(|k| k * 131).collect();
    let expected = x.iter().enumerate().map(|(i, x)| {
        let mut sum = own(*x)[*x as usize % 600];
        if i % 2 == 0 {
            sum = sum.wrapping_add(own(x + 1)[(*x as usize + 1) % 600]);
        }
        sum.wrapping_add(own(*x)[5])
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    let given = Vector::from_slice(&x);
    let outcome = functions_kernel(&given, &mut out)
        .over(x.len())
        .run_on(device);
    let block = device.info().max_block_threads.into();
    if ran(device, "table", 7600, block, outcome)? {
        expect("in functions", &out, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Bag {
    of: [u32; 90],
    count: u32,
}

#[device]
fn filled(seed: u32) -> Bag {
    let mut bag = Bag {
        of: [seed; 90],
        count: 90,
    };
    bag.of[seed as usize % 90] = 7;
    bag
}

#[kernel]
fn values_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut bag = filled(x[i]);
    let other = filled(x[i] + 1);
    bag.of[3] = other.of[(x[i] as usize + 1) % 90];
    let mut sum = bag.count;
    for k in 0..90 {
        sum = sum.wrapping_mul(3).wrapping_add(bag.of[k]);
    }
    out[i] = sum;
}

fn in_values(device: &Device) -> Check {
    let x: Vec<u32> = (0..130).map(|k| k * 3).collect();
    let expected = x.iter().map(|x| {
        let mut of = [*x; 90];
        of[*x as usize % 90] = 7;
        of[3] = 7;
        of.iter()
            .fold(90u32, |sum, v| sum.wrapping_mul(3).wrapping_add(*v))
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(x.len());
    values_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("in values", &out, &expected)
}
