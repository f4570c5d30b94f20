//! Values of a thread's locals, as far as they are known.

use super::Element;
use super::evaluate::{Known, Stop};
use crate::{NameId, Value};

/// A value that is known, in part or as a whole, or unknown. Floats are never known.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Datum {
    Unknown,
    Scalar(Value),
    /// The position of an element of a strided view.
    Position(Element),
    /// A struct, a tuple or a variant of an enum.
    Fields {
        variant: Option<NameId>,
        fields: Vec<(NameId, Datum)>,
    },
    /// An array.
    Items(Vec<Datum>),
}

/// A step into a compound value.
#[derive(Clone, Copy)]
pub(super) enum Step {
    Field(NameId),
    /// An element of an array, if its number is known. `checked` is true if an index out of bounds faults.
    Item {
        at: Option<u64>,
        checked: bool,
    },
}

impl Datum {
    /// The value, if it is a known integer or boolean.
    pub fn scalar(&self) -> Option<Value> {
        match self {
            Datum::Scalar(value) => Some(*value),
            Datum::Unknown | Datum::Position(_) | Datum::Fields { .. } | Datum::Items(_) => None,
        }
    }

    /// A field of a struct, a tuple or a variant.
    pub fn field(&self, name: NameId) -> Datum {
        let Datum::Fields { fields, .. } = self else {
            return Datum::Unknown;
        };
        let found = fields.iter().find(|(of, _)| *of == name);
        found.map_or(Datum::Unknown, |(_, datum)| datum.clone())
    }

    /// The variant of an enum's value.
    pub fn variant(&self) -> Option<NameId> {
        match self {
            Datum::Fields { variant, .. } => *variant,
            Datum::Unknown | Datum::Scalar(_) | Datum::Position(_) | Datum::Items(_) => None,
        }
    }

    /// Assigns a part.
    ///
    /// # Errors
    /// An index on the path may be out of bounds.
    pub fn assign(&mut self, path: &[Step], value: Datum) -> Known<()> {
        let Some((step, rest)) = path.split_first() else {
            *self = value;
            return Ok(());
        };
        let part = match (step, &mut *self) {
            (Step::Field(name), Datum::Fields { fields, .. }) => {
                let found = fields.iter_mut().find(|(of, _)| of == name);
                found.map(|(_, datum)| datum)
            }
            (Step::Item { at: Some(at), .. }, Datum::Items(items)) => {
                let at = usize::try_from(*at).map_err(|_| Stop)?;
                Some(items.get_mut(at).ok_or(Stop)?)
            }
            (Step::Field(_) | Step::Item { .. }, _) => None,
        };
        if let Some(part) = part {
            return part.assign(rest, value);
        }
        if path.iter().any(Step::may_fault) {
            return Err(Stop);
        }
        *self = Datum::Unknown;
        Ok(())
    }

    /// Forgets all that differs from another value.
    pub fn merge(&mut self, other: &Datum) {
        match (&mut *self, other) {
            (
                Datum::Fields { variant, fields },
                Datum::Fields {
                    variant: of,
                    fields: others,
                },
            ) if *variant == *of && same_names(fields, others) => {
                for ((_, mine), (_, other)) in fields.iter_mut().zip(others) {
                    mine.merge(other);
                }
            }
            (Datum::Items(items), Datum::Items(others)) if items.len() == others.len() => {
                for (mine, other) in items.iter_mut().zip(others) {
                    mine.merge(other);
                }
            }
            (mine, other) if *mine != *other => *self = Datum::Unknown,
            _ => {}
        }
    }
}

impl Step {
    /// True if the step faults for some values of what is unknown.
    pub fn may_fault(&self) -> bool {
        match self {
            Step::Field(_) => false,
            Step::Item { checked, .. } => *checked,
        }
    }
}

impl From<Option<Value>> for Datum {
    fn from(value: Option<Value>) -> Datum {
        value.map_or(Datum::Unknown, Datum::Scalar)
    }
}

fn same_names(a: &[(NameId, Datum)], b: &[(NameId, Datum)]) -> bool {
    let names = |fields: &[(NameId, Datum)]| fields.iter().map(|(n, _)| *n).collect::<Vec<_>>();
    names(a) == names(b)
}
