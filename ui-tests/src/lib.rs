//! Cases for the messages of sarek, and for what its expansions must compile under.
//!
//! `fail/<kind>/*.rs` hold one mistake each, with the compiler's output beside it; `pass/*.rs`
//! compile and run. `refused/*.rs` are programs without `unsafe` that name hidden items, of which rustc tells as it does of any. `TRYBUILD=overwrite cargo test -p ui-tests` writes the outputs anew; read each
//! of them before it is committed.
