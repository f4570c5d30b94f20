//! Serialization of tags.

use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) use super::value::Fields;
use super::value::Value;
use super::{Attribute, Attributes, Form, Kind, Tag, UNDEFINED, instance, known, undefined};

/// A function that reads the attributes of a template, given its name.
pub(super) type Read = fn(&str, Fields) -> Result<Arc<dyn Attributes>, String>;

/// The keys of a template's name and of an instance's attributes.
const TYPE: &str = "type";
const WITH: &str = "with";

pub(super) fn read<A: Attribute>(_: &str, fields: Fields) -> Result<Arc<dyn Attributes>, String> {
    let attributes = A::deserialize(attributes(fields)?).map_err(|error| error.to_string())?;
    Ok(Arc::new(attributes))
}

/// The attributes among the data next to the name.
pub(super) fn attributes(mut fields: Fields) -> Result<Value, String> {
    let attributes = fields.remove(WITH).unwrap_or(Value::Null);
    if !fields.is_empty() {
        return Err(format!("its attributes belong in the field `{WITH}`"));
    }
    Ok(attributes)
}

impl<K> Serialize for Tag<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = &self.0.name;
        let fields = match &self.0.form {
            Form::Plain | Form::Undefined(None) => return name.serialize(serializer),
            Form::Template { .. } | Form::Instance { .. } => &Fields::new(),
            Form::Undefined(Some(fields)) => fields,
        };
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry(TYPE, name)?;
        if let Form::Instance { attributes, .. } = &self.0.form {
            object.serialize_entry(WITH, attributes.as_data())?;
        }
        for (name, value) in fields {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

impl<'de, K: Kind> Deserialize<'de> for Tag<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tag<K>, D::Error> {
        let problem_of = |name: &str, problem: &str| {
            D::Error::custom(format!("{} `{name}`: {problem}", K::NAME))
        };
        let (name, fields) = match Value::deserialize(deserializer)? {
            Value::Text(name) => (name, None),
            Value::Object(mut fields) => match fields.remove(TYPE) {
                Some(Value::Text(name)) => (name, Some(fields)),
                Some(_) | None => {
                    return Err(D::Error::custom("the `type` of a tag must be a name"));
                }
            },
            _ => {
                return Err(D::Error::custom(
                    "a tag must be a name, or an object with a `type`",
                ));
            }
        };
        let Some(member) = known::<K>(&name) else {
            if K::STRICT && name != UNDEFINED {
                return Err(problem_of(&name, "it was not added"));
            }
            return Ok(undefined(&name, fields));
        };
        let fields = fields.filter(|fields| !fields.is_empty());
        match (&member.0.form, fields) {
            (_, None) => Ok(member),
            (Form::Template { read, .. }, Some(fields)) => {
                let attributes =
                    read(&name, fields).map_err(|problem| problem_of(&name, &problem))?;
                Ok(instance(&member.0, attributes))
            }
            (Form::Plain | Form::Instance { .. } | Form::Undefined(_), Some(_)) => {
                Err(problem_of(&name, "it takes no attributes"))
            }
        }
    }
}
