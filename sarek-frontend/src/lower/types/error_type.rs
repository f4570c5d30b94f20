//! Error recovery: stand-ins for code that was reported, so that one mistake is one error.

use syn::visit::Visit;

use super::{Known, Ty};
use crate::lower::memory::array::peeled;
use crate::lower::{Binding, Lowerer};

impl Lowerer<'_> {
    /// Binds the names of a `let` with an error to variables whose types are never checked.
    pub(in crate::lower) fn bind_error_types(&mut self, pat: &syn::Pat) {
        let mut names = Names::default();
        names.visit_pat(pat);
        for name in names.found {
            let ty = self.error_type();
            let local = self.local(&name.to_string(), ty, true);
            self.bind(name, Binding::Local(local));
        }
    }

    /// True if an expression names such a variable.
    pub(in crate::lower) fn names_error_type(&mut self, expr: &syn::Expr) -> bool {
        let name = match peeled(expr) {
            syn::Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        match name.and_then(|name| self.find(&name)) {
            Some(Binding::Local(local)) => self.is_error_type(self.local_types[local.index()]),
            _ => false,
        }
    }

    /// A type that need not become known.
    pub(in crate::lower) fn error_type(&mut self) -> Ty {
        let any = self.types.any();
        self.unreachable.push(any);
        any
    }

    /// True for the type of code that was reported or is unreachable.
    pub(in crate::lower) fn is_error_type(&self, ty: Ty) -> bool {
        let mut types = self.unreachable.iter();
        self.types.look(ty) == Known::Nothing && types.any(|other| self.types.are_same(*other, ty))
    }
}

/// The names that a pattern binds.
#[derive(Default)]
struct Names<'p> {
    found: Vec<&'p syn::Ident>,
}

impl<'p> Visit<'p> for Names<'p> {
    fn visit_pat_ident(&mut self, pat: &'p syn::PatIdent) {
        self.found.push(&pat.ident);
        syn::visit::visit_pat_ident(self, pat);
    }
}
