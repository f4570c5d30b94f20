//! A fault names the file and line of the faulting expression, for every construct that can fault and in every context.
//!
//! Once a call on a literal was reported at the line of `#[kernel]`, and code from a macro of another file in the file of the call.

use sarek::prelude::*;

#[rustfmt::skip]
mod elsewhere;

/// An array inside of a struct.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Few {
    /// The array.
    pub of: [i32; 2],
}

#[kernel]
pub fn plain(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    y[global_idx_x()] = match which {
        0 => x[far], // plain 0
        1 => a / bad, // plain 1
        2 => a % bad, // plain 2
        3 => { let mut s = a; s /= bad; s }, // plain 3
        4 => a.div_euclid(bad), // plain 4
        5 => a.rem_euclid(bad), // plain 5
        6 => a.wrapping_div(bad), // plain 6
        7 => a.wrapping_rem(bad), // plain 7
        8 => a.wrapping_rem_euclid(bad), // plain 8
        9 => a.saturating_div(bad), // plain 9
        10 => a.overflowing_div(bad + one).0 / bad, // plain 10
        11 => (bad - 1).isqrt(), // plain 11
        12 => bad.ilog2() as i32, // plain 12
        13 => bad.ilog10() as i32, // plain 13
        14 => a.ilog(bad) as i32, // plain 14
        15 => a.clamp(1, bad), // plain 15
        16 => (a as u32).next_multiple_of(bad as u32) as i32, // plain 16
        17 => (a as u32).div_ceil(bad as u32) as i32, // plain 17
        18 => a.checked_div(bad).unwrap(), // plain 18
        19 => a.checked_rem(bad).unwrap(), // plain 19
        20 => { let few = [a, 2, 3]; few[far] }, // plain 20
        21 => { let few = [[a, 2], [3, 4]]; few[far][0] }, // plain 21
        22 => { let few = [[a, 2], [3, 4]]; few[0][far] }, // plain 22
        23 => Few { of: [a, 2] }.of[far], // plain 23
        24 => { assert!(bad == 1); 0 }, // plain 24
        25 => { assert_eq!(bad, 1); 0 }, // plain 25
        26 => { assert_ne!(bad, 0, "zero"); 0 }, // plain 26
        27 => panic!("no"), // plain 27
        28 => unreachable!(), // plain 28
        29 => todo!(), // plain 29
        _ => { let mut s = 0; for k in (0..a).step_by(bad as usize) { s += k } s }, // plain 30
    };
}

#[kernel]
pub fn literal(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    y[global_idx_x()] = match which {
        0 => x[far], // literal 0
        1 => 7i32 / bad, // literal 1
        2 => 7i32 % bad, // literal 2
        3 => { let mut s = 7i32; s %= bad; s }, // literal 3
        4 => 7i32.div_euclid(bad), // literal 4
        5 => 7i32.rem_euclid(bad), // literal 5
        6 => 7i32.wrapping_div(bad), // literal 6
        7 => 100i32.wrapping_rem(bad), // literal 7
        8 => 100i32.wrapping_rem_euclid(bad), // literal 8
        9 => 7i32.saturating_div(bad), // literal 9
        10 => 7i32.overflowing_div(bad + one).0 / bad, // literal 10
        11 => (-1i32).isqrt() + bad, // literal 11
        12 => 0i32.ilog2() as i32 + bad, // literal 12
        13 => 0i32.ilog10() as i32 + bad, // literal 13
        14 => 7i32.ilog(bad) as i32, // literal 14
        15 => 7i32.clamp(1, bad), // literal 15
        16 => 7u32.next_multiple_of(bad as u32) as i32, // literal 16
        17 => 7u32.div_ceil(bad as u32) as i32, // literal 17
        18 => 7i32.checked_div(bad).unwrap(), // literal 18
        19 => 7i32.checked_rem(bad).unwrap(), // literal 19
        20 => [1, 2, 3][far], // literal 20
        21 => [[1, 2], [3, 4]][far][0], // literal 21
        22 => [[1, 2], [3, 4]][0][far], // literal 22
        23 => Few { of: [1, 2] }.of[far], // literal 23
        24 => { assert!(1 == bad); 0 }, // literal 24
        25 => { assert_eq!(1, bad); 0 }, // literal 25
        26 => { assert_ne!(0, bad, "zero"); 0 }, // literal 26
        27 => panic!("no"), // literal 27
        28 => unreachable!(), // literal 28
        29 => unimplemented!(), // literal 29
        _ => { let mut s = 0; for k in (0..4i32).step_by(bad as usize) { s += k } s }, // literal 30
    };
}

#[device]
fn function_body(which: u32, x: &[i32]) -> i32 {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    match which {
        0 => x[far], // function 0
        1 => a / bad, // function 1
        2 => a % bad, // function 2
        3 => { let mut s = a; s /= bad; s }, // function 3
        4 => a.div_euclid(bad), // function 4
        5 => a.rem_euclid(bad), // function 5
        6 => a.wrapping_div(bad), // function 6
        7 => a.wrapping_rem(bad), // function 7
        8 => a.wrapping_rem_euclid(bad), // function 8
        9 => a.saturating_div(bad), // function 9
        10 => a.overflowing_div(bad + one).0 / bad, // function 10
        11 => (bad - 1).isqrt(), // function 11
        12 => bad.ilog2() as i32, // function 12
        13 => bad.ilog10() as i32, // function 13
        14 => a.ilog(bad) as i32, // function 14
        15 => a.clamp(1, bad), // function 15
        16 => (a as u32).next_multiple_of(bad as u32) as i32, // function 16
        17 => (a as u32).div_ceil(bad as u32) as i32, // function 17
        18 => a.checked_div(bad).unwrap(), // function 18
        19 => a.checked_rem(bad).unwrap(), // function 19
        20 => { let few = [a, 2, 3]; few[far] }, // function 20
        21 => { let few = [[a, 2], [3, 4]]; few[far][0] }, // function 21
        22 => { let few = [[a, 2], [3, 4]]; few[0][far] }, // function 22
        23 => Few { of: [a, 2] }.of[far], // function 23
        24 => { assert!(bad == 1); 0 }, // function 24
        25 => { assert_eq!(bad, 1); 0 }, // function 25
        26 => { assert_ne!(bad, 0, "zero"); 0 }, // function 26
        27 => panic!("no"), // function 27
        28 => unreachable!(), // function 28
        29 => todo!(), // function 29
        _ => { let mut s = 0; for k in (0..a).step_by(bad as usize) { s += k } s }, // function 30
    }
}

#[kernel]
pub fn function(which: u32, x: &[i32], y: &mut [i32]) {
    y[global_idx_x()] = function_body(which, x);
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Way {
    which: u32,
}

#[device]
impl Way {
    fn go(self, x: &[i32]) -> i32 {
        let which = self.which;
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    match which {
        0 => x[far], // method 0
        1 => 7i32 / bad, // method 1
        2 => 7i32 % bad, // method 2
        3 => { let mut s = 7i32; s %= bad; s }, // method 3
        4 => 7i32.div_euclid(bad), // method 4
        5 => 7i32.rem_euclid(bad), // method 5
        6 => 7i32.wrapping_div(bad), // method 6
        7 => 100i32.wrapping_rem(bad), // method 7
        8 => 100i32.wrapping_rem_euclid(bad), // method 8
        9 => 7i32.saturating_div(bad), // method 9
        10 => 7i32.overflowing_div(bad + one).0 / bad, // method 10
        11 => (-1i32).isqrt() + bad, // method 11
        12 => 0i32.ilog2() as i32 + bad, // method 12
        13 => 0i32.ilog10() as i32 + bad, // method 13
        14 => 7i32.ilog(bad) as i32, // method 14
        15 => 7i32.clamp(1, bad), // method 15
        16 => 7u32.next_multiple_of(bad as u32) as i32, // method 16
        17 => 7u32.div_ceil(bad as u32) as i32, // method 17
        18 => 7i32.checked_div(bad).unwrap(), // method 18
        19 => 7i32.checked_rem(bad).unwrap(), // method 19
        20 => [1, 2, 3][far], // method 20
        21 => [[1, 2], [3, 4]][far][0], // method 21
        22 => [[1, 2], [3, 4]][0][far], // method 22
        23 => Few { of: [1, 2] }.of[far], // method 23
        24 => { assert!(1 == bad); 0 }, // method 24
        25 => { assert_eq!(1, bad); 0 }, // method 25
        26 => { assert_ne!(0, bad, "zero"); 0 }, // method 26
        27 => panic!("no"), // method 27
        28 => unreachable!(), // method 28
        29 => unimplemented!(), // method 29
        _ => { let mut s = 0; for k in (0..4i32).step_by(bad as usize) { s += k } s }, // method 30
    }
    }
}

#[kernel]
pub fn method(which: u32, x: &[i32], y: &mut [i32]) {
    y[global_idx_x()] = Way { which }.go(x);
}

#[kernel]
pub fn closure(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    let f = |which: u32, a: i32, bad: i32| {
        match which {
            0 => x[far], // closure 0
            1 => 7i32 / bad, // closure 1
            2 => 7i32 % bad, // closure 2
            3 => { let mut s = 7i32; s %= bad; s }, // closure 3
            4 => 7i32.div_euclid(bad), // closure 4
            5 => 7i32.rem_euclid(bad), // closure 5
            6 => 7i32.wrapping_div(bad), // closure 6
            7 => 100i32.wrapping_rem(bad), // closure 7
            8 => 100i32.wrapping_rem_euclid(bad), // closure 8
            9 => 7i32.saturating_div(bad), // closure 9
            10 => 7i32.overflowing_div(bad + one).0 / bad, // closure 10
            11 => (-1i32).isqrt() + bad, // closure 11
            12 => 0i32.ilog2() as i32 + bad, // closure 12
            13 => 0i32.ilog10() as i32 + bad, // closure 13
            14 => 7i32.ilog(bad) as i32, // closure 14
            15 => 7i32.clamp(1, bad), // closure 15
            16 => 7u32.next_multiple_of(bad as u32) as i32, // closure 16
            17 => 7u32.div_ceil(bad as u32) as i32, // closure 17
            18 => 7i32.checked_div(bad).unwrap(), // closure 18
            19 => 7i32.checked_rem(bad).unwrap(), // closure 19
            20 => [1, 2, 3][far], // closure 20
            21 => [[1, 2], [3, 4]][far][0], // closure 21
            22 => [[1, 2], [3, 4]][0][far], // closure 22
            23 => Few { of: [1, 2] }.of[far], // closure 23
            24 => { assert!(1 == bad); 0 }, // closure 24
            25 => { assert_eq!(1, bad); 0 }, // closure 25
            26 => { assert_ne!(0, bad, "zero"); 0 }, // closure 26
            27 => panic!("no"), // closure 27
            28 => unreachable!(), // closure 28
            29 => unimplemented!(), // closure 29
            _ => { let mut s = 0; for k in (0..4i32).step_by(bad as usize) { s += k } s }, // closure 30
        }
    };
    y[global_idx_x()] = f(which, a, bad);
}

#[device]
fn apply(f: impl Fn(u32) -> i32, which: u32) -> i32 {
    f(which)
}

#[kernel]
pub fn given(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    let f = |which: u32| {
        match which {
            0 => x[far], // given 0
            1 => a / bad, // given 1
            2 => a % bad, // given 2
            3 => { let mut s = a; s /= bad; s }, // given 3
            4 => a.div_euclid(bad), // given 4
            5 => a.rem_euclid(bad), // given 5
            6 => a.wrapping_div(bad), // given 6
            7 => a.wrapping_rem(bad), // given 7
            8 => a.wrapping_rem_euclid(bad), // given 8
            9 => a.saturating_div(bad), // given 9
            10 => a.overflowing_div(bad + one).0 / bad, // given 10
            11 => (bad - 1).isqrt(), // given 11
            12 => bad.ilog2() as i32, // given 12
            13 => bad.ilog10() as i32, // given 13
            14 => a.ilog(bad) as i32, // given 14
            15 => a.clamp(1, bad), // given 15
            16 => (a as u32).next_multiple_of(bad as u32) as i32, // given 16
            17 => (a as u32).div_ceil(bad as u32) as i32, // given 17
            18 => a.checked_div(bad).unwrap(), // given 18
            19 => a.checked_rem(bad).unwrap(), // given 19
            20 => { let few = [a, 2, 3]; few[far] }, // given 20
            21 => { let few = [[a, 2], [3, 4]]; few[far][0] }, // given 21
            22 => { let few = [[a, 2], [3, 4]]; few[0][far] }, // given 22
            23 => Few { of: [a, 2] }.of[far], // given 23
            24 => { assert!(bad == 1); 0 }, // given 24
            25 => { assert_eq!(bad, 1); 0 }, // given 25
            26 => { assert_ne!(bad, 0, "zero"); 0 }, // given 26
            27 => panic!("no"), // given 27
            28 => unreachable!(), // given 28
            29 => todo!(), // given 29
            _ => { let mut s = 0; for k in (0..a).step_by(bad as usize) { s += k } s }, // given 30
        }
    };
    y[global_idx_x()] = apply(f, which);
}

macro_rules! made {
    ($name:ident) => {
#[kernel]
pub fn $name(which: u32, x: &[i32], y: &mut [i32]) {
    let (a, bad, one) = (x[0], x[1], x[2]);
    let far = (bad + 100) as usize;
    y[global_idx_x()] = match which {
        0 => x[far], // made 0
        1 => 7i32 / bad, // made 1
        2 => 7i32 % bad, // made 2
        3 => { let mut s = 7i32; s %= bad; s }, // made 3
        4 => 7i32.div_euclid(bad), // made 4
        5 => 7i32.rem_euclid(bad), // made 5
        6 => 7i32.wrapping_div(bad), // made 6
        7 => 100i32.wrapping_rem(bad), // made 7
        8 => 100i32.wrapping_rem_euclid(bad), // made 8
        9 => 7i32.saturating_div(bad), // made 9
        10 => 7i32.overflowing_div(bad + one).0 / bad, // made 10
        11 => (-1i32).isqrt() + bad, // made 11
        12 => 0i32.ilog2() as i32 + bad, // made 12
        13 => 0i32.ilog10() as i32 + bad, // made 13
        14 => 7i32.ilog(bad) as i32, // made 14
        15 => 7i32.clamp(1, bad), // made 15
        16 => 7u32.next_multiple_of(bad as u32) as i32, // made 16
        17 => 7u32.div_ceil(bad as u32) as i32, // made 17
        18 => 7i32.checked_div(bad).unwrap(), // made 18
        19 => 7i32.checked_rem(bad).unwrap(), // made 19
        20 => [1, 2, 3][far], // made 20
        21 => [[1, 2], [3, 4]][far][0], // made 21
        22 => [[1, 2], [3, 4]][0][far], // made 22
        23 => Few { of: [1, 2] }.of[far], // made 23
        24 => { assert!(1 == bad); 0 }, // made 24
        25 => { assert_eq!(1, bad); 0 }, // made 25
        26 => { assert_ne!(0, bad, "zero"); 0 }, // made 26
        27 => panic!("no"), // made 27
        28 => unreachable!(), // made 28
        29 => unimplemented!(), // made 29
        _ => { let mut s = 0; for k in (0..4i32).step_by(bad as usize) { s += k } s }, // made 30
    };
}
    };
}

made!(made);

elsewhere::made!(made_elsewhere);

#[kernel]
pub fn function_elsewhere(which: u32, x: &[i32], y: &mut [i32]) {
    y[global_idx_x()] = elsewhere::faulty(which, x);
}

/// Finds the line of each case of a context, by the comments at the ends of lines.
fn lines(text: &str, context: &str) -> Vec<usize> {
    let found = (0..).map(|case| format!("// {context} {case}"));
    let found = found.map_while(|mark| text.lines().position(|line| line.ends_with(&mark)));
    found.map(|line| line + 1).collect()
}

macro_rules! check {
    ($kernel:ident, $context:literal in $file:literal) => {{
        let places = lines(include_str!($file), $context);
        assert!(places.len() > 20, "{places:?}");
        for device in super::devices() {
            let mut wrong = vec![];
            for (case, line) in places.iter().enumerate() {
                let x = Vector::from_vec(vec![7, 0, 1]);
                let mut y = Vector::zeros(1);
                let run = $kernel(case as u32, &x, &mut y).over(1).run_on(&device);
                let expected = format!("{}:{line}", $file);
                match run.and_then(|()| y.to_vec()) {
                    Err(error) if error.to_string().contains(&expected) => {}
                    Err(error) => wrong.push(format!("{expected}: {error}")),
                    Ok(y) => wrong.push(format!("{expected}: no fault, {y:?}")),
                }
            }
            assert!(
                wrong.is_empty(),
                "on {}: {}",
                device.backend(),
                wrong.join("\n")
            );
        }
    }};
}

#[test]
fn a_fault_names_the_line_that_faulted() {
    check!(plain, "plain" in "lines.rs");
    check!(literal, "literal" in "lines.rs");
    check!(function, "function" in "lines.rs");
    check!(method, "method" in "lines.rs");
}

#[test]
fn a_fault_in_a_closure_names_its_line() {
    check!(closure, "closure" in "lines.rs");
    check!(given, "given" in "lines.rs");
}

#[test]
fn a_fault_in_an_expansion_names_the_line_in_the_macro() {
    check!(made, "made" in "lines.rs");
    check!(made_elsewhere, "elsewhere" in "lines/elsewhere.rs");
}

#[test]
fn a_fault_in_a_function_of_another_file_names_that() {
    check!(function_elsewhere, "faulty" in "lines/elsewhere.rs");
}
