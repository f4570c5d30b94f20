//! Types that only values have, and enums with tags of any integer type.

use std::marker::PhantomData;

use super::each;
use crate::Capability;
use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/types_of_values", &[], values),
    Case::new("rust/enums_as_numbers", &[], numbers),
    Case::new("rust/enums_in_vectors", &[], in_vectors),
    Case::new(
        "rust/enums_of_bytes_in_vectors",
        &[Capability::Storage8],
        of_bytes,
    ),
    Case::new("rust/bytes_of_numbers", &[], bytes),
    Case::new("rust/methods_of_results", &[], results),
];

#[derive(Clone, Copy, KernelType)]
enum Move {
    Left(u32),
    Jump { far: u32, high: (u32, bool) },
    Rest,
}

#[derive(Clone, Copy, KernelType)]
struct Plan<T> {
    moves: [Move; 2],
    times: T,
    unit: Metric,
    of: PhantomData<T>,
}

#[derive(Clone, Copy, KernelType)]
struct Metric;

#[derive(Clone, Copy, KernelType)]
struct Nautical;

#[device]
trait Unit: KernelType {
    fn scaled(&self, x: u32) -> u32;
}

#[device]
impl Unit for Metric {
    fn scaled(&self, x: u32) -> u32 {
        x * 10
    }
}

#[device]
impl Unit for Nautical {
    fn scaled(&self, x: u32) -> u32 {
        x * 18 + 1
    }
}

#[device]
fn way<U: Unit>(unit: U, x: u32) -> u32 {
    unit.scaled(x)
}

#[device]
fn length(of: Move) -> u32 {
    match of {
        Move::Left(n) => n,
        Move::Jump {
            far,
            high: (high, true),
        } => far + 2 * high,
        Move::Jump { far, .. } => far,
        Move::Rest => 0,
    }
}

#[device]
fn steps(of: Plan<u32>) -> u32 {
    let mut sum = 0;
    for k in 0..2 {
        sum += length(of.moves[k]);
    }
    of.times * of.unit.scaled(sum) + way(Nautical, sum)
}

const DOUBLE: Move = Move::Left(7);

#[kernel]
fn values_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let first = match x[i] {
        0 => Move::Rest,
        n if n < 4 => Move::Left(n),
        n => Move::Jump {
            far: n,
            high: (n + 1, n % 2 == 0),
        },
    };
    let plan = Plan {
        moves: [first, DOUBLE],
        times: y[i],
        unit: Metric,
        of: PhantomData,
    };
    y[i] = steps(plan);
}

fn values(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| values_kernel(x, y).over(n).run_on(device);
    each("values", run, |x, i, y| {
        let n = x[i];
        let sum = 7 + match n {
            n if n < 4 => n,
            n if n % 2 == 0 => n + 2 * (n + 1),
            n => n,
        };
        y * 10 * sum + 18 * sum + 1
    })
}

#[derive(Clone, Copy, KernelType)]
enum Plain {
    Low = -3,
    Next,
    High = 70_000,
}

#[derive(Clone, Copy, KernelType)]
#[repr(u8)]
enum Byte {
    Low = 7,
    High = 250,
}

#[derive(Clone, Copy, KernelType)]
#[repr(i16)]
enum Short {
    Low = -300,
    High = 300,
}

#[kernel]
fn numbers_kernel(byte: Byte, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let plain = match x[i] % 3 {
        0 => Plain::Low,
        1 => Plain::Next,
        _ => Plain::High,
    };
    let short = if x[i] % 2 == 0 {
        Short::Low
    } else {
        Short::High
    };
    let both = [plain, Plain::Next];
    y[i] = (both[0] as i32 + 5) as u32
        + byte as u32
        + (short as i32 + 300) as u32
        + (both[1] as u8) as u32
        + (Byte::High as i8 as i32 + 100) as u32
        + (short as u16 >> 4) as u32;
}

fn numbers(device: &Device) -> Check {
    for byte in [Byte::Low, Byte::High] {
        let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| {
            numbers_kernel(byte, x, y).over(n).run_on(device)
        };
        each("numbers", run, |x, i, _| {
            let plain = [-3, -2, 70_000][x[i] as usize % 3];
            let short = [-300i32, 300][x[i] as usize % 2];
            (plain + 5) as u32
                + byte as u32
                + (short + 300) as u32
                + 254
                + 94
                + (short as u16 >> 4) as u32
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(i32)]
enum Spin {
    Down = -1,
    Up = 1,
}

/// The tag is a part of each variant's struct, so the fields begin at different offsets.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(u32)]
enum Shape {
    Point,
    Circle(f32),
    Box { sides: [f32; 2], spin: Spin },
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
enum Load {
    Empty,
    Full(u32, Spin),
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(transparent)]
struct Celsius(f32);

#[kernel]
fn in_vectors_kernel(
    spins: &mut [Spin],
    shapes: &mut [Shape],
    loads: &mut [Load],
    heat: &mut [Celsius],
) {
    let i = global_idx_x();
    shapes[i] = match shapes[i] {
        Shape::Point => Shape::Circle(heat[i].0),
        Shape::Circle(r) => Shape::Box {
            sides: [r, 2.0 * r],
            spin: spins[i],
        },
        Shape::Box {
            sides,
            spin: Spin::Up,
        } => Shape::Circle(sides[1]),
        Shape::Box { .. } => Shape::Point,
    };
    loads[i] = match loads[i] {
        Load::Empty => Load::Full(i as u32, spins[i]),
        Load::Full(n, Spin::Down) => Load::Full(n + 1, Spin::Up),
        Load::Full(..) => Load::Empty,
    };
    heat[i] = Celsius(heat[i].0 + spins[i] as i32 as f32);
    spins[i] = match spins[i] {
        Spin::Down => Spin::Up,
        Spin::Up => Spin::Down,
    };
}

fn in_vectors(device: &Device) -> Check {
    let spins = [Spin::Down, Spin::Up, Spin::Down, Spin::Up, Spin::Up];
    let shapes = [
        Shape::Point,
        Shape::Circle(1.5),
        Shape::Box {
            sides: [1.0, 3.0],
            spin: Spin::Up,
        },
        Shape::Box {
            sides: [1.0, 3.0],
            spin: Spin::Down,
        },
        Shape::Circle(2.0),
    ];
    let loads = [
        Load::Empty,
        Load::Full(4, Spin::Down),
        Load::Full(4, Spin::Up),
        Load::Empty,
        Load::Full(1, Spin::Down),
    ];
    let heat: Vec<Celsius> = (0..5).map(|i| Celsius(i as f32)).collect();
    let mut spins_on = Vector::from_slice(&spins);
    let mut shapes_on = Vector::from_slice(&shapes);
    let mut loads_on = Vector::from_slice(&loads);
    let mut heat_on = Vector::from_slice(&heat);
    in_vectors_kernel(&mut spins_on, &mut shapes_on, &mut loads_on, &mut heat_on)
        .over(5)
        .run_on(device)?;
    let shapes = [
        Shape::Circle(0.0),
        Shape::Box {
            sides: [1.5, 3.0],
            spin: Spin::Up,
        },
        Shape::Circle(3.0),
        Shape::Point,
        Shape::Box {
            sides: [2.0, 4.0],
            spin: Spin::Up,
        },
    ];
    let loads = [
        Load::Full(0, Spin::Down),
        Load::Full(5, Spin::Up),
        Load::Empty,
        Load::Full(3, Spin::Up),
        Load::Full(2, Spin::Up),
    ];
    let heat = [-1.0, 2.0, 1.0, 4.0, 5.0].map(Celsius);
    let turned = [Spin::Up, Spin::Down, Spin::Up, Spin::Down, Spin::Down];
    ensure(shapes_on.to_vec()? == shapes, || "the shapes".into())?;
    ensure(loads_on.to_vec()? == loads, || "the loads".into())?;
    ensure(heat_on.to_vec()? == heat, || "the heat".into())?;
    ensure(spins_on.to_vec()? == turned, || "the spins".into())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(u8)]
enum Cell {
    Dead = 3,
    Alive = 200,
}

/// A tag of one byte before fields of four.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(u8)]
enum Tree {
    None,
    Leaf(u8),
    Node(u32),
}

#[kernel]
fn of_bytes_kernel(cells: &mut [Cell], trees: &mut [Tree]) {
    let i = global_idx_x();
    trees[i] = match trees[i] {
        Tree::None => Tree::Leaf(cells[i] as u8),
        Tree::Leaf(n) => Tree::Node(n as u32 + 1000),
        Tree::Node(_) => Tree::None,
    };
    cells[i] = match cells[i] {
        Cell::Dead => Cell::Alive,
        Cell::Alive => Cell::Dead,
    };
}

fn of_bytes(device: &Device) -> Check {
    let cells = [Cell::Dead, Cell::Alive, Cell::Alive];
    let trees = [Tree::None, Tree::Leaf(9), Tree::Node(5)];
    let mut cells_on = Vector::from_slice(&cells);
    let mut trees_on = Vector::from_slice(&trees);
    of_bytes_kernel(&mut cells_on, &mut trees_on)
        .over(3)
        .run_on(device)?;
    let trees = [Tree::Leaf(3), Tree::Node(1009), Tree::None];
    let turned = [Cell::Alive, Cell::Dead, Cell::Dead];
    ensure(trees_on.to_vec()? == trees, || "the trees".into())?;
    ensure(cells_on.to_vec()? == turned, || "the cells".into())
}

#[kernel]
fn bytes_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let word = x[i].wrapping_mul(0x9E37_79B9) ^ y[i];
    let low = word.to_le_bytes();
    let high = (word as i32).to_be_bytes();
    let float = f32::from_le_bytes([low[0], low[1], low[2] & 0x7F, 0x40]);
    let short = i16::from_be_bytes([high[0], high[1]]);
    y[i] = u32::from_be_bytes(low)
        ^ float.to_bits()
        ^ short as u32
        ^ (float.to_be_bytes()[1] as u32) << 8
        ^ match word as u8 {
            b'a'..=b'z' => 'a' as u32,
            digit @ b'0'..=b'9' => (digit - b'0') as u32,
            _ => '\u{1F600}' as u32,
        };
}

fn bytes(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| bytes_kernel(x, y).over(n).run_on(device);
    each("bytes", run, |x, i, y| {
        let word = x[i].wrapping_mul(0x9E37_79B9) ^ y;
        let (low, high) = (word.to_le_bytes(), word.to_be_bytes());
        let float = f32::from_le_bytes([low[0], low[1], low[2] & 0x7F, 0x40]);
        u32::from_be_bytes(low)
            ^ float.to_bits()
            ^ i16::from_be_bytes([high[0], high[1]]) as u32
            ^ (float.to_be_bytes()[1] as u32) << 8
            ^ match word as u8 {
                b'a'..=b'z' => 97,
                digit @ b'0'..=b'9' => digit as u32 - 48,
                _ => 0x1F600,
            }
    })
}

#[device]
fn half(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn quarter(x: u32) -> Result<u32, u32> {
    let h = half(x).ok_or(x)?;
    half(h).ok_or(h)
}

#[derive(Clone, Copy, KernelType)]
struct Place {
    x: u32,
}

#[device]
impl Place {
    fn at(x: u32) -> Place {
        Place { x }
    }
    fn next(self) -> Place {
        Place { x: self.x + 1 }
    }
}

#[derive(Clone, Copy, KernelType)]
struct Walk {
    from: Place,
    to: Place,
}

#[kernel]
fn results_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let start = Place::at(x[i]).next();
    let mut walk = Walk {
        from: start,
        to: start,
    };
    for _ in 0..3 {
        walk = Walk {
            from: walk.from,
            to: walk.to.next(),
        };
    }
    let steps = 100 * walk.from.x + start.next().next().x + walk.to.x;
    let even = half(x[i] - x[i] % 2).unwrap() + quarter(4 * y[i]).expect("a multiple of four");
    y[i] = steps
        + even
        + half(x[i]).unwrap_or(1000)
        + quarter(x[i]).unwrap_or(2000)
        + half(x[i]).map_or(7, |h| h + y[i])
        + quarter(x[i]).map_or(y[i], |h| 3 * h)
        + quarter(x[i]).unwrap_or_else(|e| e);
}

fn results(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| results_kernel(x, y).over(n).run_on(device);
    each("results", run, |x, i, y| {
        let x = x[i];
        let quarter = match x % 4 {
            0 => Ok(x / 4),
            2 => Err(x / 2),
            _ => Err(x),
        };
        let half = x.is_multiple_of(2).then_some(x / 2);
        let steps = 100 * (x + 1) + x + 3 + x + 4;
        steps
            + x / 2
            + y
            + half.unwrap_or(1000)
            + quarter.unwrap_or(2000)
            + half.map_or(7, |h| h + y)
            + quarter.map_or(y, |h| 3 * h)
            + quarter.unwrap_or_else(|e| e)
    })
}
