//! Freedom from races in kernels with shared arrays, and the preconditions that it needs.

mod common;

use common::lowered;

/// Compares the preconditions about blocks and indices.
#[track_caller]
fn free(source: &str, needs: &[&str]) {
    let text = lowered(source)
        .unwrap_or_else(|errors| panic!("{errors:#?}"))
        .to_string();
    let found: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("requires "))
        .filter(|l| !l.starts_with("global_dim"))
        .collect();
    assert_eq!(found, needs);
}

#[track_caller]
fn races(source: &str) {
    let errors = lowered(source).err().unwrap_or_default();
    let fits = matches!(errors.as_slice(), [e] if common::begins(e, "two threads of a block may use the same element of `tile`"));
    assert!(fits, "{errors:#?}");
}

const ROW: [&str; 2] = ["block_dim_y() <= 1", "block_dim_z() <= 1"];

#[test]
fn a_tree_halves_its_range() {
    free(
        "fn reduce(x: &[f32], out: &mut [f32]) { let tile = shared_array::<f32, 256>(); let t = thread_idx_x(); let i = global_idx_x(); tile[t] = if i < x.len() { x[i] } else { 0.0 }; barrier(); let mut s = block_dim_x() / 2; while s > 0 { if t < s { tile[t] += tile[t + s]; } barrier(); s /= 2; } if t == 0 { out[block_idx_x()] = tile[0]; } }",
        &[ROW[0], ROW[1], "no_overflow(t + s)", "no_overflow(t)"],
    );
}

#[test]
fn two_arrays_take_turns() {
    free(
        "fn scan(x: &[u32], y: &mut [u32]) { let a = shared_array::<u32, 256>(); let b = shared_array::<u32, 256>(); let t = thread_idx_x(); let i = global_idx_x(); a[t] = if i < x.len() { x[i] } else { 0 }; barrier(); let mut d = 1; while d < block_dim_x() { b[t] = if t >= d { a[t] + a[t - d] } else { a[t] }; barrier(); a[t] = b[t]; barrier(); d *= 2; } if i < y.len() { y[i] = a[t]; } }",
        &ROW,
    );
}

#[test]
fn atomics_do_not_race() {
    free(
        "fn hist(x: &[u32], bins: &[Atomic<u32>]) { let local = shared_array::<Atomic<u32>, 64>(); let t = thread_idx_x(); let mut k = t; while k < 64 { local[k].store(0); k += block_dim_x(); } barrier(); let i = global_idx_x(); if i < x.len() { local[(x[i] % 64) as usize].fetch_add(1); } barrier(); let mut k = t; while k < 64 { bins[k].fetch_add(local[k].load()); k += block_dim_x(); } }",
        &[],
    );
}

#[test]
fn tiles_have_rows_and_columns() {
    free(
        "fn matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) { let ta = shared_array::<[f32; 16], 16>(); let tb = shared_array::<[f32; 16], 16>(); let tx = thread_idx_x(); let ty = thread_idx_y(); let col = global_idx_x(); let row = global_idx_y(); let mut acc = 0.0; let mut k = 0; while k < n { ta[ty][tx] = if row < n && k + tx < n { a[row * n + k + tx] } else { 0.0 }; tb[ty][tx] = if col < n && k + ty < n { b[(k + ty) * n + col] } else { 0.0 }; barrier(); for j in 0..16 { acc += ta[ty][j] * tb[j][tx]; } barrier(); k += 16; } if row < n && col < n { c[row * n + col] = acc; } }",
        &["no_overflow(row * n + col)", "block_dim_z() <= 1"],
    );
}

#[test]
fn one_thread_stores_the_halo() {
    free(
        "fn stencil(x: &[f32], y: &mut [f32]) { let tile = shared_array::<f32, 258>(); let t = thread_idx_x(); let i = global_idx_x(); tile[t + 1] = if i < x.len() { x[i] } else { 0.0 }; if t == 0 { tile[0] = if i > 0 { x[i - 1] } else { 0.0 }; tile[block_dim_x() + 1] = if i + block_dim_x() < x.len() { x[i + block_dim_x()] } else { 0.0 }; } barrier(); if i < y.len() { y[i] = tile[t] + tile[t + 1] + tile[t + 2]; } }",
        &[
            ROW[0],
            ROW[1],
            "no_overflow(t + 1usize)",
            "no_overflow(0usize)",
            "no_overflow(block_dim_x() + 1usize)",
        ],
    );
}

#[test]
fn each_thread_stores_at_a_distance_of_the_block() {
    free(
        "fn fill(x: &[f32], y: &mut [f32]) { let tile = shared_array::<f32, 1024>(); let t = thread_idx_x(); for k in 0..4 { tile[k * block_dim_x() + t] = 1.0; } barrier(); y[global_idx_x()] = tile[0]; }",
        &["no_overflow(k * block_dim_x() + t)", ROW[0], ROW[1]],
    );
}

#[test]
fn a_barrier_stands_between_iterations() {
    free(
        "fn nbody(n: usize, x: &[f32], y: &mut [f32]) { let tile = shared_array::<f32, 256>(); let t = thread_idx_x(); let i = global_idx_x(); let mut acc = 0.0f32; let mut first = 0; while first < n { tile[t] = if first + t < n { x[first + t] } else { 0.0 }; barrier(); for j in 0..block_dim_x() { acc += tile[j]; } barrier(); first += block_dim_x(); } if i < n { y[i] = acc; } }",
        &ROW,
    );
}

#[test]
fn what_no_barrier_keeps_apart_races() {
    races(
        "fn bad1(y: &mut [f32]) { let tile = shared_array::<f32, 256>(); let t = thread_idx_x(); tile[t] = 1.0; y[global_idx_x()] = tile[255 - t]; }",
    );
    races(
        "fn bad2(y: &mut [f32]) { let tile = shared_array::<f32, 256>(); let t = thread_idx_x(); let mut s = 128; while s > 0 { if t < s { tile[t] += tile[t + s]; } s /= 2; } y[global_idx_x()] = tile[t]; }",
    );
    races(
        "fn bad3(x: &[f32], y: &mut [f32]) { let tile = shared_array::<f32, 256>(); let t = thread_idx_x(); let mut acc = 0.0; for k in 0..4 { tile[t] = x[k * 256 + t]; barrier(); acc += tile[255 - t]; } y[global_idx_x()] = acc; }",
    );
    races("fn bad4() { let tile = shared_array::<f32, 256>(); tile[0] = 1.0; }");
    races("fn bad5() { let tile = shared_array::<f32, 256>(); tile[thread_idx_x() / 2] = 1.0; }");
}
