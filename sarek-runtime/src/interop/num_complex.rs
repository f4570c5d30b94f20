//! `num_complex::Complex` as a type of kernels.

use num_complex::Complex;

super::elements::elements! {
    [T] Complex<T> as "Complex" { re: T, im: T }
}
