//! Writes buffers of 8- and 16-bit elements, which WGSL does not have: as arrays of words, with several elements in each.
//!
//! The helpers of a buffer have its name at the end. [`load`] and [`store`] call them, and [`helper`] defines them from
//! the name alone. Their own names begin with `srk_`, so that they hide no buffer.
//!
//! A store replaces the bits of one element by two atomic operations, so that the elements around it are never
//! disturbed. No other thread accesses the element itself between the two: a kernel is free of races. Threads that
//! store the same value meet that value in every order.

use crate::Scalar;
use crate::write::{Packed, Text};

use super::index_u32;

/// True for the types of which WGSL has no arrays in buffers.
pub(super) fn packs(ty: Scalar) -> bool {
    match ty {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::Bf16 => true,
        Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize
        | Scalar::F16
        | Scalar::F32
        | Scalar::F64 => false,
    }
}

/// The type of the words of a buffer.
pub(super) fn word_type(mutable: bool) -> &'static str {
    match mutable {
        true => "atomic<u32>",
        false => "u32",
    }
}

/// The operations of helpers, as their names have them.
const LOAD: &str = "load";
const LOAD_WRITTEN: &str = "load_written";
const STORE: &str = "store";

/// The element's bits in the type that shared arrays have for it.
pub(super) fn load(element: &Packed<'_>) -> Text {
    let operation = if element.mutable { LOAD_WRITTEN } else { LOAD };
    let index = index_u32(element.index, element.index_type);
    Text::call(&name(operation, element), &[index])
}

/// The statement that stores `value`, of the type that shared arrays have.
pub(super) fn store(element: &Packed<'_>, value: &Text) -> String {
    let index = index_u32(element.index, element.index_type);
    let call = Text::call(&name(STORE, element), &[index, value.clone()]);
    format!("{};", call.text)
}

fn name(operation: &str, element: &Packed<'_>) -> String {
    format!("srk_{operation}_{}_{}", element.ty, element.buffer)
}

/// The definition of the helper of this name, if it is one of a packed buffer.
pub(super) fn helper(name: &str) -> Option<String> {
    let rest = name.strip_prefix("srk_")?;
    // A longer operation comes before those with which it begins.
    [LOAD_WRITTEN, LOAD, STORE]
        .into_iter()
        .find_map(|operation| {
            let rest = rest.strip_prefix(operation)?.strip_prefix('_')?;
            let (ty, buffer) = rest.split_once('_')?;
            let ty = Scalar::from_name(ty).filter(|ty| packs(*ty))?;
            Some(definition(name, operation, ty, buffer))
        })
}

fn definition(name: &str, operation: &str, ty: Scalar, buffer: &str) -> String {
    let held = if ty.is_signed() { "i32" } else { "u32" };
    let bits = 8 * ty.size();
    // The logarithm of the number of elements in a word, and that number less one.
    let (log, most) = if bits == 8 { (2, 3) } else { (1, 1) };
    let word = format!("{buffer}[srk_at >> {log}u]");
    let shift = format!("(srk_at & {most}u) * {bits}u");
    let word_read = match operation {
        STORE => {
            let mask = (1u32 << bits) - 1;
            return format!(
                "// Stores one of the {} elements in a word; atomically, because other threads store the others.
fn {name}(srk_at: u32, srk_value: {held}) {{
    let srk_shift = {shift};
    atomicAnd(&{word}, ~({mask:#x}u << srk_shift));
    atomicOr(&{word}, (u32(srk_value) & {mask:#x}u) << srk_shift);
}}",
                most + 1
            );
        }
        LOAD_WRITTEN => format!("atomicLoad(&{word})"),
        _ => word,
    };
    let word_read = match ty.is_signed() {
        true => format!("bitcast<i32>({word_read})"),
        false => word_read,
    };
    format!(
        "// Loads one of the {} elements in a word.
fn {name}(srk_at: u32) -> {held} {{ return extractBits({word_read}, {shift}, {bits}u); }}",
        most + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_follow_from_their_names() {
        let text = |name| helper(name).expect("a helper of a packed buffer");
        let load = text("srk_load_i8_written_u8");
        assert!(
            load.contains("extractBits(bitcast<i32>(written_u8[srk_at >> 2u])"),
            "{load}"
        );
        let load = text("srk_load_written_bf16_x");
        assert!(
            load.contains("extractBits(atomicLoad(&x[srk_at >> 1u])"),
            "{load}"
        );
        let store = text("srk_store_u16_load");
        assert!(
            store.contains("atomicAnd(&load[srk_at >> 1u], ~(0xffffu << srk_shift))"),
            "{store}"
        );
        for other in [
            "srk_load_u32_x",
            "srk_load_f16_x",
            "srk_load_u8",
            "srk_index_u32",
            "x",
        ] {
            assert_eq!(helper(other), None, "{other}");
        }
    }
}
