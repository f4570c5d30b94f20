//! Kinds whose members are the variants of an enum.

use std::any::{Any, TypeId};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::serial::{self, Fields};
use super::value::Value;
use super::{Attribute, Attributes, Form, Kind, Tag, instance, lookup, problem};
use crate::Result;

/// A kind whose members are the variants of an enum; `#[derive(sarek::tag::Kind)]` implements it.
///
/// A variant with fields is a template, and a value of it is an instance. [`Tag::of`] makes tags of
/// values, and [`Tag::view`] returns the value of a tag, for `match`.
pub trait EnumKind: Kind + Eq + Hash + fmt::Debug + Send + Sync {
    /// The name of a value's member.
    fn member(&self) -> &'static str;

    /// The fields of a value with their names. A plain member has none.
    #[doc(hidden)]
    fn fields(&self) -> FieldList<'_>;

    /// The value of a plain member.
    #[doc(hidden)]
    fn plain(name: &str) -> Option<&'static Self>;

    /// Reads a value of a template.
    #[doc(hidden)]
    fn read(name: &str, fields: &mut Reader) -> Result<Self, ReadError>;
}

/// A predefined member that is a template: an element of [`Kind::TEMPLATES`].
pub struct Declared {
    name: &'static str,
    attributes: fn() -> TypeId,
    read: serial::Read,
}

impl Declared {
    /// A template with attributes of type `A`. Its name is one of [`Kind::MEMBERS`].
    pub const fn new<A: Attribute>(name: &'static str) -> Declared {
        Declared {
            name,
            attributes: TypeId::of::<A>,
            read: serial::read::<A>,
        }
    }

    /// A variant of an enum.
    #[doc(hidden)]
    pub const fn variant<K: EnumKind>(name: &'static str) -> Declared {
        Declared {
            name,
            attributes: TypeId::of::<Variant<K>>,
            read: read::<K>,
        }
    }

    /// The form of a predefined member.
    pub(super) fn form<K: Kind>(name: &str) -> Form {
        match K::TEMPLATES.iter().find(|known| known.name == name) {
            Some(known) => Form::Template {
                attributes: (known.attributes)(),
                read: known.read,
            },
            None => Form::Plain,
        }
    }
}

/// A value of an enum, as the attributes of an instance.
#[derive(PartialEq)]
struct Variant<K>(K);

impl<K: EnumKind> Attributes for Variant<K> {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn equals(&self, other: &dyn Attributes) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    /// The value's own text has the name of the variant.
    fn format(&self, _: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }

    fn as_data(&self) -> &dyn erased_serde::Serialize {
        self
    }
}

impl<K: EnumKind> Serialize for Variant<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.fields();
        let mut object = serializer.serialize_map(Some(fields.len()))?;
        for (name, value) in fields {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

fn read<K: EnumKind>(name: &str, fields: Fields) -> Result<Arc<dyn Attributes>, String> {
    let Value::Object(fields) = serial::attributes(fields)? else {
        return Err("its attributes must be an object".to_owned());
    };
    let mut reader = Reader(fields);
    let value = K::read(name, &mut reader).map_err(|ReadError(problem)| problem)?;
    match reader.0.keys().next() {
        Some(left) => Err(format!("there is no attribute `{left}`")),
        None => Ok(Arc::new(Variant(value))),
    }
}

/// The fields of a value with their names.
#[doc(hidden)]
pub type FieldList<'a> = Vec<(&'static str, &'a dyn erased_serde::Serialize)>;

/// The reason for which a value cannot be read.
#[doc(hidden)]
pub struct ReadError(String);

/// The saved fields of a variant.
#[doc(hidden)]
pub struct Reader(Fields);

impl Reader {
    /// The error of a name that is no template.
    pub fn no_template(&self) -> ReadError {
        ReadError("it takes no attributes".to_owned())
    }
}

/// A type of a variant's field: any with serde's traits.
#[doc(hidden)]
pub trait Field: Serialize + DeserializeOwned {
    /// The field as data.
    fn saved(&self) -> &dyn erased_serde::Serialize;

    /// Reads the field of a name.
    fn read(fields: &mut Reader, name: &str) -> Result<Self, ReadError>;
}

impl<T: Serialize + DeserializeOwned> Field for T {
    fn saved(&self) -> &dyn erased_serde::Serialize {
        self
    }

    fn read(fields: &mut Reader, name: &str) -> Result<T, ReadError> {
        let read = match fields.0.remove(name) {
            Some(value) => T::deserialize(value).map_err(|error| format!("`{name}`: {error}")),
            // A type that may be absent reads nothing as a value.
            None => T::deserialize(Value::Null).map_err(|_| format!("missing field `{name}`")),
        };
        read.map_err(ReadError)
    }
}

impl<K: EnumKind> Tag<K> {
    /// The tag of a value: a plain member, or an instance of a template.
    pub fn of(value: K) -> Tag<K> {
        let member = lookup::<K>(value.member());
        match member.0.form {
            Form::Template { .. } => instance(&member.0, Arc::new(Variant(value))),
            Form::Plain | Form::Instance { .. } | Form::Undefined(_) => member,
        }
    }

    /// The value of the enum that this tag stands for.
    ///
    /// # Errors
    ///
    /// Some tags are no values of the enum: a name that this program does not know, for example
    /// from data that a newer version saved; a member that was added at run time; and a template
    /// without its attributes.
    pub fn view(&self) -> Result<&K> {
        let refuse = |told: &str| Err(problem::<K>(self.name(), told.to_owned()));
        match &self.0.form {
            Form::Plain => match K::plain(self.name()) {
                Some(value) => Ok(value),
                None => refuse(ADDED),
            },
            Form::Instance { attributes, .. } => {
                match attributes.as_any().downcast_ref::<Variant<K>>() {
                    Some(Variant(value)) => Ok(value),
                    None => refuse(ADDED),
                }
            }
            Form::Template { .. } => refuse(
                "it is a template without attributes, so it has no value: use one of its instances",
            ),
            Form::Undefined(_) => refuse(
                "this program has no such member, so it has no value: the data may be of a newer \
                 version, and `Tag::is_undefined` tells such tags apart",
            ),
        }
    }
}

/// The problem of a member that no variant stands for.
const ADDED: &str = "it was added at run time, so no variant of the enum stands for it: compare it \
                     with `==` before";

impl<K: EnumKind> From<K> for Tag<K> {
    fn from(value: K) -> Tag<K> {
        Tag::of(value)
    }
}
