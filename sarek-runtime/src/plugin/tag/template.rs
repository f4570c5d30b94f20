//! Templates: members of a kind that take attributes.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{
    Attribute, Attributes, Data, Form, Kind, Tag, add, data, lookup, problem, serial, tag, with,
};
use crate::Result;

/// A member that takes attributes of type `A`. It equals (`==`) all its instances.
pub struct Template<K, A>(Tag<K>, PhantomData<fn() -> A>);

/// Adds a member that takes attributes; an error if the name is taken.
pub fn template<K: Kind, A: Attribute>(name: &str) -> Result<Template<K, A>> {
    let form = Form::Template {
        attributes: TypeId::of::<A>(),
        read: serial::read::<A>,
    };
    Ok(Template(add(name, None, form)?, PhantomData))
}

/// The instance of a template with these attributes.
pub(super) fn instance<K: Kind>(template: &Arc<Data>, attributes: Arc<dyn Attributes>) -> Tag<K> {
    with::<K, _>(|table| {
        let same = |data: &&Arc<Data>| match &data.form {
            Form::Instance {
                attributes: known,
                template: of,
            } => Arc::ptr_eq(of, template) && known.equals(&*attributes),
            Form::Plain | Form::Template { .. } | Form::Undefined(_) => false,
        };
        if let Some(known) = table.instances.iter().find(same) {
            return tag(known.clone());
        }
        let form = Form::Instance {
            attributes: attributes.clone(),
            template: template.clone(),
        };
        let made = data(template.name.clone(), template.value, form);
        table.instances.push(made.clone());
        tag(made)
    })
}

/// Returns the template with a name; an error if there is none, or if its attributes are of another
/// type.
pub fn lookup_template<K: Kind, A: Attribute>(name: &str) -> Result<Template<K, A>> {
    let tag = lookup::<K>(name);
    match tag.0.form {
        Form::Template { attributes, .. } if attributes == TypeId::of::<A>() => {
            Ok(Template(tag, PhantomData))
        }
        Form::Template { .. } => Err(problem::<K>(name, "it takes other attributes".to_owned())),
        Form::Plain | Form::Instance { .. } => {
            Err(problem::<K>(name, "it takes no attributes".to_owned()))
        }
        Form::Undefined(_) => Err(problem::<K>(name, "it was not added".to_owned())),
    }
}

impl<K: Kind, A: Attribute> Template<K, A> {
    /// Returns the instance with these attributes.
    pub fn of(&self, attributes: A) -> Tag<K> {
        instance(&self.0.0, Arc::new(attributes))
    }

    /// True if the tag is this template or one of its instances.
    pub fn matches(&self, tag: &Tag<K>) -> bool {
        self.0.matches(tag)
    }

    /// The attributes of a tag, if it is an instance of this template.
    pub fn attributes<'a>(&self, tag: &'a Tag<K>) -> Option<&'a A> {
        match &tag.0.form {
            Form::Instance {
                attributes,
                template,
            } if Arc::ptr_eq(template, &self.0.0) => attributes.as_any().downcast_ref(),
            Form::Instance { .. } | Form::Plain | Form::Template { .. } | Form::Undefined(_) => {
                None
            }
        }
    }

    /// The template as a member of its kind.
    pub fn tag(&self) -> &Tag<K> {
        &self.0
    }
}

impl<K, A> Clone for Template<K, A> {
    fn clone(&self) -> Template<K, A> {
        Template(self.0.clone(), PhantomData)
    }
}

impl<K, A> PartialEq<Tag<K>> for Template<K, A> {
    fn eq(&self, other: &Tag<K>) -> bool {
        self.0.matches(other)
    }
}

impl<K, A> PartialEq<Template<K, A>> for Tag<K> {
    fn eq(&self, other: &Template<K, A>) -> bool {
        other == self
    }
}

impl<K, A> fmt::Debug for Template<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
