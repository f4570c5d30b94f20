//! Idioms of kernels without races. All are proved.

use super::{Idiom, STEPS};

/// Rows: name, ids, statements, the index of the one thread, the index of the other.
const PROVED: &[Idiom] = &[
    Idiom::new(
        "interior",
        "r_ c_",
        "c_ + 2 < w; shift",
        "r_*w - 2*r_ + c_",
        "r_*w - 2*r_ + c_",
    ),
    Idiom::new("one element", "i_", "", "i_", "i_"),
    Idiom::new("row major", "r_ c_", "c_ < w", "r_*w + c_", "r_*w + c_"),
    Idiom::new("several elements", "i_", "i_ < G", "i_ + G*k_", "i_ + G*k_"),
    Idiom::new(
        "coarse",
        "b_ t_",
        "t_ < B; k_ <= 2",
        "3*B*b_ + t_ + k_*B",
        "3*B*b_ + t_ + k_*B",
    ),
    Idiom::new(
        "structure of arrays",
        "i_",
        "i_ < n",
        "k_*n + i_",
        "k_*n + i_",
    ),
    Idiom::new(
        "planes",
        "r_ c_",
        "c_ < w; r_ < h",
        "k_*w*h + r_*w + c_",
        "k_*w*h + r_*w + c_",
    ),
    Idiom::new(
        "planar",
        "y_ x_",
        "x_ < w; y_ < h",
        "(p_*h + y_)*w + x_",
        "(p_*h + y_)*w + x_",
    ),
    Idiom::new("chunk", "i_", "i_*p <= k_; k_ < i_*p + p", "k_", "k_"),
    Idiom::new(
        "ragged",
        "i_",
        "i_*p <= k_; k_ < i_*p + p; k_ < n",
        "k_",
        "k_",
    ),
    Idiom::new(
        "run",
        "i_",
        "3*i_ <= k_; k_ < e_; e_ <= 3*i_ + 3",
        "k_",
        "k_",
    ),
    Idiom::new(
        "transposition",
        "r_ c_",
        "c_ < n; r_ < c_",
        "r_*n + c_",
        "c_*n + r_",
    ),
    Idiom::new(
        "upper triangle",
        "r_ c_",
        "c_ < n; r_ < c_",
        "r_*n + c_",
        "r_*n + c_",
    ),
    Idiom::new(
        "lower triangle",
        "r_ c_",
        "c_ < n; r_ < c_",
        "c_*n + r_",
        "c_*n + r_",
    ),
    Idiom::new(
        "row and column",
        "i_",
        "i_ := q_*w + r_; r_ < w",
        "q_*w + r_",
        "q_*w + r_",
    ),
    Idiom::new(
        "groups",
        "i_",
        "i_ := 4*q_ + r_; r_ < 4",
        "4*q_ + 3 - r_",
        "4*q_ + 3 - r_",
    ),
    Idiom::new("subgroup", "i_", "i_ := 32*q_", "q_", "q_"),
    Idiom::new(
        "FFT pairs",
        "i_",
        "i_ := q_*h + r_; r_ < h",
        "2*q_*h + r_",
        "2*q_*h + r_ + h",
    ),
    Idiom::new(
        "FFT",
        "i_",
        "i_ := q_*h + r_; r_ < h",
        "2*q_*h + r_",
        "2*q_*h + r_",
    ),
    Idiom::new(
        "ring",
        "i_",
        "i_ < n; r_ := i_ + y - q_*n; r_ < n",
        "r_",
        "r_",
    ),
    Idiom::new(
        "scan up",
        "t_",
        "1 <= g",
        "2*g*t_ + 2*g - 1",
        "2*g*t_ + g - 1",
    ),
    Idiom::new(
        "scan",
        "t_",
        "1 <= g",
        "2*g*t_ + 2*g - 1",
        "2*g*t_ + 2*g - 1",
    ),
    Idiom::new("tree, modulo", "t_", "1 <= s; t_ := 2*s*q_", "t_", "t_ + s"),
    Idiom::new("tree, halves", "t_", "1 <= s; t_ < s", "t_", "t_ + s"),
    Idiom::new("odd and even", "t_", "", "2*t_ + m", "2*t_ + m + 1"),
    Idiom::new("reversal", "i_", "i_ < h; 2*h <= n", "i_", "n - 1 - i_"),
    Idiom::new(
        "swap, ordered",
        "c_",
        "c_ < n; p < q",
        "p*n + c_",
        "q*n + c_",
    ),
    Idiom::new(
        "swap, one row",
        "c_",
        "c_ < n; p < q",
        "p*n + c_",
        "p*n + c_",
    ),
    Idiom::new("swap", "c_", "c_ < n; p != q", "p*n + c_", "q*n + c_"),
    Idiom::new("column", "r_", "r_ < n; k < n", "r_*n + k", "r_*n + k"),
    Idiom::new("stride", "i_", "1 <= s", "s*i_", "s*i_"),
    Idiom::new(
        "below the pivot, own column",
        "x_ y_",
        "x_ + k + 1 < n; y_ + k + 1 < n; k < n",
        "(y_ + k + 1)*n + x_ + k + 1",
        "(y_ + k + 1)*n + k",
    ),
    Idiom::new(
        "below the pivot, own row",
        "x_ y_",
        "x_ + k + 1 < n; y_ + k + 1 < n; k < n",
        "(y_ + k + 1)*n + x_ + k + 1",
        "k*n + x_ + k + 1",
    ),
    Idiom::new(
        "pairs of columns",
        "p_ r_",
        "r_ < h; 2*p_ + 1 < w",
        "r_*w + 2*p_",
        "r_*w + 2*p_ + 1",
    ),
    Idiom::new(
        "grid stride, two axes",
        "x_ y_",
        "x_ < X; y_ < Y; x_ + k_*X < w",
        "(y_ + l_*Y)*w + x_ + k_*X",
        "(y_ + l_*Y)*w + x_ + k_*X",
    ),
    Idiom::new(
        "grid stride, three axes",
        "x_ y_ z_",
        "x_ < X; y_ < Y; z_ < Z; x_ + k_*X < w; y_ + l_*Y < h",
        "((z_ + m_*Z)*h + y_ + l_*Y)*w + x_ + k_*X",
        "((z_ + m_*Z)*h + y_ + l_*Y)*w + x_ + k_*X",
    ),
    Idiom::new(
        "grid stride, rows",
        "b_ t_",
        "b_ < G; t_ < cols",
        "(b_ + k_*G)*cols + t_",
        "(b_ + k_*G)*cols + t_",
    ),
    Idiom::new(
        "tiles",
        "bx_ by_ tx_ ty_",
        "tx_ < TW; ty_ < TH; bx_*TW + tx_ < w; w <= pitch",
        "(by_*TH + ty_)*pitch + bx_*TW + tx_",
        "(by_*TH + ty_)*pitch + bx_*TW + tx_",
    ),
    Idiom::new(
        "ghosts",
        "b_ t_",
        "1 <= t_; t_ <= 6",
        "6*b_ + t_",
        "6*b_ + t_",
    ),
    Idiom::new("halo", "t_", "t_ < 8", "2 + t_", "10 + t_"),
    Idiom::new(
        "wavefront",
        "c_",
        "r_ := d - c_; c_ < w",
        "r_*w + c_",
        "r_*w + c_",
    ),
    Idiom::new(
        "wavefront, equality",
        "c_",
        "r_ + c_ == d; c_ < w",
        "r_*w + c_",
        "r_*w + c_",
    ),
    Idiom::new("XOR", "x_", "y_ ~ x_", "y_", "y_"),
    Idiom::new(
        "XOR in a row",
        "x_ r_",
        "y_ ~ x_; y_ < w",
        "r_*w + y_",
        "r_*w + y_",
    ),
    Idiom::new(
        "packed triangle",
        "r_ c_",
        "c_ <= r_; 2*e_ == r_*r_ + r_ + 2*c_",
        "e_",
        "e_",
    ),
    Idiom::new(
        "quotient of a sum",
        "b_ t_",
        "t_ < B; b_*B + t_ == q_*w + r_; r_ < w",
        "q_*w + r_",
        "q_*w + r_",
    ),
    Idiom::new(
        "quotient of a sum, transposed",
        "b_ t_",
        "t_ < B; b_*B + t_ == q_*w + r_; r_ < w; q_ < h",
        "r_*h + q_",
        "r_*h + q_",
    ),
    Idiom::new(
        "ring, equality",
        "i_",
        "i_ < n; i_ + y == q_*n + r_; r_ < n",
        "r_",
        "r_",
    ),
];

/// The quotient as an equality instead of a definition, and other definitions.
const QUOTIENTS: &[Idiom] = &[
    Idiom::new(
        "groups",
        "i_",
        "i_ == 4*q_ + r_; r_ < 4",
        "4*q_ + 3 - r_",
        "4*q_ + 3 - r_",
    ),
    Idiom::new(
        "row and column",
        "i_",
        "i_ == q_*w + r_; r_ < w",
        "q_*w + r_",
        "q_*w + r_",
    ),
    Idiom::new(
        "FFT",
        "i_",
        "i_ == q_*h + r_; r_ < h",
        "2*q_*h + r_",
        "2*q_*h + r_",
    ),
    Idiom::new(
        "FFT pairs",
        "i_",
        "i_ == q_*h + r_; r_ < h",
        "2*q_*h + r_",
        "2*q_*h + r_ + h",
    ),
    Idiom::new("tree, modulo", "t_", "1 <= s; t_ == 2*s*q_", "t_", "t_ + s"),
    Idiom::new("subgroup", "i_", "i_ == 32*q_", "q_", "q_"),
    Idiom::new(
        "ring",
        "i_",
        "i_ < n; i_ := r_ + q_*n - y; r_ < n",
        "r_",
        "r_",
    ),
    Idiom::new(
        "transposed",
        "i_",
        "r_ := i_ - q_*w; r_ < w; q_ < h",
        "r_*h + q_",
        "r_*h + q_",
    ),
    Idiom::new(
        "FFT of a sum",
        "b_ t_",
        "t_ < B; b_*B + t_ == q_*h + r_; r_ < h",
        "2*q_*h + r_",
        "2*q_*h + r_",
    ),
];

#[test]
fn idioms_are_proved() {
    for idiom in proved() {
        assert!(idiom.proved().is_some(), "{} is not proved", idiom.name);
    }
}

#[test]
fn bounds_without_use_do_not_hinder() {
    for idiom in proved() {
        assert!(
            idiom.bounded().same_thread().is_some(),
            "{} is not proved",
            idiom.name
        );
    }
}

#[test]
fn searches_are_short() {
    for idiom in proved() {
        assert!(
            idiom.steps() <= STEPS / 2,
            "{}: {} steps",
            idiom.name,
            idiom.steps()
        );
    }
}

/// Every proved idiom.
pub(super) fn proved() -> impl Iterator<Item = &'static Idiom> {
    PROVED.iter().chain(QUOTIENTS)
}
