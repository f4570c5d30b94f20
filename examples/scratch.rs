#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]
//! t
use sarek::prelude::*;
const SCALE: f32 = 2.5;
/// doc
#[kernel]
pub fn test1(n: usize, w: i32, x: &[f32], y: &mut [f32]) {
    const K: usize = 3;
    let i = global_idx_x();
    if i >= y.len() {
        return;
    }
    let mut acc = 0.0;
    'outer: for j in (0..n).rev().step_by(K) {
        let v = loop {
            if acc > 100.0 {
                break 'outer;
            }
            break x[i] * SCALE + j as f32;
        };
        for k in 0..=3 {
            acc += v * k as f32;
            if k == 2 {
                continue 'outer;
            }
        }
    }
    let mut s = 1 << w;
    s += s + {
        s += 5;
        s
    };
    let q = if w > 0 {
        (i as i32 / w).wrapping_mul(3)
    } else {
        -7
    };
    acc += x[i].max(0.5).powi(2).clamp(0.0, 1e9) + f32::sqrt(2.0) + std::f32::consts::PI;
    y[i] += acc + s as f32 + q as f32;
}
fn main() {
    #[kernel]
    fn inner(y: &mut [u32]) {
        let i = global_idx_x();
        y[i] = i as u32 * 3
    }
    let mut y = Vector::<u32>::zeros(10);
    inner(&mut y).over(10).run().unwrap();
    println!("{:?}", y.to_vec().unwrap());
    let x = Vector::from_vec((0..10).map(|i| i as f32).collect());
    let mut z = Vector::<f32>::zeros(10);
    test1(7, 2, &x, &mut z).over(10).run().unwrap();
    println!("{:?}", z.to_vec().unwrap());
    println!(
        "{:?}",
        inner(&mut y).over(11).run().unwrap_err().to_string()
    );
    println!("{:?}", test1(7, 0, &x, &mut z).over(10).run());
}
