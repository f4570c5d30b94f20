//! The engine for linear forms.

mod atom;
mod bound;
mod coefficient;
mod digits;
mod eliminate;
mod form;
mod guard;
mod ids;
mod interval;
mod poly;
mod quotient;
mod read;
mod required;
mod symbol;
mod symbolic;
mod values;

pub use atom::Atom;
pub use bound::{Bound, Limit};
pub use coefficient::Coefficient;
pub use digits::{is_digit, within_stride};
pub use eliminate::Known;
pub use form::{Affine, Form};
pub use guard::{Comparison, Guard, Limits, Relation};
pub use ids::block_dim;
pub use interval::Interval;
pub use poly::Poly;
pub use quotient::{Quotient, Quotients};
pub use read::{Found, Source, read, result};
pub use required::relied_on;
pub use symbol::{Extent, Symbol};
pub use symbolic::Resolver;
pub use values::Values;
