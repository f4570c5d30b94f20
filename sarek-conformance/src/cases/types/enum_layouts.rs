//! Layouts of enums: payloads of all widths that share their bytes, and generic ones. Each byte is where Rust has it.

use super::{COUNTS, same};
use crate::check::Check;
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/layouts/enums", &[Capability::I64], enums),
    Case::new(
        "types/layouts/enums_of_bytes",
        &[Capability::Storage8, Capability::I64],
        enums_of_bytes,
    ),
    Case::new("types/layouts/generic_enums", &[], generic_enums),
];

/// Payloads of different widths behind one tag.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Message {
    Empty,
    Long(u64),
    Three([u32; 3]),
    Both { short: u32, long: i64 },
}

#[kernel]
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
        let expected = x.iter().map(|m| match *m {
            Message::Empty => (Message::Long(0x1234_5678_9abc_def0), 1),
            Message::Long(v) => {
                let (short, long) = ((v >> 40) as u32, -((v >> 8) as i64));
                (Message::Both { short, long }, short)
            }
            Message::Three(of) => (Message::Three([of[2], of[0], of[1]]), of[2]),
            Message::Both { short, .. } if short % 2 == 0 => (Message::Empty, 0),
            Message::Both { short, long } => (Message::Long(long as u64 ^ u64::from(short)), 1),
        });
        let (expected, firsts): (Vec<Message>, Vec<u32>) = expected.unzip();
        let (mut y, mut z) = (Vector::filled(n, Message::Empty), Vector::filled(n, 7));
        enums_kernel(&Vector::from_slice(&x), &mut y, &mut z)
            .over(n)
            .run_on(device)?;
        same("messages", &y, &expected)?;
        same("firsts", &z, &firsts)?;
    }
    Ok(())
}

/// The bytes of one payload share their place with the words of another.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Packet {
    Bytes { first: u8, at: i64, last: u8 },
    Flags([bool; 3]),
    Byte(u8),
}

#[kernel]
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
        let expected = x.iter().map(|p| match *p {
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
        let expected: Vec<Packet> = expected.collect();
        let mut y = Vector::filled(n, Packet::Byte(0));
        packets_kernel(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("packets", &y, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Either<A, B> {
    Left(A),
    Right { of: B, count: u32 },
}

/// Two instances of one enum, as elements and as locals.
#[kernel]
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
        let expected = |i: usize| match i % 3 {
            0 => Either::Left(7),
            1 => Either::Right {
                of: 2.0 * i as f32,
                count: 1,
            },
            _ => Either::Left(100 * i as u32 + 43),
        };
        let x: Vec<Either<f32, [u32; 2]>> = (0..n).map(one).collect();
        let expected: Vec<Either<u32, f32>> = (0..n).map(expected).collect();
        let mut y = Vector::filled(n, Either::Left(0));
        either_kernel(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        same("either", &y, &expected)?;
    }
    Ok(())
}
