//! One input through the frontend and, if it is a kernel, through all writers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use proc_macro2::TokenStream;
use sarek_frontend::{derive, expand};
use sarek_ir::write::{self, IndexWidth};
use sarek_ir::{Kernel, SiteId};

use crate::input::{Input, Macro};
use crate::tree::{print, tokens};

/// What became of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There were errors in it.
    Rejected,
    /// It was expanded.
    Accepted,
}

/// The last panic's place and message.
static LAST: Mutex<Option<(String, String)>> = Mutex::new(None);

/// What is wrong with the frontend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// Where, or what; the same for the same mistake.
    pub place: String,
    /// How.
    pub message: String,
}

impl Wrong {
    fn new(place: &str, message: impl Into<String>) -> Wrong {
        Wrong {
            place: place.into(),
            message: message.into(),
        }
    }
}

/// Keeps what panics say for [`execute`], and off the terminal.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| {
            // Without the registry's folder.
            let file = l.file().rsplit("/src/index.crates.io-").next();
            format!("{}:{}", file.unwrap_or_default(), l.line())
        });
        let said = info.payload_as_str().unwrap_or("no text").to_owned();
        *LAST.lock().unwrap_or_else(|e| e.into_inner()) = Some((place, said));
    }));
}

/// Hands the input to the frontend.
///
/// # Errors
/// What is wrong with the answer.
pub fn execute(input: &Input) -> Result<Outcome, Wrong> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let stream = |trees| tokens(&print(trees)).ok_or(());
        let (Ok(attribute), Ok(item)) = (stream(&input.attribute), stream(&input.item)) else {
            // A mutation made something that rustc's lexer does not give to macros.
            return Ok(Outcome::Rejected);
        };
        answer(input.of, attribute, item)
    }));
    proc_macro2::extra::invalidate_current_thread_spans();
    done.unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(|e| e.into_inner()).take();
        let (place, message) = last.unwrap_or_default();
        Err(Wrong { place, message })
    })
}

fn answer(of: Macro, attribute: TokenStream, item: TokenStream) -> Result<Outcome, Wrong> {
    let (tokens, is_rejected) = match of {
        Macro::Kernel => {
            let expansion = expand::kernel(attribute, item);
            if let Some(kernel) = &expansion.kernel {
                write_all(kernel);
            }
            (expansion.tokens, !expansion.errors.is_empty())
        }
        Macro::Device => {
            let expansion = expand::device(attribute, item);
            if let Some(kernel) = &expansion.kernel {
                let _ = kernel.to_string();
            }
            (expansion.tokens, !expansion.errors.is_empty())
        }
        Macro::KernelTest => {
            let expansion = expand::kernel_test(attribute, item);
            (expansion.tokens, !expansion.errors.is_empty())
        }
        Macro::Derive => {
            let tokens = derive::expand(item);
            let is_rejected = is_report(&tokens);
            (tokens, is_rejected)
        }
        Macro::Native => (expand::stray_native(item), true),
        Macro::Superstep => (expand::stray_superstep(item), true),
    };
    if is_rejected {
        return match is_report(&tokens) {
            true => Ok(Outcome::Rejected),
            false => Err(Wrong::new(
                "errors are lost",
                "neither `compile_error!` nor a late report",
            )),
        };
    }
    match syn::parse2::<syn::File>(tokens) {
        Ok(_) => Ok(Outcome::Accepted),
        Err(error) => Err(Wrong::new("the expansion is no items", error.to_string())),
    }
}

/// Do the tokens begin with an error? What does not parse is one in a constant's block.
fn is_report(tokens: &TokenStream) -> bool {
    use proc_macro2::TokenTree;
    tokens
        .clone()
        .into_iter()
        .take(16)
        .any(|token| match token {
            TokenTree::Ident(ident) => ident == "compile_error" || ident == "REPORT",
            TokenTree::Group(group) => is_report(&group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
}

/// A closed kernel as each target's text. Open ones are linked when rustc has checked them, and not before.
fn write_all(kernel: &Kernel) {
    let _ = kernel.to_string();
    if !kernel.is_closed() {
        return;
    }
    for dialect in write::DIALECTS {
        // The default variant is what the expansion carries.
        let mut variant = write::default_variant(kernel, dialect);
        variant.folded = true;
        variant.dense = false;
        variant.index = IndexWidth::Bits64;
        variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
        let _ = write::render(kernel, dialect, &variant);
    }
}
