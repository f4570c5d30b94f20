//! Writes WGSL, as naga reads it.
//!
//! Buffers are bindings 0, 1, … of group 0; scalar arguments are fields of one uniform block bound after them, or of
//! immediates ([`ImmediateWgsl`]). The block size is three `override` constants, [`Wgsl::BLOCK`], so that one text
//! serves every size. Private variables hold a thread's fault state, since helpers cannot take a pointer to storage.
//!
//! WGSL rejects constant expressions that overflow, divide by zero or are not finite. Constants that could form one
//! pass through a function, whose result is never a constant expression.
//!
//! Shared arrays are `var<workgroup>`. If the launch determines the length of one, an `override` constant named by
//! [`Wgsl::length`] holds it, at least 1. Elements that atomic operations change are atomic integers; floats use their
//! bits.
//!
//! An `f16` is held as an `f32` of the same value, and stored as an `f16` in buffers and shared arrays only. WGSL does
//! not specify how a conversion rounds, so a helper rounds before it. A `bf16` is held in the same way; in shared
//! arrays it is a `u32` of its bits.
//!
//! Buffers of other 8- and 16-bit elements are arrays of `u32`, several elements in each ([`packed`]).
//!
//! `f64`, `i64` and `u64` are naga's extensions: like subgroups, they need the device's feature but no `enable`.

mod collective;
mod counting;
mod immediate;
mod packed;
mod snippets;
mod snippets_exact;
mod snippets_float;

pub use counting::CountingWgsl;
pub use immediate::ImmediateWgsl;

use std::borrow::Cow;
use std::fmt::Write;

use crate::{Axis, BinaryOp, DivideOp, Intrinsic, Scalar, SharedId, UnaryOp, Value, operators};

use super::text::f32_digits;
use super::{
    Atomic, Dialect, Entry, IndexWidth, Packed, Precedence, RawId, SlotKind, Subgroup, Text,
    Unsupported, c, expand, reserved,
};

/// WGSL for naga.
#[derive(Clone, Copy, Debug)]
pub struct Wgsl;

impl Wgsl {
    /// The names of the `override` constants that hold the block size.
    pub const BLOCK: [&str; 3] = ["SRK_BLOCK_X", "SRK_BLOCK_Y", "SRK_BLOCK_Z"];

    /// The name of the `override` constant that holds the length of a shared array of kind [`SlotKind::Shared`].
    pub fn length(shared: SharedId) -> String {
        format!("SRK_LENGTH_{}", shared.0)
    }
}

impl Dialect for Wgsl {
    fn name(&self) -> &'static str {
        "wgsl"
    }

    fn reserved(&self) -> &'static [&'static [&'static str]] {
        &[reserved::TYPES, reserved::WGSL, &Wgsl::BLOCK]
    }

    fn default_index(&self) -> IndexWidth {
        IndexWidth::Bits32
    }

    fn buffers_first(&self) -> bool {
        true
    }

    fn type_name(&self, ty: Scalar) -> &'static str {
        ty.widened().unwrap_or(ty).name()
    }

    fn storage_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        Ok(match packed::packs(ty) {
            true => packed::word_type(false),
            false => ty.name(),
        })
    }

    /// Every bit pattern must be a valid value, so a `bool` is a word.
    fn shared_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        match ty {
            Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::Bf16 => Ok("u32"),
            Scalar::I8 | Scalar::I16 => Ok("i32"),
            Scalar::I32
            | Scalar::U32
            | Scalar::I64
            | Scalar::U64
            | Scalar::Usize
            | Scalar::F16
            | Scalar::F32
            | Scalar::F64 => Ok(ty.name()),
        }
    }

    fn atomic_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        collective::atomic_type(ty)
    }

    fn packs(&self, ty: Scalar) -> bool {
        packed::packs(ty)
    }

    fn packed_load(&self, element: &Packed<'_>) -> Text {
        self.loaded(packed::load(element).text, element.ty)
    }

    fn packed_store(&self, element: &Packed<'_>, value: Text) -> String {
        packed::store(element, &self.stored(value, element.ty))
    }

    fn barrier(&self, buffers: bool) -> Result<&'static str, Unsupported> {
        Ok(match buffers {
            true => "workgroupBarrier();\nstorageBarrier();",
            false => "workgroupBarrier();",
        })
    }

    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        Ok(collective::atomic(self, atomic))
    }

    fn subgroup_ids(&self, index: Scalar) -> Result<[Text; 2], Unsupported> {
        Ok(collective::IDS.map(|id| match index {
            Scalar::U32 => Text::primary(id),
            _ => self.cast(&Text::primary(id), Scalar::U32, index),
        }))
    }

    fn subgroup(&self, subgroup: &Subgroup<'_>) -> Result<Text, Unsupported> {
        Ok(collective::subgroup(self, subgroup))
    }

    fn shared_prefix(&self, _: bool) -> &'static str {
        "var<workgroup>"
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        entry_text(self, entry).map(|text| text.expect("writing to a string succeeds"))
    }

    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text {
        let text = match id {
            RawId::ThreadIdx => format!("local_id.{}", axis.name()),
            RawId::BlockIdx => format!("group_id.{}", axis.name()),
            RawId::BlockDim => Wgsl::BLOCK[axis.index()].into(),
            RawId::GridDim => format!("group_count.{}", axis.name()),
        };
        let id = Text::primary(text);
        if index == Scalar::U32 {
            id
        } else {
            self.cast(&id, Scalar::U32, index)
        }
    }

    fn scalar_argument(&self, name: &str) -> String {
        format!("args.{name}")
    }

    fn fault_setup(&self, thread: [&str; 3], index: Scalar) -> String {
        format!("srk_identify_{index}({});", thread.join(", "))
    }

    fn fault_argument(&self) -> Option<&'static str> {
        None
    }

    fn faulted(&self) -> Text {
        Text::primary("srk_faulted")
    }

    fn declare(&self, name: &str, ty: Scalar, mutable: bool, init: Option<&str>) -> String {
        let keyword = if mutable || init.is_none() {
            "var"
        } else {
            "let"
        };
        let init = init.map(|init| format!(" = {init}"));
        let ty = self.type_name(ty);
        format!("{keyword} {name}: {ty}{}", init.as_deref().unwrap_or(""))
    }

    fn declare_array(&self, name: &str, ty: Scalar, len: u64) -> String {
        format!("var {name}: array<{}, {len}>", self.type_name(ty))
    }

    /// In naga's output, each access to a `const` array with a variable index copies the whole array.
    fn max_declared_tables(&self) -> u64 {
        128
    }

    fn declare_table(&self, name: &str, ty: Scalar, values: &[Text]) -> String {
        let (ty, len, rows) = (self.type_name(ty), values.len(), c::in_rows(values));
        format!("const {name} = array<{ty}, {len}>(\n{rows}\n);")
    }

    fn forever(&self) -> &'static str {
        "loop"
    }

    fn has_switch(&self) -> bool {
        true
    }

    /// Mesa's software device gives wrong results from depth 80 on, and naga accepts at most 127.
    fn max_depth(&self) -> Option<u32> {
        Some(64)
    }

    fn unroll(&self, _: Option<u32>) -> Option<String> {
        None
    }

    fn literal(&self, value: Value) -> Text {
        literal(value)
    }

    fn runtime(&self, constant: Text, ty: Scalar) -> Text {
        Text::call(&format!("srk_runtime_{ty}"), &[constant])
    }

    fn unary(&self, op: UnaryOp, ty: Scalar, arg: &Text) -> Text {
        match op {
            UnaryOp::Neg if ty.is_int() && !ty.is_signed() => {
                let zero = Value::int(ty, 0).map(literal);
                let zero = zero.expect("an integer type");
                Text::infix(Precedence::Add, "-", &zero, arg)
            }
            UnaryOp::Neg => Text::prefix("-", arg),
            UnaryOp::Not if ty == Scalar::Bool => Text::prefix("!", arg),
            UnaryOp::Not => Text::prefix("~", arg),
        }
    }

    fn binary(&self, op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        if ty == Scalar::Bool {
            return compare_bools(op, lhs, rhs);
        }
        let rank = match op {
            BinaryOp::Sub if ty == Scalar::U64 => {
                return Text::call("srk_sub_u64", &[lhs.clone(), rhs.clone()]);
            }
            BinaryOp::Rem => {
                return Text::call(&format!("srk_rem_{ty}"), &[lhs.clone(), rhs.clone()]);
            }
            // naga's `!=` is ordered: false for NaN.
            BinaryOp::Ne if ty.is_float() => {
                let equal = Text::infix(Precedence::Compare, "==", lhs, rhs);
                return Text::prefix("!", &equal);
            }
            BinaryOp::Add | BinaryOp::Sub => Precedence::Add,
            BinaryOp::Mul | BinaryOp::Div => Precedence::Mul,
            BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => Precedence::Loose,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => Precedence::Compare,
        };
        Text::infix(rank, op.symbol(), lhs, rhs)
    }

    fn divide(&self, op: DivideOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        match op {
            DivideOp::Div => Text::infix(Precedence::Mul, "/", lhs, rhs),
            DivideOp::Rem => Text::infix(Precedence::Mul, "%", lhs, rhs),
            DivideOp::DivEuclid | DivideOp::RemEuclid => Text::call(
                &format!("srk_{}_{ty}", op.name()),
                &[lhs.clone(), rhs.clone()],
            ),
        }
    }

    fn cast(&self, arg: &Text, from: Scalar, to: Scalar) -> Text {
        cast(arg, from, to)
    }

    /// WGSL's own function, or a helper where WGSL specifies less than Rust: for NaN, infinities, zeros, negative bases and
    /// halves. naga's `f64` has no elementary functions.
    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        intrinsic.spelled(intrinsic.lowering().wgsl, ty)
    }

    fn element(&self, buffer: &str, index: &Text, index_type: Scalar) -> String {
        format!("{buffer}[{}]", index_u32(index, index_type).text)
    }

    fn wide_type(&self, ty: Scalar, count: usize) -> Option<&'static str> {
        Some(match (ty, count) {
            (Scalar::F32, 2) => "vec2<f32>",
            (Scalar::F32, 4) => "vec4<f32>",
            (Scalar::I32, 2) => "vec2<i32>",
            (Scalar::I32, 4) => "vec4<i32>",
            (Scalar::U32, 2) => "vec2<u32>",
            (Scalar::U32, 4) => "vec4<u32>",
            (_, _) => return None,
        })
    }

    /// WGSL cannot cast pointers to another type.
    fn wide_buffers(&self) -> bool {
        true
    }

    fn declare_wide(&self, name: &str, wide: &str, init: &str) -> String {
        format!("let {name}: {wide} = {init}")
    }

    fn loaded(&self, element: String, ty: Scalar) -> Text {
        let element = Text::primary(element);
        if ty.is_bool() {
            return Text::infix(Precedence::Compare, "!=", &element, &Text::literal("0u"));
        }
        match ty {
            Scalar::F16 => Text::call("f32", &[element]),
            Scalar::Bf16 => Text::call("srk_from_bits_bf16", &[element]),
            _ => element,
        }
    }

    fn stored(&self, value: Text, ty: Scalar) -> Text {
        if ty.is_bool() {
            return Text::call("u32", &[value]);
        }
        match ty {
            Scalar::F16 => Text::call("f16", &[value]),
            Scalar::Bf16 => Text::call("srk_to_bits_bf16", &[value]),
            _ => value,
        }
    }

    fn snippet(&self, name: &str) -> Option<String> {
        if name == Scalar::F16.name() {
            return Some("enable f16;".into());
        }
        packed::helper(name)
            .or_else(|| expand(self, snippets::TEMPLATES, name))
            .or_else(|| expand(self, snippets_exact::TEMPLATES, name))
            .or_else(|| expand(self, snippets_float::TEMPLATES, name))
            .or_else(|| expand(self, collective::TEMPLATES, name))
    }

    fn variable(&self, name: &str, types: &[Scalar]) -> Option<String> {
        let special = |single: f32, double: f64| {
            let ty = *types.first()?;
            let value = if ty == Scalar::F32 {
                Value::f32(single)
            } else {
                Value::f64(double)
            };
            Some(literal(value).text)
        };
        match name {
            "INFINITY" => special(f32::INFINITY, f64::INFINITY),
            "NAN" => special(f32::NAN, f64::NAN),
            "LOWWORD" => Some(low_word("detail", *types.first()?)),
            "HIGHWORD" => Some(high_word("detail", *types.first()?)),
            "WORDS" => Some(
                ["x", "y", "z"]
                    .map(|id| (id, types[0]))
                    .map(|(id, ty)| format!("{}, {}", low_word(id, ty), high_word(id, ty)))
                    .join(", "),
            ),
            _ => None,
        }
    }
}

/// An index as a `u32`.
fn index_u32(index: &Text, index_type: Scalar) -> Text {
    if index_type == Scalar::U32 {
        return index.clone();
    }
    // naga does not convert 64-bit constants.
    let index = match index.constant {
        true => Wgsl.runtime(index.clone(), index_type),
        false => index.clone(),
    };
    Text::call("u32", &[index])
}

/// The low word of an integer that is sign-extended to 64 bits.
fn low_word(name: &str, ty: Scalar) -> String {
    match (ty.size(), ty.is_signed()) {
        (8, _) => format!("u32(u64({name}))"),
        (_, true) => format!("u32({name})"),
        (_, false) => name.into(),
    }
}

/// The high word of an integer that is sign-extended to 64 bits.
fn high_word(name: &str, ty: Scalar) -> String {
    match (ty.size(), ty.is_signed()) {
        (8, _) => format!("u32(u64({name}) >> 32u)"),
        (_, true) => format!("select(0u, 0xffffffffu, {name} < 0i)"),
        (_, false) => "0u".into(),
    }
}

fn entry_text(d: &Wgsl, entry: &Entry<'_>) -> Result<Result<String, std::fmt::Error>, Unsupported> {
    let mut buffers = vec![];
    let mut fields = vec![];
    let mut shared = vec![];
    for argument in entry.arguments {
        let name = &argument.name;
        match argument.slot.kind {
            SlotKind::Buffer { mutable, .. } => {
                let access = if mutable { "read_write" } else { "read" };
                let ty = match d.packs(argument.slot.ty) && !argument.atomic {
                    true => packed::word_type(mutable),
                    false => argument.element_type(d)?,
                };
                buffers.push(format!("var<storage, {access}> {name}: array<{ty}>;"));
            }
            SlotKind::Output(_) | SlotKind::Faults => buffers.push(format!(
                "var<storage, read_write> {name}: array<atomic<u32>>;"
            )),
            SlotKind::Len(_) | SlotKind::Scalar(_) | SlotKind::Extent(_) | SlotKind::Grid(_) => {
                fields.push(format!("    {name}: {},", argument.passed_as()));
            }
            SlotKind::Shared(id) => {
                let (length, array) = (Wgsl::length(id), &entry.shared[id.index()]);
                let ty = array.element_type(d)?;
                shared.push(format!("override {length}: u32 = 1u;"));
                let before = entry.shared_prefix[0];
                shared.push(format!("{before} {name}: array<{ty}, {length}>;"));
            }
        }
    }
    for array in entry.shared {
        if let Some(len) = array.len {
            let (name, ty) = (&array.name, array.element_type(d)?);
            let before = entry.shared_prefix[usize::from(array.wide)];
            shared.push(format!("{before} {name}: array<{ty}, {len}>;"));
        }
    }
    Ok(declarations(entry, &buffers, &fields, &shared))
}

/// The declaration of the scalar arguments, without its binding.
const ARGS: &str = "var<uniform> args: Args;";

fn declarations(
    entry: &Entry<'_>,
    buffers: &[String],
    fields: &[String],
    shared: &[String],
) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for (name, size) in Wgsl::BLOCK.iter().zip(entry.block.unwrap_or([1; 3])) {
        writeln!(out, "override {name}: u32 = {size}u;")?;
    }
    writeln!(out)?;
    for (binding, buffer) in buffers.iter().enumerate() {
        writeln!(out, "@group(0) @binding({binding}) {buffer}")?;
    }
    writeln!(out)?;
    if !fields.is_empty() {
        let binding = buffers.len();
        writeln!(out, "struct Args {{\n{}\n}}", fields.join("\n"))?;
        writeln!(out, "@group(0) @binding({binding}) {ARGS}\n")?;
    }
    for line in shared {
        writeln!(out, "{line}")?;
    }
    if !shared.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "@compute @workgroup_size({})", Wgsl::BLOCK.join(", "))?;
    writeln!(out, "fn {}(", entry.name)?;
    writeln!(
        out,
        "    @builtin(local_invocation_id) local_id: vec3<u32>,"
    )?;
    writeln!(out, "    @builtin(workgroup_id) group_id: vec3<u32>,")?;
    writeln!(out, "    @builtin(num_workgroups) group_count: vec3<u32>,")?;
    if entry.subgroups {
        let [size, lane] = collective::IDS;
        writeln!(out, "    @builtin(subgroup_size) {size}: u32,")?;
        writeln!(out, "    @builtin(subgroup_invocation_id) {lane}: u32,")?;
    }
    write!(out, ") {{")?;
    Ok(out)
}

fn literal(value: Value) -> Text {
    Text::literal(match value {
        Value::Bool(v) => v.to_string(),
        // The literal of MIN's magnitude would not be an `i32`.
        Value::I32(i32::MIN) => format!("i32({})", i32::MIN),
        Value::I8(v) => format!("{v}i"),
        Value::I16(v) => format!("{v}i"),
        Value::I32(v) => format!("{v}i"),
        Value::U8(v) => format!("{v}u"),
        Value::U16(v) => format!("{v}u"),
        Value::U32(v) => format!("{v}u"),
        Value::I64(i64::MIN) => return Text::primary("bitcast<i64>(0x8000000000000000lu)"),
        Value::I64(v) => format!("{v}li"),
        Value::U64(v) | Value::Usize(v) => format!("{v}lu"),
        Value::F16(_) | Value::Bf16(_) => return literal(operators::cast(value, Scalar::F32)),
        Value::F32(bits) if f32::from_bits(bits).is_finite() => {
            format!("{}f", f32_digits(f32::from_bits(bits)))
        }
        Value::F32(bits) => {
            return Text::primary(format!("bitcast<f32>(srk_runtime_u32({bits:#x}u))"));
        }
        Value::F64(bits) if f64::from_bits(bits).is_finite() => {
            format!("{:?}lf", f64::from_bits(bits))
        }
        Value::F64(bits) => {
            return Text::primary(format!("bitcast<f64>(srk_runtime_u64({bits:#x}lu))"));
        }
    })
}

fn compare_bools(op: BinaryOp, lhs: &Text, rhs: &Text) -> Text {
    let infix = |symbol| Text::infix(Precedence::Loose, symbol, lhs, rhs);
    let less = |a: &Text, symbol, b: &Text| {
        Text::infix(Precedence::Loose, symbol, &Text::prefix("!", a), b)
    };
    match op {
        BinaryOp::BitXor | BinaryOp::Ne => infix("!="),
        BinaryOp::Eq => infix("=="),
        BinaryOp::BitAnd => infix("&"),
        BinaryOp::BitOr => infix("|"),
        BinaryOp::Lt => less(lhs, "&", rhs),
        BinaryOp::Le => less(lhs, "|", rhs),
        BinaryOp::Gt => less(rhs, "&", lhs),
        BinaryOp::Ge => less(rhs, "|", lhs),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr => unreachable!("not an operator of bool"),
    }
}

/// A cast between integers first changes the width, extending by the source's sign, and then the signedness.
fn cast(arg: &Text, from: Scalar, to: Scalar) -> Text {
    let convert = |to: Scalar, arg: &Text| Text::primary(format!("{to}({})", arg.text));
    if from.widened() == Some(to) {
        // The value is already held in that type.
        return arg.clone();
    }
    if to.is_half() {
        let narrow = format!("srk_narrow_{to}_{from}");
        return Text::call(&narrow, std::slice::from_ref(arg));
    }
    if to.widened() == Some(from) {
        return Text::primary(format!("extractBits({}, 0u, {}u)", arg.text, to.bits()));
    }
    if from.is_float() && to.is_int() {
        return Text::call(&format!("srk_to_{to}_{from}"), std::slice::from_ref(arg));
    }
    if from.is_int() && from.size() == 8 && to == Scalar::F32 {
        return Text::call(&format!("srk_to_f32_{from}"), std::slice::from_ref(arg));
    }
    if from.is_int() && from.size() == 8 && to == Scalar::F64 {
        return Text::call(&format!("srk_to_f64_{from}"), std::slice::from_ref(arg));
    }
    if from == Scalar::I32 && to.is_int() && to.size() == 8 {
        let wide = Text::call("srk_sign_extend", std::slice::from_ref(arg));
        return if to == Scalar::I64 {
            wide
        } else {
            convert(to, &wide)
        };
    }
    let between = [
        (Scalar::U32, Scalar::U64, Scalar::I64),
        (Scalar::I64, Scalar::I32, Scalar::U32),
        (Scalar::U64, Scalar::U32, Scalar::I32),
    ];
    match between.iter().find(|(f, _, t)| (*f, *t) == (from, to)) {
        Some((_, between, _)) => convert(to, &convert(*between, arg)),
        None => convert(to, arg),
    }
}
