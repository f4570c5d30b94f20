//! The translator from IR to machine code.

use sarek::backend::{Translation, Translator};
use sarek::ir::write::Variant;
use sarek::ir::{BinaryOp, Kernel, Value};
use sarek::{Error, Result};
use sarek_ir::{Block, Builtin, Expr, ExprId, LocalId, Memory, SiteId, Stmt, Type};

use super::NAME;
use super::code::{self, Code, PROVED};

pub(super) struct Translate;

// SAFETY: each node becomes instructions with the same meaning, and with its checks. Others are errors.
unsafe impl Translator for Translate {
    fn target(&self) -> &'static str {
        NAME
    }

    fn translate(&self, kernel: &Kernel, variant: &Variant) -> Result<Translation> {
        let mut writer = Writer {
            kernel,
            variant,
            program: vec![],
            returns: vec![],
            locals: kernel.locals.len() as u32,
        };
        writer.block(kernel.body)?;
        let end = writer.here();
        for at in std::mem::take(&mut writer.returns) {
            writer.program[at] = Code::Jump(end);
        }
        Ok(Translation::new(
            kernel,
            variant,
            code::encode(&writer.program),
        ))
    }
}

struct Writer<'a> {
    kernel: &'a Kernel,
    variant: &'a Variant,
    program: Vec<Code>,
    /// The jumps to the end.
    returns: Vec<usize>,
    /// The number of locals, with those that loops add.
    locals: u32,
}

fn lacks(what: &str) -> Error {
    Error::Unsupported {
        backend: NAME.into(),
        what: what.into(),
    }
}

impl Writer<'_> {
    fn here(&self) -> u32 {
        self.program.len() as u32
    }

    fn push(&mut self, code: Code) {
        self.program.push(code);
    }

    /// Leaves room for a jump to a later instruction, and returns its place.
    fn room(&mut self) -> usize {
        self.push(Code::Jump(0));
        self.program.len() - 1
    }

    /// The site of a check, unless the launch has proved it.
    fn site(&self, site: Option<SiteId>) -> u32 {
        let checked = site.filter(|site| self.variant.checked.contains(site));
        checked.map_or(PROVED, |site| site.0)
    }

    fn param(&self, memory: Memory) -> Result<u32> {
        match memory {
            Memory::Slice(param) => Ok(param.0),
            Memory::Shared(_) => Err(lacks("shared memory")),
            Memory::Local(_) | Memory::Table(_) => Err(lacks("arrays in kernels")),
        }
    }

    fn block(&mut self, block: Block) -> Result<()> {
        let kernel = self.kernel;
        for id in kernel.block(block) {
            self.statement(kernel.stmt(id))?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: Stmt) -> Result<()> {
        match stmt {
            Stmt::Let { local, init: None } => match self.kernel.locals[local.index()].ty {
                // It is assigned before it is read.
                Type::Scalar(_) => Ok(()),
                Type::Compound(_) => Err(lacks("arrays in kernels")),
            },
            Stmt::Let {
                local,
                init: Some(value),
            }
            | Stmt::Assign { local, value } => {
                self.expr(value)?;
                self.push(Code::Set(local.0));
                Ok(())
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                self.expr(value)?;
                self.expr(index)?;
                let store = Code::Store(self.param(memory)?, self.site(site));
                self.push(store);
                Ok(())
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond)?;
                let to_else = self.room();
                self.block(then)?;
                let to_end = self.room();
                self.program[to_else] = Code::Unless(self.here());
                self.block(otherwise)?;
                self.program[to_end] = Code::Jump(self.here());
                Ok(())
            }
            Stmt::For {
                local,
                start,
                end,
                body,
                ..
            } => self.counted(local, start, end, body),
            Stmt::Return => {
                let at = self.room();
                self.returns.push(at);
                Ok(())
            }
            Stmt::Loop { .. } | Stmt::Break { .. } | Stmt::Continue { .. } => {
                Err(lacks("loops without a count, or exits from loops"))
            }
            Stmt::Barrier | Stmt::Fence { .. } => Err(lacks("barriers: it has no blocks")),
            Stmt::Atomic { .. } => Err(lacks("atomic operations")),
            Stmt::Subgroup { .. } => Err(lacks("subgroups")),
            Stmt::Assert { .. } | Stmt::Panic { .. } | Stmt::Print { .. } => Err(lacks("messages")),
            Stmt::Native { .. } => Err(lacks("text in its kernels")),
            Stmt::Update { .. } | Stmt::Call { .. } => unreachable!("linking leaves neither"),
        }
    }

    fn counted(&mut self, local: LocalId, start: ExprId, end: ExprId, body: Block) -> Result<()> {
        let (count, limit) = (local.0, self.locals);
        self.locals += 1;
        let one = Value::of_bits(self.kernel.scalar_of(start), 1);
        self.expr(start)?;
        self.expr(end)?;
        self.push(Code::Set(limit));
        self.push(Code::Set(count));
        let head = self.here();
        for code in [
            Code::Get(count),
            Code::Get(limit),
            Code::Binary(BinaryOp::Lt, PROVED),
        ] {
            self.push(code);
        }
        let out = self.room();
        self.block(body)?;
        for code in [
            Code::Get(count),
            Code::Push(one),
            Code::Binary(BinaryOp::Add, PROVED),
            Code::Set(count),
            Code::Jump(head),
        ] {
            self.push(code);
        }
        self.program[out] = Code::Unless(self.here());
        Ok(())
    }

    fn expr(&mut self, id: ExprId) -> Result<()> {
        let code = match self.kernel.expr(id) {
            Expr::Literal(value) => Code::Push(value),
            Expr::Local(local) => Code::Get(local.0),
            Expr::Param(param) => Code::Param(param.0),
            Expr::Len(memory) => Code::Len(self.param(memory)?),
            Expr::Builtin(Builtin::GlobalIdx(axis)) => Code::Index(axis.index() as u8),
            Expr::Builtin(Builtin::GlobalDim(axis)) => Code::Extent(axis.index() as u8),
            Expr::Builtin(_) => return Err(lacks("blocks, whose ids the kernel asks for")),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                self.expr(index)?;
                Code::Load(self.param(memory)?, self.site(site))
            }
            Expr::Unary { op, arg } => {
                if self.site(self.kernel.overflow_site(id)) != PROVED {
                    return Err(lacks("checks of negated numbers"));
                }
                self.expr(arg)?;
                Code::Unary(op)
            }
            Expr::Binary { op, lhs, rhs } => {
                self.expr(lhs)?;
                self.expr(rhs)?;
                Code::Binary(op, self.site(self.kernel.overflow_site(id)))
            }
            Expr::Divide { op, lhs, rhs, site } => {
                self.expr(lhs)?;
                self.expr(rhs)?;
                Code::Divide(op, self.site(site))
            }
            Expr::And { lhs, rhs } => return self.either(lhs, rhs, false),
            Expr::Or { lhs, rhs } => return self.either(lhs, rhs, true),
            Expr::Cast { arg } => {
                self.expr(arg)?;
                Code::Cast(self.kernel.scalar_of(id))
            }
            Expr::Call { .. } => return Err(lacks("functions")),
            Expr::Bounded { .. } => return Err(lacks("views")),
            Expr::Link(_) | Expr::Compound(_) | Expr::Faulted => {
                unreachable!("linking leaves neither")
            }
        };
        self.push(code);
        Ok(())
    }

    /// `lhs && rhs`, or `lhs || rhs` if a true `lhs` decides.
    fn either(&mut self, lhs: ExprId, rhs: ExprId, decides: bool) -> Result<()> {
        self.expr(lhs)?;
        let to_second = self.room();
        let (first, second) = match decides {
            true => (None, Some(rhs)),
            false => (Some(rhs), None),
        };
        self.operand(first, decides)?;
        let to_end = self.room();
        self.program[to_second] = Code::Unless(self.here());
        self.operand(second, decides)?;
        self.program[to_end] = Code::Jump(self.here());
        Ok(())
    }

    /// Pushes the right operand, or the value that decides without it.
    fn operand(&mut self, operand: Option<ExprId>, decides: bool) -> Result<()> {
        match operand {
            Some(operand) => self.expr(operand),
            None => {
                self.push(Code::Push(Value::Bool(decides)));
                Ok(())
            }
        }
    }
}
