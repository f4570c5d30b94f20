//! Calls of the host functions of intrinsics by compiled bodies.

use std::any::Any;

use sarek_ir::Value;

use super::Block;
use crate::types::ScalarArg;

/// The result of an intrinsic for the thread at these indices of the block; `None` if it has no
/// host function. The arguments are in order.
///
/// # Panics
/// If the function takes or returns other types: it was replaced while the launch ran.
#[cold]
#[inline(never)]
pub fn hosted<R: ScalarArg>(
    block: &Block,
    name: &str,
    thread: [usize; 3],
    args: &[Value],
) -> Option<R> {
    let value = block
        .hosts()?
        .call(name, &block.thread_state(thread), args)?;
    let Some(result) = R::from_value(value) else {
        panic!("the host function of the intrinsic `{name}` returned another type");
    };
    Some(result)
}

/// A scalar as a value.
#[inline(always)]
pub fn hosted_arg<T: ScalarArg>(value: T) -> Value {
    value.value()
}

/// The message of a panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "the kernel panicked".to_string(),
    }
}
