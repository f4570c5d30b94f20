//! The axes along which threads are told apart. A kernel that names the threads of an axis does not mean a launch with one
//! thread there, so it has no such precondition.

mod common;

use common::{lowered, races};

/// The preconditions but those on overflow.
#[track_caller]
fn needs(source: &str) -> Vec<String> {
    let kernel = match lowered(source) {
        Ok(kernel) => kernel.to_string(),
        Err(errors) => panic!("{source}: {errors:#?}"),
    };
    let required = kernel.lines().filter_map(|l| l.strip_prefix("requires "));
    let required = required.filter(|need| !need.starts_with("no_overflow"));
    required.map(str::to_owned).collect()
}

fn kernel(body: &str) -> String {
    format!("fn k(w: usize, h: usize, x: &[u32], y: &mut [u32]) {{ {body} }}")
}

#[test]
fn blocks_along_an_axis_are_rows_or_images() {
    let rows = needs(&kernel(
        "let c = global_idx_x(); if c < w { y[block_idx_y() * w + c] = 1; }",
    ));
    assert_eq!(rows, ["block_dim_y() <= 1", "global_dim_z() <= 1"]);
    let images = needs(&kernel(
        "let (c, r) = (global_idx_x(), global_idx_y()); \
         if c < w && r < h { y[block_idx_z() * (w * h) + r * w + c] = 1; }",
    ));
    assert_eq!(images, ["block_dim_z() <= 1"]);
    let first = needs(&kernel(
        "if thread_idx_x() == 0 { y[block_idx_y() * grid_dim_x() + block_idx_x()] = 1; }",
    ));
    assert_eq!(first, ["block_dim_y() <= 1", "global_dim_z() <= 1"]);
    let strided = needs(&kernel(
        "let mut c = thread_idx_x(); \
         while c < w { y[(block_idx_z() * grid_dim_y() + block_idx_y()) * w + c] = 1; c += block_dim_x(); }",
    ));
    assert_eq!(
        strided,
        [
            "grid_dim_x() <= 1",
            "block_dim_y() <= 1",
            "block_dim_z() <= 1"
        ]
    );
}

#[test]
fn one_thread_of_a_plane_stores() {
    let found = needs(&kernel(
        "if thread_idx_x() == 0 && thread_idx_y() == 0 { y[block_idx_x()] = 1; }",
    ));
    assert_eq!(found, ["grid_dim_y() <= 1", "global_dim_z() <= 1"]);
}

#[test]
fn a_kernel_that_names_threads_means_several() {
    for body in [
        // Without a guard, and with one that two threads pass.
        "y[block_idx_x()] = x[global_idx_x()];",
        "y[block_idx_x()] = x[block_idx_x() * block_dim_x() + thread_idx_x()];",
        "if thread_idx_x() < 2 { y[block_idx_x()] = 1; }",
        "if thread_idx_x() + 2 >= block_dim_x() { y[block_idx_x()] = 1; }",
        "y[block_idx_x()] = x[block_idx_y()];",
        "y[global_idx_x()] = x[global_idx_y() * w + global_idx_x()];",
        "if global_idx_y() < h { y[global_idx_x()] = 1; }",
        "if thread_idx_x() == 0 && thread_idx_y() == 0 { y[block_idx_x()] = x[block_idx_y()]; }",
        "if block_idx_y() < 2 { y[global_idx_x()] = 1; }",
    ] {
        races(&kernel(body));
    }
    let shared = |body: &str| kernel(&format!("let s = shared_array::<u32, 64>(); {body}"));
    races(&shared(
        "s[thread_idx_x()] = x[global_idx_y() * w + thread_idx_y()];",
    ));
    let view = |body: &str| format!("fn k(x: &[u32], mut v: ViewMut2<u32>) {{ {body} }}");
    races(&view(
        "let i = global_idx_x(); v[[0, i]] = x[global_idx_y() + i];",
    ));
}

#[test]
fn an_id_in_a_local_without_uses_names_no_threads() {
    let found = needs(&kernel(
        "let (i, _j) = (global_idx_x(), global_idx_y()); y[i] = 1;",
    ));
    assert_eq!(found, ["global_dim_y() <= 1", "global_dim_z() <= 1"]);
}

#[test]
fn blocks_have_whole_parts() {
    let of = |guard: &str, index: &str| {
        kernel(&format!(
            "let (i, t) = (global_idx_x(), thread_idx_x()); if {guard} {{ y[{index}] = x[i]; }}"
        ))
    };
    let parts = |number: u32| {
        let first = format!("blocks_of_multiples({number})");
        [
            first,
            "global_dim_y() <= 1".into(),
            "global_dim_z() <= 1".into(),
        ]
    };
    let sorted = |source: &str| {
        let mut needs = needs(source);
        needs.sort();
        needs
    };
    assert_eq!(sorted(&of("t % 32 == 0", "i / 32")), parts(32));
    assert_eq!(sorted(&of("t % 16 == 3", "i / 16")), parts(16));
    assert_eq!(sorted(&of("t & 31 == 0", "i >> 5")), parts(32));
    races(&of("t % 32 < 2", "i / 32"));
    races(&of("t % 16 == 0", "i / 32"));
    races(&of("t / 32 == 0", "i / 32"));
}
