use std::sync::Arc;

use sarek_ir::interp::{Host, Ids, Machine, Sanitize, Stop};
use sarek_ir::{Access, Kernel, ParamId, ParamKind, Scalar, Stmt, Value};
use sarek_runtime::host::{DirectArg, IndexSpace, RawFault};
use sarek_runtime::intrinsic::{self, ThreadState};
use sarek_runtime::{Error, Result};

use super::NAME;

/// A kernel that the interpreter can run: closed, and with a fallback for every native block.
pub(super) struct Interpreted {
    kernel: Arc<Kernel>,
}

impl Interpreted {
    pub(super) fn new(kernel: Arc<Kernel>) -> Result<Interpreted> {
        let unsupported = |what: String| Error::Unsupported {
            backend: NAME.into(),
            what,
        };
        if !kernel.is_closed() {
            let name = &kernel.name;
            return Err(unsupported(format!("`{name}`, which has open links")));
        }
        for (stmt, loc) in kernel.stmts.iter().zip(kernel.stmt_locs.iter()) {
            if let Stmt::Native { native } = stmt
                && kernel.natives[native.index()].fallback.is_none()
            {
                return Err(unsupported(format!(
                    "the `native!` block at {} of `{}`: it has no Rust fallback",
                    kernel.place_of(*loc),
                    kernel.name
                )));
            }
        }
        Ok(Interpreted { kernel })
    }

    /// Runs all blocks, up to the first thread that faults or that violates a rule of the sanitizer. Blocks run in
    /// order, unless the sanitizer permutes them.
    pub(super) fn run(
        &self,
        args: &[DirectArg],
        space: &IndexSpace,
        sanitize: Option<Sanitize>,
    ) -> Result<Option<RawFault>> {
        let mut host = HostArgs::new(&self.kernel, args)?;
        let mut machine = match sanitize {
            Some(settings) => Machine::sanitizing(&self.kernel, settings),
            None => Machine::new(&self.kernel),
        };
        let turned = sanitize.is_some_and(|settings| settings.seed != 0);
        let mut order: Vec<_> = match turned {
            true => points(space.grid).collect(),
            false => vec![],
        };
        machine.order(&mut order);
        // A list of all blocks is needed only if the sanitizer permutes them.
        let plain = points(space.grid).filter(|_| !turned);
        for block_idx in order.into_iter().chain(plain) {
            let (ids, size) = Ids::of_block(block_idx, space.block, space.grid, space.extent);
            match machine.run(&ids, size, &mut host) {
                Ok(()) => {}
                Err(Stop::Fault { fault, thread }) => {
                    return Ok(Some(RawFault {
                        site: fault.site,
                        detail: fault.detail,
                        thread: ids.global_of(thread),
                    }));
                }
                Err(Stop::Found(finding)) => {
                    return Err(Error::Sanitizer {
                        kernel: self.kernel.name.to_string(),
                        finding: finding.text(&self.kernel),
                    });
                }
                Err(Stop::Divergence {
                    barrier,
                    waits,
                    absent,
                }) => {
                    let loc = self.kernel.stmt_locs[barrier.index()];
                    return Err(Error::Launch {
                        kernel: self.kernel.name.to_string(),
                        problem: format!(
                            "thread {waits:?} of block {block_idx:?} waits at the barrier at {}, where thread \
                             {absent:?} does not come",
                            self.kernel.place_of(loc)
                        ),
                    });
                }
            }
        }
        Ok(None)
    }
}

/// The points of a box, x fastest.
fn points([nx, ny, nz]: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

/// The arguments of a launch, checked to match the kernel's parameters.
struct HostArgs<'a> {
    kernel: &'a Kernel,
    args: &'a [DirectArg],
}

impl<'a> HostArgs<'a> {
    fn new(kernel: &'a Kernel, args: &'a [DirectArg]) -> Result<HostArgs<'a>> {
        let fits = |(kind, arg): (ParamKind, &DirectArg)| match (kind, arg) {
            (ParamKind::Scalar(ty), DirectArg::Scalar(value)) => value.scalar() == ty,
            (ParamKind::Slice { access: needed, .. }, DirectArg::Slice { mutable, .. }) => {
                *mutable || needed == Access::Read
            }
            (ParamKind::Scalar(_), DirectArg::Slice { .. })
            | (ParamKind::Value(_) | ParamKind::Reference(_), _)
            | (ParamKind::Slice { .. }, DirectArg::Scalar(_))
            | (ParamKind::Scalar(_) | ParamKind::Slice { .. }, DirectArg::Value { .. }) => false,
        };
        let kinds = kernel.params.iter().map(|p| p.kind);
        if kernel.params.len() != args.len() || !kinds.zip(args).all(fits) {
            return Err(Error::Launch {
                kernel: kernel.name.to_string(),
                problem: "the arguments do not fit the kernel's parameters".into(),
            });
        }
        Ok(HostArgs { kernel, args })
    }

    /// The address of an element and its type.
    fn element(&self, buffer: ParamId, index: u64) -> (*mut u8, Scalar) {
        let kind = self.kernel.params[buffer.index()].kind;
        match (kind, self.args[buffer.index()]) {
            (ParamKind::Slice { elem, .. }, DirectArg::Slice { ptr, len, .. }) => {
                assert!(index < len as u64, "the walk checks indices");
                let elem = elem.scalar();
                let offset = index as usize * elem.size();
                // SAFETY: the element is one of the `len` elements that the launch borrows at `ptr`.
                (unsafe { ptr.add(offset) }, elem)
            }
            _ => unreachable!("a validated kernel indexes slices only"),
        }
    }
}

impl Host for HostArgs<'_> {
    fn intrinsic(&mut self, name: &str, thread: &Ids, args: &[Value]) -> Option<Value> {
        intrinsic::call_host(name, &ThreadState::new(*thread), args)
    }

    fn print(&mut self, text: &str) {
        sarek_runtime::host::print(format_args!("{text}"));
    }

    fn scalar(&self, param: ParamId) -> Value {
        match self.args[param.index()] {
            DirectArg::Scalar(value) => value,
            DirectArg::Slice { .. } | DirectArg::Value { .. } => {
                unreachable!("a validated kernel takes no slice for a value")
            }
        }
    }

    fn len(&self, buffer: ParamId) -> u64 {
        match self.args[buffer.index()] {
            DirectArg::Slice { len, .. } => len as u64,
            DirectArg::Scalar(_) | DirectArg::Value { .. } => {
                unreachable!("a validated kernel takes lengths of slices only")
            }
        }
    }

    fn load(&mut self, buffer: ParamId, index: u64) -> Value {
        let (at, elem) = self.element(buffer, index);
        // SAFETY: `at` is an element of type `elem`, aligned as its vector is, and the launch
        // borrows the vector; only this thread of the host runs the launch.
        unsafe {
            match elem {
                Scalar::Bool => Value::Bool(at.read() != 0),
                Scalar::I8 => Value::I8(at.cast::<i8>().read()),
                Scalar::U8 => Value::U8(at.read()),
                Scalar::I16 => Value::I16(at.cast::<i16>().read()),
                Scalar::U16 => Value::U16(at.cast::<u16>().read()),
                Scalar::I32 => Value::I32(at.cast::<i32>().read()),
                Scalar::U32 => Value::U32(at.cast::<u32>().read()),
                Scalar::I64 => Value::I64(at.cast::<i64>().read()),
                Scalar::U64 => Value::U64(at.cast::<u64>().read()),
                Scalar::F16 => Value::F16(at.cast::<u16>().read()),
                Scalar::Bf16 => Value::Bf16(at.cast::<u16>().read()),
                Scalar::F32 => Value::F32(at.cast::<u32>().read()),
                Scalar::F64 => Value::F64(at.cast::<u64>().read()),
                Scalar::Usize => unreachable!("buffers hold no `usize`"),
            }
        }
    }

    fn store(&mut self, buffer: ParamId, index: u64, value: Value) {
        let (at, _) = self.element(buffer, index);
        // SAFETY: as in `load`; the value is of the element's type, and the slice is a mutable
        // one, since a validated kernel stores to no other and `HostArgs::new` compared them.
        unsafe {
            match value {
                Value::Bool(v) => at.write(v.into()),
                Value::I8(v) => at.cast::<i8>().write(v),
                Value::U8(v) => at.write(v),
                Value::I16(v) => at.cast::<i16>().write(v),
                Value::U16(v) | Value::F16(v) | Value::Bf16(v) => at.cast::<u16>().write(v),
                Value::I32(v) => at.cast::<i32>().write(v),
                Value::U32(v) | Value::F32(v) => at.cast::<u32>().write(v),
                Value::I64(v) => at.cast::<i64>().write(v),
                Value::U64(v) | Value::F64(v) => at.cast::<u64>().write(v),
                Value::Usize(_) => unreachable!("buffers hold no `usize`"),
            }
        }
    }
}
