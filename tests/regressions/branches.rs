//! Long chains of branches. Mesa's software device gave wrong results after 80 nested ones.

use sarek::prelude::*;

/// Defines kernels with one branch for each number.
macro_rules! long {
    ($first:literal $($k:literal)*) => {
        #[kernel]
        fn by_match(x: &[u32], y: &mut [u32]) {
            let i = global_idx_x();
            y[i] = match x[i] {
                $first => 1,
                $($k => $k * 37 % 256 + 1,)*
                _ => 999,
            };
        }

        #[kernel]
        fn by_ifs(x: &[u32], y: &mut [u32]) {
            let i = global_idx_x();
            let x = x[i];
            let mut found = 999;
            if (x ^ $first) < 1 { found = 1; } $(else if (x ^ $k) < 1 { found = $k * 37 % 256 + 1; })*
            y[i] = found;
        }
    };
}

long!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
    34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
    65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
    96 97 98 99);

/// A `match` with alternatives, guards, ranges, and jumps out of the enclosing loop.
#[kernel]
fn mixed(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    let mut k = x[i];
    while k > 0 {
        k -= 1;
        sum += match k {
            0 | 1 => 1,
            2 => 2,
            3 => 3,
            4 | 5 => 4,
            6 => continue,
            7 => 5,
            8 => 6,
            9 => 7,
            10 => 8,
            11..=20 if sum % 2 == 0 => 9,
            11 => 10,
            12 => 11,
            13 => 12,
            14 => 13,
            15 => 14,
            16 => 15,
            17 => 16,
            18 => 17,
            19 => 18,
            40 => break,
            _ => 19,
        };
    }
    y[i] = sum;
}

fn mixed_due(x: u32) -> u32 {
    let (mut sum, mut k) = (0, x);
    while k > 0 {
        k -= 1;
        sum += match k {
            0 | 1 => 1,
            2 => 2,
            3 => 3,
            4 | 5 => 4,
            6 => continue,
            7..=10 => k - 2,
            11..=20 if sum % 2 == 0 => 9,
            11..=19 => k - 1,
            40 => break,
            _ => 19,
        };
    }
    sum
}

#[test]
fn long_chains() {
    let x: Vec<u32> = (0..130).collect();
    let expected: Vec<u32> = x
        .iter()
        .map(|x| if *x < 100 { x * 37 % 256 + 1 } else { 999 })
        .collect();
    let x = Vector::from_vec(x);
    for device in super::devices() {
        let mut y = Vector::zeros(130);
        by_match(&x, &mut y)
            .over(130)
            .run_on(&device)
            .expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), expected, "{device}");
        by_ifs(&x, &mut y)
            .over(130)
            .run_on(&device)
            .expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), expected, "{device}");
    }
}

#[test]
fn cases_guards_and_jumps() {
    let x: Vec<u32> = (0..60).collect();
    let expected: Vec<u32> = x.iter().map(|x| mixed_due(*x)).collect();
    let x = Vector::from_vec(x);
    for device in super::devices() {
        let mut y = Vector::zeros(60);
        mixed(&x, &mut y).over(60).run_on(&device).expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), expected, "{device}");
    }
}

#[test]
fn a_long_match_is_a_switch_and_no_deep_chain() {
    let text = by_match::source("wgsl").expect("it renders");
    assert!(
        text.contains("switch (") && text.contains("case 99u: {"),
        "{text}"
    );
    assert!(!text.contains("else if"), "{text}");
    let text = by_ifs::source("wgsl").expect("it renders");
    let longest = text
        .split("if (rest")
        .map(|part| part.matches("else if").count())
        .max();
    assert!(longest < Some(16), "{text}");
}

/// Defines a kernel of nested `if`s. The numbers are those of its conditions, innermost first.
macro_rules! nested {
    ($name:ident $x:ident $sum:ident { $($body:tt)* } $k:literal $($more:literal)*) => {
        nested!($name $x $sum { if $x != $k { $sum += 1; $($body)* } } $($more)*);
    };
    ($name:ident $x:ident $sum:ident { $($body:tt)* }) => {
        #[kernel]
        fn $name(x: &[u32], y: &mut [u32]) {
            let i = global_idx_x();
            let $x = x[i];
            let mut $sum = 0;
            $($body)*
            y[i] = $sum;
        }
    };
}

nested!(forty x sum {} 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0);
nested!(ninety x sum {} 89 88 87 86 85 84 83 82 81 80 79 78 77 76 75 74 73 72 71 70 69 68 67 66 65 64 63 62 61 60 59 58 57 56 55
    54 53 52 51 50 49 48 47 46 45 44 43 42 41 40 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13
    12 11 10 9 8 7 6 5 4 3 2 1 0);

#[test]
fn deep_blocks_are_right_or_refused() {
    let x: Vec<u32> = (0..100).collect();
    let expected = |most: u32| -> Vec<u32> { x.iter().map(|x| *x.min(&most)).collect() };
    let (less, more) = (expected(40), expected(90));
    let x = Vector::from_vec(x);
    for device in super::devices() {
        let mut y = Vector::zeros(100);
        forty(&x, &mut y)
            .over(100)
            .run_on(&device)
            .expect("it runs");
        assert_eq!(y.to_vec().expect("it ran"), less, "{device}");
        match ninety(&x, &mut y).over(100).run_on(&device) {
            Ok(()) => assert_eq!(y.to_vec().expect("it ran"), more, "{device}"),
            Err(error) => {
                assert_eq!(device.backend(), "wgpu", "{error}");
                assert!(error.to_string().contains("64 blocks"), "{error}");
            }
        }
    }
}
