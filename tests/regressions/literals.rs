//! Unsuffixed literals whose types only rustc can infer. Generated code once gave them `i32` and `f64`, or the type of another call.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Two<T> {
    a: T,
    b: T,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Wrap<T>(T, T);

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Deep<T> {
    two: Two<T>,
    k: T,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Pick<T> {
    One(T),
    Both { a: T, b: T },
}

#[device]
fn two(of: Two<u64>) -> u64 {
    of.a - of.b
}

#[device]
fn deep(of: Deep<u64>) -> u64 {
    of.two.a - of.two.b + of.k
}

#[device]
fn pick(of: Pick<u64>) -> u64 {
    match of {
        Pick::One(a) => a,
        Pick::Both { a, b } => a - b,
    }
}

#[device]
impl Wrap<u64> {
    fn inner(self) -> u64 {
        self.0 - self.1
    }
}

#[device]
impl<T: Num> Two<T> {
    fn swapped(self) -> Two<T> {
        Two {
            a: self.b,
            b: self.a,
        }
    }
}

#[device]
fn made() -> Two<u64> {
    Two { a: 9, b: 2 }
}

#[device]
fn take(x: u64) -> u64 {
    x
}

#[device]
fn same<T: Num>(x: T) -> T {
    x
}

#[device]
fn mix<T: Num>(x: T, of: Two<T>) -> T {
    x + of.a - of.b
}

#[device]
fn pair(of: (u64, u16)) -> u64 {
    of.0 + of.1 as u64
}

#[device]
fn some(of: Option<u64>) -> u64 {
    of.unwrap_or(3)
}

#[device]
fn done(of: Result<u64, u32>) -> u64 {
    match of {
        Ok(x) => x,
        Err(_) => 8,
    }
}

#[device]
fn rows(of: [(u8, u64); 2]) -> u64 {
    of[0].0 as u64 + of[1].1
}

#[device]
fn last<const N: usize>(of: [u64; N]) -> u64 {
    of[N - 1]
}

#[device]
fn apply(f: impl Fn(u64) -> u64, x: u64) -> u64 {
    f(x)
}

#[device]
fn narrow(of: Two<f32>) -> f32 {
    of.a + of.b
}

/// Defines a kernel and a host function with the same expressions, so rustc is the oracle.
macro_rules! both {
    ($kernel:ident, $host:ident, $ty:ty, |$c:ident| $($value:expr),* $(,)?) => {
        #[kernel]
        #[allow(arithmetic_overflow)]
        fn $kernel(x: &[u32], y: &mut [$ty]) {
            let $c = x[0] == 1;
            if global_idx_x() == 0 {
                let values = [$($value),*];
                for i in 0..values.len() {
                    y[i] = values[i];
                }
            }
        }

        #[allow(arithmetic_overflow)]
        fn $host($c: bool) -> Vec<$ty> {
            vec![$($value),*]
        }
    };
}

both! { wide, wide_on_host, u64, |c|
    two(Two { a: 70_000 * 70_000, b: 2 }),
    two({ let k = 1 << 40; Two { a: k, b: k >> 3 } }),
    two(if c { Two { a: 1 << 40, b: 5 } } else { Two { a: 1 << 41, b: 6 } }),
    two(Two { a: 1 << 40, ..Two { a: 1, b: 70_000 * 60_000 } }),
    Wrap(70_000 * 70_000, !0 >> 40).inner(),
    deep(Deep { two: Two { a: same(70_000 * 70_000), b: 2 }, k: 1 << 33 }),
    pick(Pick::Both { a: 1 << 40, b: 70_000 * 70_000 }),
    pick(Pick::One(same(1 << 40))),
    { let mut t = Two { a: 70_000 * 70_000, b: 2 }; if c { t = made(); } t.a - t.b },
    pair((70_000 * 70_000, 500)),
    some(Some(1 << 36)),
    some(None),
    done(Ok(1 << 36)),
    rows([(7, 1), (8, 1 << 37)]),
    last([5, Two { a: [1 << 40, 3][0], b: 1 }.a, 70_000 * 70_000]),
    apply(|v| v + (1 << 40), 70_000 * 70_000),
    { let f = |_v: bool| 70_000 * 70_000; take(f(c)) + take(f(c)) },
    { let f = |_v: bool| 70_000 * 70_000; let is_wide = f(c) > 2_000_000_000; let x: u64 = f(c); x + is_wide as u64 },
    mix(1 << 40, Two { a: 1 << 35, b: 9 }.swapped()),
    take(match c { true => 1 << 40, false => same(1 << 41) }),
    take({ let (p, q) = (70_000 * 70_000, 3); p + q }),
}

both! { float, float_on_host, f32, |c|
    narrow(Two { a: 0.1, b: 0.6 }),
    narrow(if c { Two { a: 16_777_217.0, b: 0.3 } } else { Two { a: 0.7, b: 0.3 } }),
    Two { a: same(0.1), b: narrow(Two { a: 0.1, b: 0.2 }) }.a,
}

#[test]
fn literals_are_of_the_types_that_rustc_gives_them() {
    for device in super::devices() {
        for c in [false, true] {
            let x = Vector::from_vec(vec![u32::from(c)]);
            let expected = wide_on_host(c);
            let mut y = Vector::zeros(expected.len());
            wide(&x, &mut y).over(1).run_on(&device).expect("a launch");
            assert_eq!(
                y.to_vec().expect("no fault"),
                expected,
                "{}",
                device.backend()
            );
            let expected = float_on_host(c);
            let mut y = Vector::zeros(expected.len());
            float(&x, &mut y).over(1).run_on(&device).expect("a launch");
            assert_eq!(
                y.to_vec().expect("no fault"),
                expected,
                "{}",
                device.backend()
            );
        }
    }
}
