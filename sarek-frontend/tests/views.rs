//! Lowering of views, and the code that is rejected for them.

mod common;

use common::lowered;

fn text(source: &str) -> String {
    let kernel = lowered(source).unwrap_or_else(|errors| panic!("errors: {errors:?}"));
    kernel.to_string()
}

fn refused(source: &str) -> String {
    match lowered(source) {
        Ok(kernel) => panic!("accepted: {kernel}"),
        Err(errors) => errors.join("\n"),
    }
}

#[test]
fn an_element_is_a_position_in_the_slice() {
    let kernel = text(
        "fn k(x: View2<f32>, mut y: ViewMut3<f32>) {
            y[[global_idx_z(), global_idx_y(), global_idx_x()]] = x[[1, x.cols() - 1]];
        }",
    );
    assert!(kernel.contains("x: &[f32], x_rows: usize, x_cols: usize, x_offset: usize, x_row_stride: usize, x_col_stride: usize"));
    assert!(
        kernel.contains("x[x.at(bounded!0(1usize, x_rows), bounded!1(x_cols - 1usize, x_cols))]"),
        "{kernel}"
    );
    assert!(
        kernel.contains("y[y.at(bounded!2(global_idx_z(), y_depth)"),
        "{kernel}"
    );
    assert!(!kernel.contains("requires"), "{kernel}");
}

#[test]
fn the_index_of_a_compound_assignment_is_evaluated_once() {
    let kernel = text(
        "fn k(mut y: ViewMut2<i32>) {
            y[[global_idx_y(), global_idx_x()]] += 2;
        }",
    );
    assert_eq!(kernel.matches("y.at(").count(), 1, "{kernel}");
}

#[test]
fn effects_in_indices_keep_their_order() {
    let kernel = text(
        "unsafe fn k(x: View2<u32>, y: &mut [u32]) {
            let mut i = 0;
            y[0] = x[[{ i += 1; i }, { i *= 3; i }]];
        }",
    );
    let first = kernel.find("i = i + 1usize").expect("it is there");
    let second = kernel.find("i = i * 3usize").expect("it is there");
    let spilled = kernel[first..second].contains("let t: usize = i");
    assert!(first < second && spilled, "{kernel}");
}

#[test]
fn extents_are_values() {
    let kernel = text(
        "unsafe fn k(x: View3<u32>, y: &mut [u32]) {
            let shape = x.shape();
            y[0] = (shape[2] + x.depth()) as u32;
            if x.is_empty() { y[1] = 1; }
        }",
    );
    assert!(kernel.contains("[x_depth, x_rows, x_cols]"), "{kernel}");
    assert!(
        kernel.contains("x_depth == 0usize || x_rows == 0usize || x_cols == 0usize"),
        "{kernel}"
    );
}

#[test]
fn blocks_may_change_places() {
    let lowered = |first: &str| {
        let item = format!(
            "fn k(mut y: ViewMut2<f32>) {{
                let row = block_idx_x() * {first} + thread_idx_y();
                y[[row, block_idx_y() * 16 + thread_idx_x()]] = 1.0;
            }}"
        );
        let block = "block = (16, 16)".parse().expect("tokens");
        sarek_frontend::expand::lowered(block, item.parse().expect("tokens"))
    };
    assert!(lowered("16").is_ok());
    assert!(lowered("15").is_err());
}

#[test]
fn races_through_views_are_found() {
    let body = |body: &str| refused(&format!("fn k(mut y: ViewMut2<f32>) {{ {body} }}"));
    let shared = body("y[[0, 0]] = 1.0;");
    assert!(
        shared.contains("all threads access the same element"),
        "{shared}"
    );
    let next = body(
        "let v = y[[global_idx_y(), global_idx_x() + 1]]; y[[global_idx_y(), global_idx_x()]] = v;",
    );
    assert!(next.contains("another thread"), "{next}");
    let local = body("y[[global_idx_y(), thread_idx_x()]] = 1.0;");
    assert!(local.contains("repeats from block to block"), "{local}");
}

#[test]
fn misuses_are_told() {
    let body = |body: &str| {
        refused(&format!(
            "unsafe fn k(x: View2<f32>, y: &mut [f32]) {{ {body} }}"
        ))
    };
    for (source, message) in [
        ("y[0] = x[3];", "write `x[[row, col]]`"),
        ("y[0] = x[[1]];", "write `x[[row, col]]`"),
        ("x[[0, 0]] = 1.0;", "declare it `mut x: ViewMut2<T>`"),
        ("let z = x;", "is not a value"),
        (
            "y[0] = x.len() as f32;",
            "use `rows`, `cols`, `shape` and indexing",
        ),
        ("y[0] = x[[1.0, 0]];", "mismatched types"),
    ] {
        let found = body(source);
        assert!(found.contains(message), "{source}: {found}");
    }
    let of = |ty: &str| refused(&format!("fn k(x: {ty}) {{}}"));
    assert!(of("View2").contains("`View2<f32>`"));
    assert!(of("ViewMut3<usize>").contains("cannot be the element of a slice"));
    assert!(of("&View2<f32>").contains("borrows slices only"));
}

#[test]
fn a_tuple_of_values_is_as_many_lets() {
    let kernel = text(
        "fn k(mut y: ViewMut2<f32>) {
            let (row, col) = (global_idx_y(), global_idx_x());
            let (row, col) = (row, col + 0);
            y[[row, col]] = 1.0;
        }",
    );
    assert!(kernel.contains("let row.1: usize = row"), "{kernel}");
}

/// The IR text of a function.
fn function(source: &str) -> String {
    let expansion = common::device(source);
    assert_eq!(expansion.errors, Vec::<String>::new(), "{source}");
    expansion.kernel.expect("it has no errors").to_string()
}

#[test]
fn functions_take_views_as_kernels_do() {
    for ty in ["View2<f32>", "&View2<f32>", "&ViewMut2<f32>"] {
        let text = function(&format!(
            "fn f(x: {ty}, row: usize) -> f32 {{ x[[row, 1]] }}"
        ));
        assert!(text.contains("x: &[f32], x_rows: usize"), "{text}");
    }
    for ty in ["ViewMut2<f32>", "&mut ViewMut2<f32>"] {
        let text = function(&format!("fn f(x: {ty}) {{ x[[0, 0]] = 1.0; }}"));
        assert!(text.contains("x: &mut [f32], x_rows: usize"), "{text}");
    }
}

#[test]
fn a_call_gives_all_of_a_view() {
    let parts = "x, x_rows, x_cols, x_offset, x_row_stride, x_col_stride";
    for given in ["x", "&x", "*&x", "(x)"] {
        let call = text(&format!(
            "unsafe fn k(x: View2<f32>) {{ f(1u8, {given}, 2u8); }}"
        ));
        assert!(call.contains(&format!("f(1u8, {parts}, 2u8)")), "{call}");
    }
}

#[test]
fn a_function_that_calls_itself_gives_its_views_on() {
    let sum = |given: &str| {
        common::device(&format!(
            "fn f(x: View2<f32>, y: View2<f32>, n: usize, sum: f32) -> f32 {{
                if n == 0 {{ sum }} else {{ f({given}, n - 1, sum + x[[n, 0]]) }}
            }}"
        ))
    };
    assert_eq!(sum("x, y").errors, [""; 0]);
    let swapped = sum("y, x").errors.join("\n");
    assert!(swapped.contains("passes other slices, views"), "{swapped}");
}

#[test]
fn what_is_lent_to_read_is_not_stored() {
    let errors = common::device("fn f(x: &ViewMut2<f32>) { x[[0, 0]] = 1.0; }").errors;
    let errors = errors.join("\n");
    assert!(
        errors.contains("declare it `x: &mut ViewMut2<T>`"),
        "{errors}"
    );
}

#[test]
fn a_view_that_a_function_may_write_is_lent_by_unsafe_kernels() {
    let lent = refused("fn k(mut y: ViewMut2<f32>) { f(&mut y); }");
    assert!(
        lent.contains("may write the same element of `y` at once"),
        "{lent}"
    );
    text("fn k(x: View2<f32>) { f(&x); }");
}

#[test]
fn items_behind_a_view_are_told_by_their_parameters() {
    let expansion = common::expand(
        "fn k(by: View2<i32>, #[item] x: i32, #[item] y: &mut i32) { *y = x + by[[0, 0]]; }",
    );
    assert_eq!(expansion.errors, Vec::<String>::new());
    let text = expansion.tokens.to_string();
    let at = text.find("over_items").expect("it runs over items");
    let found = text[at..].chars().take(400).filter(|c| !c.is_whitespace());
    // The vector of `by` is the first of six parameters.
    let found: String = found.collect();
    assert!(found.contains("&[6,7]"), "{found}");
}
