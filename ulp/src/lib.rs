//! Measures the errors of the floating-point functions of kernels on each device.
//!
//! ```sh
//! cargo run --release -p sarek-ulp                         # every 4099th f32, 20 000 f64, on each device of this machine
//! cargo run --release -p sarek-ulp -- --every 1 --write    # all f32; also writes the page
//! ```
//!
//! To measure on another machine, copy only the program there; cargo and this repository are not needed:
//!
//! ```sh
//! cargo build --release -p sarek-ulp && strip -o sarek-ulp target/release/sarek-ulp
//! ./sarek-ulp --every 16 --backend cuda,opencl,wgpu --to measured.tsv  # on that machine; results survive an interruption
//! cargo run --release -p sarek-ulp -- --merge measured.tsv             # here again: merges them, and rewrites the page
//! ```
//!
//! [`functions`] has a kernel for each function and type, and [`run`] launches them on generated arguments. The
//! reference for `f32` is std in `f64`; for `f64`, it is 192-bit arithmetic ([`exact`]). The results are in
//! `ulp/measured.tsv`, from which [`table`] makes the tables of `book/src/ulp.md`. `tests/bounds.rs` compares both with the
//! accuracy that sarek promises ([`sarek::testing::tolerance`]).

pub mod arguments;
pub mod exact;
pub mod functions;
pub mod measure;
pub mod run;
pub mod table;
