//! A dialect that derives from another one and overrides some of its methods.

use std::borrow::Cow;

use super::{Atomic, Dialect, Entry, IndexWidth, Packed, RawId, Subgroup, Text, Unsupported};
use crate::{AtomicOp, Axis, BinaryOp, DivideOp, Intrinsic, Scalar, Scope, UnaryOp, Value};

/// Defines the trait and its delegation from one list of the methods of [`Dialect`].
macro_rules! derived {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// A [`Dialect`] that behaves like [`Derived::base`], except for the methods that it overrides.
        ///
        /// The base does not see the overrides: its own methods keep calling its own methods. To rename a type, for
        /// instance, override both the declarations and the casts that contain its name.
        pub trait Derived: Send + Sync {
            /// The dialect from which this one derives.
            fn base(&self) -> &dyn Dialect;

            /// The target's name, as `native!` and `source(…)` call it.
            fn name(&self) -> &'static str;

            $(
                #[doc = concat!("See [`Dialect::", stringify!($name), "`].")]
                fn $name(&self $(, $arg: $ty)*) -> $result {
                    self.base().$name($($arg),*)
                }
            )*
        }

        impl<D: Derived> Dialect for D {
            fn name(&self) -> &'static str {
                Derived::name(self)
            }

            $(
                fn $name(&self $(, $arg: $ty)*) -> $result {
                    Derived::$name(self $(, $arg)*)
                }
            )*
        }
    };
}

derived! {
    fn reserved() -> &'static [&'static [&'static str]];
    fn default_index() -> IndexWidth;
    fn buffers_first() -> bool;
    fn type_name(ty: Scalar) -> &'static str;
    fn storage_type(ty: Scalar) -> Result<&'static str, Unsupported>;
    fn shared_type(ty: Scalar) -> Result<&'static str, Unsupported>;
    fn atomic_type(ty: Scalar) -> Result<&'static str, Unsupported>;
    fn max_declared_shared() -> u64;
    fn shared_prefix(aligned: bool) -> &'static str;
    fn entry(entry: &Entry<'_>) -> Result<String, Unsupported>;
    fn raw_id(id: RawId, axis: Axis, index: Scalar) -> Text;
    fn scalar_argument(name: &str) -> String;
    fn fault_setup(thread: [&str; 3], index: Scalar) -> String;
    fn fault_argument() -> Option<&'static str>;
    fn faulted() -> Text;
    fn declare(name: &str, ty: Scalar, mutable: bool, init: Option<&str>) -> String;
    fn declare_array(name: &str, ty: Scalar, len: u64) -> String;
    fn max_declared_tables() -> u64;
    fn declare_table(name: &str, ty: Scalar, values: &[Text]) -> String;
    fn forever() -> &'static str;
    fn has_switch() -> bool;
    fn max_depth() -> Option<u32>;
    fn max_iterations() -> Option<u32>;
    fn unroll(times: Option<u32>) -> Option<String>;
    fn literal(value: Value) -> Text;
    fn long_suffix() -> &'static str;
    fn runtime(constant: Text, ty: Scalar) -> Text;
    fn unary(op: UnaryOp, ty: Scalar, arg: &Text) -> Text;
    fn binary(op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text;
    fn divide(op: DivideOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text;
    fn cast(arg: &Text, from: Scalar, to: Scalar) -> Text;
    fn function(intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>>;
    fn strict_head() -> Result<&'static str, Unsupported>;
    fn strict_binary(op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text;
    fn strict_function(intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>>;
    fn element(buffer: &str, index: &Text, index_type: Scalar) -> String;
    fn wide_type(ty: Scalar, count: usize) -> Option<&'static str>;
    fn wide_buffers() -> bool;
    fn wide_element(buffer: &str, wide: &str, writes: bool, index: &Text, index_type: Scalar) -> String;
    fn wide_shared() -> Option<&'static str>;
    fn wide_value(wide: &str, parts: &[Text]) -> Text;
    fn declare_wide(name: &str, wide: &str, init: &str) -> String;
    fn loaded(element: String, ty: Scalar) -> Text;
    fn stored(value: Text, ty: Scalar) -> Text;
    fn packs(ty: Scalar) -> bool;
    fn packed_load(element: &Packed<'_>) -> Text;
    fn packed_store(element: &Packed<'_>, value: Text) -> String;
    fn barrier(buffers: bool) -> Result<&'static str, Unsupported>;
    fn predicate() -> Option<&'static str>;
    fn fence(scope: Scope) -> Result<&'static str, Unsupported>;
    fn is_native(op: AtomicOp, ty: Scalar) -> bool;
    fn atomic(atomic: &Atomic<'_>) -> Result<String, Unsupported>;
    fn subgroup_ids(index: Scalar) -> Result<[Text; 2], Unsupported>;
    fn subgroup(subgroup: &Subgroup<'_>) -> Result<Text, Unsupported>;
    fn snippet(name: &str) -> Option<String>;
    fn variable(name: &str, types: &[Scalar]) -> Option<String>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::sketch::render_all;
    use crate::write::{DIALECTS, OpenCl, default_variant, render};

    struct Mine;

    impl Derived for Mine {
        fn base(&self) -> &dyn Dialect {
            &OpenCl
        }

        fn name(&self) -> &'static str {
            "mine"
        }

        fn barrier(&self, _: bool) -> Result<&'static str, Unsupported> {
            Ok("everybody_here();")
        }
    }

    #[test]
    fn all_but_what_is_overridden_is_the_bases() {
        let sketch = Sketch::new("waits");
        sketch.barrier();
        let table = sketch.table("TABLE", &[1, 2].map(Value::U32));
        let index = sketch.id(crate::Builtin::ThreadIdx(Axis::X));
        sketch.let_("element", sketch.load(table, index));
        let kernel = sketch.finish();
        let text = |dialect: &dyn Dialect| {
            let variant = default_variant(&kernel, dialect);
            render(&kernel, dialect, &variant).expect("it renders").text
        };
        let (base, mine) = (text(&OpenCl), text(&Mine));
        let barrier = OpenCl.barrier(false).expect("OpenCL C has barriers");
        assert!(base.contains(barrier) && mine.contains("everybody_here();"));
        assert_eq!(mine, base.replace(barrier, "everybody_here();"));
        assert_eq!(Dialect::name(&Mine), "mine");
    }

    /// A dialect whose shared arrays are in a memory of another name.
    struct InBank(&'static dyn Dialect);

    impl Derived for InBank {
        fn base(&self) -> &dyn Dialect {
            self.0
        }

        fn name(&self) -> &'static str {
            "in bank"
        }

        fn shared_prefix(&self, aligned: bool) -> &'static str {
            if aligned { "wide bank" } else { "bank" }
        }
    }

    #[test]
    fn a_derived_dialect_has_its_own_prefix_of_shared_memory() {
        let bases = DIALECTS
            .into_iter()
            .zip(["__shared__", "__local", "var<workgroup>"]);
        for (base, prefix) in bases {
            let of = |dialect: &dyn Dialect, node: &str| {
                let all = render_all(dialect);
                all.text(node).expect("it has shared arrays").to_owned()
            };
            let node = "shared array u32";
            let (theirs, mine) = (of(base, node), of(&InBank(base), node));
            assert!(theirs.contains(prefix), "{theirs}");
            assert_eq!(mine, theirs.replace(prefix, "bank"));
        }
        // Also where an array is an argument.
        let mine = render_all(&InBank(&OpenCl));
        let text = mine.text("shared slice u32").expect("it has one");
        assert!(text.contains("bank u32* tile"), "{text}");
    }

    #[test]
    fn every_method_is_forwarded() {
        let source = include_str!("dialect.rs");
        let (_, body) = source
            .split_once("pub trait Dialect: Send + Sync {")
            .expect("the trait");
        let (body, _) = body.split_once("\n}\n").expect("its end");
        let names = |text: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("    fn "));
            let name = |rest: &str| rest.split(['(', '<']).next().unwrap_or(rest).to_owned();
            lines.map(name).collect::<std::collections::BTreeSet<_>>()
        };
        let (_, list) = include_str!("derived.rs")
            .split_once("derived! {\n")
            .expect("the list");
        let (list, _) = list.split_once("\n}\n").expect("its end");
        let mut forwarded = names(list);
        forwarded.insert("name".into());
        assert_eq!(names(body), forwarded);
        assert!(forwarded.len() > 50);
    }
}
