use std::borrow::Cow;

use crate::{Kernel, Native, NativeText, Origin, Piece, Prelude};

/// The code of an intrinsic for a target.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spelling {
    /// An expression: `{0}`, `{1}`, … are the operands; `{{` and `}}` are braces.
    pub text: Cow<'static, str>,
    /// Text placed before the kernel, once.
    pub prelude: Option<Cow<'static, str>>,
}

/// Fills in the texts of a linked kernel's intrinsics for a target. An intrinsic unknown to `spelling` gets none.
///
/// # Errors
/// Returns the name of the intrinsic and the number of the operand, if a text names an operand that does not exist.
pub fn spell_intrinsics<'s>(
    kernel: &mut Kernel,
    target: &str,
    spelling: impl Fn(&str) -> Option<&'s Spelling>,
) -> Result<(), (String, usize)> {
    let mut preludes = vec![];
    for native in kernel.natives.to_mut() {
        let Some(name) = native.intrinsic.clone() else {
            continue;
        };
        let Some(spelling) = spelling(&name) else {
            continue;
        };
        let text = spelled(native, target, spelling).map_err(|at| (name.to_string(), at))?;
        native.texts = vec![text].into();
        preludes.extend(spelling.prelude.as_ref().map(|text| Prelude {
            texts: vec![(target.to_owned().into(), text.clone())].into(),
            origin: Origin {
                file: format!("<intrinsic {name}>").into(),
                line: 1,
                by_line: true,
            },
        }));
    }
    for prelude in preludes {
        if !kernel.preludes.contains(&prelude) {
            kernel.preludes.to_mut().push(prelude);
        }
    }
    Ok(())
}

/// The text of one use, or the number of an operand that does not exist.
fn spelled(native: &Native, target: &str, spelling: &Spelling) -> Result<NativeText, usize> {
    let uses = native.texts.first();
    let operands = uses.map_or(&[][..], |text| &text.pieces);
    let mut pieces = vec![];
    let mut verbatim = String::new();
    let mut rest = &*spelling.text;
    while let Some(c) = rest.chars().next() {
        if let Some((at, after)) = operand(rest) {
            pieces.push(Piece::Text(std::mem::take(&mut verbatim).into()));
            pieces.push(operands.get(at).cloned().ok_or(at)?);
            rest = after;
            continue;
        }
        let doubled = rest.starts_with("{{") || rest.starts_with("}}");
        verbatim.push(c);
        rest = &rest[c.len_utf8() * (1 + usize::from(doubled))..];
    }
    pieces.push(Piece::Text(verbatim.into()));
    Ok(NativeText {
        target: target.to_owned().into(),
        pieces: pieces.into(),
        origin: uses.map(|text| text.origin.clone()).unwrap_or_default(),
    })
}

/// Splits an operand such as `{2}` off the start of a text.
fn operand(text: &str) -> Option<(usize, &str)> {
    let (number, after) = text.strip_prefix('{')?.split_once('}')?;
    Some((number.parse().ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loc, LocalId, NativeId, Stmt};

    fn kernel() -> Kernel {
        let mut kernel = Kernel::new("k");
        let locals = [LocalId(0), LocalId(1)].map(Piece::Local);
        kernel.natives = vec![Native {
            texts: vec![NativeText {
                target: "".into(),
                pieces: locals.to_vec().into(),
                origin: Origin::default(),
            }]
            .into(),
            fallback: Some(crate::Block::EMPTY),
            result: None,
            intrinsic: Some("f".into()),
        }]
        .into();
        let native = NativeId(0);
        let stmt = kernel.push_stmt(Stmt::Native { native }, Loc::default());
        kernel.body = kernel.push_block(&[stmt]);
        kernel
    }

    fn spelling(text: &'static str) -> Spelling {
        Spelling {
            text: text.into(),
            prelude: Some("before".into()),
        }
    }

    #[test]
    fn operands_stand_where_the_text_names_them() {
        let (mut kernel, spelling) = (kernel(), spelling("f({1}, {{{0}}})"));
        spell_intrinsics(&mut kernel, "t", |name| (name == "f").then_some(&spelling)).unwrap();
        let text = &kernel.natives[0].texts[0];
        let verbatim = |text: &'static str| Piece::Text(text.into());
        assert_eq!(
            (&*text.target, &text.pieces[..]),
            (
                "t",
                &[
                    verbatim("f("),
                    Piece::Local(LocalId(1)),
                    verbatim(", {"),
                    Piece::Local(LocalId(0)),
                    verbatim("})"),
                ][..]
            )
        );
        assert_eq!(kernel.preludes.len(), 1);
    }

    #[test]
    fn an_operand_that_is_not_there_is_told() {
        let spelling = spelling("f({2})");
        let spelled = spell_intrinsics(&mut kernel(), "t", |_| Some(&spelling));
        assert_eq!(spelled, Err(("f".to_owned(), 2)));
    }

    #[test]
    fn without_a_text_it_stays_for_the_writer_to_refuse() {
        let mut kernel = kernel();
        spell_intrinsics(&mut kernel, "t", |_| None).unwrap();
        crate::passes::select_natives(&mut kernel, "t");
        let body: Vec<_> = kernel.block(kernel.body).collect();
        assert!(matches!(kernel.stmt(body[0]), Stmt::Native { .. }));
    }
}
