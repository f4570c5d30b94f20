//! The fact that a failed proof of races lacks, as messages tell it.

/// The advice of the only message about a kernel.
#[track_caller]
fn advice(options: &str, params: &str, body: &str) -> String {
    let source = format!("#[kernel({options})] fn k({params}) {{ {body} }}");
    let errors = sarek_frontend::expand::messages(&source);
    let [error] = &errors[..] else {
        panic!("{source}: {errors:#?}");
    };
    let at = error.find("instead: ").expect("advice");
    error[at + "instead: ".len()..].to_string()
}

#[track_caller]
fn asks(params: &str, body: &str, fact: &str) {
    let found = advice("", params, body);
    assert!(found.starts_with(fact), "{body}: {found}");
}

const IDS: &str = "let (i, j) = (global_idx_x(), global_idx_y());";

#[test]
fn a_guard_keeps_columns_apart() {
    let params = "w: usize, n: u32, y: &mut [u32]";
    asks(
        params,
        &format!("{IDS} y[j * w + i] = 1;"),
        "guard the uses with `if i < w`, ",
    );
    asks(
        params,
        &format!("{IDS} y[j * n as usize + i] = 1;"),
        "guard the uses with `if i < n as usize`, ",
    );
    asks(
        params,
        "y[global_idx_y() * w + global_idx_x()] = 1;",
        "guard the uses with `if global_idx_x() < w`, ",
    );
    asks(
        "y: &mut [u32]",
        "let i = global_idx_x(); y.swap(i, y.len() - 1 - i);",
        "guard the uses with `if i < y.len() / 2`, ",
    );
    asks(
        "n: usize, a: &mut [u32]",
        "let (c, r) = (global_idx_x(), global_idx_y()); if r < n && c < n { a.swap(r * n + c, c * n + r); }",
        "guard the uses with `if c < r`, ",
    );
}

#[test]
fn a_requirement_keeps_rows_apart() {
    asks(
        "w: usize, pitch: usize, y: &mut [u32]",
        &format!("{IDS} if i < w {{ y[j * pitch + i] = 1; }}"),
        "state `requires(w <= pitch)` in `#[kernel]`, ",
    );
    asks(
        "w: u32, pitch: u64, y: &mut [u32]",
        &format!("{IDS} if i < w as usize {{ y[j * pitch as usize + i] = 1; }}"),
        "state `requires(w as u64 <= pitch)` in `#[kernel]`, ",
    );
}

#[test]
fn what_is_asked_for_suffices() {
    let kernels = [
        "#[kernel] fn k(w: usize, y: &mut [u32]) { let (i, j) = (global_idx_x(), global_idx_y()); \
         if i < w { y[j * w + i] = 1; } }",
        "#[kernel(requires(w <= pitch))] fn k(w: usize, pitch: usize, y: &mut [u32]) { \
         let (i, j) = (global_idx_x(), global_idx_y()); if i < w { y[j * pitch + i] = 1; } }",
    ];
    for kernel in kernels {
        let found = sarek_frontend::expand::messages(kernel);
        assert!(found.is_empty(), "{kernel}: {found:#?}");
    }
}

/// A fact that no thread satisfies would prove anything.
#[test]
fn a_fact_against_the_guards_is_not_asked_for() {
    let found = advice(
        "",
        "n: usize, y: &mut [u32]",
        "let i = global_idx_x(); if i >= n { y[n] = 1; }",
    );
    assert!(found.starts_with("take it"), "{found}");
    let found = advice("requires(n == 0)", "n: usize, y: &mut [u32]", "y[n] = 1;");
    assert!(found.starts_with("take it"), "{found}");
}
