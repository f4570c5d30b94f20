//! A macro and a function that kernels of another file use.

use sarek::prelude::*;

use super::Few;

/// Expands to a kernel.
macro_rules! made {
    ($name:ident) => {
#[kernel]
pub fn $name(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    y[global_idx_x()] = match which {
        0 => x[far], // elsewhere 0
        1 => a / bad, // elsewhere 1
        2 => a % bad, // elsewhere 2
        3 => { let mut s = a; s /= bad; s }, // elsewhere 3
        4 => a.div_euclid(bad), // elsewhere 4
        5 => a.rem_euclid(bad), // elsewhere 5
        6 => a.wrapping_div(bad), // elsewhere 6
        7 => a.wrapping_rem(bad), // elsewhere 7
        8 => a.wrapping_rem_euclid(bad), // elsewhere 8
        9 => a.saturating_div(bad), // elsewhere 9
        10 => a.overflowing_div(bad + one).0 / bad, // elsewhere 10
        11 => (bad - 1).isqrt(), // elsewhere 11
        12 => bad.ilog2() as i32, // elsewhere 12
        13 => bad.ilog10() as i32, // elsewhere 13
        14 => a.ilog(bad) as i32, // elsewhere 14
        15 => a.clamp(1, bad), // elsewhere 15
        16 => (a as u32).next_multiple_of(bad as u32) as i32, // elsewhere 16
        17 => (a as u32).div_ceil(bad as u32) as i32, // elsewhere 17
        18 => a.checked_div(bad).unwrap(), // elsewhere 18
        19 => a.checked_rem(bad).unwrap(), // elsewhere 19
        20 => { let few = [a, 2, 3]; few[far] }, // elsewhere 20
        21 => { let few = [[a, 2], [3, 4]]; few[far][0] }, // elsewhere 21
        22 => { let few = [[a, 2], [3, 4]]; few[0][far] }, // elsewhere 22
        23 => Few { of: [a, 2] }.of[far], // elsewhere 23
        24 => { assert!(bad == 1); 0 }, // elsewhere 24
        25 => { assert_eq!(bad, 1); 0 }, // elsewhere 25
        26 => { assert_ne!(bad, 0, "zero"); 0 }, // elsewhere 26
        27 => panic!("no"), // elsewhere 27
        28 => unreachable!(), // elsewhere 28
        29 => todo!(), // elsewhere 29
        _ => { let mut s = 0; for k in (0..a).step_by(bad as usize) { s += k } s }, // elsewhere 30
    };
}
    };
}
pub(super) use made;

/// Contains every construct that can fault.
#[device]
pub fn faulty(which: u32, x: &[i32]) -> i32 {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    match which {
        0 => x[far], // faulty 0
        1 => 7i32 / bad, // faulty 1
        2 => 7i32 % bad, // faulty 2
        3 => { let mut s = 7i32; s %= bad; s }, // faulty 3
        4 => 7i32.div_euclid(bad), // faulty 4
        5 => 7i32.rem_euclid(bad), // faulty 5
        6 => 7i32.wrapping_div(bad), // faulty 6
        7 => 100i32.wrapping_rem(bad), // faulty 7
        8 => 100i32.wrapping_rem_euclid(bad), // faulty 8
        9 => 7i32.saturating_div(bad), // faulty 9
        10 => 7i32.overflowing_div(bad + one).0 / bad, // faulty 10
        11 => (-1i32).isqrt() + bad, // faulty 11
        12 => 0i32.ilog2() as i32 + bad, // faulty 12
        13 => 0i32.ilog10() as i32 + bad, // faulty 13
        14 => 7i32.ilog(bad) as i32, // faulty 14
        15 => 7i32.clamp(1, bad), // faulty 15
        16 => 7u32.next_multiple_of(bad as u32) as i32, // faulty 16
        17 => 7u32.div_ceil(bad as u32) as i32, // faulty 17
        18 => 7i32.checked_div(bad).unwrap(), // faulty 18
        19 => 7i32.checked_rem(bad).unwrap(), // faulty 19
        20 => [1, 2, 3][far], // faulty 20
        21 => [[1, 2], [3, 4]][far][0], // faulty 21
        22 => [[1, 2], [3, 4]][0][far], // faulty 22
        23 => Few { of: [1, 2] }.of[far], // faulty 23
        24 => { assert!(1 == bad); 0 }, // faulty 24
        25 => { assert_eq!(1, bad); 0 }, // faulty 25
        26 => { assert_ne!(0, bad, "zero"); 0 }, // faulty 26
        27 => panic!("no"), // faulty 27
        28 => unreachable!(), // faulty 28
        29 => unimplemented!(), // faulty 29
        _ => { let mut s = 0; for k in (0..4i32).step_by(bad as usize) { s += k } s }, // faulty 30
    }
}
