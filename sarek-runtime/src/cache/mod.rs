//! Compiled programs on disk, shared by all processes of a user.
//!
//! An entry is a file named by a hash of its key and holds the whole key, so that two keys of one hash are told apart;
//! and a checksum, so that what was cut off or changed is a miss. Entries are written under another name and
//! renamed: whoever reads sees all of one or nothing. The folder belongs to the user alone (mode 0700), and is not
//! used if it is somebody else's, if others may write it, or if it is a symbolic link. That is looked at at each use, of an open
//! handle, through which its files are reached. When the entries exceed the limit, those go that were not used the longest.
//!
//! Nothing here fails a launch: a cache that cannot be read misses, one that cannot be written stays as it is, and
//! [`status`] tells why.
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

pub use disk::{Disk, Status};

use crate::settings;

/// The cache of this process, for backends that keep what their drivers compiled.
///
/// # Safety
/// What is put under a key is what the key stands for: whoever looks it up runs it as a program.
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

/// Where the cache of this process is, or why there is none, and how it was used so far.
pub fn status() -> Status {
    disk().status()
}

/// Removes all entries; the bytes that these were.
pub fn clear() -> u64 {
    disk().clear()
}

fn folder() -> Result<PathBuf, String> {
    let told = settings::path;
    match told("SAREK_CACHE") {
        Some(off) if off == "off" => return Err("SAREK_CACHE is `off`".into()),
        Some(folder) => return Ok(folder.into()),
        None => {}
    }
    let base = told("XDG_CACHE_HOME")
        .or_else(|| told("LOCALAPPDATA"))
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(told("HOME")?).join(".cache")));
    match base {
        Some(base) => Ok(base.join("sarek")),
        None => Err("there is no home folder; set SAREK_CACHE".into()),
    }
}

fn limit() -> u64 {
    settings::cache_mib().unwrap_or(256) << 20
}
