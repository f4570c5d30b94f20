//! Runs the frontend on one input and, if the input is a kernel, all writers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use proc_macro2::TokenStream;
use sarek_frontend::{derive, expand};
use sarek_ir::write::{self, IndexWidth};
use sarek_ir::{Kernel, SiteId};

use crate::input::{Input, Macro};
use crate::tree::{print, tokens};

/// The frontend's answer to an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Errors.
    Rejected,
    /// An expansion.
    Accepted,
}

/// The source location and message of the last panic.
static LAST: Mutex<Option<(String, String)>> = Mutex::new(None);

/// A bug that an input revealed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bug {
    /// The source location of the panic, or a short name. Findings with the same place are taken for the same bug.
    pub place: String,
    /// The description.
    pub message: String,
}

impl Bug {
    fn new(place: &str, message: impl Into<String>) -> Bug {
        Bug {
            place: place.into(),
            message: message.into(),
        }
    }
}

/// Installs a panic hook that saves the message for [`execute`] instead of printing it.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| {
            // Drops the path of cargo's registry folder.
            let file = l.file().rsplit("/registry/src/").next();
            format!("{}:{}", file.unwrap_or_default(), l.line())
        });
        let message = info.payload_as_str().unwrap_or("no text").to_owned();
        *LAST.lock().unwrap_or_else(|e| e.into_inner()) = Some((place, message));
    }));
}

/// Runs the frontend on an input.
///
/// # Errors
/// The frontend panics, or its answer is invalid.
pub fn execute(input: &Input) -> Result<Outcome, Bug> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let stream = |trees| tokens(&print(trees)).ok_or(());
        let (Ok(attribute), Ok(item)) = (stream(&input.attribute), stream(&input.item)) else {
            // A mutation made text that is not valid tokens, which rustc would never pass to a macro.
            return Ok(Outcome::Rejected);
        };
        answer(input.of, attribute, item)
    }));
    proc_macro2::extra::invalidate_current_thread_spans();
    done.unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(|e| e.into_inner()).take();
        let (place, message) = last.unwrap_or_default();
        Err(Bug { place, message })
    })
}

fn answer(of: Macro, attribute: TokenStream, item: TokenStream) -> Result<Outcome, Bug> {
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
            false => Err(Bug::new(
                "errors are lost",
                "neither `compile_error!` nor a late report",
            )),
        };
    }
    match syn::parse2::<syn::File>(tokens) {
        Ok(_) => Ok(Outcome::Accepted),
        Err(error) => Err(Bug::new("the expansion is no items", error.to_string())),
    }
}

/// True if the tokens begin with an error report. For input that does not parse, the report is inside the block of a constant.
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

/// Renders a closed kernel for each target. An open kernel is rendered only after rustc has checked and linked it.
fn write_all(kernel: &Kernel) {
    let _ = kernel.to_string();
    if !kernel.is_closed() {
        return;
    }
    for dialect in write::DIALECTS {
        // The expansion already rendered the default variant, so this is another one.
        let mut variant = write::default_variant(kernel, dialect);
        variant.folded = true;
        variant.dense = false;
        variant.index = IndexWidth::Bits64;
        variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
        let _ = write::render(kernel, dialect, &variant);
    }
}
