//! User-defined trait methods with the names of methods of slices, numbers and the library.
//!
//! Native bodies once called them instead. That was unsound, since these bodies omit checks depending on a `len`.

#![forbid(unsafe_code)]

use sarek::prelude::*;

use super::devices;

/// The body of methods that no kernel may call.
fn never<T>() -> T {
    panic!("a method of the user's is called")
}

/// Methods that take `self` by value, for every type. Method lookup finds them before those that take `&self`.
#[allow(dead_code, clippy::wrong_self_convention)]
trait ByValue: Sized {
    fn get_unchecked(self, _: usize) -> &'static u32 {
        never()
    }
    fn get_unchecked_mut(self, _: usize) -> &'static mut u32 {
        never()
    }
    fn any(self) -> *const u32 {
        never()
    }
    fn array<T, const N: usize>(self) -> &'static mut [T; N] {
        never()
    }
    fn as_flattened(self) -> &'static [u32] {
        never()
    }
    fn as_mut_ptr(self) -> *mut u32 {
        never()
    }
    fn as_ptr(self) -> *const u32 {
        never()
    }
    fn fault<R>(self, _: u32, _: u64, _: [usize; 3]) -> R {
        never()
    }
    fn fetch(self, _: usize) -> u32 {
        never()
    }
    fn fill<T>(self, _: T) {
        never()
    }
    fn is_small(self) -> bool {
        never()
    }
    fn keep<T>(self, _: usize, _: T) {
        never()
    }
    fn lanes_below(self, _: usize, _: usize, _: usize) -> usize {
        never()
    }
    fn lend(self) -> u32 {
        never()
    }
    fn mark(self) -> u32 {
        never()
    }
    fn of(self, _: usize) -> u32 {
        never()
    }
    fn place(self, _: usize) -> *mut u32 {
        never()
    }
    fn release<T>(self, _: T) {
        never()
    }
    fn room(self, _: usize) -> u32 {
        never()
    }
    fn rows<R>(self) -> R {
        never()
    }
    fn set<T>(self, _: usize, _: T) {
        never()
    }
    fn slice<T>(self, _: usize) -> &'static mut [T] {
        never()
    }
}

impl<T> ByValue for T {}

/// A `len` for the types that native bodies use instead of slices.
#[allow(dead_code)]
trait Length {
    fn len(self) -> usize;
}

impl<T> Length for sarek::__private::host::RawSliceMut<'_, T> {
    fn len(self) -> usize {
        usize::MAX
    }
}

impl<T> Length for sarek::__private::host::Slices<'_, T> {
    fn len(self) -> usize {
        usize::MAX
    }
}

/// A plausible user trait, whose `len` counts bytes.
#[allow(dead_code)]
trait Bytes {
    fn len(&self) -> usize;
}

impl<const N: usize> Bytes for [u32; N] {
    fn len(&self) -> usize {
        4 * N
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct P {
    a: [u32; 4],
    f: f32,
}

#[kernel]
fn poke(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 7;
}

#[kernel]
fn peek(p: P, at: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = p.a[at[i] as usize];
}

#[kernel(block = 8)]
fn peek_shared(at: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 8>();
    let t = thread_idx_x();
    tile[t] = t as u32;
    barrier();
    y[global_idx_x()] = tile[at[global_idx_x()] as usize];
}

#[device]
fn total(of: &[u32], rows: &mut [[u32; 2]]) -> u32 {
    rows[1][0] += of[0];
    rows[1][0] + of[1]
}

#[device]
fn turned(p: P, shared: &mut [u32], counts: &[Atomic<u32>]) -> P {
    let t = thread_idx_x();
    shared[t] = p.a[0];
    barrier();
    let other = shared[7 - t];
    barrier();
    counts[0].fetch_add(other);
    P {
        a: [other; 4],
        f: p.f + 1.0,
    }
}

/// A user module with a name that the derive's expansion once used.
mod __layout {
    pub const fn payload_start(_: &[usize]) -> usize {
        0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(u32)]
enum Tagged {
    A = __layout::payload_start(&[]) as u32,
    B = 9,
}

/// A kernel that covers most of the code generator: kept values, masks, strips, and functions for one lane and for all.
#[kernel(block = 8)]
fn all(x: &[u32], counts: &[Atomic<u32>], y: &mut [u32]) {
    let shared = shared_array::<u32, 8>();
    let (i, t) = (global_idx_x(), thread_idx_x());
    let mut own = [[0u32; 2]; 3];
    own[1][1] = x[i];
    let mut kept = P {
        a: [x[i]; 4],
        f: 0.5,
    };
    kept.a[1] += 1;
    shared[t] = kept.a[1];
    barrier();
    let mut sum = total(&kept.a, &mut own);
    for k in 0..8 {
        sum += shared[k];
    }
    barrier();
    kept = turned(kept, shared, counts);
    barrier();
    let mut k = 0;
    while k < x[i] % 4 {
        sum = sum.wrapping_add(kept.a[k as usize]);
        k += 1;
    }
    sum += subgroup_sum(1u32);
    y[i] = sum + own[1][0] + own[1][1] + kept.f as u32;
}

/// The expected result of [`all`].
fn expected(x: &[u32]) -> Vec<u32> {
    let sums = x.chunks(8).flat_map(|block| {
        let all: u32 = block.iter().map(|x| x + 1).sum();
        let one = move |t: usize| {
            let mut sum = block[t] + block[t] + 1 + all;
            for _ in 0..block[t] % 4 {
                sum += block[7 - t];
            }
            sum + 8 + block[t] + block[t] + 1
        };
        (0..8).map(one).collect::<Vec<u32>>()
    });
    sums.collect()
}

#[test]
fn lengths_are_those_of_slices() {
    for name in ["native", "interpreter"] {
        let device = Device::of(name).unwrap();
        let mut y = Vector::from_vec(vec![0u32; 16]);
        assert!(poke(&mut y).over(17).run_on(&device).is_err(), "{name}");
        let at = Vector::from_vec(vec![3u32, 4]);
        let p = P {
            a: [1, 2, 3, 4],
            f: 0.0,
        };
        let mut y = Vector::<u32>::zeros(2);
        assert!(
            peek(p, &at, &mut y).over(2).run_on(&device).is_err(),
            "{name}"
        );
        let at = Vector::from_vec((0..8).map(|i| i * 2).collect());
        let mut y = Vector::<u32>::zeros(8);
        let shared = peek_shared(&at, &mut y).grid(1);
        assert!(shared.run_on(&device).is_err(), "{name}");
    }
}

#[test]
fn methods_of_the_users_are_not_called() {
    let values: Vec<u32> = (0..24).map(|i| i * 7 % 11).collect();
    for device in devices() {
        let x = Vector::from_vec(values.clone());
        let mut counts = Vector::<u32>::zeros(1);
        let mut y = Vector::<u32>::zeros(24);
        match all(&x, &mut counts, &mut y).grid(3).run_on(&device) {
            // The device has no subgroups.
            Err(sarek::Error::NotEligible { .. }) => continue,
            run => run.unwrap(),
        };
        assert_eq!(
            y.to_vec().unwrap(),
            expected(&values),
            "{}",
            device.backend()
        );
    }
}

#[test]
fn discriminants_are_the_users() {
    let filled = Vector::filled(4, Tagged::A).to_vec().unwrap();
    assert_eq!(filled, [Tagged::A; 4]);
    let filled = Vector::filled(4, Tagged::B).to_vec().unwrap();
    assert_eq!(filled, [Tagged::B; 4]);
}

/// Has the same layout as [`Small`] on devices, but 64 bytes instead of 4 in Rust.
#[derive(Clone, Copy, KernelType)]
#[repr(C, align(64))]
struct Big {
    z: u32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Small {
    z: u32,
}

#[device]
trait Grow {
    fn grow(&mut self);
}

#[device]
impl Grow for Big {
    fn grow(&mut self) {
        self.z += 1;
    }
}

impl Grow for Small {
    fn grow(&mut self) {
        self.z += 1;
    }
    type grow_needs_device_before_the_impl = <Big as Grow>::grow_needs_device_before_the_impl;
}

#[kernel]
fn right(y: &mut [u32]) {
    let mut big: Big = Big { z: 1 };
    big.grow();
    y[global_idx_x()] = big.z;
}

#[kernel]
fn wrong(y: &mut [u32]) {
    let mut small: Small = Small { z: 1 };
    small.grow();
    y[global_idx_x()] = small.z;
}

#[test]
fn a_method_of_another_type_is_found_out() {
    let native = Device::of("native").unwrap();
    let mut y = Vector::<u32>::zeros(4);
    right(&mut y).over(4).run_on(&native).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2; 4]);
    let message = wrong(&mut y)
        .over(4)
        .run_on(&native)
        .unwrap_err()
        .to_string();
    assert!(message.contains("another method"), "{message}");
}
