use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: u32,
}

#[device]
fn best<T: KernelType + Copy>(first: T, better: impl Fn(T, u32) -> Option<T>) -> T {
    match better(first, 1) {
        Some(found) => found,
        None => first,
    }
}

/// Only the call determines the closure's argument types.
#[kernel]
fn k(x: &[u32], y: &mut [f32]) {
    let i = global_idx_x();
    let start = Pair { a: 0.5, b: x[i] };
    let most: Pair = best(start, |p, k| {
        if p.b > k {
            Some(Pair { b: k, ..p })
        } else {
            None
        }
    });
    y[i] = most.a + most.b as f32;
}

fn main() {
    let (x, mut y) = (Vector::from_vec(vec![3u32; 4]), Vector::zeros(4));
    k(&x, &mut y).over(4).run().unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.5; 4]);
}
