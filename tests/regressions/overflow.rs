//! Integer overflow in a debug build. Once only `native` panicked, without a line, and the others wrapped.

use sarek::prelude::*;
use sarek::{Error, Fault, FaultKind};

use super::devices;

/// An integer type to test. `Held` is the type of its buffers: 8 and 16 bits and `usize` use a type that every device supports there.
trait Edge: Copy + PartialEq + std::fmt::Debug + 'static {
    type Held: sarek::Element + PartialEq + std::fmt::Debug;
    fn held(self) -> Self::Held;
}

macro_rules! edges {
    ($($ty:ident as $held:ident),*) => {$(
        impl Edge for $ty {
            type Held = $held;
            fn held(self) -> $held {
                self as $held
            }
        }
    )*};
}

edges!(
    i8 as i32,
    u8 as u32,
    i16 as i32,
    u16 as u32,
    i32 as i32,
    u32 as u32,
    i64 as i64,
    u64 as u64,
    usize as u64
);

fn fault_of(result: sarek::Result<()>) -> Option<Fault> {
    match result {
        Ok(()) => None,
        Err(Error::Fault(fault)) => Some(*fault),
        Err(other) => panic!("another error: {other}"),
    }
}

/// An operation: its symbol, the kernel's branch that computes it, and the checked version in core.
type Case<T> = (&'static str, u32, fn(T, T) -> Option<T>);

/// Runs one of the operations on a device, for pairs of operands.
type Run<'a, T> = &'a dyn Fn(&Device, u32, Vec<[T; 2]>) -> sarek::Result<Vec<<T as Edge>::Held>>;

/// Runs one launch with all pairs whose results fit, and one launch for each of some pairs that overflow.
fn compare<T: Edge>(values: &[T], cases: &[Case<T>], run: Run<'_, T>) {
    let all = values.iter().flat_map(|a| values.iter().map(|b| [*a, *b]));
    let all: Vec<[T; 2]> = all.collect();
    for device in devices() {
        for (symbol, branch, expected) in cases {
            let what = |pair: [T; 2]| {
                let ty = std::any::type_name::<T>();
                format!("{pair:?} `{symbol}` of {ty} on {}", device.backend())
            };
            let (fits, too_much): (Vec<_>, Vec<_>) = all
                .iter()
                .copied()
                .partition(|[a, b]| expected(*a, *b).is_some());
            let found = run(&device, *branch, fits.clone());
            let found = found.unwrap_or_else(|e| panic!("{symbol} of what fits: {e}"));
            for (pair, found) in fits.iter().zip(found) {
                let expected = expected(pair[0], pair[1]).map(T::held);
                assert_eq!(Some(found), expected, "{}", what(*pair));
            }
            let step = (too_much.len() / 3).max(1);
            for pair in too_much.into_iter().step_by(step) {
                let (before, behind) = (fits[0], fits[1]);
                let result = run(&device, *branch, vec![before, pair, behind]);
                let fault = fault_of(result.map(drop));
                let fault = fault.unwrap_or_else(|| panic!("no fault: {}", what(pair)));
                let operation = symbol.to_string();
                assert_eq!(
                    fault.kind,
                    FaultKind::Overflow { operation },
                    "{}",
                    what(pair)
                );
                assert_eq!(fault.thread, [1, 0, 0], "{}", what(pair));
                assert!(fault.file.ends_with("overflow.rs"), "{fault}");
                assert!(fault.line > 0, "{fault}");
            }
        }
    }
}

/// Tests every binary operator of a type. The shift count has the same type.
macro_rules! operators {
    ($($test:ident $ty:ident $held:ident;)*) => {$(
        #[test]
        fn $test() {
            #[kernel]
            fn operate(which: u32, a: &[$held], b: &[$held], out: &mut [$held]) {
                let i = global_idx_x();
                if i < out.len() {
                    let (x, y) = (a[i] as $ty, b[i] as $ty);
                    let z = match which {
                        0 => x + y,
                        1 => x - y,
                        2 => x * y,
                        3 => x << y,
                        4 => x >> y,
                        _ => x.pow(y as u32),
                    };
                    out[i] = z as $held;
                }
            }
            let run = |device: &Device, which: u32, pairs: Vec<[$ty; 2]>| {
                let side = |at: usize| pairs.iter().map(|p| p[at].held()).collect::<Vec<$held>>();
                let (a, b) = (Vector::from_vec(side(0)), Vector::from_vec(side(1)));
                let mut out = Vector::filled(pairs.len(), 77 as $held);
                operate(which, &a, &b, &mut out).over(pairs.len()).run_on(device)?;
                out.to_vec()
            };
            let bits = $ty::BITS as $ty;
            let values = [
                $ty::MIN, $ty::MIN + 1, $ty::MAX / 2, $ty::MAX - 1, $ty::MAX, 0, 1, 2, 3, 5, 11,
                bits - 1, bits, $ty::MIN / 2, (0 as $ty).wrapping_sub(1), (0 as $ty).wrapping_sub(2),
            ];
            compare::<$ty>(&values, &[
                ("+", 0, |x, y| x.checked_add(y)),
                ("-", 1, |x, y| x.checked_sub(y)),
                ("*", 2, |x, y| x.checked_mul(y)),
                ("<<", 3, |x, y| x.checked_shl(u32::try_from(y).unwrap_or(u32::MAX))),
                (">>", 4, |x, y| x.checked_shr(u32::try_from(y).unwrap_or(u32::MAX))),
                ("pow", 5, |x, y| x.checked_pow(y as u32)),
            ], &run);
        }
    )*};
}

operators! {
    operators_of_i8 i8 i32;
    operators_of_u8 u8 u32;
    operators_of_i16 i16 i32;
    operators_of_u16 u16 u32;
    operators_of_i32 i32 i32;
    operators_of_u32 u32 u32;
    operators_of_i64 i64 i64;
    operators_of_u64 u64 u64;
    operators_of_usize usize u64;
}

macro_rules! signed {
    ($($test:ident $ty:ident $held:ident;)*) => {$(
        #[test]
        fn $test() {
            #[kernel]
            fn operate(which: u32, a: &[$held], out: &mut [$held]) {
                let i = global_idx_x();
                if i < out.len() {
                    let x = a[i] as $ty;
                    let z = if which == 0 { -x } else { x.abs() };
                    out[i] = z as $held;
                }
            }
            let run = |device: &Device, which: u32, pairs: Vec<[$ty; 2]>| {
                let a: Vec<$held> = pairs.iter().map(|p| p[0].held()).collect();
                let a = Vector::from_vec(a);
                let mut out = Vector::filled(pairs.len(), 77 as $held);
                operate(which, &a, &mut out).over(pairs.len()).run_on(device)?;
                out.to_vec()
            };
            let values = [$ty::MIN, $ty::MIN + 1, -1, 0, 1, $ty::MAX];
            compare::<$ty>(&values, &[
                ("-", 0, |x, _| x.checked_neg()),
                ("abs", 1, |x, _| x.checked_abs()),
            ], &run);
        }
    )*};
}

signed! {
    signs_of_i8 i8 i32;
    signs_of_i16 i16 i32;
    signs_of_i32 i32 i32;
    signs_of_i64 i64 i64;
}

/// Checks the fault of a launch over four elements. That of thread 2 is `u32::MAX`, which overflows.
fn fault_at(
    launch: impl Fn(&Device, &mut Vector<u32>) -> sarek::Result<()>,
    (operation, line): (&str, u32),
) {
    for device in devices() {
        let mut y = Vector::from_vec(vec![1, 2, u32::MAX, 4]);
        let result = launch(&device, &mut y).and_then(|()| y.to_vec().map(drop));
        let fault = fault_of(result);
        let fault = fault.unwrap_or_else(|| panic!("no fault on {}", device.backend()));
        let operation = operation.to_owned();
        assert_eq!(fault.kind, FaultKind::Overflow { operation }, "{fault}");
        assert_eq!(fault.thread, [2, 0, 0], "{fault}");
        assert_eq!(fault.line, line, "{fault} on {}", device.backend());
        assert!(fault.file.ends_with("overflow.rs"), "{fault}");
        // Without overflow the launch succeeds.
        let mut y = Vector::from_vec(vec![1, 2, 3, 4]);
        launch(&device, &mut y).unwrap_or_else(|e| panic!("{e}"));
        y.to_vec().unwrap_or_else(|e| panic!("{e}"));
    }
}

#[kernel]
fn next(y: &mut [u32]) {
    let i = global_idx_x();
    let first = y[i];
    y[i] = first + 1;
}

#[test]
fn a_fault_names_kernel_line_and_thread() {
    let line = line!() - 5;
    fault_at(|device, y| next(y).over(4).run_on(device), ("+", line));
}

#[kernel]
fn next_in_place(y: &mut [u32]) {
    y[global_idx_x()] += 1;
}

#[test]
fn assignments_are_checked() {
    let line = line!() - 5;
    fault_at(
        |device, y| next_in_place(y).over(4).run_on(device),
        ("+", line),
    );
}

#[device]
fn doubled(x: u32) -> u32 {
    x * 2
}

#[device]
fn sum<T: Int>(x: T, y: T) -> T {
    x + y
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

#[device]
impl Pair {
    fn shifted(self) -> u32 {
        self.low << self.high
    }
}

#[kernel]
fn call_doubled(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = doubled(y[i]);
}

#[kernel]
fn call_sum(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = sum(y[i], 7);
}

#[kernel]
fn call_shifted(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = Pair { low: 1, high: y[i] }.shifted();
}

#[test]
fn device_functions_are_checked() {
    let line = line!() - 42;
    fault_at(
        |device, y| call_doubled(y).over(4).run_on(device),
        ("*", line),
    );
    fault_at(
        |device, y| call_sum(y).over(4).run_on(device),
        ("+", line + 5),
    );
    fault_at(
        |device, y| call_shifted(y).over(4).run_on(device),
        ("<<", line + 18),
    );
}

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[kernel]
fn by_closures(y: &mut [u32]) {
    let i = global_idx_x();
    let own = |x: u32| x / 2;
    y[i] = own(y[i]) + apply(|x| x * 3, y[i]);
}

#[test]
fn closures_are_checked() {
    let line = line!() - 5;
    fault_at(
        |device, y| by_closures(y).over(4).run_on(device),
        ("*", line),
    );
}

#[kernel]
fn neighbours(y: &mut [u32]) {
    let tile = shared_array::<u32, 4>();
    let t = thread_idx_x();
    tile[t] = y[global_idx_x()];
    barrier();
    let mut step = 1;
    let mut all = tile[t];
    while step < 4 {
        all += tile[(t + step) % 4] / 4;
        step *= 2;
        barrier();
    }
    y[global_idx_x()] = all;
}

#[test]
fn kernels_with_barriers_are_checked() {
    let line = line!() - 9;
    fault_at(
        |device, y| neighbours(y).grid(1).block(4).run_on(device),
        ("+", line),
    );
}

#[kernel]
fn rounds(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 4>();
    let t = thread_idx_x();
    tile[t] = y[global_idx_x()];
    let mut round = n;
    while round * 2 > 4 {
        barrier();
        let other = tile[3 - t];
        barrier();
        tile[t] = other / 2;
        round -= 1;
    }
    y[global_idx_x()] = tile[t];
}

#[test]
fn conditions_of_barriers_are_checked() {
    let line = line!() - 12;
    for device in devices() {
        let run = |n: u32| {
            let mut y = Vector::from_vec(vec![1, 2, 3, 4]);
            let result = rounds(n, &mut y).grid(1).block(4).run_on(&device);
            fault_of(result.and_then(|()| y.to_vec().map(drop)))
        };
        assert_eq!(run(8), None, "{}", device.backend());
        let fault = run(1 << 31).unwrap_or_else(|| panic!("no fault on {}", device.backend()));
        assert_eq!(fault.line, line, "{fault}");
    }
}

#[kernel]
fn wrapped(y: &mut [u32]) {
    let i = global_idx_x();
    let x = y[i].wrapping_add(1).wrapping_mul(3).wrapping_shl(40);
    y[i] = x.saturating_add(u32::MAX) ^ y[i].overflowing_add(9).0 ^ x.abs_diff(y[i]);
}

#[test]
fn wrapping_operations_do_not_fault() {
    let expected = |y: u32| {
        let x = y.wrapping_add(1).wrapping_mul(3).wrapping_shl(40);
        x.saturating_add(u32::MAX) ^ y.overflowing_add(9).0 ^ x.abs_diff(y)
    };
    for device in devices() {
        let values = vec![1, 2, u32::MAX, 4];
        let mut y = Vector::from_vec(values.clone());
        wrapped(&mut y)
            .over(4)
            .run_on(&device)
            .unwrap_or_else(|e| panic!("{e}"));
        let found = y.to_vec().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, values.into_iter().map(expected).collect::<Vec<_>>());
    }
}

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = block_idx_x() * block_dim_x() + thread_idx_x();
    if i < y.len() {
        y[i] = a * x[(2 * i + 1) / 2] + y[i];
    }
}

#[test]
fn proved_operations_are_not_checked() {
    let x = Vector::filled(64, 1.0f32);
    let mut y = Vector::filled(64, 1.0f32);
    let explained = saxpy(2.0, &x, &mut y).over(64).explain();
    assert!(explained.contains("8 of 8 checks proved"), "{explained}");
}

#[kernel]
fn until_the_end(n: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i >= n {
        return;
    }
    let tile = shared_array::<u32, 4>();
    tile[thread_idx_x()] = 1;
    barrier();
    // In the third block, all threads have returned.
    let left = 1 - block_idx_x();
    if left < 2 {
        barrier();
    }
    y[i] = left as u32 + tile[3 - thread_idx_x()];
}

#[test]
fn unreached_overflows_do_not_fault() {
    for device in devices() {
        let mut y = Vector::filled(8, 0);
        let result = until_the_end(8, &mut y).grid(3).block(4).run_on(&device);
        result.unwrap_or_else(|e| panic!("{e} on {}", device.backend()));
        let found = y.to_vec().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, [2, 2, 2, 2, 1, 1, 1, 1], "{}", device.backend());
        let mut y = Vector::filled(12, 0);
        let result = until_the_end(12, &mut y).grid(3).block(4).run_on(&device);
        let fault = fault_of(result.and_then(|()| y.to_vec().map(drop)));
        let fault = fault.unwrap_or_else(|| panic!("no fault on {}", device.backend()));
        assert_eq!(fault.thread[0] / 4, 2, "{fault}");
    }
}
