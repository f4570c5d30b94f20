//! Environments: `native!` text that calls a function from the user's header.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sarek::environment::{self, Environment, Parts};
use sarek::prelude::*;
use sarek::{Error, Result};

/// Stores `SCALE * x[i]` in `y[i]`, by a function from the header `scale.h`.
#[kernel]
fn scaled(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let from = x[i];
    let mut to = 0u32;
    // SAFETY: each text assigns one variable of this thread.
    unsafe {
        native! {
            "cuda" => "{to} = scaled_by({from});",
            "opencl" => "{to} = scaled_by({from});",
            "wgsl" => "{to} = scaled_by({from});",
            _ => { to = 3 * from; }
        }
    }
    y[i] = to;
}

const WGSL: &str = "fn scaled_by(x: u32) -> u32 { return SCALE * x; }";

/// Creates a folder with the header.
fn folder() -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("environments");
    let device = "#ifdef __CUDACC__\n#define DEVICE static __device__\n#else\n#define DEVICE static\n#endif\n";
    let function = "DEVICE unsigned int scaled_by(unsigned int x) { return SCALE * x; }\n";
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("scale.h"), format!("{device}{function}")).expect("a header");
    folder
}

fn run(device: &Device, environment: &str) -> Result<Vec<u32>> {
    let x: Vector<u32> = (0..100).collect();
    let mut y = Vector::zeros(100);
    scaled(&x, &mut y)
        .environment(environment)
        .over(100)
        .run_on(device)?;
    y.to_vec()
}

#[test]
fn kernels_bring_their_headers() -> Result<()> {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let folder = folder();
    environment::register(Environment::new("scale", |target| {
        assert!(["cuda", "opencl", "wgsl"].contains(&target));
        Ok(Parts::new().define("SCALE", "3u"))
    }))?;
    let header = Environment::new("scale.h", move |target| {
        Ok(match target {
            // SAFETY: the header declares one function, for the texts of `scaled`.
            "wgsl" => unsafe { Parts::new().header(WGSL) },
            // SAFETY: as above.
            _ => unsafe { Parts::new().include_dir(&folder).header("scale.h") },
        })
    });
    environment::register(header.depends_on("scale").init(|_| {
        STARTED.fetch_add(1, Relaxed);
        Ok(Box::new(()))
    }))?;
    let expected: Vec<u32> = (0..100).map(|x| 3 * x).collect();
    let devices = Device::all();
    for device in &devices {
        for _ in 0..2 {
            assert_eq!(run(device, "scale.h")?, expected, "{device}");
        }
    }
    assert_eq!(STARTED.load(Relaxed), devices.len(), "once for each device");
    Ok(())
}

#[test]
fn missing_environments_and_libraries_are_errors() -> Result<()> {
    for device in Device::all() {
        let error = run(&device, "nowhere").expect_err("nobody registered it");
        assert!(
            matches!(error, Error::Environment { .. }),
            "{device}: {error}"
        );
        assert!(error.to_string().contains("`nowhere`"));
    }
    // No library of this name exists. Without somebody who vouches for it, none is looked for.
    let library = Environment::new("library", |_| Ok(Parts::new().library("m")));
    environment::register(library)?;
    // SAFETY: the library is never linked.
    let vouched = || unsafe { Parts::new().raw_library("m") };
    environment::register(Environment::new("vouched", move |_| Ok(vouched())))?;
    for device in Device::all() {
        let (safe, vouched) = (run(&device, "library"), run(&device, "vouched"));
        if device.info().host_memory {
            assert!(safe.is_ok() && vouched.is_ok(), "compiled Rust needs none");
            continue;
        }
        assert!(matches!(safe, Err(Error::Unchecked { .. })), "{safe:?}");
        assert!(
            matches!(&vouched, Err(Error::Library { library, .. }) if library == "m"),
            "{vouched:?}"
        );
    }
    Ok(())
}

/// A similar kernel, whose attribute names its environments.
#[kernel(env(attached, "attached.h"))]
fn attached(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let from = x[i];
    // SAFETY: the texts read and yield.
    y[i] = unsafe {
        native! {
            "cuda" => "attached_by({from})" as u32,
            "opencl" => "attached_by({from})" as u32,
            "wgsl" => "attached_by({from})" as u32,
            _ => { 5 * from }
        }
    };
}

const ATTACHED: &str = "#ifdef __CUDACC__\n__device__\n#endif\nunsigned int attached_by(unsigned int x) { return FIVE * x; }\n";

#[test]
fn kernels_name_their_environments() -> Result<()> {
    let x: Vector<u32> = (0..10).collect();
    let devices = Device::all();
    for device in &devices {
        let mut y = Vector::zeros(10);
        let error = attached(&x, &mut y).over(10).run_on(device);
        let error = error.expect_err("nobody registered them").to_string();
        assert!(error.contains("`attached`"), "{device}: {error}");
    }
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let started = Environment::new("attached", |_| Ok(Parts::new().define("FIVE", "5u")));
    environment::register(started.init(|_| {
        STARTED.fetch_add(1, Relaxed);
        Ok(Box::new(()))
    }))?;
    environment::register(Environment::new("attached.h", |target| {
        Ok(match target {
            // SAFETY: the header declares one function, for the texts of `attached`.
            "wgsl" => unsafe {
                Parts::new().header("fn attached_by(x: u32) -> u32 { return FIVE * x; }")
            },
            // A header from a string instead of a file.
            // SAFETY: as above.
            _ => unsafe {
                Parts::new()
                    .header("attached.h")
                    .file("attached.h", ATTACHED)
            },
        })
    }))?;
    let expected: Vec<u32> = (0..10).map(|x| 5 * x).collect();
    for device in &devices {
        let mut y = Vector::zeros(10);
        attached(&x, &mut y).over(10).run_on(device)?;
        assert_eq!(y.to_vec()?, expected, "{device}");
        // A launch adds an environment to those of the kernel, which gives another program.
        environment::register(Environment::new("more", |_| {
            Ok(Parts::new().define("FIVE", "6u"))
        }))?;
        let launch = attached(&x, &mut y).environment("more").over(10);
        let conflict = launch.run_on(device);
        assert_eq!(conflict.is_err(), !device.info().host_memory, "{device}");
        environment::unregister("more");
    }
    assert_eq!(STARTED.load(Relaxed), devices.len());
    Ok(())
}

#[test]
fn safe_environments_leave_kernel_texts_unchanged() -> Result<()> {
    let scaled_with = |device: &Device, parts: Parts| {
        let x: Vector<u32> = (0..4).collect();
        let mut y = Vector::zeros(4);
        let launch = scaled(&x, &mut y).environment("scale by 3");
        launch.options(parts).over(4).run_on(device)?;
        y.to_vec()
    };
    environment::register(Environment::new("scale by 3", |target| {
        let parts = Parts::new().define("SCALE", "3u");
        let function = match target {
            "wgsl" => WGSL.to_owned(),
            _ => "scale by 3".to_owned(),
        };
        // SAFETY: the header declares one function, for the texts of `scaled`.
        let parts = unsafe { parts.header(function) };
        // SAFETY: as above.
        Ok(unsafe { parts.file("scale by 3", SCALED) })
    }))?;
    for device in Device::all().iter().filter(|d| !d.info().host_memory) {
        let unused = Parts::new().define("UNUSED", "1");
        assert_eq!(scaled_with(device, unused)?, [0, 3, 6, 9], "{device}");
        for refused in [
            // A keyword that index checks use, and names of the kernel's variables and of its texts' operands.
            Parts::new().define("if(x)", "if(0)"),
            Parts::new().define("if", "1"),
            Parts::new().define("i", "7"),
            Parts::new().define("from", "7"),
            Parts::new().define("TWO", "2u; trap()"),
            Parts::new().flag("-Dif(x)=if(0)"),
            Parts::new().library("m"),
        ] {
            let outcome = scaled_with(device, refused.clone());
            let is_refused = matches!(outcome, Err(Error::Unchecked { .. }));
            assert!(is_refused, "{device}, {refused:?}: {outcome:?}");
        }
    }
    Ok(())
}

const SCALED: &str = "#ifdef __CUDACC__\n__device__\n#endif\nunsigned int scaled_by(unsigned int x) { return SCALE * x; }\n";

/// Replaces each number by the entry of a table.
#[kernel]
fn looked_up(table: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = table[y[i] as usize];
}

#[test]
fn launches_read_what_an_environment_keeps() -> Result<()> {
    struct Tables {
        squares: Vector<u32>,
        started: usize,
    }
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let squares = Environment::new("squares", |_| Ok(Parts::new()));
    environment::register(squares.init(|_| {
        Ok(Box::new(Tables {
            squares: (0..10).map(|x| x * x).collect(),
            started: STARTED.fetch_add(1, Relaxed),
        }))
    }))?;
    for (number, device) in Device::all().iter().enumerate() {
        for _ in 0..2 {
            let tables = device.environment::<Tables>("squares")?;
            assert_eq!(tables.started, number, "{device} has one of its own");
            let mut y: Vector<u32> = (0..10).collect();
            let launch = looked_up(&tables.squares, &mut y).environment("squares");
            launch.over(10).run_on(device)?;
            let expected: Vec<u32> = (0..10).map(|x| x * x).collect();
            assert_eq!(y.to_vec()?, expected, "{device}");
        }
    }
    Ok(())
}

/// Stores `cubed(x[i])` in `y[i]`, by a function from a library.
#[kernel]
fn cubes(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let from = x[i];
    // SAFETY: the texts read and yield.
    y[i] = unsafe {
        native! {
            "cuda" => "cubed({from})" as u32,
            "opencl" => "cubed({from})" as u32,
            "wgsl" => "cubed({from})" as u32,
            _ => { from * from * from }
        }
    };
}

const DECLARED: &str =
    "#ifdef __CUDACC__\nextern \"C\" __device__\n#endif\nunsigned int cubed(unsigned int x);\n";
const CUBED: &str = "unsigned int squared(unsigned int x);\n\
    unsigned int cubed(unsigned int x) { return x * squared(x); }\n";
const SQUARED: &str = "unsigned int squared(unsigned int x) { return x * x; }\n";

/// The declaration of the function, and libraries with these names.
fn libraries(names: &[&str]) -> Parts {
    // SAFETY: the header declares a function of the libraries, for the texts of `cubes`.
    let parts = unsafe { Parts::new().header("cubed.h").file("cubed.h", DECLARED) };
    // SAFETY: as above.
    let parts = unsafe { parts.file("cubed.cl", CUBED) };
    // SAFETY: the libraries have the function, or are no libraries.
    let add = |parts: Parts, name: &&str| unsafe { parts.raw_library(*name) };
    names.iter().fold(parts, add)
}

#[test]
fn kernels_call_functions_of_libraries() -> Result<()> {
    // One library is given as a text, and the other one is a file on disk.
    let on_disk = folder().join("squared.cl");
    std::fs::write(&on_disk, SQUARED).expect("a library");
    let on_disk = on_disk.to_str().expect("a path").to_owned();
    for (name, names) in [
        ("linked", vec!["cubed.cl", &on_disk]),
        ("unresolved", vec!["cubed.cl"]),
        ("nowhere.a", vec!["cubed.cl", "/nowhere/nowhere.a"]),
    ] {
        let parts = libraries(&names);
        environment::register(Environment::new(name, move |_| Ok(parts.clone())))?;
    }
    for device in Device::all() {
        let x: Vector<u32> = (0..10).collect();
        let mut y = Vector::zeros(10);
        let mut run = |environment: &str| {
            let launch = cubes(&x, &mut y).environment(environment);
            launch.over(10).run_on(&device)?;
            y.to_vec()
        };
        if device.info().host_memory {
            assert_eq!(run("linked")?[3], 27, "compiled Rust needs no library");
            continue;
        }
        let missing = run("nowhere.a").expect_err("the file does not exist");
        assert!(matches!(missing, Error::Library { .. }), "{missing}");
        let library = match device.backend() {
            "wgpu" => "cubed.cl",
            _ => "/nowhere/nowhere.a",
        };
        assert!(missing.to_string().contains(library), "{missing}");
        if device.backend() != "opencl" {
            // WGSL has no linker, and NVIDIA's takes no OpenCL C.
            let error = run("linked").expect_err("it cannot be linked");
            assert!(matches!(error, Error::Library { .. }), "{device}: {error}");
            continue;
        }
        let unresolved = run("unresolved").expect_err("`squared` is nowhere");
        assert!(matches!(unresolved, Error::Compile { .. }), "{unresolved}");
        assert_eq!(
            run("linked")?,
            (0..10).map(|x| x * x * x).collect::<Vec<_>>()
        );
    }
    Ok(())
}
