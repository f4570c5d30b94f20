//! Expands prints for targets that cannot print: writes records to memory, which the host reads.

use crate::{
    Access, AtomicOp, Axis, BinaryOp, Block, Builtin, Expr, ExprId, Intrinsic, Kernel, Loc, Local,
    LocalId, Memory, Param, ParamId, ParamKind, PrintId, Scalar, Stmt, StmtId, Value,
};

/// The words of memory for the prints of one launch, without the head.
pub const OUTPUT_WORDS: usize = (1 << 18) - 2;

/// Turns each [`Stmt::Print`] into a record in the memory of a new parameter. Returns the parameter, if there are
/// prints. See [`crate::write::SlotKind::Output`] for the layout.
///
/// A thread allocates by adding to the count of words, unless the count is beyond the memory already. It writes its
/// record if the whole record fits. The words before a record are filled or end with a zero, so that the host can find
/// all records.
pub fn expand_prints(kernel: &mut Kernel) -> Option<ParamId> {
    let prints = |stmt: &Stmt| matches!(stmt, Stmt::Print { .. });
    if !kernel.stmts.iter().any(prints) {
        return None;
    }
    let output = ParamId(kernel.params.len() as u32);
    kernel.params.to_mut().push(Param {
        name: "output".into(),
        kind: ParamKind::Slice {
            elem: Scalar::U32.into(),
            access: Access::Atomic,
        },
        align: 0,
    });
    super::rewrite(kernel, &mut |kernel, id, out| {
        let Stmt::Print { print } = kernel.stmt(id) else {
            return out.push(id);
        };
        let loc = kernel.stmt_locs[id.index()];
        let mut expand = Expand {
            kernel,
            output,
            loc,
        };
        expand.print(print, out);
    });
    Some(output)
}

struct Expand<'a> {
    kernel: &'a mut Kernel,
    output: ParamId,
    loc: Loc,
}

impl Expand<'_> {
    fn print(&mut self, print: PrintId, out: &mut Vec<StmtId>) {
        let args = self.kernel.prints[print.index()].args;
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let mut words = vec![];
        for arg in args {
            let value = self.bind("value", arg, out);
            words.extend(self.words(value));
        }
        let mut record = vec![self.number(print.0 + 1)];
        for axis in Axis::ALL {
            let id = self.expr(Expr::Builtin(Builtin::GlobalIdx(axis)), Scalar::Usize);
            record.push(self.cast(id, Scalar::U32));
        }
        record.extend(words);
        let (room, before) = (OUTPUT_WORDS as u32, self.declare("before", out));
        out.push(self.atomic(AtomicOp::Load, 0, &[], Some(before)));
        let mut append = vec![];
        self.append(&record, &mut append);
        let (then, otherwise) = (self.kernel.push_block(&append), self.count_lost());
        let before = self.read(before);
        let cond = self.below(before, room);
        out.push(self.branch(cond, then, otherwise));
    }

    /// Allocates a record and writes it.
    fn append(&mut self, record: &[ExprId], out: &mut Vec<StmtId>) {
        let (room, len) = (OUTPUT_WORDS as u32, record.len() as u32);
        let at = self.declare("at", out);
        let taken = self.number(len);
        out.push(self.atomic(AtomicOp::Add, 0, &[taken], Some(at)));
        let stores = (0..).zip(record).map(|(i, word)| self.put(at, i, *word));
        let stores: Vec<StmtId> = stores.collect();
        let fits = self.kernel.push_block(&stores);
        let end = self.number(0);
        let end = self.put(at, 0, end);
        let end = self.kernel.push_block(&[end]);
        let here = self.read(at);
        let inside = self.below(here, room);
        let ends = self.branch(inside, end, Block::EMPTY);
        let lost = self.lost();
        let otherwise = self.kernel.push_block(&[ends, lost]);
        // `at` exceeds the memory by less than the room for one record per thread, so the count doesn't wrap.
        let here = self.read(at);
        let cond = self.below(here, room - len + 1);
        out.push(self.branch(cond, fits, otherwise));
    }

    fn count_lost(&mut self) -> Block {
        let lost = self.lost();
        self.kernel.push_block(&[lost])
    }

    /// Counts a dropped record.
    fn lost(&mut self) -> StmtId {
        let one = self.number(1);
        self.atomic(AtomicOp::Add, 1, &[one], None)
    }

    /// Stores one word of the record at `at`.
    fn put(&mut self, at: LocalId, word: u32, value: ExprId) -> StmtId {
        let (lhs, rhs) = (self.read(at), self.number(2 + word));
        let op = BinaryOp::Add;
        let index = self.expr(Expr::Binary { op, lhs, rhs }, Scalar::U32);
        let index = self.cast(index, Scalar::Usize);
        self.access(AtomicOp::Store, index, &[value], None)
    }

    /// The value of a local as words, the low one first.
    fn words(&mut self, local: LocalId) -> Vec<ExprId> {
        match self.kernel.locals[local.index()].ty.scalar() {
            Scalar::Bool
            | Scalar::I8
            | Scalar::U8
            | Scalar::I16
            | Scalar::U16
            | Scalar::I32
            | Scalar::U32 => {
                let value = self.read(local);
                vec![self.cast(value, Scalar::U32)]
            }
            Scalar::F16 | Scalar::Bf16 => {
                let bits = self.bits(local, Scalar::U16);
                vec![self.cast(bits, Scalar::U32)]
            }
            Scalar::F32 => vec![self.bits(local, Scalar::U32)],
            Scalar::I64 | Scalar::U64 | Scalar::Usize => {
                let (low, high) = (self.read(local), self.read(local));
                vec![self.cast(low, Scalar::U32), self.high(high)]
            }
            Scalar::F64 => {
                let (low, high) = (self.bits(local, Scalar::U64), self.bits(local, Scalar::U64));
                vec![self.cast(low, Scalar::U32), self.high(high)]
            }
        }
    }

    fn bits(&mut self, local: LocalId, ty: Scalar) -> ExprId {
        let value = self.read(local);
        let args = self.kernel.push_list(&[value]);
        let intrinsic = Intrinsic::ToBits;
        self.expr(Expr::Call { intrinsic, args }, ty)
    }

    fn high(&mut self, lhs: ExprId) -> ExprId {
        let rhs = self.number(32);
        let op = BinaryOp::Shr;
        let ty = self.kernel.scalar_of(lhs);
        let high = self.expr(Expr::Binary { op, lhs, rhs }, ty);
        self.cast(high, Scalar::U32)
    }

    // Node constructors.

    fn expr(&mut self, expr: Expr, ty: Scalar) -> ExprId {
        self.kernel.push_expr(expr, ty, self.loc)
    }

    fn number(&mut self, n: u32) -> ExprId {
        self.kernel.push_literal(Value::U32(n), self.loc)
    }

    fn read(&mut self, local: LocalId) -> ExprId {
        self.kernel.push_local_read(local, self.loc)
    }

    fn cast(&mut self, arg: ExprId, to: Scalar) -> ExprId {
        match self.kernel.scalar_of(arg) == to {
            true => arg,
            false => self.expr(Expr::Cast { arg }, to),
        }
    }

    fn below(&mut self, lhs: ExprId, limit: u32) -> ExprId {
        let rhs = self.number(limit);
        let op = BinaryOp::Lt;
        self.expr(Expr::Binary { op, lhs, rhs }, Scalar::Bool)
    }

    fn branch(&mut self, cond: ExprId, then: Block, otherwise: Block) -> StmtId {
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        self.kernel.push_stmt(branch, self.loc)
    }

    fn bind(&mut self, name: &'static str, init: ExprId, out: &mut Vec<StmtId>) -> LocalId {
        let local = self.kernel.push_local(Local {
            name: name.into(),
            ty: self.kernel.type_of(init),
            mutable: false,
        });
        let init = Some(init);
        out.push(self.kernel.push_stmt(Stmt::Let { local, init }, self.loc));
        local
    }

    fn declare(&mut self, name: &'static str, out: &mut Vec<StmtId>) -> LocalId {
        let local = self.kernel.push_local(Local {
            name: name.into(),
            ty: Scalar::U32.into(),
            mutable: true,
        });
        let init = None;
        out.push(self.kernel.push_stmt(Stmt::Let { local, init }, self.loc));
        local
    }

    /// An operation on one word of the head.
    fn atomic(
        &mut self,
        op: AtomicOp,
        word: u64,
        args: &[ExprId],
        result: Option<LocalId>,
    ) -> StmtId {
        let index = self.kernel.push_literal(Value::Usize(word), self.loc);
        self.access(op, index, args, result)
    }

    fn access(
        &mut self,
        op: AtomicOp,
        index: ExprId,
        args: &[ExprId],
        result: Option<LocalId>,
    ) -> StmtId {
        let atomic = Stmt::Atomic {
            op,
            memory: Memory::Slice(self.output),
            index,
            args: self.kernel.push_list(args),
            result,
            site: None,
        };
        self.kernel.push_stmt(atomic, self.loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::{Format, PrintPiece};
    use crate::sketch::Sketch;

    #[test]
    fn a_print_becomes_a_record() {
        let s = Sketch::new("k");
        let x = s.slice("x", Scalar::F32);
        let pieces = vec![PrintPiece::Arg {
            index: 0,
            format: Format::PLAIN,
        }];
        s.print(pieces, &[s.load(x, s.n(0))]);
        let mut kernel = s.finish();
        assert_eq!(expand_prints(&mut kernel), Some(ParamId(1)));
        crate::validate(&kernel).expect("it is valid");
        let text = kernel.to_string();
        assert!(!text.contains("print"), "{text}");
        let mut silent = Sketch::new("k").finish();
        assert_eq!(expand_prints(&mut silent), None);
        assert!(silent.params.is_empty());
    }
}
