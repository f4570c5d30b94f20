//! Compiled texts.

use std::sync::Arc;

use crate::{Error, Result};

/// A compiled text: bytes that only its backend understands (cubin, PTX, an OpenCL binary, WGSL),
/// and the names of the kernels in it.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// The compiler's messages.
    pub log: String,
    /// The names of the entry points. Empty if the compiler cannot list them:
    /// [`BackendDevice::load`](super::BackendDevice::load) then finds out whether one exists.
    pub entries: Vec<String>,
    /// The name for people, in lists of programs and in the cache on disk. The framework sets it: to
    /// that of [`Specialized::named`](crate::Specialized::named), or to the kernel's.
    pub name: String,
}

/// The beginning of an artifact on disk.
const MAGIC: &[u8] = b"sarek artifact 1\n";

impl Artifact {
    /// Makes an artifact whose entry points are not known.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Artifact {
        Artifact {
            bytes: bytes.into(),
            log: String::new(),
            entries: vec![],
            name: String::new(),
        }
    }

    /// Sets the compiler's messages.
    #[must_use]
    pub fn with_log(self, log: impl Into<String>) -> Artifact {
        let log = log.into();
        Artifact { log, ..self }
    }

    /// Sets the names of the entry points.
    #[must_use]
    pub fn with_entries(self, entries: impl IntoIterator<Item = impl Into<String>>) -> Artifact {
        let entries = entries.into_iter().map(Into::into).collect();
        Artifact { entries, ..self }
    }

    /// Checks that an entry point exists, as far as the names are known.
    ///
    /// # Errors
    /// [`Error::NoEntry`] with the names that exist.
    pub fn check_entry(&self, target: &str, entry: &str) -> Result<()> {
        match self.entries.is_empty() || self.entries.iter().any(|known| known == entry) {
            true => Ok(()),
            false => Err(Error::NoEntry {
                target: target.to_owned(),
                entry: entry.to_owned(),
                known: self.entries.clone(),
            }),
        }
    }

    /// The artifact as bytes for the disk: the number of names, each after its length, and the
    /// program. The first name is its own, the others are those of entry points.
    pub(crate) fn to_disk(&self) -> Vec<u8> {
        let mut all = MAGIC.to_vec();
        all.extend((self.entries.len() as u32 + 1).to_le_bytes());
        for name in [&self.name].into_iter().chain(&self.entries) {
            all.extend((name.len() as u32).to_le_bytes());
            all.extend(name.as_bytes());
        }
        all.extend(&*self.bytes);
        all
    }

    /// Reads what [`Artifact::to_disk`] wrote; `None` for anything else.
    pub(crate) fn from_disk(bytes: &[u8]) -> Option<Artifact> {
        fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
            let (number, rest) = bytes.split_first_chunk::<4>()?;
            Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
        }
        let (count, mut rest) = number(bytes.strip_prefix(MAGIC)?)?;
        let mut names = vec![];
        for _ in 0..count {
            let (len, behind) = number(rest)?;
            let (name, behind) = behind.split_at_checked(len)?;
            names.push(String::from_utf8(name.to_vec()).ok()?);
            rest = behind;
        }
        let mut names = names.into_iter();
        Some(Artifact {
            name: names.next()?,
            ..Artifact::new(rest).with_entries(names)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_disk() {
        for entries in [vec![], vec!["first", "second"]] {
            let mut artifact = Artifact::new(*b"program").with_entries(entries.clone());
            artifact.name = "gemm".into();
            let read = Artifact::from_disk(&artifact.to_disk()).unwrap();
            assert_eq!((&*read.name, read.entries), ("gemm", artifact.entries));
            assert_eq!(&*read.bytes, b"program");
        }
        let stored = Artifact::new(*b"").with_entries(["first"]).to_disk();
        for len in 0..stored.len() {
            assert!(Artifact::from_disk(&stored[..len]).is_none(), "{len} bytes");
        }
    }
}
