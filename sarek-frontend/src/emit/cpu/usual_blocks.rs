//! Versions of a split body for the usual two-dimensional blocks.
//!
//! Arrays of a block whose size is known have constant lengths and strides, and its strips have one shape. A kernel with
//! barriers that does not fix its block gets this code for the blocks that most launches give. Other blocks run
//! the general body, and so do launches that are checked.

use proc_macro2::{Literal, TokenStream};
use sarek_ir::analysis::regions::Node;
use sarek_ir::{Axis, Builtin, Expr};

use super::guard_bounds::Trim;
use super::tree::each_node;
use super::{Writer, mixed};

/// The blocks.
const USUAL: [[u32; 3]; 2] = [[16, 16, 1], [8, 8, 1]];

impl Writer<'_> {
    /// The body of `block` for each usual block, or the general one.
    pub fn for_blocks(&self, trim: &Trim) -> TokenStream {
        let general = self.entry(trim);
        if !self.has_usual_blocks() {
            return general;
        }
        let each = USUAL.map(|block| {
            let mut kernel = self.kernel.clone();
            kernel.block = Some(block);
            let fixed = Writer {
                kernel: &kernel,
                ..*self
            };
            let entry = fixed.entry(trim);
            let block = block.map(Literal::u32_unsuffixed);
            mixed!(if !__CHECK && __block.dim == [#(#block),*] { #entry } else)
        });
        mixed!(#(#each)* { #general })
    }

    /// True if threads wait for each other in blocks whose size and shape are not known.
    fn has_usual_blocks(&self) -> bool {
        let has_rows = self.kernel.exprs.iter().any(|expr| match expr {
            Expr::Builtin(Builtin::ThreadIdx(axis) | Builtin::GlobalIdx(axis)) => *axis == Axis::Y,
            _ => false,
        });
        if !self.shapes.stacks || self.kernel.block.is_some() || !has_rows {
            return false;
        }
        let mut waits = false;
        each_node(&self.plan().tree.nodes, &mut |node| {
            waits |= *node == Node::Barrier;
        });
        waits
    }
}

#[cfg(test)]
mod tests {
    /// The number of bodies of a kernel.
    fn bodies(options: &str, body: &str) -> usize {
        let source = format!("unsafe fn k(x: &[u32], out: &mut [u32]) {{ {body} }}");
        let tokens = source.parse().expect("the source is tokens");
        let options = options.parse().expect("the options are tokens");
        let expansion = crate::expand::kernel(options, tokens);
        assert_eq!(expansion.errors, [""; 0], "{body}");
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        text.matches("unsafefn__body<").count()
    }

    const WAITS: &str =
        "let t = shared_array::<u32, 256>(); t[thread_idx_x()] = x[thread_idx_y()]; barrier();
        out[thread_idx_y() * 16 + thread_idx_x()] = t[thread_idx_x()];";

    #[test]
    fn blocks_of_two_dimensions_have_bodies_of_their_own() {
        assert_eq!(bodies("", WAITS), 3);
        assert_eq!(bodies("block = (16, 16)", WAITS), 1);
        assert_eq!(bodies("__shapes = \"-stacks\"", WAITS), 1);
        assert_eq!(bodies("", "barrier(); out[global_idx_x()] = 1;"), 1);
        assert_eq!(bodies("", "out[global_idx_y()] = x[global_idx_x()];"), 1);
    }
}
