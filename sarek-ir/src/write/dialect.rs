use std::borrow::Cow;

use crate::{
    AtomicOp, Axis, BinaryOp, DivideOp, Intrinsic, Scalar, Scope, SubgroupOp, UnaryOp, Value,
};

#[cfg(doc)]
use super::Iterations;
use super::{Entry, IndexWidth, Text, Unsupported, c};

/// What differs between the targets that one writer serves.
///
/// The defaults spell C, so that a C-like target says only how it differs; a target derived from
/// a built-in one forwards to it (`Cuda.function(…)`) where that differs from C. The types that a
/// dialect meets are closed: never `usize`, which is `u32` or `u64` by then.
///
/// **Operands.** Every operation gets its operands as [`Text`]. When all of them are constants to
/// the target, the first one went through [`Dialect::runtime`] before.
///
/// **Helpers.** An operation that takes more than an expression calls a helper whose name begins
/// with `srk_`; whatever such word stands in the text is looked up in [`Dialect::snippet`]. User
/// names never begin so.
///
/// **Memory.** A slice is a buffer, an argument of [`super::SlotKind::Buffer`]. A shared array is declared by
/// [`Dialect::entry`] (see [`super::Shared`]): with its length where that is fixed, and as an argument of
/// [`super::SlotKind::Shared`] where the launch gives the length or where the fixed ones are more than
/// [`Dialect::max_declared_shared`] bytes. A local array is declared where its `let` stands, and a constant one before the kernel
/// ([`Dialect::declare_table`]). All of them are names of which [`Dialect::element`] makes places; elements that atomic operations change are reached by
/// [`Dialect::atomic`] alone.
pub trait Dialect: Send + Sync {
    /// The target's name, as `native!` and `source(…)` call it.
    fn name(&self) -> &'static str;

    /// Words that no name of the user's may be.
    fn reserved(&self) -> &'static [&'static [&'static str]];

    /// How wide a `usize` is where no launch is known.
    fn default_index(&self) -> IndexWidth {
        IndexWidth::Bits64
    }

    /// Do the slots of buffers (the fault record last) stand before those of scalars?
    fn buffers_first(&self) -> bool {
        false
    }

    /// The name of a type.
    fn type_name(&self, ty: Scalar) -> &'static str {
        ty.name()
    }

    /// The type of a buffer's elements.
    fn storage_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        Ok(c::storage_type(ty))
    }

    /// The type of a shared array's elements.
    fn shared_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        self.storage_type(ty)
    }

    /// The type of elements that atomic operations change, of buffers and shared arrays.
    fn atomic_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        self.storage_type(ty)
    }

    /// The most bytes of shared arrays that a text may declare with their lengths.
    fn max_declared_shared(&self) -> u64 {
        u64::MAX
    }

    /// Everything from the prelude to the opening brace of the kernel, and the shared arrays.
    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported>;

    /// An id or extent as the target gives it, as a value of type `index`.
    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text;

    /// How the kernel's text refers to a scalar argument of this name.
    fn scalar_argument(&self, name: &str) -> String {
        name.into()
    }

    /// The first lines of a kernel that can fault, given the global ids of the thread.
    fn fault_setup(&self, thread: [&str; 3], index: Scalar) -> String {
        let _ = index;
        let [x, y, z] = thread;
        format!("srk_thread thread = {{ srk_faults, {x}, {y}, {z}, false }};")
    }

    /// What helpers that can fault take first.
    fn fault_argument(&self) -> Option<&'static str> {
        Some("&thread")
    }

    /// Has this thread faulted?
    fn faulted(&self) -> Text {
        Text::primary("thread.faulted")
    }

    /// A declaration, without the semicolon.
    fn declare(&self, name: &str, ty: Scalar, mutable: bool, init: Option<&str>) -> String {
        let ty = self.type_name(ty);
        match init {
            Some(init) if mutable => format!("{ty} {name} = {init}"),
            Some(init) => format!("const {ty} {name} = {init}"),
            None => format!("{ty} {name}"),
        }
    }

    /// The declaration of a local array of at least one element, without the semicolon.
    fn declare_array(&self, name: &str, ty: Scalar, len: u64) -> String {
        format!("{} {name}[{len}]", self.type_name(ty))
    }

    /// The most bytes of constant arrays that a text declares; what is more becomes an argument
    /// ([`super::Source::tables`]).
    fn max_declared_tables(&self) -> u64 {
        64 << 10
    }

    /// The declaration of a constant array outside of the kernel. Floats in it are finite.
    fn declare_table(&self, name: &str, ty: Scalar, values: &[Text]) -> String {
        c::declare_table("static const", self.type_name(ty), name, values)
    }

    /// The head of a loop without a condition.
    fn forever(&self) -> &'static str {
        "for (;;)"
    }

    /// Has it `switch` on integers of 32 bits, whose cases do not fall through? Long chains of comparisons of one integer become one.
    fn has_switch(&self) -> bool {
        false
    }

    /// The most blocks that may stand in one another, each `else if` in the one before; deeper kernels are refused.
    fn max_depth(&self) -> Option<u32> {
        None
    }

    /// The most iterations that all loops of a thread may take together, on a device that leaves them then without a word.
    ///
    /// A kernel with loops is then written with `srk_iteration` at the head of each loop's body and `srk_iterated` behind each
    /// loop. Both take the loop's place as [`Iterations::detail`] gives it, and record a fault at [`Iterations::SITE`] once
    /// there were more. The loops of helpers count themselves.
    fn max_iterations(&self) -> Option<u32> {
        None
    }

    /// The line before the head of a loop whose body is to be written out so often, or as often as it runs, in
    /// targets that have one.
    fn unroll(&self, times: Option<u32>) -> Option<String> {
        Some(match times {
            Some(times) => format!("#pragma unroll {times}"),
            None => "#pragma unroll".into(),
        })
    }

    /// A constant.
    fn literal(&self, value: Value) -> Text {
        c::literal(self, value)
    }

    /// The suffix of `long` literals of 64 bits.
    fn long_suffix(&self) -> &'static str {
        "ll"
    }

    /// A constant made opaque to the target's compiler, where that rejects constant expressions
    /// whose value is unusual.
    fn runtime(&self, constant: Text, ty: Scalar) -> Text {
        let _ = ty;
        constant
    }

    /// A prefix operator on type `ty`.
    fn unary(&self, op: UnaryOp, ty: Scalar, arg: &Text) -> Text {
        c::unary(self, op, ty, arg)
    }

    /// An infix operator on type `ty`. The count of a shift is a `u32` below the width.
    fn binary(&self, op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        c::binary(self, op, ty, lhs, rhs)
    }

    /// Integer division where the divisor was proved.
    fn divide(&self, op: DivideOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        c::divide(op, ty, lhs, rhs)
    }

    /// `arg as to`, of another type than `from`.
    fn cast(&self, arg: &Text, from: Scalar, to: Scalar) -> Text {
        c::cast(self, arg, from, to)
    }

    /// The lines with which the text of a strict kernel begins. Such a text computes each `+ - * /`, square root and fused
    /// multiplication of floats as IEEE 754 says, rounded to the nearest, with subnormal numbers, and joins none.
    ///
    /// # Errors
    /// Where the target does not promise that.
    fn strict_head(&self) -> Result<&'static str, Unsupported> {
        Err(Unsupported::new(
            self.name(),
            "floats that are the same to the bit everywhere",
        ))
    }

    /// [`Dialect::binary`] on floats in a strict kernel.
    fn strict_binary(&self, op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        self.binary(op, ty, lhs, rhs)
    }

    /// [`Dialect::function`] on floats in a strict kernel.
    fn strict_function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        self.function(intrinsic, ty)
    }

    /// The function or helper that is an intrinsic on a receiver of type `ty`, if there is one.
    /// Its arguments and result have the types of the intrinsic's.
    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>>;

    /// An element of a buffer, as a place.
    fn element(&self, buffer: &str, index: &Text, index_type: Scalar) -> String {
        let _ = index_type;
        format!("{buffer}[{}]", index.text)
    }

    /// The type of so many elements of a buffer in a row, 2 or 4, that one access loads or stores: up to 16 bytes at a
    /// multiple of as many. Its components are `x` to `w`. `None` where there is none such.
    fn wide_type(&self, ty: Scalar, count: usize) -> Option<&'static str> {
        let _ = (ty, count);
        None
    }

    /// Is a buffer declared as one of [`Dialect::wide_type`]s, so that it has no smaller elements? It is then done where
    /// all accesses are such.
    fn wide_buffers(&self) -> bool {
        false
    }

    /// An element of a buffer, as a place, where elements are of `wide` type.
    fn wide_element(
        &self,
        buffer: &str,
        wide: &str,
        writes: bool,
        index: &Text,
        index_type: Scalar,
    ) -> String {
        let _ = (wide, writes);
        self.element(buffer, index, index_type)
    }

    /// The value of a `wide` type with these components.
    fn wide_value(&self, wide: &str, parts: &[Text]) -> Text {
        Text::call(wide, parts)
    }

    /// The declaration of a constant of a `wide` type, without the semicolon.
    fn declare_wide(&self, name: &str, wide: &str, init: &str) -> String {
        format!("const {wide} {name} = {init}")
    }

    /// The value of an element of a buffer or shared array.
    fn loaded(&self, element: String, ty: Scalar) -> Text {
        c::loaded(element, ty)
    }

    /// A value as it is stored into an element of a buffer or shared array.
    fn stored(&self, value: Text, ty: Scalar) -> Text {
        c::stored(value, ty)
    }

    /// The statement at which the threads of a block wait for each other, and after which they see what
    /// the others did to buffers and shared arrays.
    fn barrier(&self) -> Result<&'static str, Unsupported> {
        Err(Unsupported::new(self.name(), "barrier"))
    }

    /// What stands before the declarations of predicates, where barriers are to be taken out of branches
    /// ([`crate::passes::predicate_barriers`](fn@crate::passes::predicate_barriers)); `None` where they stay.
    fn predicate(&self) -> Option<&'static str> {
        None
    }

    /// The statement that orders a thread's own memory operations for others.
    fn fence(&self, scope: Scope) -> Result<&'static str, Unsupported> {
        let _ = scope;
        Err(Unsupported::new(self.name(), "fence"))
    }

    /// Is an atomic operation one of the target's own? The others become loops ([`crate::passes::expand_atomics`]);
    /// loads, stores, swaps and compare-exchanges have to be.
    fn is_native(&self, op: AtomicOp, ty: Scalar) -> bool {
        c::is_native_atomic(op, ty)
    }

    /// The statements of an atomic operation that is the target's own.
    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        let _ = atomic;
        Err(Unsupported::new(self.name(), "atomic operations"))
    }

    /// The size of a subgroup and the thread's lane in it, as values of type `index`.
    fn subgroup_ids(&self, index: Scalar) -> Result<[Text; 2], Unsupported> {
        let _ = index;
        Err(Unsupported::new(self.name(), "subgroups"))
    }

    /// What the subgroup's threads compute together.
    fn subgroup(&self, subgroup: &Subgroup<'_>) -> Result<Text, Unsupported> {
        let _ = subgroup;
        Err(Unsupported::new(self.name(), "subgroups"))
    }

    /// The definition of a type name or helper that may stand in the text; `None` for other words.
    /// Checked arithmetic calls `srk_exact_add_i32` and its like, and `srk_count_i64` for counts; [`c::snippet`] has them.
    fn snippet(&self, name: &str) -> Option<String>;

    /// The value of a further variable in templates of helpers.
    fn variable(&self, name: &str, types: &[Scalar]) -> Option<String> {
        let _ = (name, types);
        None
    }
}

/// Ids and extents that a target provides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RawId {
    /// Index of the thread in its block.
    ThreadIdx,
    /// Index of the block in the physical grid.
    BlockIdx,
    /// Threads of a block.
    BlockDim,
    /// Blocks of the physical grid.
    GridDim,
}

/// An atomic operation on one element.
#[derive(Clone, Copy, Debug)]
pub struct Atomic<'a> {
    /// What is done.
    pub op: AtomicOp,
    /// The type of the element.
    pub ty: Scalar,
    /// Does it stand in a shared array, or else in a buffer?
    pub shared: bool,
    /// The element, as [`Dialect::element`] gives it.
    pub place: &'a str,
    /// The operands, which have no effects and may be written several times.
    pub args: &'a [Text],
    /// The local that takes the result.
    pub result: Option<&'a str>,
}

/// An operation of a subgroup's threads.
#[derive(Clone, Copy, Debug)]
pub struct Subgroup<'a> {
    /// What is done.
    pub op: SubgroupOp,
    /// The type of the operands.
    pub ty: Scalar,
    /// Do all threads of the block that have not ended arrive together, or else only those on one path?
    pub together: bool,
    /// The operands.
    pub args: &'a [Text],
    /// The type of a lane's number.
    pub index: Scalar,
}
