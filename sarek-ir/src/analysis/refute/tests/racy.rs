//! Look-alikes of idioms, with races. None is proved.

use super::Idiom;

/// Rows: name, ids, statements, the index of the one thread, the index of the other.
const RACY: &[Idiom] = &[
    Idiom::new(
        "interior with an edge",
        "r_ c_",
        "c_ + 1 < w; shift",
        "r_*w - 2*r_ + c_",
        "r_*w - 2*r_ + c_",
    ),
    Idiom::new(
        "interior of an unknown width",
        "r_ c_",
        "c_ < 3; shift",
        "r_*w - 2*r_ + c_",
        "r_*w - 2*r_ + c_",
    ),
    Idiom::new("row without bound", "r_ c_", "", "r_*w + c_", "r_*w + c_"),
    Idiom::new(
        "overlap",
        "b_ t_",
        "t_ < B; k_ <= 3",
        "3*B*b_ + t_ + k_*B",
        "3*B*b_ + t_ + k_*B",
    ),
    Idiom::new("bound too large", "i_", "i_ <= n", "i_", "n + i_"),
    Idiom::new(
        "chunk too long",
        "i_",
        "i_*p <= k_; k_ <= i_*p + p",
        "k_",
        "k_",
    ),
    Idiom::new(
        "two writers a subgroup",
        "i_",
        "i_ == 16*p_; i_ == 32*q_ + r_; r_ < 32",
        "q_",
        "q_",
    ),
    Idiom::new(
        "ghosts too many",
        "b_ t_",
        "1 <= t_; t_ <= 7",
        "6*b_ + t_",
        "6*b_ + t_",
    ),
    Idiom::new(
        "pitch",
        "i_",
        "i_ := q_*w + r_; r_ < w",
        "q_*w - q_ + r_",
        "q_*w - q_ + r_",
    ),
    Idiom::new(
        "other ring",
        "i_",
        "i_ < n; i_ + y == q_*m + r_; r_ < m",
        "r_",
        "r_",
    ),
    Idiom::new("swap without bound", "c_", "p != q", "p*n + c_", "q*n + c_"),
    Idiom::new("XOR of another", "x_", "y_ ~ z_", "y_", "y_"),
    Idiom::new(
        "tiles wider than the pitch",
        "bx_ by_ tx_ ty_",
        "tx_ < TW; ty_ < TH; bx_*TW + tx_ < w",
        "(by_*TH + ty_)*pitch + bx_*TW + tx_",
        "(by_*TH + ty_)*pitch + bx_*TW + tx_",
    ),
    Idiom::new(
        "square",
        "r_ c_",
        "c_ <= r_ + 1; 2*e_ == r_*r_ + r_ + 2*c_",
        "e_",
        "e_",
    ),
];

#[test]
fn races_are_not_proved() {
    for idiom in RACY {
        assert!(idiom.proved().is_none(), "{} is proved", idiom.name);
    }
}
