//! How far the floating-point functions of kernels are from the exact results, on each device.
//!
//! ```sh
//! cargo run --release -p sarek-ulp                         # every 4099th f32, 20 000 f64, on each device that is here
//! cargo run --release -p sarek-ulp -- --every 1 --write    # all f32, and into the page
//! ```
//!
//! A machine whose devices are measured needs neither cargo nor this repository, only the program:
//!
//! ```sh
//! cargo build --release -p sarek-ulp && strip -o sarek-ulp target/release/sarek-ulp
//! ./sarek-ulp --every 16 --backend cuda,opencl,wgpu --to measured.tsv  # there; what was found stays if it is stopped
//! cargo run --release -p sarek-ulp -- --merge measured.tsv             # here again: takes it over, and writes the page anew
//! ```
//!
//! [`functions`] has a kernel for each function and type; [`run`] launches them on made-up arguments; the reference is
//! std in `f64` for `f32`, and 192 bits ([`exact`]) for `f64`. What was measured lies in `ulp/measured.tsv`, of which
//! [`table`] makes the tables of `docs/ulp.md`. `tests/bounds.rs` holds both to what sarek promises
//! ([`sarek::testing::tolerance`]).

pub mod arguments;
pub mod exact;
pub mod functions;
pub mod measure;
pub mod run;
pub mod table;
