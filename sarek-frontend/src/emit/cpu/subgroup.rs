//! Writes subgroup operations: each lane stores its operands in arrays, then the runtime combines
//! them.

use proc_macro2::{Ident, TokenStream};
use sarek_ir::analysis::regions::{Node, RegionId};
use sarek_ir::{ExprId, Stmt, StmtId};

use super::frame::Frame;
use super::names::rust_type;
use super::tree::each_node;
use super::{Writer, mixed};

impl Writer<'_> {
    pub fn subgroup(&self, frame: &Frame<'_>, id: RegionId, stmt: StmtId) -> TokenStream {
        let Stmt::Subgroup { op, args, result } = self.kernel.stmt(stmt) else {
            unreachable!("the statement is an operation of subgroups");
        };
        let lane = frame.lane();
        let writer = self.within(&lane);
        let (here, operands) = (frame.name("here", stmt.0), operand_names(self, frame, stmt));
        let values = self.kernel.list(args).map(|a| writer.expr(a));
        let (fetch, position) = (self.fetch(frame, id), frame.position());
        let lanes = self.lanes(
            frame,
            frame.mask(),
            mixed! {
                #fetch
                *<[_]>::get_unchecked_mut(#here, #position) = true;
                #(*<[_]>::get_unchecked_mut(#operands, #position) = #values;)*
            },
        );
        let op = Ident::new(
            op.name().trim_start_matches("subgroup_"),
            proc_macro2::Span::mixed_site(),
        );
        let out = if self.within(frame).is_kept(result) {
            frame.array(result)
        } else {
            frame.name("joined", stmt.0)
        };
        mixed! {
            <[_]>::fill(#here, false);
            #lanes
            __host::subgroup::#op(&*#here, #(&*#operands,)* &mut *#out);
        }
    }
}

fn operand_names(writer: &Writer<'_>, frame: &Frame<'_>, stmt: StmtId) -> Vec<Ident> {
    let operands = writer.kernel.operands_of(stmt);
    (0..operands.len())
        .map(|i| frame.name(&format!("operand{i}_"), stmt.0))
        .collect()
}

/// The arrays that the subgroup operations of a tree need, with their element types.
pub fn arrays(writer: &Writer<'_>, frame: &Frame<'_>) -> Vec<(Ident, TokenStream)> {
    let mut found = vec![];
    each_node(&frame.plan.tree.nodes, &mut |node| {
        let Node::Subgroup { stmt, .. } = node else {
            return;
        };
        let Stmt::Subgroup { args, result, .. } = writer.kernel.stmt(*stmt) else {
            return;
        };
        found.push((frame.name("here", stmt.0), mixed!(__bool)));
        let args: Vec<ExprId> = writer.kernel.list(args).collect();
        let types = args.iter().map(|a| rust_type(writer.kernel.scalar_of(*a)));
        found.extend(operand_names(writer, frame, *stmt).into_iter().zip(types));
        if !writer.within(frame).is_kept(result) {
            found.push((frame.name("joined", stmt.0), writer.local_type(result)));
        }
    });
    found
}
