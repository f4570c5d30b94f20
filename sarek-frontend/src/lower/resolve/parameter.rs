//! Type parameters and const parameters, and the items of type parameters from the traits `Num`,
//! `Int` and `Float`.

use quote::quote;
use sarek_ir::{Expr, Scalar};

use crate::diagnostics::codes;
use crate::lower::{Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// The type of `N` or of `T::ZERO`. `None` if the path names no parameter.
    pub(in crate::lower) fn parameter_constant(&mut self, path: &syn::Path) -> Option<Ty> {
        if let Some(name) = path.get_ident() {
            let ty = self.constants.get(&name.to_string())?.clone();
            return self.written_type(&ty);
        }
        let (of, name) = self.parameter_item(path)?;
        Some(match name.to_string().as_str() {
            "BITS" => self.types.known(Scalar::U32),
            _ => of,
        })
    }

    /// Splits `T::name` into its two parts.
    fn parameter_item<'p>(&mut self, path: &'p syn::Path) -> Option<(Ty, &'p syn::Ident)> {
        let mut segments = path.segments.iter();
        let (of, name) = (segments.next()?, segments.next()?);
        let is_own = segments.next().is_none() && self.numbers.contains(&of.ident.to_string());
        let ty = &of.ident;
        is_own.then(|| (self.types.named(quote!(#ty), vec![]), &name.ident))
    }

    /// `T::from_f32(x)`. `None` if the path names no function of a type parameter.
    pub(in crate::lower) fn parameter_function(
        &mut self,
        e: &syn::ExprCall,
        path: &syn::Path,
    ) -> Option<Value> {
        let (of, name) = self.parameter_item(path)?;
        let text = name.to_string();
        let from = text.strip_prefix("from_").and_then(convertible);
        let (Some(from), 1) = (from, e.args.len()) else {
            self.errors.at(
                codes::NO_METHOD,
                path.range(),
                format!(
                    "type parameters have no function `{text}` with these arguments in a kernel"
                ),
                "use conversions such as `T::from_f32(x)`, and methods",
            );
            return Some(Value::Never);
        };
        let arg = self.scalar(&e.args[0]);
        self.expect(arg, from);
        let cast = self.expr(Expr::Cast { arg }, of, e.range());
        let (krate, ty) = (&self.krate, &path.segments[0].ident);
        self.conversions
            .insert(cast, quote!(<#ty as #krate::Num>::#name));
        Some(Value::Scalar(cast))
    }

    /// `x.to_f32()` on a number whose type only rustc knows. `None` for another method.
    pub(in crate::lower) fn conversion(
        &mut self,
        name: &syn::Ident,
        arg: sarek_ir::ExprId,
        span: SourceRange,
    ) -> Option<Value> {
        let to = convertible(name.to_string().strip_prefix("to_")?)?;
        let cast = self.known(Expr::Cast { arg }, to, span);
        let krate = &self.krate;
        self.conversions.insert(cast, quote!(#krate::Num::#name));
        Some(Value::Scalar(cast))
    }
}

/// The scalar of this name, if `Num` converts from and to it.
fn convertible(name: &str) -> Option<Scalar> {
    use Scalar::{F32, F64, I32, I64, U32, U64, Usize};
    let scalar = Scalar::from_name(name)?;
    [I32, U32, I64, U64, Usize, F32, F64]
        .contains(&scalar)
        .then_some(scalar)
}
