//! The first kernel, in all three languages.

mod common;

use common::build::saxpy;

#[test]
fn saxpy_compiles_everywhere() {
    for dialect in sarek_ir::write::DIALECTS {
        let variant = sarek_ir::write::default_variant(&saxpy(), dialect);
        let source = sarek_ir::write::render(&saxpy(), dialect, &variant).expect("renders");
        println!("{}", source.text);
    }
    common::compile_everywhere(&saxpy());
}
