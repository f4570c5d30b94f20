//! `println!` of structs, tuples, arrays and enums prints what rustc's own formatting gives, on every device.

use std::fmt;

use super::prints::{lines, same, tag};
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("prints/structs", &[], structs),
    Case::new("prints/enums", &[], enums),
    Case::new("prints/arrays", &[], arrays),
    Case::new("prints/formats_of_values", &[], formats),
    Case::new("prints/generic_values", &[], generic),
    Case::new("prints/values_across_barriers", &[], across),
];

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Inner {
    on: bool,
    size: u16,
    at: [f32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Outer {
    r#type: i32,
    inner: Place,
    wide: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Place {
    at: [f32; 2],
}

/// Its `Debug` is not derived, but gives a text of its own.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Meters(f32);

impl fmt::Display for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}m", self.0)
    }
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("some meters")
    }
}

#[kernel]
fn structs_kernel(tag: u32, all: &[Outer], far: &[Meters], out: &mut [u32]) {
    let i = global_idx_x();
    let one = all[i];
    println!("#{tag} {i} {:?} {:?} {:?}", all[i], one.inner, one.inner.at);
    println!("#{tag} {i} {one:#?}");
    let pair = (one.wide, (i > 1, 1.5f32));
    println!("#{tag} {i} {pair:?} {:?} {:?}", (i,), pair.1);
    let inner = Inner {
        on: true,
        size: 3,
        at: one.inner.at,
    };
    let made = Inner { on: false, ..inner };
    println!("#{tag} {i} {made:?} {inner:?} {:?}", Meters(0.5));
    println!("#{tag} {i} {} {:?} {}", far[i], far[i], far[i].0);
    out[i] = 1;
}

fn structs(device: &Device) -> Check {
    let all: Vec<Outer> = (0..3u16)
        .map(|i| Outer {
            r#type: i32::from(i) - 1,
            inner: Place {
                at: [f32::from(i) / 3.0, -0.0],
            },
            wide: u32::MAX - u32::from(i),
        })
        .collect();
    let far: Vec<Meters> = (0..3).map(|i| Meters(i as f32 + 0.25)).collect();
    let tag = tag();
    let mut out = sentinel_filled(3);
    structs_kernel(
        tag,
        &Vector::from_slice(&all),
        &Vector::from_slice(&far),
        &mut out,
    )
    .over(3)
    .run_on(device)?;
    expect("out", &out, &[1; 3])?;
    let expected = (0..3usize).flat_map(|i| {
        let one = all[i];
        let pair = (one.wide, (i > 1, 1.5f32));
        let made = Inner {
            on: false,
            size: 3,
            at: one.inner.at,
        };
        [
            format!("{i} {:?} {:?} {:?}\n", one, one.inner, one.inner.at),
            format!("{i} {one:#?}\n"),
            format!("{i} {pair:?} {:?} {:?}\n", (i,), pair.1),
            format!(
                "{i} {made:?} {:?} {:?}\n",
                Inner { on: true, ..made },
                Meters(0.5)
            ),
            format!("{i} {} {:?} {}\n", far[i], far[i], far[i].0),
        ]
    });
    sorted(tag, expected.collect())
}

/// Checks the lines of a launch, sorted by thread number, with which they begin. Each thread's lines keep their order.
fn sorted(tag: u32, expected: Vec<String>) -> Check {
    let mut got = lines(tag);
    let thread = |line: &String| line.split(' ').next().and_then(|n| n.parse::<u32>().ok());
    got.sort_by_key(thread);
    same(&got, &expected)
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(u32)]
enum Color {
    Red = 5,
    Green,
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C, u32)]
enum Shape {
    Nothing,
    Circle { radius: f32, color: Color },
    Corners([i32; 3], u32),
}

#[kernel]
fn enums_kernel(tag: u32, shapes: &[Shape], out: &mut [u32]) {
    let i = global_idx_x();
    let shape = shapes[i];
    println!("#{tag} {i} {:?} {shape:#?}", shapes[i]);
    let color = match shape {
        Shape::Circle { color, .. } => Some(color),
        Shape::Nothing | Shape::Corners(..) => None,
    };
    let kind: Result<(Color, u8), usize> = match color {
        Some(color) => Ok((color, 200)),
        None => Err(i),
    };
    println!("#{tag} {i} {color:?} {kind:?} {:?}", Shape::Nothing);
    println!("#{tag} {i} {:?}", [Some(i), None]);
    out[i] = 1;
}

fn enums(device: &Device) -> Check {
    let shapes = [
        Shape::Nothing,
        Shape::Circle {
            radius: f32::INFINITY,
            color: Color::Green,
        },
        Shape::Corners([-1, 0, 32767], 7),
        Shape::Circle {
            radius: 1e-7,
            color: Color::Red,
        },
    ];
    let tag = tag();
    let mut out = sentinel_filled(4);
    enums_kernel(tag, &Vector::from_slice(&shapes), &mut out)
        .over(4)
        .run_on(device)?;
    expect("out", &out, &[1; 4])?;
    let expected = (0..4usize).flat_map(|i| {
        let shape = shapes[i];
        let color = match shape {
            Shape::Circle { color, .. } => Some(color),
            Shape::Nothing | Shape::Corners(..) => None,
        };
        let kind: Result<(Color, u8), usize> = match color {
            Some(color) => Ok((color, 200)),
            None => Err(i),
        };
        [
            format!("{i} {:?} {shape:#?}\n", shapes[i]),
            format!("{i} {color:?} {kind:?} {:?}\n", Shape::Nothing),
            format!("{i} {:?}\n", [Some(i), None]),
        ]
    });
    sorted(tag, expected.collect())
}

#[kernel]
fn arrays_kernel(tag: u32, x: f32, out: &mut [u32]) {
    let i = global_idx_x();
    let mut squares = [0u32; 5];
    for k in 0..5 {
        squares[k] = (i * k * k) as u32;
    }
    let rows = [[x, 1.0, 2.0], [3.0, 4.0, x]];
    let pairs = [(i as u8, true), (7, false)];
    println!(
        "#{tag} {i} {squares:?} {rows:?} {:?} {:?}",
        rows[1],
        rows[i % 2]
    );
    println!(
        "#{tag} {i} {:?} {pairs:?} {:.1?}",
        [x; 3],
        [[x, 0.5], [1.0, 2.0]]
    );
    println!("#{tag} {i} {:#?}", pairs);
    out[i] = squares[4];
}

fn arrays(device: &Device) -> Check {
    let (tag, x) = (tag(), 2.75f32);
    let mut out = sentinel_filled(3);
    arrays_kernel(tag, x, &mut out).over(3).run_on(device)?;
    expect("out", &out, &[0, 16, 32])?;
    let expected = (0..3usize).flat_map(|i| {
        let squares: [u32; 5] = std::array::from_fn(|k| (i * k * k) as u32);
        let rows = [[x, 1.0, 2.0], [3.0, 4.0, x]];
        let pairs = [(i as u8, true), (7, false)];
        [
            format!("{i} {squares:?} {rows:?} {:?} {:?}\n", rows[1], rows[i % 2]),
            format!(
                "{i} {:?} {pairs:?} {:.1?}\n",
                [x; 3],
                [[x, 0.5], [1.0, 2.0]]
            ),
            format!("{i} {:#?}\n", pairs),
        ]
    });
    sorted(tag, expected.collect())
}

#[kernel]
fn formats_kernel(tag: u32, x: f32, n: i16, out: &mut [u32]) {
    let inner = Inner {
        on: n > 0,
        size: 7,
        at: [x, 1.0],
    };
    println!(
        "#{tag} [{inner:8.2?}] [{:*^9?}] [{:<6?}] [{:+?}]",
        (n, x),
        [n, 1],
        (x, n)
    );
    println!("#{tag} [{:04?}] [{:>8?}] [{0:#?}]", Some(n), Color::Red);
    println!("#{tag} [{v}] [{v:9}] [{:?}]", (x,), v = x);
    out[global_idx_x()] = 1;
}

fn formats(device: &Device) -> Check {
    let (x, n) = (-1.375f32, 12i16);
    let tag = tag();
    let mut out = sentinel_filled(1);
    formats_kernel(tag, x, n, &mut out).over(1).run_on(device)?;
    expect("out", &out, &[1])?;
    let inner = Inner {
        on: n > 0,
        size: 7,
        at: [x, 1.0],
    };
    let expected = [
        format!(
            "[{inner:8.2?}] [{:*^9?}] [{:<6?}] [{:+?}]\n",
            (n, x),
            [n, 1],
            (x, n)
        ),
        format!("[{:04?}] [{:>8?}] [{0:#?}]\n", Some(n), Color::Red),
        format!("[{v}] [{v:9}] [{:?}]\n", (x,), v = x),
    ];
    same(&lines(tag), &expected)
}

#[derive(Clone, Copy, Debug, KernelType)]
#[repr(C)]
struct Both<T, const N: usize> {
    one: T,
    all: [T; N],
}

#[device]
fn told<T: Num + fmt::Debug>(tag: u32, value: T) -> T {
    let both = Both {
        one: value,
        all: [value; 2],
    };
    println!("#{tag} {both:?} {value:?} {:?}", (value, 1u8));
    both.all[1]
}

#[kernel]
fn generic_kernel<T: Num + fmt::Debug, const N: usize>(tag: u32, x: &[T], out: &mut [T]) {
    let i = global_idx_x();
    let both = Both::<T, N> {
        one: x[i],
        all: [x[i]; N],
    };
    println!("#{tag} {:?} {:?}", both, both.all);
    out[i] = told(tag, both.one);
}

fn generic(device: &Device) -> Check {
    let (tag, x) = (tag(), 0.1f32);
    let mut out = sentinel_filled(1);
    generic_kernel::<f32, 3>(tag, &Vector::from_slice(&[x]), &mut out)
        .over(1)
        .run_on(device)?;
    expect("out", &out, &[x])?;
    let expected = [
        format!(
            "{:?} {:?}\n",
            Both {
                one: x,
                all: [x; 3]
            },
            [x; 3]
        ),
        format!(
            "{:?} {x:?} {:?}\n",
            Both {
                one: x,
                all: [x; 2]
            },
            (x, 1u8)
        ),
    ];
    same(&lines(tag), &expected)?;
    let (tag, x) = (self::tag(), 200u32);
    let mut out = sentinel_filled(1);
    generic_kernel::<u32, 1>(tag, &Vector::from_slice(&[x]), &mut out)
        .over(1)
        .run_on(device)?;
    expect("out", &out, &[x])?;
    let expected = [
        format!("{:?} {:?}\n", Both { one: x, all: [x] }, [x]),
        format!(
            "{:?} {x:?} {:?}\n",
            Both {
                one: x,
                all: [x; 2]
            },
            (x, 1u8)
        ),
    ];
    same(&lines(tag), &expected)
}

/// Values that live across a barrier are printed after it.
#[kernel(block = 8)]
fn across_kernel(tag: u32, out: &mut [u32]) {
    let tile = shared_array::<u32, 8>();
    let t = thread_idx_x();
    let value = (t as u32, Some([t as i16; 2]));
    let mut local = [0u32; 3];
    local[t % 3] = 9;
    tile[t] = t as u32;
    barrier();
    local[(t + 1) % 3] += tile[7 - t];
    println!("#{tag} {t} {value:?} {local:?} {:?}", (tile[7 - t], t));
    out[global_idx_x()] = local[0];
}

fn across(device: &Device) -> Check {
    let tag = tag();
    let mut out = sentinel_filled(8);
    across_kernel(tag, &mut out).grid(1).run_on(device)?;
    let local = |t: usize| {
        let mut local = [0u32; 3];
        local[t % 3] = 9;
        local[(t + 1) % 3] += 7 - t as u32;
        local
    };
    let expected: Vec<u32> = (0..8).map(|t| local(t)[0]).collect();
    expect("out", &out, &expected)?;
    let expected = (0..8usize).map(|t| {
        let value = (t as u32, Some([t as i16; 2]));
        format!("{t} {value:?} {:?} {:?}\n", local(t), (7 - t as u32, t))
    });
    sorted(tag, expected.collect())
}
