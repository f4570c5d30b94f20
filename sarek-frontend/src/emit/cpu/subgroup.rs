//! Writes subgroup operations: each lane stores its operands in arrays, then the runtime combines
//! them.

use proc_macro2::{Ident, TokenStream};
use sarek_ir::analysis::regions::{Node, RegionId};
use sarek_ir::{ExprId, Stmt, StmtId, SubgroupOp};

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
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let same = self.same_lane(frame, op, &args);
        let operands = &operands[..args.len() - usize::from(same.is_some())];
        let values = args.iter().zip(operands).map(|(a, _)| writer.expr(*a));
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
        let name = op.name().trim_start_matches("subgroup_");
        let name = same.map_or(name.to_owned(), |_| format!("{name}_by"));
        let op = Ident::new(&name, proc_macro2::Span::mixed_site());
        let out = if self.within(frame).is_kept(result) {
            frame.array(result)
        } else {
            frame.name("joined", stmt.0)
        };
        let combine = match same {
            Some(lane) => {
                let once = self.within(frame);
                let (lets, lane) = (once.declared_again(&[lane]), once.expr(lane));
                mixed! {
                    if __host::any(&#here[..]) {
                        #lets
                        __host::subgroup::#op(&*#here, #(&*#operands,)* #lane, &mut *#out);
                    }
                }
            }
            None => mixed!(__host::subgroup::#op(&*#here, #(&*#operands,)* &mut *#out);),
        };
        mixed! {
            <[_]>::fill(#here, false);
            #lanes
            #combine
        }
    }

    /// The lane or distance of an operation that moves values, if it is the same for all lanes.
    pub fn same_lane(&self, frame: &Frame<'_>, op: SubgroupOp, args: &[ExprId]) -> Option<ExprId> {
        let moves = match op {
            SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Broadcast => true,
            SubgroupOp::Shuffle
            | SubgroupOp::All
            | SubgroupOp::Any
            | SubgroupOp::Ballot
            | SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::InclusiveSum
            | SubgroupOp::ExclusiveSum => false,
        };
        let lane = args.get(1).copied().filter(|_| moves);
        lane.filter(|lane| self.within(frame).is_uniform(*lane))
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
