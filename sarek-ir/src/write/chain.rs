//! Writes branches: `if`, chains of `else if`, and `switch` for a chain that compares one integer, if the target has
//! it.
//!
//! Some targets limit the nesting of blocks, and each `else if` nests inside the `else` before it. So a long chain is
//! cut into consecutive *segments*. A flag guards each segment; it is true if no arm of the segments before was taken.

use crate::{BinaryOp, Block, Expr, ExprId, LocalId, ParamId, Scalar, Stmt, StmtId, Value};

use super::Unsupported;
use super::stmt::Writer;

/// The least number of arms for a `switch`.
const SWITCH: usize = 8;

/// The largest number of arms in one `else if` chain, on targets that limit the nesting of blocks.
const CHAIN: usize = 16;

/// One arm of a chain.
struct Arm {
    cond: ExprId,
    then: Block,
    /// The comparison, if the condition compares an integer with constants.
    case: Option<Case>,
}

/// A condition that is true if an integer equals one of some constants.
struct Case {
    of: Scrutinee,
    /// The integer, as an expression of one of the conditions.
    scrutinee: ExprId,
    values: Vec<Value>,
}

/// An integer that does not change while the conditions are evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scrutinee {
    Local(LocalId),
    Param(ParamId),
}

/// Arms written as one statement.
enum Segment<'a> {
    If(&'a [Arm]),
    Switch(&'a [Arm]),
}

/// The code of the last `else`.
enum Last<'a> {
    Nothing,
    Block(Block),
    Line(&'a str),
}

impl Writer<'_> {
    /// Writes an `if` with its whole chain of `else if`.
    pub(super) fn branch(
        &mut self,
        cond: ExprId,
        then: Block,
        otherwise: Block,
    ) -> Result<(), Unsupported> {
        let (arms, rest) = self.arms(cond, then, otherwise);
        let last = match rest.is_empty() {
            true => Last::Nothing,
            false => Last::Block(rest),
        };
        let segments = self.segments(&arms);
        if let [only] = &segments[..] {
            return self.segment(only, last);
        }
        let flag = self.namer.fresh("rest");
        let [no, yes] = [false, true].map(|b| self.dialect.literal(Value::Bool(b)).text);
        let declared = self.dialect.declare(&flag, Scalar::Bool, true, Some(&yes));
        self.out.line(format!("{declared};"));
        let (reset, set) = (format!("{flag} = {no};"), format!("{flag} = {yes};"));
        for segment in &segments {
            self.out.open(format!("if ({flag}) {{"));
            self.out.line(&reset);
            self.deeper(|writer| writer.segment(segment, Last::Line(&set)))?;
            self.out.close("}");
        }
        if let Last::Block(rest) = last {
            self.out.open(format!("if ({flag}) {{"));
            self.block(rest)?;
            self.out.close("}");
        }
        Ok(())
    }

    /// The arms of a chain, and the block of the last `else`.
    fn arms(&self, cond: ExprId, then: Block, otherwise: Block) -> (Vec<Arm>, Block) {
        let arm = |cond, then| Arm {
            cond,
            then,
            case: self.case(cond).filter(|_| !self.breaks(then)),
        };
        let mut arms = vec![arm(cond, then)];
        let mut rest = otherwise;
        while let [only] = self.kernel.block(rest).take(2).collect::<Vec<StmtId>>()[..]
            && let Stmt::If {
                cond,
                then,
                otherwise,
            } = self.kernel.stmt(only)
        {
            arms.push(arm(cond, then));
            rest = otherwise;
        }
        (arms, rest)
    }

    /// Cuts a chain into segments where the target needs it.
    fn segments<'a>(&self, mut arms: &'a [Arm]) -> Vec<Segment<'a>> {
        let longest = self.dialect.max_depth().map_or(usize::MAX, |_| CHAIN);
        let mut segments = vec![];
        while !arms.is_empty() {
            let run = self.run(arms);
            let most = arms.len().min(longest);
            let count = match run {
                0 => (1..most)
                    .find(|&at| self.run(&arms[at..]) > 0)
                    .unwrap_or(most),
                run => run,
            };
            let (these, others) = arms.split_at(count);
            segments.push(match run {
                0 => Segment::If(these),
                _ => Segment::Switch(these),
            });
            arms = others;
        }
        segments
    }

    /// The number of leading arms that form a `switch`; 0 if they form none.
    fn run(&self, arms: &[Arm]) -> usize {
        let of = |arm: &Arm| arm.case.as_ref().map(|case| case.of);
        let first = arms.first().and_then(of);
        if first.is_none() || !self.dialect.has_switch() {
            return 0;
        }
        let run = arms.iter().take_while(|arm| of(arm) == first).count();
        if run < SWITCH { 0 } else { run }
    }

    fn segment(&mut self, segment: &Segment<'_>, last: Last<'_>) -> Result<(), Unsupported> {
        match segment {
            Segment::If(arms) => self.ifs(arms, last),
            Segment::Switch(arms) => self.switch(arms, last),
        }
    }

    /// `if … else if … else …`. Each `else if` counts as one level deeper than the arm before.
    fn ifs(&mut self, arms: &[Arm], last: Last<'_>) -> Result<(), Unsupported> {
        let depth = self.depth;
        for (at, arm) in arms.iter().enumerate() {
            let cond = self.expr(arm.cond)?;
            if at > 0 {
                self.depth += 1;
                self.out.close(format!("}} else if ({}) {{", cond.text));
                self.out.open("");
            } else {
                self.out.open(format!("if ({}) {{", cond.text));
            }
            self.block(arm.then)?;
        }
        match last {
            Last::Nothing => {}
            Last::Block(_) | Last::Line(_) => {
                self.out.close("} else {");
                self.out.open("");
                self.last(&last)?;
            }
        }
        self.out.close("}");
        self.depth = depth;
        Ok(())
    }

    /// `switch … { case …: { … } default: { … } }`, without duplicate cases.
    fn switch(&mut self, arms: &[Arm], last: Last<'_>) -> Result<(), Unsupported> {
        let mut seen = vec![];
        for (at, arm) in arms.iter().enumerate() {
            let Some(case) = &arm.case else {
                unreachable!("each arm of a switch is a case");
            };
            if at == 0 {
                let scrutinee = self.expr(case.scrutinee)?;
                self.out.open(format!("switch ({}) {{", scrutinee.text));
            }
            let mut labels = vec![];
            for value in &case.values {
                if !seen.contains(value) {
                    seen.push(*value);
                    labels.push(self.dialect.literal(*value).text);
                }
            }
            if !labels.is_empty() {
                self.out.open(format!("case {}: {{", labels.join(", ")));
                self.deeper(|writer| writer.block(arm.then))?;
                self.out.close("}");
            }
        }
        self.out.open("default: {");
        self.deeper(|writer| writer.last(&last))?;
        self.out.close("}");
        self.out.close("}");
        Ok(())
    }

    fn last(&mut self, last: &Last<'_>) -> Result<(), Unsupported> {
        match last {
            Last::Nothing => {}
            Last::Block(block) => self.block(*block)?,
            Last::Line(line) => self.out.line(line),
        }
        Ok(())
    }

    /// Writes code that the target counts as nested one level deeper.
    fn deeper(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// The comparison, if the condition compares a 32-bit integer with constants.
    fn case(&self, cond: ExprId) -> Option<Case> {
        let node = self.kernel.expr(cond);
        if let Expr::Or { lhs, rhs } = node {
            let (mut lhs, rhs) = (self.case(lhs)?, self.case(rhs)?);
            lhs.values.extend(rhs.values);
            return (lhs.of == rhs.of).then_some(lhs);
        }
        let Expr::Binary {
            op: BinaryOp::Eq,
            lhs: scrutinee,
            rhs,
        } = node
        else {
            return None;
        };
        let Expr::Literal(value @ (Value::I32(_) | Value::U32(_))) = self.kernel.expr(rhs) else {
            return None;
        };
        let of = self.scrutinee(scrutinee)?;
        let values = vec![value];
        Some(Case {
            of,
            scrutinee,
            values,
        })
    }

    fn scrutinee(&self, id: ExprId) -> Option<Scrutinee> {
        let node = self.kernel.expr(id);
        if let Expr::Param(param) = node {
            return Some(Scrutinee::Param(param));
        }
        let Expr::Local(local) = node else {
            return None;
        };
        Some(Scrutinee::Local(local))
    }

    /// True if the block contains a `break` of an enclosing loop. Inside a `switch`, that `break` would leave the
    /// `switch`.
    fn breaks(&self, block: Block) -> bool {
        self.kernel.block(block).any(|id| {
            let stmt = self.kernel.stmt(id);
            let is_loop = stmt.loop_label().is_some();
            let inner = self.kernel.blocks_of(id);
            matches!(stmt, Stmt::Break { .. } | Stmt::Native { .. })
                || !is_loop && inner.into_iter().any(|block| self.breaks(block))
        })
    }
}
