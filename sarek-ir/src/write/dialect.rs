use std::borrow::Cow;

use crate::{
    AtomicOp, Axis, BinaryOp, DivideOp, Intrinsic, Scalar, Scope, SubgroupOp, UnaryOp, Value,
};

#[cfg(doc)]
use super::Iterations;
use super::{Entry, IndexWidth, Text, Unsupported, c};

/// The differences between the targets that one writer serves.
///
/// The defaults write C, so that a C-like target implements only its differences. A target derived from a built-in one
/// forwards to it (`Cuda.function(…)`) where that one differs from C. The types that a dialect meets are closed: never
/// `usize`, which is `u32` or `u64` by then.
///
/// **Operands.** Every operation gets its operands as [`Text`]. If the target sees all of them as constants, the writer
/// has passed the first one through [`Dialect::runtime`].
///
/// **Helpers.** An operation that one expression cannot express calls a helper whose name begins with `srk_`. The
/// writer looks up each such word of the text in [`Dialect::snippet`]. Names of the user never begin with it.
///
/// **Memory.** A slice is a buffer, an argument of kind [`super::SlotKind::Buffer`]. [`Dialect::entry`] declares the
/// shared arrays (see [`super::Shared`]). One of fixed length is declared with that length. It is an argument of kind
/// [`super::SlotKind::Shared`] if the launch determines its length, or if the fixed ones exceed
/// [`Dialect::max_declared_shared`] bytes. A local array is declared at its `let`, a constant one before the kernel
/// ([`Dialect::declare_table`]). [`Dialect::element`] turns the name of any of them into a place. Only
/// [`Dialect::atomic`] accesses elements that atomic operations change.
pub trait Dialect: Send + Sync {
    /// The target's name, as `native!` and `source(…)` call it.
    fn name(&self) -> &'static str;

    /// The words that must not be names of the user.
    fn reserved(&self) -> &'static [&'static [&'static str]];

    /// The width of `usize` when no launch is known.
    fn default_index(&self) -> IndexWidth {
        IndexWidth::Bits64
    }

    /// True if the slots of buffers (the fault record last) come before those of scalars.
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

    /// The element type of buffers and shared arrays that atomic operations change.
    fn atomic_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        self.storage_type(ty)
    }

    /// The maximum size in bytes of the shared arrays that a text may declare with their lengths.
    fn max_declared_shared(&self) -> u64 {
        u64::MAX
    }

    /// The text before the type in the declaration of a shared array; of one that begins at a multiple of
    /// [`crate::SHARED_ALIGNMENT`] if `aligned`. The writer passes it to [`Dialect::entry`] as [`Entry::shared_prefix`],
    /// so that a derived dialect's own also reaches the entry of its base.
    fn shared_prefix(&self, aligned: bool) -> &'static str {
        let _ = aligned;
        ""
    }

    /// Everything from the prelude to the opening brace of the kernel, and the shared arrays.
    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported>;

    /// An id or extent that the target provides, as a value of type `index`.
    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text;

    /// The text that refers to the scalar argument of this name.
    fn scalar_argument(&self, name: &str) -> String {
        name.into()
    }

    /// The first lines of a kernel that can fault, from the global ids of the thread.
    fn fault_setup(&self, thread: [&str; 3], index: Scalar) -> String {
        let _ = index;
        let [x, y, z] = thread;
        format!("srk_thread thread = {{ srk_faults, {x}, {y}, {z}, false }};")
    }

    /// The first argument of helpers that can fault.
    fn fault_argument(&self) -> Option<&'static str> {
        Some("&thread")
    }

    /// True if this thread has faulted.
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

    /// The maximum size in bytes of the constant arrays that a text declares. Further ones become arguments
    /// ([`super::Source::tables`]).
    fn max_declared_tables(&self) -> u64 {
        64 << 10
    }

    /// The declaration of a constant array outside the kernel. Floats in it are finite.
    fn declare_table(&self, name: &str, ty: Scalar, values: &[Text]) -> String {
        c::declare_table("static const", self.type_name(ty), name, values)
    }

    /// The head of a loop without a condition.
    fn forever(&self) -> &'static str {
        "for (;;)"
    }

    /// True if the target has a `switch` on 32-bit integers without fall-through. It replaces long chains that compare
    /// one integer.
    fn has_switch(&self) -> bool {
        false
    }

    /// The maximum nesting depth of blocks, where each `else if` nests in the one before. Deeper kernels are refused.
    fn max_depth(&self) -> Option<u32> {
        None
    }

    /// The maximum number of iterations of all loops of a thread together, on a device that silently leaves its loops
    /// after so many.
    ///
    /// A kernel with loops then calls `srk_iteration` at the head of each loop's body, and `srk_iterated` after each
    /// loop. Both take the loop's location as [`Iterations::detail`] encodes it, and record a fault at
    /// [`Iterations::SITE`] once the number is exceeded. The loops of helpers count their own iterations.
    fn max_iterations(&self) -> Option<u32> {
        None
    }

    /// The line before a loop that asks the compiler to unroll it `times` times, or completely. `None` in targets
    /// without such a line.
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

    /// Makes a constant opaque to the target's compiler, where that rejects some constant expressions.
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

    /// Integer division whose divisor is proved valid.
    fn divide(&self, op: DivideOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        c::divide(op, ty, lhs, rhs)
    }

    /// `arg as to`; the types differ.
    fn cast(&self, arg: &Text, from: Scalar, to: Scalar) -> Text {
        c::cast(self, arg, from, to)
    }

    /// The first lines of the text of a strict kernel. In such a text, each `+ - * /`, square root and fused
    /// multiply-add of floats follows IEEE 754: it rounds to nearest and keeps subnormal numbers. The compiler
    /// contracts none of them.
    ///
    /// # Errors
    /// If the target does not guarantee that.
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

    /// The function or helper for an intrinsic on a receiver of type `ty`, if there is one. Its arguments and result
    /// have the types of the intrinsic.
    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>>;

    /// An element of a buffer, as a place.
    fn element(&self, buffer: &str, index: &Text, index_type: Scalar) -> String {
        let _ = index_type;
        format!("{buffer}[{}]", index.text)
    }

    /// The type of `count` consecutive elements of a buffer, 2 or 4, that one access loads or stores: up to 16 bytes,
    /// aligned to its size. Its components are `x` to `w`. `None` if the target has no such type. Elements of 8 and 16 bits
    /// are taken from vectors of `u32`.
    fn wide_type(&self, ty: Scalar, count: usize) -> Option<&'static str> {
        let _ = (ty, count);
        None
    }

    /// True if a buffer accessed by a [`Dialect::wide_type`] must be declared with that element type, and then has no
    /// smaller elements. The writer then uses the type only if all accesses to the buffer can.
    fn wide_buffers(&self) -> bool {
        false
    }

    /// An element of type `wide` of a buffer, as a place.
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

    /// The text before a wide type in the type of a pointer to a shared array, if shared arrays are accessed by wide types,
    /// too. Arrays with such accesses are [`Shared::wide`](super::Shared::wide).
    fn wide_shared(&self) -> Option<&'static str> {
        None
    }

    /// A value of type `wide` from its components.
    fn wide_value(&self, wide: &str, parts: &[Text]) -> Text {
        Text::call(wide, parts)
    }

    /// The declaration of a constant of type `wide`, without the semicolon.
    fn declare_wide(&self, name: &str, wide: &str, init: &str) -> String {
        format!("const {wide} {name} = {init}")
    }

    /// The value of an element of a buffer or shared array.
    fn loaded(&self, element: String, ty: Scalar) -> Text {
        c::loaded(element, ty)
    }

    /// A value, converted for a store to an element of a buffer or shared array.
    fn stored(&self, value: Text, ty: Scalar) -> Text {
        c::stored(value, ty)
    }

    /// True if the target has no elements of this type in buffers, so that several share a word. Then a buffer that the
    /// kernel does not change by atomic operations is declared as an array of words. Its elements have no places, and
    /// [`Dialect::packed_load`] and [`Dialect::packed_store`] access them.
    fn packs(&self, ty: Scalar) -> bool {
        let _ = ty;
        false
    }

    /// The value of an element of a packed buffer.
    fn packed_load(&self, element: &Packed<'_>) -> Text {
        let place = self.element(element.buffer, element.index, element.index_type);
        self.loaded(place, element.ty)
    }

    /// The statement that stores a value in an element of a packed buffer. Meanwhile other threads may store the other
    /// elements of the word.
    fn packed_store(&self, element: &Packed<'_>, value: Text) -> String {
        let place = self.element(element.buffer, element.index, element.index_type);
        format!("{place} = {};", self.stored(value, element.ty).text)
    }

    /// The barrier statement: the threads of a block wait for each other, and then see each other's writes to shared
    /// arrays, and to buffers if `buffers` is true.
    fn barrier(&self, buffers: bool) -> Result<&'static str, Unsupported> {
        let _ = buffers;
        Err(Unsupported::new(self.name(), "barrier"))
    }

    /// The text before the declarations of predicates, on targets that need barriers out of branches
    /// ([`crate::passes::predicate_barriers`](fn@crate::passes::predicate_barriers)); `None` elsewhere.
    fn predicate(&self) -> Option<&'static str> {
        None
    }

    /// The statement that orders a thread's own memory operations as others see them.
    fn fence(&self, scope: Scope) -> Result<&'static str, Unsupported> {
        let _ = scope;
        Err(Unsupported::new(self.name(), "fence"))
    }

    /// True if the target itself has the atomic operation. The others become loops ([`crate::passes::expand_atomics`]).
    /// Loads, stores, swaps and compare-exchanges must be native.
    fn is_native(&self, op: AtomicOp, ty: Scalar) -> bool {
        c::is_native_atomic(op, ty)
    }

    /// The statements of a native atomic operation.
    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        let _ = atomic;
        Err(Unsupported::new(self.name(), "atomic operations"))
    }

    /// The size of a subgroup and the thread's lane in it, as values of type `index`.
    fn subgroup_ids(&self, index: Scalar) -> Result<[Text; 2], Unsupported> {
        let _ = index;
        Err(Unsupported::new(self.name(), "subgroups"))
    }

    /// The result of a subgroup operation.
    fn subgroup(&self, subgroup: &Subgroup<'_>) -> Result<Text, Unsupported> {
        let _ = subgroup;
        Err(Unsupported::new(self.name(), "subgroups"))
    }

    /// The definition of a type name or helper that may occur in the text; `None` for other words. Overflow checks call
    /// `srk_exact_add_i32` and the like, and `srk_count_i64` for shift counts; [`c::snippet`] defines them.
    fn snippet(&self, name: &str) -> Option<String>;

    /// The value of an additional variable in templates of helpers.
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

/// An element of a packed buffer, see [`Dialect::packs`].
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    /// The name of the buffer.
    pub buffer: &'a str,
    /// The type of the element.
    pub ty: Scalar,
    /// True if the kernel may write the buffer.
    pub mutable: bool,
    /// The number of the element, which is in bounds.
    pub index: &'a Text,
    /// The type of the index.
    pub index_type: Scalar,
}

/// An atomic operation on one element.
#[derive(Clone, Copy, Debug)]
pub struct Atomic<'a> {
    /// The operation.
    pub op: AtomicOp,
    /// The type of the element.
    pub ty: Scalar,
    /// True for an element of a shared array, false for one of a buffer.
    pub shared: bool,
    /// The element, as [`Dialect::element`] gives it.
    pub place: &'a str,
    /// The operands. They have no effects and may be written several times.
    pub args: &'a [Text],
    /// The local that receives the result.
    pub result: Option<&'a str>,
}

/// A subgroup operation.
#[derive(Clone, Copy, Debug)]
pub struct Subgroup<'a> {
    /// The operation.
    pub op: SubgroupOp,
    /// The type of the operands.
    pub ty: Scalar,
    /// True if all threads of the block that have not returned arrive together, false if only those on one path do.
    pub together: bool,
    /// The operands.
    pub args: &'a [Text],
    /// The type of a lane's number.
    pub index: Scalar,
}
