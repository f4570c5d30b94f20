//! Writes the statements by which threads cooperate.

use crate::{AtomicOp, ExprId, List, LocalId, Memory, SiteId, StmtId, SubgroupOp, Value};

use super::stmt::Writer;
use super::{Atomic, Subgroup, Text, Unsupported};

impl Writer<'_> {
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        (memory, index, site): (Memory, ExprId, Option<SiteId>),
        args: List,
        result: Option<LocalId>,
    ) -> Result<(), Unsupported> {
        let ty = self.kernel.element(memory);
        let args = self.texts(args)?;
        let index = self.index_of(memory, index)?;
        let place = self
            .dialect
            .element(self.memory(memory), &index, self.index);
        let result = result.map(|local| self.namer.local(local).to_owned());
        let text = match (op, &result) {
            (AtomicOp::Load, None) => String::new(),
            _ => self.dialect.atomic(&Atomic {
                op,
                ty,
                shared: matches!(memory, Memory::Shared(_)),
                place: &place,
                args: &args,
                result: result.as_deref(),
            })?,
        };
        let Some(site) = site else {
            self.out.line(text);
            return Ok(());
        };
        self.open_checked(memory, index, site);
        self.out.line(text);
        if let Some(result) = result {
            let zero = self.dialect.literal(Value::zero(ty));
            self.out.close("} else {");
            self.out.open("");
            self.out.line(format!("{result} = {};", zero.text));
        }
        self.out.close("}");
        Ok(())
    }

    pub(super) fn subgroup(
        &mut self,
        id: StmtId,
        (op, args): (SubgroupOp, List),
        result: LocalId,
    ) -> Result<(), Unsupported> {
        let first = self.kernel.list(args).next();
        let ty = first.map(|id| self.kernel.scalar_of(id));
        let ty = ty.expect("a subgroup operation has an operand");
        let args = self.texts(args)?;
        let uniformity = self.uniformity.as_ref();
        let text = self.dialect.subgroup(&Subgroup {
            op,
            ty,
            together: uniformity.is_some_and(|found| found.control(id)),
            args: &args,
            index: self.index,
        })?;
        let name = self.namer.local(result);
        self.out.line(format!("{name} = {};", text.text));
        Ok(())
    }

    fn texts(&self, list: List) -> Result<Vec<Text>, Unsupported> {
        self.kernel.list(list).map(|id| self.expr(id)).collect()
    }
}
