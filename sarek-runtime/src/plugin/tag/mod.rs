//! Tags: extensible enumerations, to which backends may add members.
//!
//! A kind ([`DeviceKind`], [`StorageKind`], [`ScheduleKind`], [`InstrumentationKind`],
//! [`DataInstrumentationKind`], [`Language`]) has members. A plain member is its name. A template takes attributes; each set of
//! attributes makes an instance of it. Instances with equal attributes are one object. Members are
//! added at run time:
//!
//! ```
//! use sarek_runtime::tag::{self, ScheduleKind, Tag, Template};
//!
//! #[derive(PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
//! struct Tiled {
//!     block_size: u32,
//!     smem_kb: u32,
//! }
//!
//! let tiled: Template<ScheduleKind, Tiled> = tag::template("doc/tiled")?;
//! let small = tiled.of(Tiled { block_size: 64, smem_kb: 8 });
//! assert!(tiled == small && small == tiled.of(Tiled { block_size: 64, smem_kb: 8 }));
//! assert_eq!(tiled.attributes(&small).unwrap().smem_kb, 8);
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! A kind of one's own is an enum with `#[derive(sarek::tag::Kind)]`. Its variants with fields are
//! templates, and [`Tag::view`] returns the value of a tag, for `match`.
//!
//! Tags are serde data: a plain member is its name, a template `{"type": name}`, an instance
//! `{"type": name, "with": attributes}`. An undefined name is a tag too ([`Tag::is_undefined`]): it
//! is kept, and written again unchanged. A strict kind ([`Kind::STRICT`]) has none: data with an
//! unknown name are an error.
//!
//! Each member has a value, which it keeps until the program ends: the next after the largest, or
//! that of [`register_as`]. Data have names and no values, so members may have others in another
//! run.

mod serial;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod variants;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sync::lock;
use crate::{Error, Result};

use template::instance;
pub use template::{Template, lookup_template, template};
pub use variants::{Declared, EnumKind};
#[doc(hidden)]
pub use variants::{Field, FieldList, ReadError, Reader};

/// The kinds of devices.
#[derive(Debug)]
pub enum DeviceKind {}

/// The kinds of memory.
#[derive(Debug)]
pub enum StorageKind {}

/// The ways to run the threads of a launch.
#[derive(Debug)]
pub enum ScheduleKind {}

/// The ways to measure a launch.
#[derive(Debug)]
pub enum InstrumentationKind {}

/// The ways to keep the arrays of a launch.
#[derive(Debug)]
pub enum DataInstrumentationKind {}

/// The languages of programs.
#[derive(Debug)]
pub enum Language {}

/// A set of tags: the predefined members, then those that were added.
pub trait Kind: Sized + 'static {
    /// The kind's name in messages.
    const NAME: &'static str;

    /// The predefined members. Their values begin with 1.
    const MEMBERS: &'static [&'static str];

    /// The predefined members that are templates.
    const TEMPLATES: &'static [Declared] = &[];

    /// True if data with an unknown name are an error. They become undefined tags otherwise.
    const STRICT: bool = false;
}

/// The name of [`Tag::undefined`].
const UNDEFINED: &str = "Undefined";

macro_rules! kinds {
    ($($kind:ident $name:literal: $($member:ident $text:literal $doc:literal),*;)*) => {$(
        impl Kind for $kind {
            const NAME: &'static str = $name;
            const MEMBERS: &'static [&'static str] = &[$($text),*];
        }

        impl $kind {
            $(
                #[doc = $doc]
                pub fn $member() -> Tag<$kind> {
                    lookup($text)
                }
            )*
        }
    )*};
}

kinds! {
    DeviceKind "device kind":
        cpu "cpu" "A processor that runs this program.",
        gpu "gpu" "A graphics processor.",
        software "software" "A software device, which emulates an accelerator on the processor.";
    StorageKind "storage kind":
        device "device" "The device's own memory.",
        pinned "pinned" "Page-locked host memory, which kernels access over the bus.",
        zero_copy "zero_copy" "Host memory that the device accesses in place, without copies.",
        shared "shared" "The shared memory of a block.",
        host "host" "The program's own memory, which copies to and from devices name.";
    ScheduleKind "schedule":
        blocks "blocks" "Runs each block once, and each thread of a block once.",
        grid_stride "grid_stride" "A grid-stride loop: starts as many blocks as the device runs at once, and each works on several blocks of the grid.",
        single_thread "single_thread" "Runs the whole grid in one thread.";
    InstrumentationKind "instrumentation":
        none "none" "No instrumentation.",
        timer "timer" "Time measured on the host.",
        device_events "device_events" "Time measured by events on the device.";
    DataInstrumentationKind "data instrumentation":
        none "none" "Arrays are not kept.",
        save "save" "The arrays of a launch are written to files, before and after it.",
        restore "restore" "A launch works on the arrays in files that were saved before.";
    Language "language":
        rust "rust" "Rust, compiled with the program.",
        ir "ir" "The intermediate representation.",
        cuda "cuda" "CUDA C.",
        opencl "opencl" "OpenCL C.",
        wgsl "wgsl" "WGSL.",
        ptx "ptx" "PTX.";
}

/// A member of a kind. It is cheap to clone, and equal only to itself.
pub struct Tag<K>(Arc<Data>, PhantomData<fn() -> K>);

struct Data {
    name: String,
    /// None if undefined.
    value: Option<i64>,
    form: Form,
}

enum Form {
    Plain,
    Template {
        attributes: TypeId,
        read: serial::Read,
    },
    Instance {
        attributes: Arc<dyn Attributes>,
        template: Arc<Data>,
    },
    /// The data next to the name, if there was any.
    Undefined(Option<serial::Fields>),
}

/// Type-erased attributes.
trait Attributes: Send + Sync {
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn equals(&self, other: &dyn Attributes) -> bool;
    /// Prints an instance of the template with a name.
    fn format(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn as_data(&self) -> &dyn erased_serde::Serialize;
}

impl<A: Attribute> Attributes for A {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn equals(&self, other: &dyn Attributes) -> bool {
        other.as_any().downcast_ref::<A>() == Some(self)
    }

    fn format(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{name} ")?;
        fmt::Debug::fmt(self, f)
    }

    fn as_data(&self) -> &dyn erased_serde::Serialize {
        self
    }
}

/// The bounds of a template's attributes.
pub trait Attribute:
    Any + Eq + Hash + fmt::Debug + Send + Sync + Serialize + DeserializeOwned
{
}

impl<A> Attribute for A where
    A: Any + Eq + Hash + fmt::Debug + Send + Sync + Serialize + DeserializeOwned
{
}

/// All tags of all kinds.
#[derive(Default)]
struct Tables {
    kinds: HashMap<TypeId, Table>,
}

/// The tags of a kind.
struct Table {
    /// In the order in which they were added.
    members: Vec<Arc<Data>>,
    instances: Vec<Arc<Data>>,
    undefined: Vec<Arc<Data>>,
}

/// Calls a function with the table of a kind, which is locked.
fn with<K: Kind, R>(f: impl FnOnce(&mut Table) -> R) -> R {
    static ALL: OnceLock<Mutex<Tables>> = OnceLock::new();
    let mut all = lock(ALL.get_or_init(Mutex::default));
    let member = |(name, value): (&&str, i64)| {
        data((*name).to_owned(), Some(value), Declared::form::<K>(name))
    };
    let table = all.kinds.entry(TypeId::of::<K>()).or_insert_with(|| Table {
        members: K::MEMBERS.iter().zip(1..).map(member).collect(),
        instances: Vec::new(),
        undefined: Vec::new(),
    });
    f(table)
}

fn data(name: String, value: Option<i64>, form: Form) -> Arc<Data> {
    Arc::new(Data { name, value, form })
}

fn tag<K>(data: Arc<Data>) -> Tag<K> {
    Tag(data, PhantomData)
}

/// Adds a plain member; an error if the name is taken.
pub fn register<K: Kind>(name: &str) -> Result<Tag<K>> {
    add(name, None, Form::Plain)
}

/// Adds a plain member with this value; an error if the name or the value is taken.
pub fn register_as<K: Kind>(name: &str, value: i64) -> Result<Tag<K>> {
    add(name, Some(value), Form::Plain)
}

fn add<K: Kind>(name: &str, value: Option<i64>, form: Form) -> Result<Tag<K>> {
    if name == UNDEFINED {
        let reserved = "the name is that of the undefined tag".to_owned();
        return Err(problem::<K>(name, reserved));
    }
    with::<K, _>(|table| {
        if let Some(same) = table.members.iter().find(|member| member.name == name) {
            let known = tag::<K>(same.clone());
            let value = same.value.unwrap_or_default();
            let told = format!("it was added already: `{known}` with the value {value}");
            return Err(problem::<K>(name, told));
        }
        let values = table.members.iter().filter_map(|member| member.value);
        let next = || {
            values
                .clone()
                .max()
                .map_or(Some(1), |most| most.checked_add(1))
        };
        let Some(value) = value.or_else(next) else {
            return Err(problem::<K>(name, "no value is left for it".to_owned()));
        };
        if let Some(same) = table
            .members
            .iter()
            .find(|member| member.value == Some(value))
        {
            let told = format!("its value {value} is that of `{}`", same.name);
            return Err(problem::<K>(name, told));
        }
        let member = data(name.to_owned(), Some(value), form);
        table.members.push(member.clone());
        Ok(tag(member))
    })
}

fn problem<K: Kind>(name: &str, problem: String) -> Error {
    Error::Tag {
        kind: K::NAME,
        name: name.to_owned(),
        problem,
    }
}

/// Returns the member with a name. If there is none, an undefined tag that keeps the name.
pub fn lookup<K: Kind>(name: &str) -> Tag<K> {
    known(name).unwrap_or_else(|| undefined(name, None))
}

/// The member with a name.
fn known<K: Kind>(name: &str) -> Option<Tag<K>> {
    with::<K, _>(|table| {
        let found = table.members.iter().find(|member| member.name == name);
        found.cloned().map(tag)
    })
}

/// Returns the member with a value, which is no instance.
pub fn with_value<K: Kind>(value: i64) -> Option<Tag<K>> {
    with::<K, _>(|table| {
        let found = table
            .members
            .iter()
            .find(|member| member.value == Some(value));
        found.cloned().map(tag)
    })
}

/// The undefined tag with a name and the data next to it.
fn undefined<K: Kind>(name: &str, fields: Option<serial::Fields>) -> Tag<K> {
    with::<K, _>(|table| {
        let same = |data: &&Arc<Data>| {
            data.name == name && matches!(&data.form, Form::Undefined(kept) if *kept == fields)
        };
        if let Some(kept) = table.undefined.iter().find(same) {
            return tag(kept.clone());
        }
        let kept = data(name.to_owned(), None, Form::Undefined(fields));
        table.undefined.push(kept.clone());
        tag(kept)
    })
}

/// Returns the members in the order in which they were added, including templates but not
/// instances.
pub fn members<K: Kind>() -> Vec<Tag<K>> {
    with::<K, _>(|table| table.members.iter().cloned().map(tag).collect())
}

impl<K: Kind> Tag<K> {
    /// The undefined tag that no data contained.
    pub fn undefined() -> Tag<K> {
        undefined(UNDEFINED, None)
    }
}

impl<K> Tag<K> {
    /// The name; for an instance, that of its template.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The value; for an instance, that of its template. An undefined tag has none.
    pub fn value(&self) -> Option<i64> {
        self.0.value
    }

    /// True if `other` is this tag, or an instance of this template.
    pub fn matches(&self, other: &Tag<K>) -> bool {
        self == other
            || match &other.0.form {
                Form::Instance { template, .. } => Arc::ptr_eq(template, &self.0),
                Form::Plain | Form::Template { .. } | Form::Undefined(_) => false,
            }
    }

    /// True if no member with this name was added.
    pub fn is_undefined(&self) -> bool {
        matches!(self.0.form, Form::Undefined(_))
    }

    /// True if it is a template, which takes attributes.
    pub fn is_template(&self) -> bool {
        matches!(self.0.form, Form::Template { .. })
    }
}

impl<K> Clone for Tag<K> {
    fn clone(&self) -> Tag<K> {
        tag(self.0.clone())
    }
}

impl<K> PartialEq for Tag<K> {
    fn eq(&self, other: &Tag<K>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<K> Eq for Tag<K> {}

impl<K> Hash for Tag<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// Prints the name, the attributes of an instance, and the form of the tag if it is not plain.
impl<K> fmt::Debug for Tag<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.form {
            Form::Plain => f.write_str(&self.0.name),
            Form::Template { .. } => write!(f, "{} (template)", self.0.name),
            Form::Undefined(_) if self.0.name == UNDEFINED => f.write_str(UNDEFINED),
            Form::Undefined(_) => write!(f, "{UNDEFINED}({})", self.0.name),
            Form::Instance { attributes, .. } => attributes.format(&self.0.name, f),
        }
    }
}

impl<K> fmt::Display for Tag<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
