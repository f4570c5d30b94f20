//! The kernels of an executable as data, for `cargo sarek check`.
//!
//! If the environment variable `SAREK_COLLECT` is set while rustc runs, the macro registers each kernel, by [`__collect!`](crate::__collect). An
//! entry is a function in the section `.init_array`, which the system calls before `main`. Entries of generic kernels come from
//! [`instance`], which their launch functions call: rustc compiles one for each instance. The last entry is [`run`]. With the variable
//! `SAREK_COLLECT_INTO`, it writes all kernels to that file and ends the process, so `main` never runs.
//!
//! It works on systems with ELF files. Elsewhere nothing is registered.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use sarek_ir::write::DIALECTS;

use crate::device::{quoted, registry};
use crate::launch::{explain_kernel, prepared, rendered};
use crate::sync::lock;
use crate::{Kernel, KernelDef};

/// A kernel of the executable.
struct Entry {
    /// The path of its type.
    path: &'static str,
    def: &'static KernelDef,
}

/// A generic kernel, which has no definition by itself.
struct Generic {
    path: &'static str,
    file: &'static str,
    line: u32,
}

static KERNELS: Mutex<Vec<Entry>> = Mutex::new(vec![]);
static GENERIC: Mutex<Vec<Generic>> = Mutex::new(vec![]);

/// Registers a kernel.
pub extern "C" fn register<K: Kernel>() {
    lock(&KERNELS).push(Entry {
        path: std::any::type_name::<K>(),
        def: const { &K::DEF },
    });
}

/// Registers the existence of a generic kernel.
pub fn generic(path: &'static str, file: &'static str, line: u32) {
    lock(&GENERIC).push(Generic { path, file, line });
}

/// Registers an instance of a generic kernel: of each one that rustc compiles.
#[inline]
pub fn instance<K: Kernel>() {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(miri)
    ))]
    // SAFETY: the directives add a pointer to a section, and no instruction. The function has the type of its entries.
    unsafe {
        std::arch::asm!(
            ".pushsection .init_array.60000,\"aw\",%init_array",
            ".balign 8",
            ".8byte {entry}",
            ".popsection",
            entry = sym register::<K>,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// For the expansion of `#[kernel]`: registers a kernel, or the name of a generic one.
#[cfg(target_os = "linux")]
#[doc(hidden)]
#[macro_export]
macro_rules! __collect {
    (generic $name:ident) => {
        const _: () = {
            extern "C" fn note() {
                let path = ::core::concat!(::core::module_path!(), "::", ::core::stringify!($name));
                $crate::collect::generic(path, ::core::file!(), ::core::line!());
            }
            #[used]
            #[unsafe(link_section = ".init_array.60000")]
            static ENTRY: extern "C" fn() = note;
            $crate::__collect!();
        };
    };
    ($kernel:ty) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = ".init_array.60000")]
            static ENTRY: extern "C" fn() = $crate::collect::register::<$kernel>;
            $crate::__collect!();
        };
    };
    // Entries without a number come last. The mark tells `cargo sarek` that the executable does not run `main`.
    () => {
        #[used]
        #[unsafe(link_section = ".init_array")]
        static RUN: extern "C" fn() = $crate::collect::run;
        #[used]
        static MARK: [u8; 32] = *b"sarek: kernels of an executable.";
    };
}

/// For the expansion of `#[kernel]`: registers nothing on this system.
#[cfg(not(target_os = "linux"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __collect {
    ($($kernel:tt)*) => {};
}

/// Writes all kernels to the file in `SAREK_COLLECT_INTO` and ends the process; without the variable it does nothing.
pub extern "C" fn run() {
    let Some(file) = std::env::var_os("SAREK_COLLECT_INTO") else {
        return;
    };
    let written = catch_unwind(|| std::fs::write(&file, json()));
    std::process::exit(i32::from(!matches!(written, Ok(Ok(())))));
}

/// All kernels, as JSON.
fn json() -> String {
    let explained = std::env::var_os("SAREK_COLLECT_EXPLAIN");
    let explained = explained.and_then(|name| name.into_string().ok());
    let kernels = std::mem::take(&mut *lock(&KERNELS));
    let kernels: Vec<String> = kernels
        .iter()
        .map(|entry| kernel(entry, explained.as_deref()))
        .collect();
    let generic = lock(&GENERIC);
    let generic: Vec<String> = generic
        .iter()
        .map(|Generic { path, file, line }| {
            let (path, file) = (quoted(path), quoted(file));
            format!("{{\"path\":{path},\"file\":{file},\"line\":{line}}}")
        })
        .collect();
    let [kernels, generic] = [kernels, generic].map(|all| all.join(",\n"));
    format!("{{\"kernels\":[{kernels}],\n\"generic\":[{generic}]}}\n")
}

/// A kernel as JSON. Writing to a string cannot fail.
fn kernel(entry: &Entry, explained: Option<&str>) -> String {
    let mut out = format!("{{\"path\":{}", quoted(entry.path));
    let Ok(prepared) = catch_unwind(AssertUnwindSafe(|| prepared(entry.def))) else {
        return out + ",\"error\":\"it cannot be linked\"}";
    };
    let kernel = prepared.linked();
    let (name, file) = (quoted(&kernel.name), quoted(&kernel.file));
    let _ = write!(out, ",\"name\":{name},\"file\":{file}");
    if let Some([x, y, z]) = kernel.block {
        let _ = write!(out, ",\"block\":[{x},{y},{z}]");
    }
    let environments: Vec<String> = entry.def.environments.iter().map(|e| quoted(e)).collect();
    let _ = write!(out, ",\"environments\":[{}]", environments.join(","));
    let _ = write!(out, ",\"ir\":{}", quoted(&kernel.to_string()));
    if explained == Some(&*kernel.name) || explained == Some(entry.path) {
        let text = explain_kernel(registry::global(), &prepared);
        let _ = write!(out, ",\"explain\":{}", quoted(&text));
    }
    let texts: Vec<String> = DIALECTS
        .iter()
        .map(|dialect| match rendered(&prepared, dialect.name()) {
            Ok(source) => {
                let own = format!("{}.{}", kernel.name, dialect.name());
                let marked = source.with_line_markers(&kernel.file, &own).text;
                format!(
                    "{{\"target\":{},\"entry\":{},\"text\":{},\"marked\":{}}}",
                    quoted(dialect.name()),
                    quoted(&source.entry),
                    quoted(&source.text),
                    quoted(&marked)
                )
            }
            Err(error) => format!(
                "{{\"target\":{},\"refused\":{}}}",
                quoted(dialect.name()),
                quoted(&error.to_string())
            ),
        })
        .collect();
    let _ = write!(out, ",\"texts\":[{}]}}", texts.join(","));
    out
}
