/// The result type of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of this crate. Each message says what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable has a value that it does not accept.
    #[error("the environment variable {variable} is `{value}`; it accepts {takes}")]
    Setting {
        /// The variable.
        variable: &'static str,
        /// The value.
        value: String,
        /// A description of the accepted values.
        takes: &'static str,
    },
    /// No registered backend has an eligible device.
    #[error("no device can run this: {}", reasons(.0))]
    NoDevice(Vec<(String, String)>),
    /// No backend of this name is registered, or it has no device.
    #[error("no device of backend `{backend}`: {reason}")]
    NoBackend {
        /// The requested backend.
        backend: String,
        /// The reason why it has no device.
        reason: String,
    },
    /// A backend has no device of this ordinal, or cannot open it.
    #[error("no device {ordinal} of backend `{backend}`: {reason}")]
    NoOrdinal {
        /// The backend.
        backend: String,
        /// The requested ordinal.
        ordinal: usize,
        /// The reason.
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
        /// The features or resources that the device lacks.
        reasons: Vec<String>,
    },
    /// A launch is malformed: for example, the device cannot run the block, or the block size is
    /// missing.
    #[error("cannot launch `{kernel}`: {problem}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// The vectors of a kernel over items have different lengths.
    #[error("`{kernel}` needs vectors of the same length to run over their items, but {}", of_lengths(.lengths))]
    Items {
        /// The kernel.
        kernel: String,
        /// The arguments, each with its length.
        lengths: Vec<(String, u64)>,
    },
    /// A launch does not meet a precondition under which the kernel is free of races.
    #[error("this launch of `{kernel}` violates its precondition: {requirement}")]
    Precondition {
        /// The kernel.
        kernel: String,
        /// The precondition, and the launch's actual value.
        requirement: String,
    },
    /// The interpreter, used as a sanitizer (`SAREK_SANITIZE`), found an error in a kernel.
    #[error("sanitizer, `{kernel}`: {finding}")]
    Sanitizer {
        /// The kernel.
        kernel: String,
        /// The error, with the threads involved and the place.
        finding: String,
    },
    /// A kernel failed while it ran.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The output hook, or the `Debug` or `Display` of a printed value, panicked. The kernel
    /// continued, and its results are valid.
    #[error(
        "the output of kernel `{kernel}` is incomplete, because printing panicked: {message}; its results are valid; fix the hook of `set_output`, or the `Debug` or `Display` of the printed type"
    )]
    Output {
        /// The kernel.
        kernel: String,
        /// The message of the panic.
        message: String,
    },
    /// The process is a child of `fork` whose parent has used devices; their threads and drivers
    /// belong to the parent.
    #[error(
        "this process is a child of `fork` whose parent had used devices; their threads and drivers do not exist here: use devices in a new program (`exec`), or fork before the first use; vectors on the host stay readable"
    )]
    Forked,
    /// The thread is ending, and the device state that it held is gone.
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
    /// A view does not fit its vector.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} from element {offset} on, of {len} elements: {problem}"
    )]
    View {
        /// The number of elements along each dimension.
        shape: Vec<usize>,
        /// The distance between neighbouring elements along each dimension, in elements.
        strides: Vec<usize>,
        /// The position of the first element.
        offset: usize,
        /// The length of the vector; for a window, the size of the view along the dimension that it
        /// exceeds.
        len: usize,
        /// The problem, and what to do.
        problem: &'static str,
    },
    /// A range lies outside a vector.
    #[error("the range {start}..{end} is out of bounds of a vector of length {len}")]
    Range {
        /// The first element.
        start: usize,
        /// One past the last element.
        end: usize,
        /// The vector's length.
        len: usize,
    },
    /// A value of another library, or a vector, cannot be converted: see `sarek::interop`.
    #[error("{from} cannot become {to}: {problem}")]
    Convert {
        /// A description of the value.
        from: &'static str,
        /// A description of the wanted type.
        to: &'static str,
        /// The problem, and what to do.
        problem: String,
    },
    /// A tensor of DLPack does not become a vector, or a vector no tensor.
    #[cfg(feature = "dlpack")]
    #[error("this tensor, or vector, cannot be converted: {0}")]
    Tensor(crate::dlpack::Refused),
    /// The number of elements differs from the vector's length.
    #[error("{found} elements cannot overwrite a vector of length {expected}")]
    Length {
        /// The vector's length.
        expected: usize,
        /// The number of elements passed.
        found: usize,
    },
    /// A target's compiler rejected the source: a bug in sarek, or in text of the user.
    #[error("the {target} compiler rejected `{kernel}`{}:\n{log}\n--- source ---\n{source_text}", at(.places))]
    Compile {
        /// The kernel.
        kernel: String,
        /// The target.
        target: String,
        /// The places in the user's source that the compiler's log mentions, in `native!` or a
        /// foreign kernel: file and line. The framework fills them in.
        places: Vec<String>,
        /// The compiler's messages.
        log: String,
        /// The text.
        source_text: String,
    },
    /// A definition, an option or a library from safe code is not known to be harmless to a
    /// kernel's text.
    #[error("`{kernel}` is not compiled with {part}: {problem}")]
    Unchecked {
        /// The kernel.
        kernel: String,
        /// The part.
        part: String,
        /// The problem, and what to write instead.
        problem: String,
    },
    /// A library cannot be linked with a kernel.
    #[error("`{kernel}` is not linked with the library `{library}` in {target}: {problem}")]
    Library {
        /// The kernel.
        kernel: String,
        /// The target.
        target: String,
        /// The library.
        library: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// A foreign kernel cannot be built or run.
    #[error("foreign kernel `{kernel}`: {problem}")]
    Foreign {
        /// The kernel, or the file of its text.
        kernel: String,
        /// The problem.
        problem: String,
    },
    /// A text has no entry point of the requested name.
    #[error("the text in {target} has no entry point `{entry}`; {}", entries(.known))]
    NoEntry {
        /// The language.
        target: String,
        /// The requested name.
        entry: String,
        /// The entry points that it has, if the driver reports them.
        known: Vec<String>,
    },
    /// The parameters of an entry point differ from the declared ones.
    #[error(
        "the text of `{kernel}` in {target} has other parameters than the declared ones: {problem}"
    )]
    Signature {
        /// The kernel.
        kernel: String,
        /// The language.
        target: String,
        /// The difference.
        problem: String,
    },
    /// Several backends claim the same subject.
    #[error("{what}: claimed by {}; only one backend may be in charge: unregister the others, or use the tags of one backend", .owners.join(", "))]
    Ambiguous {
        /// The subject.
        what: String,
        /// The backends.
        owners: Vec<String>,
    },
    /// No backend claims the requested subject.
    #[error("{what}: no backend claims it; {}", claimed(.known))]
    Unclaimed {
        /// The requested subject.
        what: String,
        /// The claims of the same kind, with their owners.
        known: Vec<String>,
    },
    /// A copy that a claim forbids.
    #[error("{what} are not possible: {reason}")]
    IllegalCopy {
        /// The copies in question.
        what: String,
        /// The reason.
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
    /// A context already has a vector of this name.
    #[error(
        "the context on {device} has a vector `{name}` already; overwrite that with `from_host`"
    )]
    AlreadyInContext {
        /// The vector.
        name: String,
        /// The context's device.
        device: String,
    },
    /// The merge buffer does not hold the vector that a routine consumes.
    #[error("the merge buffer of {device} must hold `{want}`, but holds {}", .have.as_deref().unwrap_or("nothing"))]
    MergeMismatch {
        /// The vector that the routine consumes.
        want: String,
        /// The vector in the buffer.
        have: Option<String>,
        /// The device.
        device: String,
    },
    /// A vector of a context is used with a wrong type, or in a wrong way.
    #[error("vector `{name}` of the context on {device}: {problem}")]
    Context {
        /// The vector.
        name: String,
        /// The context's device.
        device: String,
        /// The problem.
        problem: String,
    },
    /// A tag cannot be added or looked up.
    #[error("{kind} `{name}`: {problem}")]
    Tag {
        /// The kind of tag.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The arrays of a launch cannot be saved or restored, see [`crate::instrument`].
    #[error("cannot {action} `{parameter}` of `{kernel}`: {problem}")]
    Data {
        /// The action: `save` or `restore`.
        action: &'static str,
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// The problem.
        problem: Box<DataProblem>,
    },
    /// An environment cannot be used: it is unknown, depends on itself, or contradicts another.
    #[error("environment `{name}`: {problem}")]
    Environment {
        /// The environment.
        name: String,
        /// The problem.
        problem: String,
    },
    /// An intrinsic has no text for a target, has two, or has one that does not match it.
    #[error("intrinsic `{name}` for {target}: {problem}")]
    Intrinsic {
        /// The intrinsic.
        name: String,
        /// The target.
        target: String,
        /// The problem.
        problem: String,
    },
    /// A replay, or an update, does not match the recording of the graph.
    #[error("the graph on {device}: {problem}")]
    Graph {
        /// The graph's device.
        device: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// A device is out of memory, or the host, which is then named as "the host".
    #[error("{device} is out of memory: an allocation of {bytes} bytes failed")]
    OutOfMemory {
        /// The device.
        device: String,
        /// The size of the failed allocation in bytes.
        bytes: usize,
    },
    /// The device or its driver failed.
    #[error("{device}: {message}")]
    Device {
        /// The device.
        device: String,
        /// The driver's message.
        message: String,
    },
    /// The backend does not support the request.
    #[error("{backend} does not support {what}")]
    Unsupported {
        /// The backend.
        backend: String,
        /// The request.
        what: String,
    },
}

/// The reason why an array cannot be saved or restored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataProblem {
    /// There is no folder.
    #[error(
        "there is no folder for it: name one by `instrument::set_data_folder`, or register a provider of its own"
    )]
    NoFolder,
    /// The operating system refuses, for example because the file is missing or the disk is full.
    #[error("{}: {message}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// The kind of error.
        kind: std::io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// The file has no array, or only a part of one.
    #[error("{} is no saved array: {problem}", path.display())]
    Damaged {
        /// The file.
        path: std::path::PathBuf,
        /// The problem.
        problem: String,
    },
    /// The elements are of another type.
    #[error("its elements are `{want}`, and the saved ones `{have}`")]
    Element {
        /// The type of the launch's elements.
        want: String,
        /// The type of the saved elements.
        have: String,
    },
    /// There is another number of bytes.
    #[error("it has {want} bytes, and {have} were saved")]
    Size {
        /// The bytes of the launch's array.
        want: u64,
        /// The saved bytes.
        have: u64,
    },
    /// Some bytes are no value of the type.
    #[error("element {index} is no `{element}`: {problem}")]
    Value {
        /// The index of the element.
        index: u64,
        /// The type.
        element: String,
        /// The problem.
        problem: String,
    },
}

/// A failure of a kernel at one of its sites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The source file.
    pub file: String,
    /// The line, starting at 1.
    pub line: u32,
    /// The column, starting at 1.
    pub column: u32,
    /// The global ids of the thread along x, y and z.
    pub thread: [u64; 3],
    /// The kind of failure.
    pub kind: FaultKind,
}

/// The kinds of failure.
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
        /// The dimension, starting at 0.
        dimension: u32,
        /// The index.
        index: u64,
    },
    /// A divisor of 0.
    DivisionByZero,
    /// `MIN / -1`.
    DivisionOverflow,
    /// The result of integer arithmetic does not fit its type, or a shift count is not less than
    /// the width. As in rustc, it is reported in crates with debug assertions; in others integers
    /// wrap.
    Overflow {
        /// The operator or method: `+`, `<<`, `pow`.
        operation: String,
    },
    /// A failed assertion, with its message.
    Assert(String),
    /// The loops of a thread exceed the iterations that the device allows.
    TooManyIterations,
    /// A `panic!` or similar macro, with its message; or another panic of the compiled body.
    Panic(String),
}

impl Error {
    /// The error for a panic in a host backend's compiled body, at an unknown place.
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
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.thread;
        if self.file.is_empty()
            && let FaultKind::Panic(message) = &self.kind
        {
            // The panic has already printed its place.
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

fn of_lengths(lengths: &[(String, u64)]) -> String {
    let each = lengths
        .iter()
        .map(|(name, len)| format!("`{name}` has {len}"));
    each.collect::<Vec<_>>().join(", ")
}

fn at(places: &[String]) -> String {
    match places {
        [] => String::new(),
        places => format!(", written at {}", places.join(" and at ")),
    }
}

fn entries(known: &[String]) -> String {
    match known {
        [] => "the driver does not list those that it has".into(),
        known => format!("it has {}", known.join(", ")),
    }
}

fn claimed(known: &[String]) -> String {
    match known {
        [] => "no backend claims anything of this kind".into(),
        known => format!("the claims of this kind are: {}", known.join(", ")),
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
