//! `#[kernel(requires(k < n))]`: conditions on scalars, lengths and extents.
//!
//! Each condition becomes an assertion at the head of the kernel, and a [`Precondition`]. The host
//! rejects a launch that violates it, so the assertion never fails. The analyses may rely on it.

use sarek_ir::{Precondition, Scalar, SiteKind, Stmt};

use super::Lowerer;
use crate::diagnostics::codes;
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    pub(super) fn require(&mut self, condition: &syn::Expr) {
        let span = condition.range();
        let before = self.mark();
        let cond = self.scalar(condition);
        self.expect(cond, Scalar::Bool);
        let known = match self.launch_known(cond) {
            Ok(known) if self.mark() == before => known,
            Ok(_) => return self.not_known(span),
            Err(at) => return self.not_known(at),
        };
        let text = text(condition);
        let site = self.site(SiteKind::Assert(text.into()), span);
        self.push(Stmt::Assert { cond: known, site }, span);
        let preconditions = self.kernel.preconditions.to_mut();
        preconditions.push(Precondition::Holds(site));
    }

    fn not_known(&mut self, span: SourceRange) {
        self.errors.at(
            codes::REQUIREMENT,
            span,
            "the host cannot evaluate this before the launch",
            "use only scalar arguments, lengths, extents and constants",
        );
    }
}

/// The condition, approximately as the user wrote it. Stable compilers give macros the source text
/// of single tokens only.
fn text(condition: &syn::Expr) -> String {
    quote::ToTokens::to_token_stream(condition).to_string()
}
