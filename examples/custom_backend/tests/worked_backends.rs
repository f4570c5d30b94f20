//! The second worked backend, which stands outside of the workspace: it passes the conformance suite, as `mygpu` does (`mygpu.rs`), and its own
//! tests run here, too.

#[path = "../../outside/tests/mxu.rs"]
mod mxu;
#[path = "../../outside/tests/stack.rs"]
mod stack;

use sarek_outside::mxu::MxuC;

/// The cases that use what `mxu` has of its own: memory, copies, streams, arguments, faults, texts and barriers. The others test the
/// arithmetic of the IR's interpreter, which `mygpu` runs for all cases. An empty `SAREK_CASES` runs them, too.
const CASES: &str = "vector_add, saxpy, stream, matmul, transpose, stencil, swaps, block/, launch/, types/, casts/, coherence, faults, prints, \
     native, packed, items, graphs, views, bools, small, half";

#[test]
fn mxu_passes_the_suite() {
    let cases = std::env::var("SAREK_CASES");
    let cases = cases.unwrap_or_else(|_| CASES.into());
    let report = sarek_conformance::run_matching(&mxu::device(), &cases, |_| ());
    println!("{report}");
    report.assert_passed();
}

/// The texts of all nodes of the IR, which need no device.
#[test]
fn the_dialect_of_mxu_renders_every_node() {
    let rendered = sarek_conformance::render_all(&MxuC);
    // OpenCL C 1.2, from which it derives, has no subgroups.
    rendered.assert_rendered(&["subgroup"]);
}
