//! The engine for linear forms: reads expressions as `base + Σ coefficient · atom`, reads guards as inequalities of
//! such forms, and answers questions about both. The race proof, the range proof and the writer of compiled bodies
//! ask it. It knows no accesses and no targets.
//!
//! # The form
//!
//! An [`Atom`] varies from thread to thread or from one point of the code to another: an id, a local without a form, a
//! quotient by a constant, an id XORed with a mask. A coefficient is an element of a ring ([`Coefficient`]):
//!
//! | coefficients | user | values that a launch fixes |
//! |---|---|---|
//! | [`Poly`] | race proof, compiled bodies | [`Symbol`]s: arguments, lengths, extents, named constants |
//! | `i128` | range proof | numbers |
//!
//! [`Form::map`] turns the first kind into the second: it evaluates each polynomial for one launch. A named constant of
//! the user's is a symbol, [`Symbol::Link`], because only rustc knows its value. A literal is a number.
//!
//! # Arithmetic
//!
//! A form denotes a mathematical integer. Its own arithmetic is checked: where a coefficient would leave `i128`, there
//! is no form ([`Form`]), or the polynomial is unknown and proves nothing ([`Poly`]).
//!
//! Machine integers wrap, and [`read()`] keeps to one of two rules, given by its [`Source`]:
//!
//! - *Proved*: an operation has a form only if its exact result fits its type. The form then equals the value. The
//!   range proof uses this rule.
//! - *Conditional*: an operation always has a form, perhaps under a condition on the launch. The race proof uses this
//!   rule. There are three cases:
//!   - [`Affine::needs_exact`] is not set. The form equals the value modulo 2⁶⁴, and the factors of its atoms are
//!     numbers below 2¹⁶. Such factors are too small for the values of two different ids to meet by wrapping.
//!   - [`Affine::needs_exact`] is set. The form equals the value if nothing overflows. That becomes a precondition.
//!   - An id is cast to a narrower type. The form equals the value if the axis has no more threads than
//!     [`Affine::extents`] says.
//!
//! # Guards
//!
//! [`Guard::of`] is the only reader of conditions. A comparison becomes [`Limits`] of the difference of its sides: an
//! inequality, or an equality as two of them. A congruence such as `i % 4 == 1` is the equality `i - 4·q = 1`, with the
//! quotient `q` as an atom. The rules of the race proof have no such atoms: they read a quotient as an opaque value.
//!
//! A launch requirement becomes an equation with a slack variable: `k < n` becomes `n = k + 1 + excess`. It is solved
//! for one symbol, which is then substituted everywhere. This is a step of Gaussian elimination.
//!
//! # Values
//!
//! A [resolver of values](Resolver::of_values) gives every integer expression a value. What has no linear form is a
//! [`Term`] with a [`Definition`]: a quotient, a product, an exclusive or, one of two values after an `if`, or any value.
//! It states [`Fact`]s in place of bounds: a form is not negative, 0, or not 0. [`refute`](super::refute) decides what
//! follows. The walk over the code ([`access`](super::access)) keeps the values of mutable locals: at the head of a loop,
//! a local with a constant step is `start + step · turns`.
//!
//! # Questions
//!
//! | question | answer | |
//! |---|---|---|
//! | equality of forms | normal form: sorted terms, no zero coefficient | exact for independent atoms and symbols |
//! | sign of a number | | exact |
//! | sign of a polynomial | each product of symbols that are never negative has a coefficient `>= 0` | conservative |
//! | divisibility of a polynomial by a term | term by term, [`Poly::divided`]; parity by [`Poly::is_odd`] | conservative |
//! | range of a form from ranges of its atoms | [`Form::span`], [`Form::range`] | exact if the atoms are independent |
//! | range of a form under inequalities | [`Known::bound`] | conservative |
//! | division of a number | atom `q` with `0 <= dividend - divisor · q < divisor`, [`Quotients`] | exact |
//! | the ids determine the index | digits of a mixed-radix number, [`is_digit`], [`within_stride`] | conservative |
//!
//! *Span.* The extremes of a linear form over a box are at its corners, which the signs of the coefficients select.
//! These are the bounds of Banerjee's test (Banerjee, *Dependence Analysis for Supercomputing*, 1988); with numbers
//! they are interval arithmetic (Moore, *Interval Analysis*, 1966).
//!
//! *Bounds.* A multiple of a bounded form is subtracted if that cancels an atom; the rest is bounded in the same way.
//! These are the steps of Fourier–Motzkin elimination (Dantzig and Eaves, *Fourier–Motzkin elimination and its dual*,
//! 1973) that need no scaling of the other side. Bounds are rounded to integers after division by the common divisor
//! of the factors. Nothing here is a complete decision procedure for integers, such as the Omega test (Pugh, 1991).
//!
//! *Digits.* `Σ cⱼ·idⱼ + low` determines all `idⱼ` if the sum of the lower parts never reaches the next coefficient
//! (Knuth, *The Art of Computer Programming*, volume 2, section 4.1, on mixed-radix systems).
//!
//! # Cost
//!
//! Adding forms is linear in their terms; products of polynomials are quadratic in theirs. A reading visits each
//! operand once, and the initialiser of an immutable local once for each use. A bound examines a fixed number of
//! remainders, each against all bounded forms of the point, whose number the range proof limits as well.

mod atom;
mod bits;
mod bound;
mod coefficient;
mod digits;
mod eliminate;
mod fact;
mod form;
mod functions;
mod guard;
mod ids;
mod interval;
mod poly;
mod quotient;
mod read;
mod required;
mod symbol;
mod symbolic;
mod terms;
mod valued;
mod values;

pub use atom::Atom;
pub use bound::{Bound, Limit};
pub use coefficient::Coefficient;
pub use digits::{is_digit, within_stride};
pub use eliminate::Known;
pub use fact::{Fact, Sign};
pub use form::{Affine, Form};
pub use guard::{Comparison, Guard, Limits, Relation};
pub use ids::block_dim;
pub use interval::Interval;
pub use poly::Poly;
pub use quotient::{Quotient, Quotients};
pub use read::{FormOf, Source, read, result};
pub use required::relied_on;
pub use symbol::{Extent, Symbol};
pub use symbolic::Resolver;
pub use terms::{Branch, Definition, Function, Term, Terms, term_form};
pub use valued::{field_of_local, fields_of};
pub use values::Values;

#[cfg(test)]
mod soundness;
