//! Barriers, fences and subgroup operations.

use quote::quote;
use sarek_ir::{Scalar, Scope, Stmt, SubgroupOp};

use super::{Lowerer, Value};
use crate::diagnostics::codes;
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    /// A call of a barrier, fence or subgroup operation. `None` for any other name.
    pub(super) fn collective(&mut self, path: &syn::Path, e: &syn::ExprCall) -> Option<Value> {
        let name = path.segments.last()?.ident.to_string();
        if !self.is_of_facade(path) {
            return None;
        }
        let stmt = match name.as_str() {
            "barrier" => Stmt::Barrier,
            "block_fence" => Stmt::Fence {
                scope: Scope::Block,
            },
            "device_fence" => Stmt::Fence {
                scope: Scope::Device,
            },
            other => return Some(self.subgroup(SubgroupOp::from_name(other)?, path, e)),
        };
        if let Some(argument) = e.args.first() {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                argument.range(),
                format!("`{name}()` takes no arguments"),
                "drop it",
            );
        }
        self.audit_of_facade(path, &quote!());
        self.push(stmt, path.segments.last()?.ident.range());
        Some(Value::Unit)
    }

    fn subgroup(&mut self, op: SubgroupOp, path: &syn::Path, e: &syn::ExprCall) -> Value {
        let (wanted, found) = (1 + usize::from(op.takes_lane()), e.args.len());
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let ids = self.operands(&arguments);
        if wanted != found {
            let s = if wanted == 1 { "" } else { "s" };
            self.errors.at(
                codes::ARGUMENT_COUNT,
                path.range(),
                format!(
                    "`{}` takes {wanted} argument{s}, but the call has {found}",
                    op.name()
                ),
                format!("pass {wanted}"),
            );
            return Value::Never;
        }
        if let Some(lane) = ids.get(1) {
            self.expect(*lane, Scalar::Usize);
        }
        let ty = match op {
            SubgroupOp::All | SubgroupOp::Any => {
                self.expect(ids[0], Scalar::Bool);
                self.types.known(Scalar::Bool)
            }
            SubgroupOp::Ballot => {
                self.expect(ids[0], Scalar::Bool);
                self.types.known(Scalar::U64)
            }
            SubgroupOp::Shuffle
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Broadcast
            | SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::InclusiveSum
            | SubgroupOp::ExclusiveSum => self.ty(ids[0]),
        };
        let generics = match op {
            SubgroupOp::All | SubgroupOp::Any | SubgroupOp::Ballot => quote!(),
            SubgroupOp::Shuffle
            | SubgroupOp::ShuffleUp
            | SubgroupOp::ShuffleDown
            | SubgroupOp::ShuffleXor
            | SubgroupOp::Broadcast
            | SubgroupOp::Sum
            | SubgroupOp::Product
            | SubgroupOp::Min
            | SubgroupOp::Max
            | SubgroupOp::InclusiveSum
            | SubgroupOp::ExclusiveSum => quote!(::<::core::primitive::f32>),
        };
        self.audit_of_facade(path, &generics);
        let (args, span) = (self.kernel.push_list(&ids), e.range());
        let result = self.result(ty);
        let declared = Stmt::Let {
            local: result,
            init: None,
        };
        self.push(declared, span);
        self.push(Stmt::Subgroup { op, args, result }, span);
        Value::Scalar(self.read(result, span))
    }
}
