//! The output of kernels.
//!
//! Host backends print at once. An accelerator writes records into a buffer of the launch
//! ([`sarek_ir::write::SlotKind::Output`]), which the next wait reads; [`lines`] converts them to
//! text.

mod hook;

use std::fmt;

use sarek_ir::passes::OUTPUT_WORDS;
use sarek_ir::{Kernel, Scalar, Value};

pub(crate) use hook::{Collecting, emit, guarded, in_hook, to_stdout};
pub use hook::{Printing, reset_output, set_output};

/// Prints a line; for compiled bodies, and for backends that run kernels on the host.
pub fn print(args: fmt::Arguments<'_>) {
    match args.as_str() {
        Some(text) => emit(text),
        None => {
            // Formatting runs user code, which may panic.
            if let Some(text) = guarded(|| args.to_string()) {
                emit(&text);
            }
        }
    }
}

/// Replaces `println!` in the user's own function, which rustc checks and which serves as the
/// oracle.
#[doc(hidden)]
#[macro_export]
macro_rules! __println {
    ($format:literal $($args:tt)*) => {{
        $crate::host::print(::core::format_args!("{}\n", ::core::format_args!($format $($args)*)))
    }};
}

/// The same as [`__println`] for `print!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __print {
    ($format:literal $($args:tt)*) => {{
        $crate::host::print(::core::format_args!($format $($args)*))
    }};
}

/// The size of a launch's print buffer in bytes.
pub(crate) const OUTPUT_BYTES: usize = (HEAD + OUTPUT_WORDS) * size_of::<u32>();

/// The size of its head in bytes; the head must be zero before the launch.
pub(crate) const HEAD_BYTES: usize = HEAD * size_of::<u32>();

/// The words of the head: the number of words requested, and the number of records lost.
const HEAD: usize = 2;

/// The number of bytes written after the head, according to the head.
pub(crate) fn used(head: &[u8]) -> usize {
    let asked = word(head, 0) as usize;
    asked.min(OUTPUT_WORDS) * size_of::<u32>()
}

/// Formats the records of a launch, by thread (x fastest) and in each thread's order; then a line
/// with the number of lost records.
pub(crate) fn lines(kernel: &Kernel, head: &[u8], records: &[u8]) -> Vec<String> {
    let words: Vec<u32> = (0..records.len() / 4).map(|i| word(records, i)).collect();
    let mut found: Vec<([u32; 3], String)> = vec![];
    let mut rest = &words[..];
    while let [print, x, y, z, after @ ..] = rest {
        let print = (*print as usize).checked_sub(1);
        // A zero ends the records. A faulty `native!` text may leave arbitrary words.
        let Some(print) = print.and_then(|p| kernel.prints.get(p)) else {
            break;
        };
        let types: Vec<Scalar> = kernel
            .list(print.args)
            .map(|a| kernel.scalar_of(a))
            .collect();
        let len = types.iter().map(|ty| size_in_words(*ty)).sum();
        let Some((mut args, after)) = after.split_at_checked(len) else {
            break;
        };
        let mut value = |ty: Scalar| {
            let (words, rest) = args.split_at(size_in_words(ty));
            args = rest;
            value(ty, words)
        };
        let values: Vec<Value> = types.into_iter().map(&mut value).collect();
        found.push(([*z, *y, *x], print.text(&values)));
        rest = after;
    }
    // The sort is stable, so the records of a thread stay in order.
    found.sort_by_key(|(thread, _)| *thread);
    let mut lines: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    match word(head, 1) {
        0 => {}
        lost => lines.push(format!(
            "… {lost} more prints of `{}` did not fit the buffer\n",
            kernel.name
        )),
    }
    lines
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes.get(4 * at..).and_then(|b| b.first_chunk());
    u32::from_ne_bytes(bytes.copied().unwrap_or_default())
}

fn size_in_words(ty: Scalar) -> usize {
    ty.size().div_ceil(size_of::<u32>())
}

/// Decodes an argument from its words.
fn value(ty: Scalar, words: &[u32]) -> Value {
    let low = words[0];
    let whole = || u64::from(low) | u64::from(words[1]) << 32;
    match ty {
        Scalar::Bool => Value::Bool(low != 0),
        Scalar::I8 => Value::I8(low as i8),
        Scalar::U8 => Value::U8(low as u8),
        Scalar::I16 => Value::I16(low as i16),
        Scalar::U16 => Value::U16(low as u16),
        Scalar::I32 => Value::I32(low as i32),
        Scalar::U32 => Value::U32(low),
        Scalar::F16 => Value::F16(low as u16),
        Scalar::Bf16 => Value::Bf16(low as u16),
        Scalar::F32 => Value::F32(low),
        Scalar::I64 => Value::I64(whole() as i64),
        Scalar::U64 => Value::U64(whole()),
        Scalar::Usize => Value::Usize(whole()),
        Scalar::F64 => Value::F64(whole()),
    }
}
