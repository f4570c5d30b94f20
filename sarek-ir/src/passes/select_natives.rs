use crate::{Kernel, Stmt};

/// Replaces each native block without a text for `target` by its fallback. A block that has neither stays, so that the
/// writer refuses it. An intrinsic without a text stays as well.
pub fn select_natives(kernel: &mut Kernel, target: &str) {
    super::rewrite(kernel, &mut |kernel, id, out| {
        if let Stmt::Native { native } = kernel.stmt(id) {
            let native = &kernel.natives[native.index()];
            let has_text = native.texts.iter().any(|t| t.target == target);
            // A target with texts never computes an intrinsic by its Rust fallback.
            let portable = native.fallback.filter(|_| native.intrinsic.is_none());
            if let (false, Some(fallback)) = (has_text, portable) {
                out.extend(kernel.block(fallback));
                return;
            }
        }
        out.push(id);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loc, Native, NativeId, NativeText};

    #[test]
    fn text_wins_over_fallback_and_fallback_over_nothing() {
        let mut kernel = Kernel::new("k");
        let stop = kernel.push_stmt(Stmt::Return, Loc::default());
        let fallback = kernel.push_block(&[stop]);
        kernel.natives.to_mut().push(Native {
            texts: vec![NativeText {
                target: "cuda".into(),
                pieces: vec![].into(),
                origin: Default::default(),
            }]
            .into(),
            fallback: Some(fallback),
            result: None,
            intrinsic: None,
        });
        let native = kernel.push_stmt(
            Stmt::Native {
                native: NativeId(0),
            },
            Loc::default(),
        );
        kernel.body = kernel.push_block(&[native]);

        let mut cuda = kernel.clone();
        select_natives(&mut cuda, "cuda");
        assert_eq!(cuda.block(cuda.body).collect::<Vec<_>>(), [native]);

        let mut wgsl = kernel.clone();
        select_natives(&mut wgsl, "wgsl");
        assert_eq!(wgsl.block(wgsl.body).collect::<Vec<_>>(), [stop]);
    }
}
