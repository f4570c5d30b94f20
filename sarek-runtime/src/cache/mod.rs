//! The disk cache of compiled programs, shared by all processes of a user.
//!
//! An entry is a file named by a hash of its key. It holds the whole key, so that keys with equal
//! hashes are told apart, and a checksum, so that a truncated or changed file is a miss. Entries
//! are written under a temporary name and renamed, so readers see all of an entry or none.
//!
//! The folder is accessible by the user alone (mode 0700). It is not used if it belongs to another
//! user, if others may write it, or if it is a symbolic link. Each use checks this on an open
//! handle, through which the files are accessed. When the entries exceed the limit, the least
//! recently used ones are removed.
//!
//! The cache does not make launches fail. A file that cannot be read counts as a miss. A failed
//! write is ignored, and [`status`] reports it. A program that the driver refuses is compiled anew,
//! once, and replaces the entry.
//!
//! | Environment variable | |
//! |---|---|
//! | `SAREK_CACHE` | the folder, or `off`; by default `sarek` in `$XDG_CACHE_HOME` or `~/.cache` |
//! | `SAREK_CACHE_MIB` | the limit in MiB, 256 by default |

mod disk;
mod folder;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::OnceLock;

pub use disk::{Disk, Status, Stored};

use crate::settings;

/// Returns the cache of this process, for backends that store what their drivers compiled.
///
/// # Safety
/// The bytes stored under a key are the program that the key stands for: lookups run them.
pub unsafe fn global() -> &'static Disk {
    disk()
}

/// The cache of this process.
pub(crate) fn disk() -> &'static Disk {
    static GLOBAL: OnceLock<Disk> = OnceLock::new();
    GLOBAL.get_or_init(|| match folder() {
        Ok(folder) => Disk::at(folder, limit()),
        Err(reason) => Disk::off(reason),
    })
}

/// Returns the folder of this process's cache, or the reason why it is off, with statistics.
pub fn status() -> Status {
    disk().status()
}

/// Removes all entries, and returns their size in bytes.
pub fn clear() -> u64 {
    disk().clear()
}

/// Reads all entries, and checks each of them. The most recently used one comes first.
pub fn stored() -> Vec<Stored> {
    disk().stored()
}

/// Removes an entry, and returns true if it existed.
pub fn remove(stored: &Stored) -> bool {
    disk().remove(stored)
}

fn folder() -> Result<PathBuf, String> {
    match settings::path("SAREK_CACHE") {
        Some(off) if off == "off" => return Err("SAREK_CACHE is `off`".into()),
        Some(folder) => return Ok(folder.into()),
        None => {}
    }
    let base = settings::path("XDG_CACHE_HOME")
        .or_else(|| settings::path("LOCALAPPDATA"))
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(settings::path("HOME")?).join(".cache")));
    match base {
        Some(base) => Ok(base.join("sarek")),
        None => Err("there is no home folder; set SAREK_CACHE".into()),
    }
}

fn limit() -> u64 {
    settings::cache_mib().unwrap_or(256) << 20
}
