use crate::host::PanicPlace;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable has a value that it does not take.
    #[error("the environment variable {variable} is `{value}`, and takes {takes}")]
    Setting {
        /// The variable.
        variable: &'static str,
        /// What it is.
        value: String,
        /// What it takes, in words.
        takes: &'static str,
    },
    /// No registered backend has an eligible device.
    #[error("no device can run this: {}", reasons(.0))]
    NoDevice(Vec<(String, String)>),
    /// A backend of this name is not registered, or has no device.
    #[error("no device of backend `{backend}`: {reason}")]
    NoBackend {
        /// The backend asked for.
        backend: String,
        /// Why it has no device.
        reason: String,
    },
    /// A backend of this name is registered already.
    #[error("a backend named `{0}` is registered already; unregister it first")]
    DuplicateBackend(String),
    /// A device cannot run a kernel.
    #[error("`{kernel}` cannot run on {device}: {}", .reasons.join("; "))]
    NotEligible {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// What the device lacks.
        reasons: Vec<String>,
    },
    /// A launch is malformed: a block that the device cannot run, a missing block size, …
    #[error("cannot launch `{kernel}`: {problem}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The vectors of a kernel over items have different lengths.
    #[error("`{kernel}` runs over the items of vectors of one length, and {}", of_lengths(.lengths))]
    Items {
        /// The kernel.
        kernel: String,
        /// The arguments, each with its length.
        lengths: Vec<(String, u64)>,
    },
    /// A launch does not satisfy what makes the kernel free of races.
    #[error("`{kernel}` is not launched as it requires: {requirement}")]
    Precondition {
        /// The kernel.
        kernel: String,
        /// What the launch must satisfy, and what it was.
        requirement: String,
    },
    /// The interpreter, run as a sanitizer (`SAREK_SANITIZE`), found what a kernel must not do.
    #[error("sanitizer, `{kernel}`: {finding}")]
    Sanitizer {
        /// The kernel.
        kernel: String,
        /// What it does, which threads do it and where.
        finding: String,
    },
    /// A kernel failed while it ran.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The output hook, or the `Debug` or `Display` of a value that a kernel prints, panicked. The kernel went on, and what it wrote
    /// is good.
    #[error(
        "the output of kernel `{kernel}` was cut: {message}; its results are good, mend the hook of `set_output` or the type that is printed"
    )]
    Output {
        /// The kernel.
        kernel: String,
        /// The message of the panic.
        message: String,
    },
    /// The process is a child of `fork` whose parent has used devices: their threads and drivers are the parent's.
    #[error(
        "this process was forked by one that had used devices, whose threads and drivers it does not have: use devices in a new program (`exec`), or fork before the first use; vectors on the host stay readable"
    )]
    Forked,
    /// The thread ends, and what a device needs of it is gone.
    #[error(
        "{device} cannot be used in the destructor of a thread-local variable once the thread has ended: do it before the thread ends, or on another thread"
    )]
    ThreadEnds {
        /// The device.
        device: String,
    },
    /// A host access past the end of a vector.
    #[error("index {index} is out of bounds of a vector of length {len}")]
    Bounds {
        /// The index.
        index: usize,
        /// The vector's length.
        len: usize,
    },
    /// A view that its vector cannot give.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} from element {offset} on, of {len} elements: {problem}"
    )]
    View {
        /// Elements along each dimension.
        shape: Vec<usize>,
        /// How far elements next to each other along each dimension lie apart.
        strides: Vec<usize>,
        /// The position of the first element.
        offset: usize,
        /// The elements of the vector; of a window, those of the view along the dimension that it leaves.
        len: usize,
        /// What is wrong, and what to do.
        problem: &'static str,
    },
    /// A range that is not one of a vector's elements.
    #[error("the range {start}..{end} is out of bounds of a vector of length {len}")]
    Range {
        /// The first element.
        start: usize,
        /// Behind the last element.
        end: usize,
        /// The vector's length.
        len: usize,
    },
    /// As many elements were expected as the vector has.
    #[error("{found} elements cannot overwrite a vector of length {expected}")]
    Length {
        /// The vector's length.
        expected: usize,
        /// The number of elements given.
        found: usize,
    },
    /// A target's compiler rejected the source: a bug in sarek, or in text of the user's.
    #[error("the {target} compiler rejected `{kernel}`{}:\n{log}\n--- source ---\n{source_text}", at(.places))]
    Compile {
        /// The kernel.
        kernel: String,
        /// The target.
        target: String,
        /// The lines of the user's that it spoke of, of `native!` or of a foreign kernel: file and line. The framework
        /// finds them.
        places: Vec<String>,
        /// What the compiler said.
        log: String,
        /// The text.
        source_text: String,
    },
    /// A definition, an option or a library that safe code gave is not known to be harmless to a kernel's text.
    #[error("`{kernel}` is not compiled with {part}: {problem}")]
    Unchecked {
        /// The kernel.
        kernel: String,
        /// The part.
        part: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// A foreign kernel cannot be made or run.
    #[error("foreign kernel `{kernel}`: {problem}")]
    Foreign {
        /// The kernel, or the file that was to be its text.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// A text has no entry point of the name that was asked for.
    #[error("the text in {target} has no entry point `{entry}`; {}", entries(.known))]
    NoEntry {
        /// The language.
        target: String,
        /// What was asked for.
        entry: String,
        /// Those that it has, as far as the driver tells.
        known: Vec<String>,
    },
    /// An entry point does not take what was declared.
    #[error(
        "the text of `{kernel}` in {target} does not take what it is declared to take: {problem}"
    )]
    Signature {
        /// The kernel.
        kernel: String,
        /// The language.
        target: String,
        /// The difference.
        problem: String,
    },
    /// Several backends claim the same.
    #[error("{what}: claimed by {}; only one of them can be in charge", .owners.join(", "))]
    Ambiguous {
        /// What they claim.
        what: String,
        /// The backends.
        owners: Vec<String>,
    },
    /// No backend claims what was asked for.
    #[error("{what}: no backend claims it; {}", claimed(.known))]
    Unclaimed {
        /// What was asked for.
        what: String,
        /// What of that sort is claimed, and by whom.
        known: Vec<String>,
    },
    /// A copy that must not be made.
    #[error("{what} are not possible: {reason}")]
    IllegalCopy {
        /// Which copies.
        what: String,
        /// Why not.
        reason: String,
    },
    /// A context has no vector of this name.
    #[error(
        "the context on {device} has no vector `{name}`; give it one with `init_from_host` or `init_from`"
    )]
    NotInContext {
        /// The vector.
        name: String,
        /// The context's device.
        device: String,
    },
    /// A context has a vector of this name.
    #[error(
        "the context on {device} has a vector `{name}` already; overwrite that with `from_host`"
    )]
    AlreadyInContext {
        /// The vector.
        name: String,
        /// The context's device.
        device: String,
    },
    /// The merge buffer does not hold what a routine consumes.
    #[error("the merge buffer of {device} should hold `{want}`, and holds {}", .have.as_deref().unwrap_or("nothing"))]
    MergeMismatch {
        /// What the routine consumes.
        want: String,
        /// What is there.
        have: Option<String>,
        /// The device.
        device: String,
    },
    /// A vector of a context is used as what it is not.
    #[error("vector `{name}` of the context on {device}: {problem}")]
    Context {
        /// The vector.
        name: String,
        /// The context's device.
        device: String,
        /// What is wrong.
        problem: String,
    },
    /// A tag cannot be added or had.
    #[error("{kind} `{name}`: {problem}")]
    Tag {
        /// The kind of tag.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// An environment cannot be had: it is unknown, depends on itself, or contradicts another.
    #[error("environment `{name}`: {problem}")]
    Environment {
        /// The environment.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// An intrinsic has no text for a target, two, or one that does not fit it.
    #[error("intrinsic `{name}` for {target}: {problem}")]
    Intrinsic {
        /// The intrinsic.
        name: String,
        /// The target.
        target: String,
        /// What is wrong.
        problem: String,
    },
    /// A graph is replayed as it was not recorded.
    #[error("the graph on {device}: {problem}")]
    Graph {
        /// The graph's device.
        device: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Memory is exhausted: a device's, or with "the host" for the device, the host's.
    #[error("{device} is out of memory: {bytes} bytes were asked for")]
    OutOfMemory {
        /// The device.
        device: String,
        /// The size of the allocation that failed.
        bytes: usize,
    },
    /// The device or its driver failed.
    #[error("{device}: {message}")]
    Device {
        /// The device.
        device: String,
        /// What the driver said.
        message: String,
    },
    /// The backend does not offer this.
    #[error("{backend} does not support {what}")]
    Unsupported {
        /// The backend.
        backend: String,
        /// What was asked for.
        what: String,
    },
}

/// A kernel's failure at one of its sites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The global ids of the thread.
    pub thread: [u64; 3],
    /// What failed there.
    pub kind: FaultKind,
}

/// What failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// An index out of bounds.
    Index {
        /// The parameter's name.
        argument: String,
        /// The index.
        index: u64,
        /// The argument's length.
        len: u64,
    },
    /// An index out of bounds along one dimension.
    Dimension {
        /// The name of the parameter or array.
        argument: String,
        /// The dimension, counted from 0.
        dimension: u32,
        /// The index.
        index: u64,
    },
    /// A divisor of 0.
    DivisionByZero,
    /// `MIN / -1`.
    DivisionOverflow,
    /// The result of integer arithmetic does not fit its type, or a shift's count is not below the width. Kernels and functions of
    /// crates with debug assertions report it, as rustc has it; in others integers wrap.
    Overflow {
        /// The operator, or the method: `+`, `<<`, `pow`.
        operation: String,
    },
    /// An assertion, with its message.
    Assert(String),
    /// The loops of a thread take more iterations than the device runs.
    TooManyIterations,
    /// `panic!` or its like, with its message; or the compiled body panicked otherwise.
    Panic(String),
}

impl Error {
    /// A host backend's compiled body panicked: where is not known.
    pub fn panicked(kernel: &str, message: String) -> Error {
        Error::Fault(Box::new(Fault {
            kernel: kernel.into(),
            file: String::new(),
            line: 0,
            column: 0,
            thread: [0; 3],
            kind: FaultKind::Panic(message),
        }))
    }

    /// The user's function panicked here, as rustc compiled it.
    #[doc(hidden)]
    pub fn panicked_at(kernel: &str, message: String, place: PanicPlace) -> Error {
        Error::Fault(Box::new(Fault {
            kernel: kernel.into(),
            file: place.file,
            line: place.line,
            column: place.column,
            thread: place.thread,
            kind: match overflowed(&message) {
                Some(operation) => FaultKind::Overflow {
                    operation: operation.into(),
                },
                None => FaultKind::Panic(message),
            },
        }))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.thread;
        if self.file.is_empty()
            && let FaultKind::Panic(message) = &self.kind
        {
            // Where is what the panic has printed.
            return write!(f, "kernel `{}` failed: {message}", self.kernel);
        }
        write!(
            f,
            "kernel `{}` failed at {}:{}:{}: ",
            self.kernel, self.file, self.line, self.column
        )?;
        match &self.kind {
            FaultKind::Dimension {
                argument,
                dimension,
                index,
            } => write!(
                f,
                "index {index} is out of bounds along dimension {dimension} of `{argument}`"
            )?,
            FaultKind::Index {
                argument,
                index,
                len,
            } => write!(
                f,
                "index {index} is out of bounds of `{argument}`, whose length is {len}"
            )?,
            FaultKind::DivisionByZero => f.write_str("division by zero")?,
            FaultKind::DivisionOverflow => f.write_str("division overflow (MIN / -1)")?,
            FaultKind::TooManyIterations => f.write_str(
                "the loops of a thread take more iterations than this software device runs before it leaves them (about 60000); \
                 run the kernel on another device, or give each thread less to do",
            )?,
            FaultKind::Overflow { operation } => {
                write!(f, "integer overflow in `{operation}`")?;
            }
            FaultKind::Assert(message) => f.write_str(message)?,
            FaultKind::Panic(message) => f.write_str(message)?,
        }
        write!(f, " (thread {x}, {y}, {z})")
    }
}

/// The operation of which core says that it overflowed. Of a method it names the operator that it computes with.
fn overflowed(message: &str) -> Option<&'static str> {
    Some(match message {
        "attempt to add with overflow" => "+",
        "attempt to subtract with overflow" | "attempt to negate with overflow" => "-",
        "attempt to multiply with overflow" => "*",
        "attempt to shift left with overflow" => "<<",
        "attempt to shift right with overflow" => ">>",
        _ => return None,
    })
}

fn of_lengths(lengths: &[(String, u64)]) -> String {
    let each = lengths
        .iter()
        .map(|(name, len)| format!("`{name}` has {len}"));
    each.collect::<Vec<_>>().join(", ")
}

fn at(places: &[String]) -> String {
    match places {
        [] => String::new(),
        places => format!(", what stands at {}", places.join(" and at ")),
    }
}

fn entries(known: &[String]) -> String {
    match known {
        [] => "nothing is known of those that it has".into(),
        known => format!("it has {}", known.join(", ")),
    }
}

fn claimed(known: &[String]) -> String {
    match known {
        [] => "nothing of its sort is claimed".into(),
        known => format!("these are claimed: {}", known.join(", ")),
    }
}

fn reasons(reasons: &[(String, String)]) -> String {
    if reasons.is_empty() {
        return "no backend is registered; enable a feature of `sarek` such as `native`".into();
    }
    reasons
        .iter()
        .map(|(who, why)| format!("{who}: {why}"))
        .collect::<Vec<_>>()
        .join("; ")
}
