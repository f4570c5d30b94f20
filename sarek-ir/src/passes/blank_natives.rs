use crate::{Kernel, Piece};

/// Erases the users' own target code: each native text keeps only its operands, and preludes become empty. The text of
/// such a kernel shows the framework's own output. It does not compile.
pub fn blank_natives(kernel: &mut Kernel) {
    for native in kernel.natives.to_mut() {
        for text in native.texts.to_mut() {
            for piece in text.pieces.to_mut() {
                if let Piece::Text(text) = piece {
                    // Keeps operands separate.
                    *text = " ".into();
                }
            }
        }
    }
    kernel.preludes = Default::default();
}

#[cfg(test)]
mod tests {
    use crate::write::{OpenCl, default_variant, render};
    use crate::{Kernel, Loc, Native, NativeId, NativeText, Piece, Prelude, Stmt};

    use super::blank_natives;

    /// A kernel that only contains one native text, which names `own`.
    fn kernel() -> Kernel {
        let mut kernel = Kernel::new("named");
        kernel.preludes = vec![Prelude {
            texts: vec![("opencl".into(), "int before;".into())].into(),
            origin: Default::default(),
        }]
        .into();
        kernel.natives = vec![Native {
            texts: vec![NativeText {
                target: "opencl".into(),
                pieces: vec![Piece::Text("inside();".into())].into(),
                origin: Default::default(),
            }]
            .into(),
            fallback: None,
            result: None,
            intrinsic: None,
        }]
        .into();
        let native = NativeId(0);
        let stmt = kernel.push_stmt(Stmt::Native { native }, Loc::default());
        kernel.body = kernel.push_block(&[stmt]);
        kernel
    }

    #[test]
    fn the_text_of_users_is_left_out_and_the_rest_stays() {
        let mut kernel = kernel();
        let text = |kernel: &Kernel| {
            let variant = default_variant(kernel, &OpenCl);
            render(kernel, &OpenCl, &variant)
                .expect("it is written")
                .text
        };
        let whole = text(&kernel);
        assert!(whole.contains("before") && whole.contains("inside"));
        blank_natives(&mut kernel);
        let bare = text(&kernel);
        assert!(!bare.contains("before") && !bare.contains("inside"));
        assert!(bare.contains("__kernel void named"));
    }
}
