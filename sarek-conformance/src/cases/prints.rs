//! `println!` prints the same lines on every device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("prints/formats", &[], formats),
    Case::new("prints/halves", &[], halves),
    Case::new("prints/threads", &[], threads),
    Case::new("prints/functions_and_barriers", &[], functions_and_barriers),
    Case::new("prints/too_many", &[], too_many),
    Case::new("prints/before_a_fault", &[], before_a_fault),
];

/// The lines printed by kernels, by tag. Such lines begin with `#tag `.
fn collected() -> &'static Mutex<HashMap<u32, Vec<String>>> {
    static ALL: OnceLock<Mutex<HashMap<u32, Vec<String>>>> = OnceLock::new();
    ALL.get_or_init(|| {
        sarek::set_output(|text| {
            let tag = text.strip_prefix('#').and_then(|t| t.split_once(' '));
            match tag.and_then(|(tag, rest)| Some((tag.parse().ok()?, rest))) {
                Some((tag, rest)) => {
                    let mut all = ALL
                        .get()
                        .map(|all| all.lock().unwrap_or_else(PoisonError::into_inner));
                    if let Some(all) = &mut all {
                        all.entry(tag).or_default().push(rest.to_string());
                    }
                }
                None => print!("{text}"),
            }
        });
        Mutex::default()
    })
}

/// Returns a new tag for each launch, since suites of several devices may run at once.
pub(super) fn tag() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let _ = collected();
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Takes the lines of a finished launch.
pub(super) fn lines(tag: u32) -> Vec<String> {
    let mut all = collected().lock().unwrap_or_else(PoisonError::into_inner);
    all.remove(&tag).unwrap_or_default()
}

pub(super) fn same(got: &[String], expected: &[String]) -> Check {
    ensure(got == expected, || {
        format!("printed {got:#?}\ninstead of {expected:#?}")
    })
}

#[kernel]
fn formats_kernel(tag: u32, x: f32, n: i32, wide: usize, out: &mut [u32]) {
    let i = global_idx_x();
    let small = n as i8;
    let byte = n as u8;
    let short = n as u16;
    let yes = n > 0;
    println!("#{tag} plain {x} {n} {small} {byte} {short} {yes} {wide}");
    println!("#{} debug {:?} {:?} {0:?}", tag, x, yes);
    println!(
        "#{tag} widths [{x:8.3}] [{n:<6}] [{n:^+7}] [{byte:>08b}] [{short:#x}] [{yes:>6}] [{n:*^9}]"
    );
    println!("#{tag} named {a} {b:e} {{}} {}", x * 2.0, a = n + 1, b = x);
    println!("#{tag} none");
    print!("#{tag} part");
    out[i] = 1;
}

fn formats(device: &Device) -> Check {
    for (x, n, wide) in [
        (1.5f32, 300i32, 7usize),
        (-0.1, -7, 0),
        (f32::NAN, i32::MIN, 1 << 20),
    ] {
        let tag = tag();
        let mut out = sentinel_filled(1);
        formats_kernel(tag, x, n, wide, &mut out)
            .over(1)
            .run_on(device)?;
        expect("out", &out, &[1])?;
        let (small, byte, short, yes) = (n as i8, n as u8, n as u16, n > 0);
        let (a, b) = (n + 1, x);
        let expected = [
            format!("plain {x} {n} {small} {byte} {short} {yes} {wide}\n"),
            format!("debug {x:?} {yes:?} {tag:?}\n"),
            format!(
                "widths [{x:8.3}] [{n:<6}] [{n:^+7}] [{byte:>08b}] [{short:#x}] [{yes:>6}] [{n:*^9}]\n"
            ),
            format!("named {a} {b:e} {{}} {}\n", x * 2.0),
            "none\n".to_string(),
            "part".to_string(),
        ];
        same(&lines(tag), &expected)?;
    }
    Ok(())
}

/// 16-bit floats are printed as the `half` crate prints them.
#[kernel]
fn halves_kernel(tag: u32, x: f16, y: bf16, out: &mut [u32]) {
    let z = y + bf16::ONE;
    println!("#{tag} {x} {y:?} [{x:8.3}] [{z:^+9}] {z:e}");
    out[global_idx_x()] = 1;
}

fn halves(device: &Device) -> Check {
    for x in [0.1, -2.5, 300.0, f32::INFINITY] {
        let (x, y) = (f16::from_f32(x), bf16::from_f32(x));
        let z = bf16::from_f32(y.to_f32() + 1.0);
        let tag = tag();
        let mut out = sentinel_filled(1);
        halves_kernel(tag, x, y, &mut out).over(1).run_on(device)?;
        expect("out", &out, &[1])?;
        let expected = format!("{x} {y:?} [{x:8.3}] [{z:^+9}] {z:e}\n");
        same(&lines(tag), &[expected])?;
    }
    Ok(())
}

/// Some threads print several lines. The lines of one thread keep their order.
#[kernel]
fn threads_kernel(tag: u32, x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let mut sum = 0.0f32;
        for k in 0..3 {
            sum += x[i];
            if i % 5 == 2 {
                println!("#{tag} {i:>4} {k} {sum:.2}");
            }
        }
        out[i] = sum;
    }
}

fn threads(device: &Device) -> Check {
    for n in [1usize, 33, 256, 777] {
        let tag = tag();
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.25).collect();
        let expected: Vec<f32> = x.iter().map(|x| 3.0 * x).collect();
        let mut out = sentinel_filled(n);
        threads_kernel(tag, &Vector::from_slice(&x), &mut out)
            .over(n)
            .run_on(device)?;
        expect("out", &out, &expected)?;
        let mut got = lines(tag);
        // Threads print in any order where they run at the same time.
        got.sort_by_key(|line| line[..4].trim().parse::<usize>().unwrap_or(usize::MAX));
        let who = (0..n).filter(|i| i % 5 == 2);
        let expected: Vec<String> = who
            .flat_map(|i| (0..3).map(move |k| (i, k)))
            .map(|(i, k)| format!("{i:>4} {k} {:.2}\n", (k + 1) as f32 * x[i]))
            .collect();
        same(&got, &expected)?;
    }
    Ok(())
}

#[device]
fn tell(tag: u32, what: u32) -> u32 {
    println!("#{tag} tells {what}");
    what + 1
}

#[kernel(block = 8)]
fn together_kernel(tag: u32, out: &mut [u32]) {
    let tile = shared_array::<u32, 8>();
    let t = thread_idx_x();
    tile[t] = tell(tag, t as u32);
    if t == 0 {
        println!("#{tag} before");
    }
    barrier();
    if t == 7 {
        println!("#{tag} after {}", tile[0]);
    }
    out[global_idx_x()] = tile[7 - t];
}

fn functions_and_barriers(device: &Device) -> Check {
    let tag = tag();
    let mut out = sentinel_filled(8);
    together_kernel(tag, &mut out).grid(1).run_on(device)?;
    expect("out", &out, &[8, 7, 6, 5, 4, 3, 2, 1])?;
    let mut got = lines(tag);
    got.sort();
    let mut expected: Vec<String> = (0..8).map(|t| format!("tells {t}\n")).collect();
    expected.extend(["before\n".into(), "after 1\n".into()]);
    expected.sort();
    same(&got, &expected)
}

#[kernel]
fn many_kernel(tag: u32, out: &mut [u32]) {
    let i = global_idx_x();
    println!("#{tag} {i}");
    out[i] = i as u32;
}

/// Prints that do not fit are dropped; each printed line is right.
fn too_many(device: &Device) -> Check {
    const N: usize = 60_000;
    let tag = tag();
    let mut out = sentinel_filled(N);
    many_kernel(tag, &mut out).over(N).run_on(device)?;
    expect("out", &out, &(0..N as u32).collect::<Vec<_>>())?;
    let got = lines(tag);
    let mut seen: Vec<usize> = got.iter().filter_map(|l| l.trim().parse().ok()).collect();
    seen.sort();
    seen.dedup();
    ensure(seen.len() == got.len() && got.len() <= N, || {
        "a line was printed twice, or is none".into()
    })?;
    ensure(got.len() > 10_000, || format!("{} lines only", got.len()))
}

#[kernel]
fn fault_kernel(tag: u32, x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    println!("#{tag} at {i}");
    out[i] = 100 / x[i];
}

fn before_a_fault(device: &Device) -> Check {
    let tag = tag();
    let mut out = sentinel_filled(3);
    let x = Vector::from_vec(vec![1u32, 2, 0]);
    let result = fault_kernel(tag, &x, &mut out).over(3).run_on(device);
    let failed = result.and_then(|()| out.to_vec().map(drop));
    ensure(failed.is_err(), || "no fault".into())?;
    ensure(lines(tag).contains(&"at 2\n".to_string()), || {
        "the line before the fault is missing".into()
    })
}
