//! A cache on disk: a folder with one file for each entry.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::folder::Folder;
use crate::plugin::backend::Artifact;
use crate::sync::lock;

/// The first bytes of a file; another version has others.
const MAGIC: &[u8; 16] = b"sarek cache 001\n";

/// The size of a header: magic, length of the key, length of the bytes, checksum of both.
const HEADER: usize = 16 + 3 * 8;

/// The file extension of an entry, and that of an entry that is being written.
const ENTRY: &str = "entry";
const PARTIAL: &str = "partial";

/// The age at which a partial file counts as abandoned.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// A cache on disk.
pub struct Disk {
    /// The folder, or the reason why the cache is off.
    folder: Result<PathBuf, String>,
    limit: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    written: AtomicU64,
    problem: Mutex<Option<String>>,
}

/// The state and statistics of a cache.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The folder, or the reason why the cache is off.
    pub folder: Result<PathBuf, String>,
    /// The size of all entries in bytes.
    pub bytes: u64,
    /// The largest allowed size in bytes.
    pub limit: u64,
    /// The number of lookups that found an entry.
    pub hits: u64,
    /// The number of lookups that found none.
    pub misses: u64,
    /// The number of entries written.
    pub written: u64,
    /// The last error of a write.
    pub problem: Option<String>,
}

/// An entry of a cache, as its file tells.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The name of its file.
    pub file: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The time of its last use.
    pub used: SystemTime,
    /// The key; `None` if the file is damaged.
    pub key: Option<String>,
    /// The name of the program, if it is one: that of [`Specialized::named`](crate::Specialized::named),
    /// or the kernel's.
    pub name: Option<String>,
}

struct Entry {
    name: String,
    bytes: u64,
    used: SystemTime,
    partial: bool,
}

impl Disk {
    /// Opens the cache in a folder, which is created if it is missing. `limit` is in bytes.
    pub fn at(folder: PathBuf, limit: u64) -> Disk {
        let folder = match private(&folder) {
            Ok(()) => Ok(folder),
            Err(reason) => Err(format!("`{}`: {reason}", folder.display())),
        };
        Disk {
            folder,
            limit,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            written: AtomicU64::new(0),
            problem: Mutex::default(),
        }
    }

    /// A cache that is off, for this reason.
    pub fn off(reason: String) -> Disk {
        let mut off = Disk::at(PathBuf::new(), 0);
        off.folder = Err(reason);
        off
    }

    /// Returns the bytes stored under a key.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.as_ref().ok()?;
        let (name, folder) = (name(key), Folder::open(path).ok());
        let bytes = folder.as_ref().and_then(|folder| read(folder, &name).ok());
        let found = bytes.and_then(|file| decode(file, key));
        let count = match &found {
            Some(_) => &self.hits,
            None => &self.misses,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if let (Some(folder), Some(_)) = (folder, &found) {
            // The time of the last use only matters to eviction.
            let _ = folder
                .write(&name)
                .and_then(|file| file.set_modified(SystemTime::now()));
        }
        found
    }

    /// Stores bytes under a key, for this process and others. Errors are reported by
    /// [`Disk::status`] alone.
    pub fn put(&self, key: &str, bytes: &[u8]) {
        let Ok(path) = &self.folder else {
            return;
        };
        let name = name(key);
        let written = Folder::open(path).and_then(|folder| {
            let written = write(&folder, &name, &encode(key, bytes));
            self.evict(&folder);
            written.map_err(|error| error.to_string())
        });
        match written {
            Ok(()) => {
                self.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(reason) => {
                let message = format!("`{}`: {reason}", path.join(name).display());
                *lock(&self.problem) = Some(message);
            }
        }
    }

    /// Returns the state and statistics.
    pub fn status(&self) -> Status {
        let entries = self
            .opened()
            .map_or_else(Vec::new, |folder| entries(&folder));
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Status {
            folder: self.folder.clone(),
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
            limit: self.limit,
            hits: read(&self.hits),
            misses: read(&self.misses),
            written: read(&self.written),
            problem: lock(&self.problem).clone(),
        }
    }

    /// Reads all entries, and checks each of them. The most recently used one comes first.
    pub fn stored(&self) -> Vec<Stored> {
        let Some(folder) = self.opened() else {
            return vec![];
        };
        let mut entries = entries(&folder);
        entries.retain(|entry| !entry.partial);
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        let stored = |entry: Entry| {
            let found = read(&folder, &entry.name).ok().and_then(contents);
            let found = found.filter(|(key, _)| name(key) == entry.name);
            let (key, bytes) = found.unzip();
            let artifact = bytes.and_then(|bytes| Artifact::from_disk(&bytes));
            Stored {
                key,
                name: artifact.map(|artifact| artifact.name),
                file: entry.name,
                bytes: entry.bytes,
                used: entry.used,
            }
        };
        entries.into_iter().map(stored).collect()
    }

    /// Removes an entry, and returns true if it existed.
    pub fn remove(&self, stored: &Stored) -> bool {
        let folder = self.opened();
        folder.is_some_and(|folder| folder.remove(&stored.file).is_ok())
    }

    /// Removes all entries, and returns their size in bytes.
    pub fn clear(&self) -> u64 {
        let Some(folder) = self.opened() else {
            return 0;
        };
        let mut entries = entries(&folder);
        entries.retain(|entry| folder.remove(&entry.name).is_ok());
        entries.iter().map(|entry| entry.bytes).sum()
    }

    fn opened(&self) -> Option<Folder> {
        Folder::open(self.folder.as_ref().ok()?).ok()
    }

    /// Removes the least recently used entries until there is room, and abandoned partial files.
    fn evict(&self, folder: &Folder) {
        let mut entries = entries(folder);
        let now = SystemTime::now();
        let old = |entry: &Entry| {
            now.duration_since(entry.used)
                .is_ok_and(|age| age > GIVEN_UP)
        };
        for entry in entries.extract_if(.., |entry| entry.partial) {
            if old(&entry) {
                let _ = folder.remove(&entry.name);
            }
        }
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        if bytes <= self.limit {
            return;
        }
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            // Free some more room, so that the next writes need no eviction.
            if bytes <= self.limit / 4 * 3 {
                return;
            }
            // Another process may have removed it already.
            let _ = folder.remove(&entry.name);
            bytes -= entry.bytes;
        }
    }
}

/// The file name of a key.
fn name(key: &str) -> String {
    let halves = [SEED, !SEED].map(|seed| format!("{:016x}", hash(seed, key.as_bytes())));
    format!("{}.{ENTRY}", halves.concat())
}

fn read(folder: &Folder, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    folder.read(name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file under a temporary name and renames it, so that readers never see a part of it.
fn write(folder: &Folder, name: &str, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let partial = format!("{name}.{}-{number}.{PARTIAL}", std::process::id());
    let written = folder
        .create(&partial)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| folder.rename(&partial, name));
    if written.is_err() {
        let _ = folder.remove(&partial);
    }
    written
}

fn entries(folder: &Folder) -> Vec<Entry> {
    let entry = |name: String| {
        let kind = Path::new(&name).extension()?.to_str()?;
        let partial = kind == PARTIAL;
        (partial || kind == ENTRY).then_some(())?;
        let meta = folder.read(&name).ok()?.metadata().ok()?;
        Some(Entry {
            bytes: meta.len(),
            used: meta.modified().ok()?,
            partial,
            name,
        })
    };
    folder.names().into_iter().filter_map(entry).collect()
}

fn encode(key: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER + key.len() + bytes.len());
    file.extend(MAGIC);
    file.extend((key.len() as u64).to_le_bytes());
    file.extend((bytes.len() as u64).to_le_bytes());
    let checksum = hash(hash(SEED, key.as_bytes()), bytes);
    file.extend(checksum.to_le_bytes());
    file.extend(key.as_bytes());
    file.extend(bytes);
    file
}

/// The bytes in a file, if it is an intact entry of this key.
fn decode(mut file: Vec<u8>, key: &str) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?));
    let (key_len, len, checksum) = (word(16)?, word(24)?, word(32)?);
    let whole = (HEADER as u64).checked_add(key_len)?.checked_add(len)?;
    if file.get(..16)? != MAGIC || whole != file.len() as u64 {
        return None;
    }
    let start = HEADER + key.len();
    let found = file.get(HEADER..start)?;
    if key_len != key.len() as u64 || found != key.as_bytes() {
        return None;
    }
    let bytes = file.split_off(start);
    (hash(hash(SEED, key.as_bytes()), &bytes) == checksum).then_some(bytes)
}

/// The key and the bytes in a file, if it is an intact entry.
fn contents(file: Vec<u8>) -> Option<(String, Vec<u8>)> {
    let key_len = u64::from_le_bytes(*file.get(16..)?.first_chunk()?);
    let end = HEADER.checked_add(usize::try_from(key_len).ok()?)?;
    let key = String::from_utf8(file.get(HEADER..end)?.to_vec()).ok()?;
    let bytes = decode(file, &key)?;
    Some((key, bytes))
}

/// The offset basis of FNV-1a.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// The 64-bit FNV-1a hash. It detects accidental damage and names files; protection against
/// attackers comes from the folder's permissions.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(seed, step)
}

/// Creates a folder that only the user may write, or returns the reason why the existing one is
/// not.
fn private(path: &Path) -> Result<(), String> {
    let in_words = |error: io::Error| error.to_string();
    if path.as_os_str().is_empty() {
        return Err("no folder".into());
    }
    Folder::make(path).map_err(in_words)?;
    let folder = Folder::open(path)?;
    let probe = format!("{}-probe.{PARTIAL}", std::process::id());
    folder.create(&probe).map_err(in_words)?;
    let _ = folder.remove(&probe);
    Ok(())
}
