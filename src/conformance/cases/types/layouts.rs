//! Layouts: fields of all widths with room between them, nested, in enums, generic ones, in arrays; each byte where Rust has it.

use super::{COUNTS, same};
use crate::conformance::check::Check;
use crate::conformance::input::Random;
use crate::conformance::{Capability, Case};
use crate::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "types/layouts/bytes",
        &[
            Capability::Storage8,
            Capability::Storage16,
            Capability::I64,
            Capability::F64,
        ],
        bytes,
    ),
    Case::new(
        "types/layouts/words",
        &[Capability::I64, Capability::F64],
        words,
    ),
    Case::new("types/layouts/enums", &[Capability::I64], enums),
    Case::new(
        "types/layouts/enums_of_bytes",
        &[Capability::Storage8, Capability::I64],
        enums_of_bytes,
    ),
    Case::new("types/layouts/generic_enums", &[], generic_enums),
    Case::new("types/layouts/generic_arrays", &[], generic_arrays),
];

/// Seven bytes are left out before `wide`, one before `short`, and some behind each part.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Mixed {
    tag: u8,
    wide: f64,
    flag: bool,
    short: i16,
    inner: Inner,
    rest: [u8; 3],
    last: u16,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Inner {
    small: i8,
    long: i64,
    byte: u8,
}

fn mixed(random: &mut Random) -> Mixed {
    Mixed {
        tag: random.bits() as u8,
        wide: random.below(1 << 40) as f64 / 8.0,
        flag: random.below(2) == 0,
        short: random.bits() as i16,
        inner: Inner {
            small: random.bits() as i8,
            long: random.bits() as i64,
            byte: random.bits() as u8,
        },
        rest: [(); 3].map(|()| random.bits() as u8),
        last: random.bits() as u16,
    }
}

/// Fields go from one to the other, through whole values, parts and single fields.
#[kernel(crate = crate)]
fn bytes_kernel(by: Mixed, x: &[Mixed], y: &mut [Mixed]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        let one = x[i];
        y[i] = Mixed {
            tag: one.rest[2],
            rest: [one.tag, one.inner.byte, by.tag],
            ..one
        };
        y[i].wide = one.wide + by.wide;
        y[i].flag = !one.flag;
        y[i].inner.long ^= by.inner.long;
        y[i].inner.small = by.inner.small;
        y[i].last = one.short as u16;
        y[i].short = by.short;
    }
}

fn bytes(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let by = mixed(&mut random);
        let x: Vec<Mixed> = (0..n).map(|_| mixed(&mut random)).collect();
        let due = x.iter().map(|one| Mixed {
            tag: one.rest[2],
            wide: one.wide + by.wide,
            flag: !one.flag,
            short: by.short,
            inner: Inner {
                small: by.inner.small,
                long: one.inner.long ^ by.inner.long,
                byte: one.inner.byte,
            },
            rest: [one.tag, one.inner.byte, by.tag],
            last: one.short as u16,
        });
        let due: Vec<Mixed> = due.collect();
        let mut y = Vector::filled(n, by);
        bytes_kernel(by, &Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("bytes", &y, &due)?;
    }
    Ok(())
}

/// The same with words of four and eight bytes, and a vector that is aligned by itself.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Words {
    id: u32,
    long: u64,
    part: Part,
    four: f32x4,
    end: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Part {
    of: [i32; 3],
    wide: f64,
    pair: f32x2,
}

fn word(random: &mut Random) -> Words {
    let mut float = || random.below(1 << 16) as f32 / 4.0;
    let four = f32x4::new(float(), float(), float(), float());
    let pair = f32x2::new(float(), float());
    Words {
        id: random.bits() as u32,
        long: random.bits(),
        part: Part {
            of: [(); 3].map(|()| random.bits() as i32),
            wide: random.below(1 << 30) as f64,
            pair,
        },
        four,
        end: random.below(100) as f32,
    }
}

#[kernel(crate = crate)]
fn words_kernel(by: Words, x: &[Words], y: &mut [Words]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        let mut one = x[i];
        one.long = one.long.rotate_left(by.id % 64);
        one.part.of[one.id as usize % 3] ^= by.part.of[1];
        one.part.wide += by.part.wide;
        one.part.pair = by.part.pair;
        one.four.z = by.four.w;
        y[i] = one;
        y[i].end += by.end;
    }
}

fn words(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64 + 1);
        let by = word(&mut random);
        let x: Vec<Words> = (0..n).map(|_| word(&mut random)).collect();
        let due = x.iter().map(|one| {
            let mut due = *one;
            due.long = one.long.rotate_left(by.id % 64);
            due.part.of[one.id as usize % 3] ^= by.part.of[1];
            due.part.wide += by.part.wide;
            due.part.pair = by.part.pair;
            due.four = f32x4::new(one.four.x, one.four.y, by.four.w, one.four.w);
            due.end += by.end;
            due
        });
        let due: Vec<Words> = due.collect();
        let mut y = Vector::filled(n, by);
        words_kernel(by, &Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("words", &y, &due)?;
    }
    Ok(())
}

/// Payloads of different widths behind one tag.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C, u32)]
enum Message {
    Empty,
    Long(u64),
    Three([u32; 3]),
    Both { short: u32, long: i64 },
}

#[kernel(crate = crate)]
fn enums_kernel(x: &[Message], y: &mut [Message], z: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() && i < z.len() {
        y[i] = match x[i] {
            Message::Empty => Message::Long(0x1234_5678_9abc_def0),
            Message::Long(v) => Message::Both {
                short: (v >> 40) as u32,
                long: -(v as i64 >> 8),
            },
            Message::Three(of) => Message::Three([of[2], of[0], of[1]]),
            Message::Both { short, .. } if short % 2 == 0 => Message::Empty,
            Message::Both { short, long } => Message::Long(long as u64 ^ short as u64),
        };
        z[i] = match y[i] {
            Message::Three(of) => of[0],
            Message::Long(_) => 1,
            Message::Both { short, .. } => short,
            Message::Empty => 0,
        };
    }
}

fn enums(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64 + 2);
        let mut one = |i: usize| match i % 4 {
            0 => Message::Empty,
            1 => Message::Long(random.bits() >> 1),
            2 => Message::Three([(); 3].map(|()| random.bits() as u32)),
            _ => Message::Both {
                short: random.bits() as u32,
                long: random.bits() as i64,
            },
        };
        let x: Vec<Message> = (0..n).map(&mut one).collect();
        let due = x.iter().map(|m| match *m {
            Message::Empty => (Message::Long(0x1234_5678_9abc_def0), 1),
            Message::Long(v) => {
                let (short, long) = ((v >> 40) as u32, -((v >> 8) as i64));
                (Message::Both { short, long }, short)
            }
            Message::Three(of) => (Message::Three([of[2], of[0], of[1]]), of[2]),
            Message::Both { short, .. } if short % 2 == 0 => (Message::Empty, 0),
            Message::Both { short, long } => (Message::Long(long as u64 ^ u64::from(short)), 1),
        });
        let (due, firsts): (Vec<Message>, Vec<u32>) = due.unzip();
        let (mut y, mut z) = (Vector::filled(n, Message::Empty), Vector::filled(n, 7));
        enums_kernel(&Vector::from_slice(&x), &mut y, &mut z)
            .over(n)
            .run_on(device)?;
        same("messages", &y, &due)?;
        same("firsts", &z, &firsts)?;
    }
    Ok(())
}

/// Bytes of one payload stand where the words of another do.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C, u32)]
enum Packet {
    Bytes { first: u8, at: i64, last: u8 },
    Flags([bool; 3]),
    Byte(u8),
}

#[kernel(crate = crate)]
fn packets_kernel(x: &[Packet], y: &mut [Packet]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        y[i] = match x[i] {
            Packet::Bytes { first, last, at } if at < 0 => {
                Packet::Flags([first > last, first == last, last > 9])
            }
            Packet::Bytes { first, at, last } => Packet::Bytes {
                first: last,
                at: at / 2,
                last: first,
            },
            Packet::Flags(of) => Packet::Byte(of[0] as u8 + 2 * of[1] as u8 + 4 * of[2] as u8),
            Packet::Byte(of) => Packet::Bytes {
                first: of,
                at: -(of as i64) << 33,
                last: !of,
            },
        };
    }
}

fn enums_of_bytes(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64 + 3);
        let mut one = |i: usize| match i % 3 {
            0 => Packet::Bytes {
                first: random.bits() as u8,
                at: random.bits() as i64,
                last: random.bits() as u8,
            },
            1 => Packet::Flags([(); 3].map(|()| random.below(2) == 1)),
            _ => Packet::Byte(random.bits() as u8),
        };
        let x: Vec<Packet> = (0..n).map(&mut one).collect();
        let due = x.iter().map(|p| match *p {
            Packet::Bytes { first, at, last } if at < 0 => {
                Packet::Flags([first > last, first == last, last > 9])
            }
            Packet::Bytes { first, at, last } => Packet::Bytes {
                first: last,
                at: at / 2,
                last: first,
            },
            Packet::Flags(of) => {
                Packet::Byte(u8::from(of[0]) | u8::from(of[1]) << 1 | u8::from(of[2]) << 2)
            }
            Packet::Byte(of) => Packet::Bytes {
                first: of,
                at: -(i64::from(of) * (1 << 33)),
                last: 255 - of,
            },
        });
        let due: Vec<Packet> = due.collect();
        let mut y = Vector::filled(n, Packet::Byte(0));
        packets_kernel(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("packets", &y, &due)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C, u32)]
enum Either<A, B> {
    Left(A),
    Right { of: B, count: u32 },
}

/// Two instances of one enum, as elements and as locals.
#[kernel(crate = crate)]
fn either_kernel(x: &[Either<f32, [u32; 2]>], y: &mut [Either<u32, f32>]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        y[i] = match x[i] {
            Either::Left(v) if v < 0.0 => Either::Left(7),
            Either::Left(v) => Either::Right {
                of: v * 2.0,
                count: 1,
            },
            Either::Right { of, count } => Either::Left(of[0] * 100 + of[1] * 10 + count),
        };
    }
}

fn generic_enums(device: &Device) -> Check {
    for n in COUNTS {
        let one = |i: usize| match i % 3 {
            0 => Either::Left(-1.5),
            1 => Either::Left(i as f32),
            _ => Either::Right {
                of: [i as u32, 4],
                count: 3,
            },
        };
        let due = |i: usize| match i % 3 {
            0 => Either::Left(7),
            1 => Either::Right {
                of: 2.0 * i as f32,
                count: 1,
            },
            _ => Either::Left(100 * i as u32 + 43),
        };
        let x: Vec<Either<f32, [u32; 2]>> = (0..n).map(one).collect();
        let due: Vec<Either<u32, f32>> = (0..n).map(due).collect();
        let mut y = Vector::filled(n, Either::Left(0));
        either_kernel(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("either", &y, &due)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Row<T, const N: usize> {
    of: [T; N],
    sum: T,
}

/// A kernel for rows of any length and type.
#[kernel(crate = crate)]
fn rows_kernel<T: Num, const N: usize>(rows: &mut [Row<T, N>]) {
    let i = global_idx_x();
    if i < rows.len() {
        let mut row: Row<T, N> = rows[i];
        let mut sum = T::ZERO;
        for k in 0..N {
            sum += row.of[k];
            row.of[k] = row.of[N - 1 - k] + T::ONE;
        }
        row.sum = sum;
        rows[i] = row;
    }
}

fn generic_arrays(device: &Device) -> Check {
    rows::<u32, 3>(device, |i| i)?;
    rows::<f32, 5>(device, |i| i as f32 * 0.5)
}

fn rows<T: Num + crate::Element + PartialEq + std::fmt::Debug, const N: usize>(
    device: &Device,
    value: impl Fn(u32) -> T,
) -> Check {
    for n in COUNTS {
        let row = |i: usize| Row::<T, N> {
            of: std::array::from_fn(|k| value((i * 3 + k) as u32)),
            sum: T::ZERO,
        };
        let due = |i: usize| {
            let Row { mut of, mut sum } = row(i);
            for k in 0..N {
                sum += of[k];
                of[k] = of[N - 1 - k] + T::ONE;
            }
            Row { of, sum }
        };
        let due: Vec<Row<T, N>> = (0..n).map(due).collect();
        let mut rows = Vector::from_vec((0..n).map(row).collect());
        rows_kernel::<T, N>(&mut rows).over(n).run_on(device)?;
        same("rows", &rows, &due)?;
    }
    Ok(())
}
