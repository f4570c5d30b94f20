//! Local and shared arrays: what they become, and what is rejected.

mod common;

use common::{body, lowered};

/// The text of a kernel's IR.
fn text(arguments: &str, source: &str) -> String {
    body(arguments, source)
}

#[test]
fn show() {
    for (args, source) in [
        (
            "y: &mut [f32]",
            "let mut acc = [0.0; 4]; acc[1] += y[0]; y[0] = acc[global_idx_x()];",
        ),
        (
            "y: &mut [f32]",
            "let a = [y[0], 2.0, 1.0]; let mut b = a; b = [b[1], b[0], b[2]]; y[0] = b[a.len() - 1];",
        ),
        (
            "y: &mut [i32]",
            "let mut m = [[0; 3]; 5]; m[y[0] as usize][1] = 7; m[2] = m[0]; let r = m[1]; y[0] = r[2] + m.len() as i32;",
        ),
        (
            "y: &mut [i32]",
            "const K: usize = 9; let mut m = [1; K]; let z = [y[0]; N]; let w: [[_; N]; 2] = [z, z]; y[0] = w[1][K];",
        ),
        (
            "y: &mut [f32], n: usize",
            "let w = n * 2; let tile = shared_array::<[f32; 17], 16>(); let buf = shared_slice::<f32>(w + block_dim_x()); let h = shared_array::<Atomic<u32>, N>(); let t = thread_idx_x(); tile[t][3] += 1.0; buf[t] = tile[0][t]; let old = h[t].fetch_add(1); h[0].store(old); h[1].fetch_max(3); barrier(); superstep! { let k = t; buf[k] = 1.0; } let s = subgroup_sum(buf[t]); y[t] = s + subgroup_shuffle(s, subgroup_lane()); block_fence(); device_fence();",
        ),
        (
            "c: &[Atomic<i32>], y: &mut [i32]",
            "let mut i = 1usize; let o = c[i].compare_and_swap({ i = 2; 5 }, y[i]) + c[i].load(); y[i] = o;",
        ),
    ] {
        println!("{}", text(args, source));
    }
    for source in [
        "fn k(n: usize) { let a = [0.0f32; n]; }",
        "fn k(n: usize) { if n > 1 { let a = shared_array::<f32, 4>(); } }",
        "fn k(y: &[u32]) { let a = shared_slice::<f32>(y[0] as usize); }",
        "fn k(y: &[Atomic<u32>]) { let a = y[0]; y[1] = 2; y[2].fetch_add(); y[3].compare_exchange(1, 2); y[4].frob(1); }",
        "fn k(y: &[Atomic<f32>]) { y[0].fetch_and(1.0); }",
        "fn k() { let t = shared_array::<[f32; 4], 4>(); t[0] = 1.0; let a = t[4][0]; }",
        "fn k() { let t = shared_array::<bool, 4>(); let u = shared_array::<f32>(); }",
        "fn k() { let mut t = [1, 2]; t = [1, 2, 3]; let s = t[2]; let u = [[1, 2], [3]]; let e: [f32; 0] = [0.0; 0]; }",
        "fn k(x: &mut [u32]) { x[0].fetch_add(1); barrier(1); }",
        "fn k() { if thread_idx_x() == 0 { barrier(); } }",
        "fn k() { foo(shared_array::<f32, 4>()); }",
    ] {
        println!("{:#?}", lowered(source).err());
    }
}
