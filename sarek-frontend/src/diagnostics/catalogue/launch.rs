//! Launches, on the host.

super::catalogue! {
INDEX_SPACE = 1101 by Rustc {
    title: "this is not the size of an index space",
    means: "`over`, `grid`, `block` and `cover` take `n`, `(w, h)` or `(w, h, d)` of type `usize`.",
    why: "an index space has one to three dimensions on every device, and sizes are `usize` as all lengths are",
    wrong: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}

fn host(x: &mut Vector<f32>, n: u32) -> sarek::Result<()> {
    clear(x).over(n).run()
}
"#,
    right: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}

fn host(x: &mut Vector<f32>, n: u32) -> sarek::Result<()> {
    clear(x).over(n as usize).run()
}
"#,
}

NO_INDEX_SPACE = 1102 by Rustc {
    title: "a launch is to run that has no index space",
    means: "A kernel's call builds a launch, which is told how many threads run before it runs: by `.over(n)`, `.cover(n)` or \
            `.grid(blocks).block(threads)`.",
    why: "a kernel says what one thread does, and nothing in its arguments tells how many there are",
    wrong: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}

fn host(x: &mut Vector<f32>) -> sarek::Result<()> {
    clear(x).run()
}
"#,
    right: r#"
#[kernel]
fn clear(x: &mut [f32]) {
    x[global_idx_x()] = 0.0;
}

fn host(x: &mut Vector<f32>) -> sarek::Result<()> {
    let n = x.len();
    clear(x).over(n).run()
}
"#,
}
}
