//! Compares kernels on every device with the same code compiled by rustc, in corner cases of Rust's semantics.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

use sarek::prelude::*;

/// All devices of this machine. Checks that `native` and `interpreter` are among them.
fn devices() -> Vec<Device> {
    let all = Device::all();
    for name in ["native", "interpreter"] {
        assert!(all.iter().any(|device| device.backend() == name), "{name}");
    }
    all
}

/// Runs `launch` with an output of `n` elements on each device.
fn check(
    n: usize,
    expected: &[i32],
    launch: impl Fn(&mut Vector<i32>, &Device) -> sarek::Result<()>,
) {
    for device in devices() {
        let mut y = Vector::filled(n, -1);
        launch(&mut y, &device).expect("the launch is right");
        assert_eq!(
            y.to_vec().expect("no fault"),
            expected,
            "on {}",
            device.backend()
        );
    }
}

mod names {
    use super::*;

    #[kernel]
    fn locals_called_as_ours(args: i32, y: &mut [i32]) {
        let arg = args + 1;
        let value = arg * args;
        let mut index = value;
        let block = index;
        index += 1;
        let thread = index + block;
        y[global_idx_x()] = thread;
    }

    #[kernel]
    fn args(space: i32, y: &mut [i32]) {
        y[global_idx_x()] = space;
    }

    #[kernel]
    fn r#type(r#in: i32, größe: i32, y: &mut [i32]) {
        let r#match = größe - r#in;
        y[global_idx_x()] = r#match;
    }

    #[test]
    fn names_of_the_expansion_are_free() {
        check(1, &[25], |y, d| {
            locals_called_as_ours(3, y).over(1).run_on(d)
        });
        check(1, &[7], |y, d| args(7, y).over(1).run_on(d));
        check(1, &[2], |y, d| r#type(3, 5, y).over(1).run_on(d));
    }
}

mod shadowed {
    //! Defines items with every name that the expansion uses.
    #![allow(dead_code, non_camel_case_types, non_upper_case_globals, clippy::all)]

    use super::*;

    mod core {}
    mod std {}
    mod sarek {}
    mod direct {}
    mod ir {}
    struct Cow;
    struct Some;
    struct None;
    struct Result;
    struct Option;
    struct Vector;
    struct Launch;
    struct Kernel;
    const CHECK: i32 = 1;
    const value: i32 = 2;
    const index: i32 = 3;
    const thread: i32 = 4;
    const block: i32 = 5;
    const args: i32 = 6;
    const dividend: i32 = 7;
    static lanes: i32 = 8;
    static space: i32 = 9;
    type u8 = i32;

    #[kernel]
    fn k(n: i32, y: &mut [i32]) {
        let i = global_idx_x();
        let a = value + index + thread + block + args + dividend + CHECK + n / y[i];
        for j in (0..n).step_by(2).rev() {
            y[i] = a + j;
        }
    }

    #[test]
    fn namesakes_do_no_harm() {
        check(1, &[24], |y, d| k(4, y).over(1).run_on(d));
    }
}

mod constants {
    use super::*;

    const N: i32 = 7;

    #[kernel]
    fn nested(y: &mut [i32]) {
        let i = global_idx_x();
        {
            const N: i32 = 1 + 0;
            const M: i32 = N * 10;
            y[i] = M + N;
        }
        y[i] += N * 100;
    }

    #[test]
    fn constants_are_resolved_where_they_are_written() {
        check(1, &[711], |y, d| nested(y).over(1).run_on(d));
    }
}

mod items {
    use super::*;

    #[kernel]
    #[cfg(any())]
    fn absent(y: &mut [Nothing]) {}

    #[kernel]
    #[cfg(not(any()))]
    #[cfg_attr(all(), allow(clippy::needless_range_loop))]
    fn present(y: &mut [i32]) {
        y[global_idx_x()] = 1;
    }

    #[kernel]
    fn nothing() {}

    fn generic<T: Into<i32>>(x: T) -> i32 {
        #[kernel(block = 32)]
        fn inner(n: i32, y: &mut [i32]) {
            y[global_idx_x()] = n;
        }
        let mut y = Vector::filled(1, 0);
        inner(x.into(), &mut y).over(1).run().expect("it runs");
        y.to_vec().expect("no fault")[0]
    }

    #[test]
    fn kernels_stand_where_functions_do() {
        check(1, &[1], |y, d| present(y).over(1).run_on(d));
        nothing().over(3).run().expect("it runs");
        assert_eq!(generic(5u16), 5);
    }
}

mod macros {
    use super::*;

    macro_rules! kernel_of {
        ($name:ident, $n:ident, $body:expr) => {
            #[kernel]
            fn $name($n: i32, y: &mut [i32]) {
                let a = $body;
                y[global_idx_x()] = a + 1;
            }
        };
    }

    kernel_of!(twice, n, n * 2);

    #[test]
    fn macros_make_kernels() {
        check(1, &[9], |y, d| twice(4, y).over(1).run_on(d));
    }
}

/// Defines a kernel and a host function with the same body.
macro_rules! both {
    ($kernel:ident $host:ident($($arg:ident: $ty:ty),*; $y:ident) $body:block) => {
        #[kernel]
        fn $kernel($($arg: $ty,)* $y: &mut [i32]) {
            if global_idx_x() == 0 $body
        }

        #[allow(clippy::all)]
        fn $host($($arg: $ty,)* $y: &mut [i32]) $body
    };
}

mod ranges {
    use super::*;

    macro_rules! forms {
        ($($ty:ident $name:ident $values:expr;)*) => {$(
            mod $name {
                use super::*;

                both! { kernel host(a: $ty, b: $ty, k: usize; y) {
                    let mut n = 0;
                    for i in a..b { n += 1; if n > 9 { break; } y[0] = y[0].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in a..=b { n += 1; if n > 9 { break; } y[1] = y[1].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..b).rev() { n += 1; if n > 9 { break; } if n == 2 { continue; } y[2] = y[2].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..=b).rev() { n += 1; if n > 9 { break; } if n == 2 { continue; } y[3] = y[3].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..b).step_by(k) { n += 1; if n > 9 { break; } if n == 2 { continue; } y[4] = y[4].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..=b).step_by(k) { n += 1; if n > 9 { break; } y[5] = y[5].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..b).rev().step_by(k) { n += 1; if n > 9 { break; } y[6] = y[6].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    for i in (a..=b).rev().step_by(k) { n += 1; if n > 9 { break; } y[7] = y[7].wrapping_mul(31).wrapping_add(i as i32); }
                    n = 0;
                    // core does not support this form for some long ranges with `k == 1`.
                    if k > 1 {
                        for i in (a..b).step_by(k).rev() { n += 1; if n > 9 { break; } y[8] = y[8].wrapping_mul(31).wrapping_add(i as i32); }
                    }
                    for mut i in a..=b { if i == b { break; } if n > 30 { break; } n += 1; i += 1; y[9] = y[9].wrapping_add(i as i32); }
                }}

                #[test]
                fn all_forms_count_as_in_rust() {
                    let values: &[$ty] = &$values;
                    for device in devices() {
                        for &a in values {
                            for &b in values {
                                for k in [1, 2, 3, 7, 1 << 31, usize::MAX >> 1] {
                                    let mut expected = vec![0; 10];
                                    host(a, b, k, &mut expected);
                                    let mut y = Vector::filled(10, 0);
                                    kernel(a, b, k, &mut y).over(1).run_on(&device).expect("it runs");
                                    assert_eq!(y.to_vec().expect("no fault"), expected, "{a} {b} {k} on {}", device.backend());
                                }
                            }
                        }
                    }
                }
            }
        )*};
    }

    forms! {
        i32 of_i32 [i32::MIN, i32::MIN + 1, -3, 0, 1, 5, 8, i32::MAX - 1, i32::MAX];
        u32 of_u32 [0, 1, 5, 8, 11, u32::MAX - 1, u32::MAX];
    }
}

mod effects {
    use super::*;

    both! { kernel host(n: i32; y) {
        let mut a = n;
        // An operand is evaluated before the side effects of later ones.
        y[0] = a + { a += 1; a } * { a *= 2; a } + i32::max(a, { a -= 3; a });
        y[1] = (a + 1).max({ a = 9; a }).min(a);
        // Conditions with side effects.
        let mut c = 0;
        while { c += 1; c < 5 } && { a += c; true } { if c == 2 { continue; } y[2] += a; }
        y[3] = c;
        // Values of control-flow expressions.
        let value = if a > c { a } else { c };
        let other = value;
        let mut value = value + 1;
        let third = value;
        value += third;
        y[4] = value + other * third;
        let d = 'found: { for i in 0..n { if i * i > 20 { break 'found i; } } -1 };
        y[5] = d;
        let e = loop { c += 1; if c > 20 { break c; } else if c == 11 { c += 3; } };
        y[6] = e;
        // Declared first, assigned later; shadowed in a block.
        let f;
        { let e = 3; if e > n { f = e; } else { f = -e; } }
        y[7] = f + e;
        y[(c - c) as usize + { c = 8; c } as usize] += { c += 1; c } + c;
        let _ = { y[9] = c; c };
        _ = { y[10] = c + 1; c };
        'outer: for i in (0..=n).rev() {
            for j in 0..i { if j == 3 { continue 'outer; } if i == 2 { break 'outer; } y[11] += i * 10 + j; }
        }
        y[12] = 0xE + 0b1_0 + 0o17 + 1_000 + (1e3 as i32) + (1. as f32 + 2f32) as i32 + -2147483648i32 / 2;
        y[13] = (-7 >> 1) + (-7 / 2) + (-7 % 3) + (-7i32).rem_euclid(3) + !n + (1 << n) + (n as u32 as f32 as i32);
        y[14] = (n > 3 && { a = 1; a == 1 } || { a = 2; false }) as i32 + a;
        if { y[15] = a; a } == 1 { return; }
        y[15] = 77;
    }}

    #[test]
    fn effects_happen_in_rusts_order() {
        for n in [0, 1, 4, 5, 9] {
            let mut expected = vec![0; 16];
            host(n, &mut expected);
            for device in devices() {
                let mut y = Vector::filled(16, 0);
                kernel(n, &mut y).over(1).run_on(&device).expect("it runs");
                assert_eq!(
                    y.to_vec().expect("no fault"),
                    expected,
                    "{n} on {}",
                    device.backend()
                );
            }
        }
    }
}
