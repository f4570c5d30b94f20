//! Regression test: runs the frontend on the inputs at which it once failed (`fuzz/corpus/frontend`).

use std::path::Path;

use sarek_fuzz_frontend::input::Input;
use sarek_fuzz_frontend::worker;

#[test]
fn every_corpus_input_is_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/frontend");
    let mut failing = Vec::new();
    for file in std::fs::read_dir(folder).expect("the corpus") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let input = Input::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        if let Some(why) = worker::serve_one(&input) {
            // `catch_panics` keeps panic messages off the terminal, so this prints them.
            eprintln!("{}: {why}", path.display());
            failing.push(path);
        }
    }
    assert!(failing.is_empty());
}
