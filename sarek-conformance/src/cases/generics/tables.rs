//! Local arrays of several dimensions whose lengths are const parameters.

use crate::check::{Check, expect, sentinel_filled};
use crate::input::Sample;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("generics/own_tables", &[], own_tables),
    Case::new("generics/tables_around_barriers", &[], around_barriers),
    Case::new("generics/tables_of_functions", &[], of_functions),
    Case::new("generics/tables_of_parameters", &[], of_parameters),
    Case::new("generics/tables_of_doubles", &[Capability::F64], of_doubles),
];

/// A constant length beside const parameters. The macro sees its name alone, while it sees the value of `WIDTH`.
const ROWS: usize = 1 + 1;

#[kernel]
fn own_kernel<const N: usize, const M: usize>(x: &[u32], out: &mut [u32]) {
    const WIDTH: usize = 3;
    let i = global_idx_x();
    let mut square = [[0u32; N]; N];
    let mut cube = [[[0u32; N]; ROWS]; M];
    let mut beside: [[u32; WIDTH]; N] = [[1; WIDTH]; N];
    let row = [x[i]; N];
    let rows: [[u32; N]; M] = [row; M];
    for n in 0..N {
        square[n][N - 1 - n] = x[i] ^ n as u32;
        beside[n][n % WIDTH] = x[i].wrapping_add(n as u32);
        for m in 0..M {
            cube[m][n % ROWS][n] = x[i].wrapping_mul((m + n) as u32);
        }
    }
    square[0] = row;
    let copy = cube;
    let mut sum = (square.len() + cube.len() * copy[0].len() + rows[M - 1].len()) as u32;
    for n in 0..N {
        for k in 0..N {
            sum = sum.wrapping_mul(31).wrapping_add(square[n][k]);
        }
        for k in 0..WIDTH {
            sum = sum.wrapping_mul(31).wrapping_add(beside[n][k]);
        }
        for m in 0..M {
            for k in 0..ROWS {
                sum = sum.wrapping_mul(31).wrapping_add(copy[m][k][n]);
            }
            sum = sum.wrapping_mul(31).wrapping_add(rows[m][n]);
        }
    }
    out[i] = sum;
}

/// The result of [`own_kernel`] for an element.
fn own_expected<const N: usize, const M: usize>(x: u32) -> u32 {
    let mut square = [[0u32; N]; N];
    let mut cube = [[[0u32; N]; ROWS]; M];
    let mut beside = [[1u32; 3]; N];
    for n in 0..N {
        square[n][N - 1 - n] = x ^ n as u32;
        beside[n][n % 3] = x.wrapping_add(n as u32);
        for (m, table) in cube.iter_mut().enumerate() {
            table[n % ROWS][n] = x.wrapping_mul((m + n) as u32);
        }
    }
    square[0] = [x; N];
    let mut sum = (N + M * ROWS + N) as u32;
    let mut add = |value: u32| sum = sum.wrapping_mul(31).wrapping_add(value);
    for n in 0..N {
        square[n].into_iter().for_each(&mut add);
        beside[n].into_iter().for_each(&mut add);
        for table in cube {
            table.into_iter().for_each(|row| add(row[n]));
            add(x);
        }
    }
    sum
}

fn data() -> Vec<u32> {
    (0..192u32).map(|n| n.wrapping_mul(2_654_435_761)).collect()
}

fn own_tables(device: &Device) -> Check {
    own::<1, 1>(device)?;
    own::<3, 2>(device)?;
    own::<4, 5>(device)
}

fn own<const N: usize, const M: usize>(device: &Device) -> Check {
    let data = data();
    let expected: Vec<u32> = data.iter().map(|x| own_expected::<N, M>(*x)).collect();
    let mut out = sentinel_filled(data.len());
    own_kernel::<N, M>(&Vector::from_slice(&data), &mut out)
        .over(data.len())
        .run_on(device)?;
    expect(&format!("{N} and {M}"), &out, &expected)
}

/// Defines a kernel whose tables live across barriers. The block size is fixed, or given by the launch.
macro_rules! around_a_barrier {
    ($name:ident, $($block:tt)*) => {
        #[kernel($($block)*)]
        fn $name<const N: usize, const M: usize>(x: &[u32], out: &mut [u32]) {
            let tile = shared_array::<u32, 64>();
            let t = thread_idx_x();
            let mut table = [[0u32; N]; M];
            let mut cube = [[[1u32; 2]; N]; M];
            for m in 0..M {
                for n in 0..N {
                    table[m][n] = x[global_idx_x()] ^ (m * N + n) as u32;
                    cube[m][n][n % 2] = (m + 2 * n) as u32;
                }
            }
            let mut sum = 0u32;
            for m in 0..M {
                for n in 0..N {
                    tile[t] = table[m][n];
                    barrier();
                    table[m][n] = tile[63 - t];
                    barrier();
                }
            }
            for m in 0..M {
                for n in 0..N {
                    sum = sum.wrapping_mul(31).wrapping_add(table[m][n]);
                    sum = sum.wrapping_mul(31).wrapping_add(cube[m][n][0] * 5 + cube[m][n][1]);
                }
            }
            out[global_idx_x()] = sum;
        }
    };
}

around_a_barrier!(fixed_kernel, block = 64);
around_a_barrier!(launched_kernel,);

/// Keeps a table across the barriers of a function.
#[device]
fn rows_around_barriers<T: Int, const N: usize>(value: T) -> T {
    let mut table = [[value; N]; 2];
    let mut sum = T::ZERO;
    for n in 0..N {
        table[0][n] ^= T::from_usize(n);
        barrier();
        table[1][n] = table[0][N - 1];
        barrier();
    }
    for n in 0..N {
        sum = sum.wrapping_mul(T::from_u32(31)).wrapping_add(table[0][n]);
        sum = sum.wrapping_mul(T::from_u32(31)).wrapping_add(table[1][n]);
    }
    sum
}

#[kernel(block = 64)]
fn by_function_kernel<const N: usize>(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = rows_around_barriers::<u32, N>(x[i]);
}

fn around_barriers(device: &Device) -> Check {
    around::<1, 1>(device)?;
    around::<2, 3>(device)?;
    around::<5, 2>(device)
}

fn around<const N: usize, const M: usize>(device: &Device) -> Check {
    let of = |x: u32| {
        let mut sum = 0u32;
        for (m, n) in (0..M).flat_map(|m| (0..N).map(move |n| (m, n))) {
            let mut pair = [1, 1];
            pair[n % 2] = (m + 2 * n) as u32;
            for value in [x ^ (m * N + n) as u32, pair[0] * 5 + pair[1]] {
                sum = sum.wrapping_mul(31).wrapping_add(value);
            }
        }
        sum
    };
    let data = data();
    let x = Vector::from_slice(&data);
    let blocks = data.chunks(64);
    let mirrored = blocks.flat_map(|block| block.iter().rev());
    let expected: Vec<u32> = mirrored.map(|x| of(*x)).collect();
    let mut out = sentinel_filled(data.len());
    fixed_kernel::<N, M>(&x, &mut out).grid(3).run_on(device)?;
    expect(&format!("{N} and {M} in fixed blocks"), &out, &expected)?;
    let mut out = sentinel_filled(data.len());
    launched_kernel::<N, M>(&x, &mut out)
        .grid(3)
        .block(64)
        .run_on(device)?;
    expect(&format!("{N} and {M} in blocks"), &out, &expected)?;

    let of = |x: u32| {
        let add = |sum: u32, value: u32| sum.wrapping_mul(31).wrapping_add(value);
        (0..N as u32).fold(0, |sum, n| {
            // The last element changes only in the last round.
            let last = if n + 1 == N as u32 { x ^ n } else { x };
            add(add(sum, x ^ n), last)
        })
    };
    let expected: Vec<u32> = data.iter().map(|x| of(*x)).collect();
    let mut out = sentinel_filled(data.len());
    by_function_kernel::<N>(&x, &mut out)
        .grid(3)
        .run_on(device)?;
    expect(&format!("{N} by a function"), &out, &expected)
}

#[device]
fn of_two_rows<const N: usize>(x: f32, at: usize) -> f32 {
    let mut z = [[0.0f32; N]; 2];
    z[1][at % N] = x;
    let kept = z;
    z[1] = [0.5; N];
    kept[0][0] + kept[1][at % N] + z[1][N - 1]
}

struct Tables;

#[device]
impl Tables {
    fn diagonal<T: Float, const N: usize>(x: T) -> T {
        let mut z = [[T::ZERO; N]; N];
        let mut sum = T::ZERO;
        for n in 0..N {
            z[n][n] = x + T::from_usize(n);
        }
        for n in 0..N {
            for k in 0..N {
                sum += z[n][k];
            }
        }
        sum
    }
}

#[kernel]
fn calling_kernel<const N: usize>(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let a = x[i];
    out[i] = of_two_rows::<N>(a, i) + of_two_rows::<2>(a, i) + Tables::diagonal::<f32, N>(a);
}

fn of_functions(device: &Device) -> Check {
    calls::<1>(device)?;
    calls::<4>(device)
}

fn calls<const N: usize>(device: &Device) -> Check {
    let data: Vec<f32> = (0..100u8).map(|n| f32::from(n) / 8.0).collect();
    let triangle = (N * (N - 1) / 2) as f32;
    let expected = data
        .iter()
        .map(|a| 2.0 * (a + 0.5) + (N as f32 * a + triangle));
    let expected: Vec<f32> = expected.collect();
    let mut out = sentinel_filled(data.len());
    calling_kernel::<N>(&Vector::from_slice(&data), &mut out)
        .over(data.len())
        .run_on(device)?;
    expect(&format!("{N} of functions"), &out, &expected)
}

/// Tables of elements whose type only rustc knows, within one region and across a barrier.
#[kernel]
fn parameters_kernel<T: Float, const N: usize>(x: &[T], out: &mut [T]) {
    let tile = shared_array::<T, 32>();
    let pair = shared_array::<T, ROWS>();
    let (i, t) = (global_idx_x(), thread_idx_x());
    let mut table = [[T::ZERO; N]; ROWS];
    let mut cube = [[[x[i]; ROWS]; N]; N];
    for n in 0..N {
        table[n % ROWS][n] = x[i] * T::from_usize(n + 1);
        cube[n][n][1] = T::ONE;
    }
    tile[t] = table[0][0];
    if t < ROWS {
        pair[t] = T::ONE;
    }
    barrier();
    table[ROWS - 1][N - 1] += tile[31 - t];
    let mut sum = T::ZERO;
    for n in 0..N {
        sum += table[0][n] + table[1][n] + cube[n][n][0] + cube[n][n][1];
    }
    out[i] = sum * pair[t % ROWS];
}

fn of_parameters(device: &Device) -> Check {
    let data: Vec<f32> = (0..96u8).map(|n| f32::from(n) / 4.0).collect();
    generic::<f32, 1>(device, &data, |v| v as f32)?;
    generic::<f32, 3>(device, &data, |v| v as f32)
}

fn of_doubles(device: &Device) -> Check {
    let data: Vec<f64> = (0..96u8).map(|n| f64::from(n) / 4.0).collect();
    generic::<f64, 2>(device, &data, |v| v)
}

fn generic<T, const N: usize>(device: &Device, data: &[T], of: impl Fn(f64) -> T) -> Check
where
    T: Float + Sample + Into<f64>,
{
    let steps = (N * (N + 1) / 2) as f64;
    let at = |i: usize| -> f64 { data[i].into() };
    let expected = (0..data.len()).map(|i| {
        let own = at(i) * steps + (at(i) + 1.0) * N as f64;
        of(own + at(i / 32 * 32 + 31 - i % 32))
    });
    let expected: Vec<T> = expected.collect();
    let mut out = sentinel_filled(data.len());
    parameters_kernel::<T, N>(&Vector::from_slice(data), &mut out)
        .grid(3)
        .block(32)
        .run_on(device)?;
    expect(&format!("{N} of parameters"), &out, &expected)
}
