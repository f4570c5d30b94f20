//! Operators of types of one's own, by `#[device] impl Add` and its like, and `==` by `#[derive(PartialEq)]`. The expected values
//! come from arithmetic on the parts.

use std::ops::{
    self, Add, AddAssign, BitAnd, BitOrAssign, BitXor, Div, MulAssign, Neg, Not, Rem, Shl, Shr, Sub,
};

use super::each;
use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/operators_of_a_struct", &[], operators),
    Case::new("rust/assigning_operators_of_a_struct", &[], assigning),
    Case::new("rust/operators_of_a_generic_struct", &[], generic),
    Case::new("rust/operators_of_a_type_by_another_name", &[], renamed),
    Case::new("rust/derived_equality", &[], equality),
];

/// A number of pairs and singles: a type with two parts and operators of its own.
#[derive(Clone, Copy, Debug, KernelType)]
#[repr(C)]
struct Count {
    pairs: u32,
    singles: u32,
}

#[device]
impl Count {
    fn new(pairs: u32, singles: u32) -> Count {
        Count { pairs, singles }
    }

    fn total(self) -> u32 {
        self.pairs * 2 + self.singles
    }

    fn twice(&self) -> Count {
        *self + *self
    }
}

#[device]
impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            pairs: self.pairs + other.pairs,
            singles: self.singles + other.singles,
        }
    }
}

/// Not the inverse of `+`: pairs that are missing are taken from the singles.
#[device]
impl Sub for Count {
    type Output = Self;

    fn sub(self, other: Self) -> Self::Output {
        let lacks = other.pairs.saturating_sub(self.pairs);
        Self {
            pairs: self.pairs.saturating_sub(other.pairs),
            singles: (self.singles + 100).wrapping_sub(other.singles) - lacks,
        }
    }
}

#[device]
impl ops::Mul<u32> for Count {
    type Output = Count;

    fn mul(self, by: u32) -> Count {
        Count::new(self.pairs * by, self.singles * by)
    }
}

#[device]
impl std::ops::Mul<Count> for u32 {
    type Output = Count;

    fn mul(self, of: Count) -> Count {
        of * self
    }
}

/// A product that is a number.
#[device]
impl ops::Mul for Count {
    type Output = u32;

    fn mul(self, other: Count) -> u32 {
        self.pairs * other.pairs + self.singles * other.singles
    }
}

#[device]
impl Div<u32> for Count {
    type Output = Count;

    fn div(self, by: u32) -> Count {
        Count::new(self.pairs / by, self.singles / by)
    }
}

#[device]
impl Rem<u32> for Count {
    type Output = u32;

    fn rem(self, by: u32) -> u32 {
        self.total() % by
    }
}

#[device]
impl core::ops::Neg for Count {
    type Output = Count;

    fn neg(self) -> Count {
        Count::new(self.singles, self.pairs)
    }
}

#[device]
impl Not for Count {
    type Output = bool;

    fn not(self) -> bool {
        self.pairs + self.singles == 0
    }
}

#[device]
impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.pairs += other.pairs;
        self.singles += other.singles + 1;
    }
}

#[device]
impl AddAssign<u32> for Count {
    fn add_assign(&mut self, singles: u32) {
        self.singles += singles;
    }
}

#[device]
impl MulAssign<u32> for Count {
    fn mul_assign(&mut self, by: u32) {
        *self = *self * by;
    }
}

#[derive(Clone, Copy, Debug, KernelType)]
#[repr(C)]
struct Flags(u32);

#[device]
impl BitAnd for Flags {
    type Output = Flags;

    fn bitand(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
}

#[device]
impl BitXor<u32> for Flags {
    type Output = Flags;

    fn bitxor(self, bits: u32) -> Flags {
        Flags(self.0 ^ bits)
    }
}

#[device]
impl Shl<u32> for Flags {
    type Output = Flags;

    fn shl(self, by: u32) -> Flags {
        Flags(self.0 << by)
    }
}

#[device]
impl Shr<u32> for Flags {
    type Output = u32;

    fn shr(self, by: u32) -> u32 {
        self.0 >> by
    }
}

#[device]
impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

#[device]
fn middle(a: &Count, b: &Count) -> Count {
    (*a + *b) / 2
}

#[kernel]
fn operators_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let v = x[i];
    let a = Count {
        pairs: v,
        singles: 3,
    };
    let b = Count::new(2, y[i]);
    let sum = a * 2 + b - Count::new(1, v) + 3 * (Count::new(1, 0) + a);
    let product = a * b + b * sum;
    let mut total = sum.total() + product + (-a).pairs + a % 7 + !(a - a) as u32;
    total += (middle(&a, &b) + a.twice()).total();
    let flags = Flags(v) ^ 0xff & 0x3f;
    y[i] = total + (((flags & Flags(0x55)) << 3) >> 1);
}

fn operators(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| operators_kernel(x, y).over(n).run_on(device);
    each("operators", run, |x, i, y| {
        let v = x[i];
        let (pairs, singles) = (2 * v + 2, 6 + y);
        let (pairs, singles) = (pairs - 1, singles + 100 - v);
        let (pairs, singles) = (pairs + 3 * (1 + v), singles + 9);
        let product = v * 2 + 3 * y + 2 * pairs + y * singles;
        let total = 2 * pairs + singles + product + 3 + (2 * v + 3) % 7;
        // 100 singles are left of a difference.
        let middle = ((v + 2) / 2 + 2 * v) * 2 + (3 + y) / 2 + 6;
        let flags = (v ^ 0x3f) & 0x55;
        total + middle + ((flags << 3) >> 1)
    })
}

#[kernel]
fn assigning_kernel(x: &[Count], y: &mut [Count]) {
    let i = global_idx_x();
    let mut local = x[i];
    local += x[0];
    local *= 2;
    let mut row = [local, x[i]];
    row[1] += row[0];
    row[i % 2] += 5;
    let mut pair = (x[i], 1);
    pair.0 += local;
    pair.1 += 1;
    let mut flags = Flags(1);
    flags |= Flags(local.pairs);
    y[i] += row[1];
    y[i] += pair.0 + Count::new(flags.0, pair.1);
}

fn assigning(device: &Device) -> Check {
    for n in [1usize, 5, 67] {
        let counts: Vec<Count> = (0..n as u32).map(|i| Count::new(i, 2 * i + 1)).collect();
        let mut y = Vector::from_slice(&counts);
        let x = Vector::from_slice(&counts);
        assigning_kernel(&x, &mut y).over(n).run_on(device)?;
        let got = y.to_vec()?;
        for (i, got) in got.into_iter().enumerate() {
            let (p, s, odd) = (i as u32, 2 * i as u32 + 1, (i % 2) as u32);
            let (local_p, local_s) = (2 * p, 2 * (s + 1 + 1));
            let (row_p, row_s) = (p + local_p, s + local_s + 1 + 5 * odd);
            let (pair_p, pair_s) = (p + local_p, s + local_s + 1);
            let flags = 1 | local_p;
            let wanted_p = p + row_p + pair_p + flags;
            let wanted_s = s + row_s + 1 + pair_s + 2 + 1;
            ensure((got.pairs, got.singles) == (wanted_p, wanted_s), || {
                format!("{n} elements: [{i}] is {got:?} instead of {wanted_p}, {wanted_s}")
            })?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Pair<T> {
    a: T,
    b: T,
}

#[device]
impl<T: Num> Add for Pair<T> {
    type Output = Pair<T>;

    fn add(self, other: Pair<T>) -> Pair<T> {
        Pair {
            a: self.a + other.a,
            b: self.b + other.b,
        }
    }
}

#[device]
impl<T: Num> ops::Mul<T> for Pair<T> {
    type Output = Pair<T>;

    fn mul(self, by: T) -> Pair<T> {
        Pair {
            a: self.a * by,
            b: self.b * by,
        }
    }
}

#[device]
impl<T: Float> Neg for Pair<T> {
    type Output = Pair<T>;

    fn neg(self) -> Pair<T> {
        Pair {
            a: -self.b,
            b: -self.a,
        }
    }
}

#[kernel]
fn generic_kernel<T: Num>(by: T, x: &[Pair<T>], y: &mut [Pair<T>]) {
    let i = global_idx_x();
    y[i] = x[i] * by + x[0] + y[i];
}

#[kernel]
fn negative_kernel(x: &[Pair<f32>], y: &mut [Pair<f32>]) {
    let i = global_idx_x();
    y[i] = -x[i] * 0.5;
}

fn generic(device: &Device) -> Check {
    let x = [Pair { a: 1, b: -2 }, Pair { a: 3, b: 4 }];
    let mut y = Vector::from_slice(&x);
    generic_kernel(5, &Vector::from_slice(&x), &mut y)
        .over(2)
        .run_on(device)?;
    let got = y.to_vec()?;
    ensure(
        got == [Pair { a: 7, b: -14 }, Pair { a: 19, b: 22 }],
        || format!("integers: {got:?}"),
    )?;
    let x = [Pair { a: 1.0, b: -2.0 }, Pair { a: 3.0, b: 4.0 }];
    let mut y = Vector::from_slice(&x);
    negative_kernel(&Vector::from_slice(&x), &mut y)
        .over(2)
        .run_on(device)?;
    let got = y.to_vec()?;
    ensure(
        got == [Pair { a: 1.0, b: -0.5 }, Pair { a: -2.0, b: -1.5 }],
        || format!("floats: {got:?}"),
    )
}

/// A number by another name, whose operators are those of the number.
type Length = u32;

#[kernel]
fn renamed_kernel(x: &[Length], y: &mut [Length]) {
    let i = global_idx_x();
    let mut sum: Length = 1;
    for j in 0..=i {
        sum += x[j] * x[i] + 1;
    }
    let even = if x[i] % 2 == 0 && x[i] != 8 { 2 } else { 3 };
    y[i] += sum * 2 + ((x[i] << 2) ^ !x[i] & 7) + even;
}

fn renamed(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| renamed_kernel(x, y).over(n).run_on(device);
    each("numbers by another name", run, |x, i, y| {
        let (v, before) = (x[i], x[..=i].iter().sum::<u32>());
        let sum = 1 + before * v + i as u32 + 1;
        let even = if v == 8 || v % 2 == 1 { 3 } else { 2 };
        y + 2 * sum + ((4 * v) ^ (7 - v % 8)) + even
    })
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(u32)]
enum Colour {
    Red = 3,
    Black = 7,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Mark {
    Dot,
    Disc(f32),
    Line { from: u32, to: u32 },
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Cell {
    at: [u32; 2],
    weight: f32,
    colour: Colour,
}

#[device]
fn is_same(a: &Cell, b: Cell) -> bool {
    *a == b
}

#[kernel]
fn equality_kernel(goal: Cell, mark: Mark, cells: &[Cell], marks: &[Mark], y: &mut [u32]) {
    let i = global_idx_x();
    let mut total = (cells[i] == goal) as u32 + 2 * (cells[i] != cells[0]) as u32;
    total += 4 * (marks[i] == mark) as u32 + 8 * (Mark::Disc(1.5) != marks[i]) as u32;
    total += 16 * (cells[i].colour == Colour::Black) as u32;
    total += 32 * is_same(&goal, cells[i]) as u32;
    total += 64 * (Some(marks[i]) == Some(Mark::Line { from: 1, to: 2 })) as u32;
    y[i] = total;
}

fn equality(device: &Device) -> Check {
    let cell = |column, weight, colour| Cell {
        at: [1, column],
        weight,
        colour,
    };
    let cells = [
        cell(2, 0.0, Colour::Black),
        cell(2, -0.0, Colour::Black),
        cell(3, 0.0, Colour::Black),
        cell(2, f32::NAN, Colour::Black),
        cell(2, 0.0, Colour::Red),
    ];
    let marks = [
        Mark::Dot,
        Mark::Disc(1.5),
        Mark::Disc(2.5),
        Mark::Line { from: 1, to: 2 },
        Mark::Line { from: 1, to: 3 },
    ];
    // By hand: whether cell `i` is cell 0, and the place of each mark.
    let as_first = [true, true, false, false, false];
    for wanted in 0..marks.len() {
        let mut y = Vector::zeros(cells.len());
        let (x, of) = (Vector::from_slice(&cells), Vector::from_slice(&marks));
        equality_kernel(cells[0], marks[wanted], &x, &of, &mut y)
            .over(cells.len())
            .run_on(device)?;
        let got: Vec<u32> = y.to_vec()?;
        for (i, got) in got.into_iter().enumerate() {
            let same = as_first[i] as u32;
            let mut expected = same + 2 * (1 - same) + 4 * (i == wanted) as u32;
            expected += 8 * (i != 1) as u32 + 16 * (i != 4) as u32 + 32 * same;
            expected += 64 * (i == 3) as u32;
            ensure(got == expected, || {
                format!("mark {wanted}: [{i}] is {got} instead of {expected}")
            })?;
        }
    }
    Ok(())
}
