//! A device under test, with helpers.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use sarek_backends::builtin;
use sarek_ir::Kernel;
use sarek_ir::write::Source;
use sarek_runtime::backend::{
    Arg, Args, Artifact, Backend, BackendDevice, BackendStream, Codegen, Launch, Origin, Parts,
    Program, ScalarBytes, Slice, States,
};
use sarek_runtime::host::IndexSpace;
use sarek_runtime::tag::ScheduleKind;
use sarek_runtime::{Error, Result};

use crate::require;

/// A device under test.
pub struct Rig {
    pub backend: &'static str,
    pub device: Arc<dyn BackendDevice>,
    pub stream: Arc<dyn BackendStream>,
}

/// Copies for tests. They only use memory that the test has written, in the order of their streams.
pub trait Copies {
    fn put(&self, to: &Slice, bytes: &[u8]) -> Result<()>;
    fn take(&self, from: &Slice, bytes: &mut [u8]) -> Result<()>;
    fn clear(&self, to: &Slice) -> Result<()>;
    fn duplicate(&self, to: &Slice, from: &Slice) -> Result<bool>;
}

impl Copies for dyn BackendStream {
    fn put(&self, to: &Slice, bytes: &[u8]) -> Result<()> {
        // SAFETY: as documented at the trait.
        unsafe { self.copy_in(to, bytes) }
    }

    fn take(&self, from: &Slice, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: as documented at the trait.
        unsafe { self.copy_out(from, bytes) }
    }

    fn clear(&self, to: &Slice) -> Result<()> {
        // SAFETY: as documented at the trait.
        unsafe { self.zero(to) }
    }

    fn duplicate(&self, to: &Slice, from: &Slice) -> Result<bool> {
        // SAFETY: as documented at the trait.
        unsafe { self.copy(to, from) }
    }
}

/// A loaded program.
pub type Loaded = Arc<dyn Any + Send + Sync>;

/// Runs a test on each device of a backend.
pub fn on_each_device(backend: &'static str, test: fn(&Rig)) {
    let found = registered().iter().find(|(b, _)| b.name() == backend);
    let Some((_, devices)) = found else {
        return require::skip(backend, "this build is without its feature");
    };
    match devices {
        Err(reason) => require::skip(backend, reason),
        Ok(devices) => {
            for device in devices {
                test(&Rig {
                    backend,
                    device: device.clone(),
                    stream: device.stream(),
                });
            }
        }
    }
}

type Devices = Result<Vec<Arc<dyn BackendDevice>>, String>;

/// The backends, with their devices opened once.
fn registered() -> &'static [(Arc<dyn Backend>, Devices)] {
    static REGISTERED: OnceLock<Vec<(Arc<dyn Backend>, Devices)>> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        let opened = builtin().into_iter().map(|backend| {
            let devices = backend.count().map(|count| {
                let open = |n| backend.open(n).expect("a counted device opens");
                (0..count).map(open).collect()
            });
            (backend, devices)
        });
        opened.collect()
    })
}

impl Rig {
    pub fn alloc(&self, bytes: usize) -> Slice {
        let mem = self.device.alloc(bytes).expect("memory");
        assert_eq!(mem.len(), bytes);
        whole(mem)
    }

    /// New memory with this content.
    pub fn upload<T: Bytes>(&self, data: &[T]) -> Slice {
        let bytes = to_bytes(data);
        let slice = self.alloc(bytes.len());
        self.stream.put(&slice, &bytes).expect("copy in");
        slice
    }

    pub fn download<T: Bytes>(&self, slice: &Slice) -> Vec<T> {
        read(&*self.stream, slice)
    }

    pub fn compile(&self, source: &Source) -> Result<Artifact> {
        match self.device.codegen() {
            // SAFETY: there are no parts.
            Codegen::Jit(_, compiler) => unsafe {
                compiler.compile("under_test", source, &Parts::new())
            },
            Codegen::Direct | Codegen::Interpret | Codegen::Custom(_) => {
                panic!("{} compiles source", self.backend)
            }
        }
    }

    pub fn load(&self, source: &Source, artifact: &Artifact, block: [u32; 3]) -> Result<Loaded> {
        self.load_entry(source, artifact, &source.entry, block)
    }

    /// Loads one kernel of an artifact.
    pub fn load_entry(
        &self,
        source: &Source,
        artifact: &Artifact,
        entry: &str,
        block: [u32; 3],
    ) -> Result<Loaded> {
        let program = Program::Binary {
            artifact,
            entry,
            source,
            kernel: "under_test",
            block,
            shared: &[],
            parts: &Parts::new(),
            origin: Origin::Rendered(&Arc::new(Kernel::new("under_test"))),
        };
        // SAFETY: tests compile their texts on this device.
        unsafe { self.device.load(&program) }
    }

    /// Compiles and loads.
    pub fn program(&self, source: &Source, block: [u32; 3]) -> Loaded {
        let artifact = self.compile(source).expect("the kernel compiles");
        self.load(source, &artifact, block).expect("it loads")
    }

    /// Launches on the default stream, in blocks of 64 along x, at least `threads` threads.
    pub fn launch(&self, program: &Loaded, threads: u32, args: &[Arg]) -> Result<()> {
        launch(&*self.stream, program, threads, 64, args)
    }
}

pub const BLOCK: [u32; 3] = [64, 1, 1];

pub fn launch(
    stream: &dyn BackendStream,
    program: &Loaded,
    threads: u32,
    block: u32,
    args: &[Arg],
) -> Result<()> {
    let grid = threads.div_ceil(block);
    let launch = Launch {
        program: &**program,
        kernel: "under_test",
        space: IndexSpace {
            grid: [grid.into(), 1, 1],
            block: [block, 1, 1],
            extent: [threads.into(), 1, 1],
        },
        grid: [grid, 1, 1],
        schedule: &ScheduleKind::blocks(),
        environments: &States::default(),
        args: Args::Device(args),
    };
    // SAFETY: tests pass arguments that their texts take, or that the backend refuses.
    let fault = unsafe { stream.launch(&launch) }?;
    assert!(fault.is_none(), "faults are recorded in memory");
    Ok(())
}

pub fn read<T: Bytes>(stream: &dyn BackendStream, slice: &Slice) -> Vec<T> {
    let mut bytes = vec![0xAA; slice.len];
    stream.take(slice, &mut bytes).expect("copy out");
    from_bytes(&bytes)
}

pub fn whole(mem: Arc<dyn sarek_runtime::backend::Mem>) -> Slice {
    let len = mem.len();
    Slice {
        mem,
        offset: 0,
        len,
    }
}

/// A part of a slice, in bytes from its start.
pub fn part(slice: &Slice, offset: usize, len: usize) -> Slice {
    assert!(offset + len <= slice.len);
    Slice {
        mem: slice.mem.clone(),
        offset: slice.offset + offset,
        len,
    }
}

pub fn buffer(slice: &Slice) -> Arg {
    Arg::Buffer(slice.clone())
}

pub fn scalar<T: Bytes>(value: T) -> Arg {
    let bytes = to_bytes(&[value]);
    Arg::Scalar(match bytes.as_slice() {
        &[a, b, c, d] => ScalarBytes::four([a, b, c, d]),
        &[a, b, c, d, e, f, g, h] => ScalarBytes::eight([a, b, c, d, e, f, g, h]),
        other => panic!("a scalar of {} bytes", other.len()),
    })
}

/// Element types of the tests' vectors.
pub trait Bytes: Copy {
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($t:ty)*) => {$(
        impl Bytes for $t {
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}
bytes!(u8 u32 u64 f32);

pub fn to_bytes<T: Bytes>(data: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(data));
    for value in data {
        value.write(&mut bytes);
    }
    bytes
}

fn from_bytes<T: Bytes>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks(size_of::<T>()).map(T::read).collect()
}

/// The log of a compile error.
pub fn compile_log(result: Result<Artifact>, text: &str) -> String {
    match result {
        Err(Error::Compile {
            log, source_text, ..
        }) => {
            assert_eq!(source_text, text);
            log
        }
        Err(other) => panic!("not a compile error: {other}"),
        Ok(_) => panic!("it compiled"),
    }
}
