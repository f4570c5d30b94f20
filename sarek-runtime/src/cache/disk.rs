//! A folder of entries.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::sync::lock;

/// How a file begins; another one is of another version.
const MAGIC: &[u8; 16] = b"sarek cache 001\n";

/// Magic, length of the key, length of the bytes, checksum of both.
const HEADER: usize = 16 + 3 * 8;

/// The end of an entry's name, and that of one that is being written.
const ENTRY: &str = "entry";
const PARTIAL: &str = "partial";

/// What is being written for longer was given up.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// A cache on disk.
pub struct Disk {
    /// Its folder, or why it is not used.
    folder: Result<PathBuf, String>,
    limit: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    written: AtomicU64,
    problem: Mutex<Option<String>>,
}

/// How a cache is doing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Its folder, or why it is not used.
    pub folder: Result<PathBuf, String>,
    /// Bytes of all entries.
    pub bytes: u64,
    /// The most that they may be.
    pub limit: u64,
    /// Entries found.
    pub hits: u64,
    /// Entries looked for in vain.
    pub misses: u64,
    /// Entries written.
    pub written: u64,
    /// What went wrong last.
    pub problem: Option<String>,
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    partial: bool,
}

impl Disk {
    /// The cache in a folder, which is made if need be.
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

    /// No cache.
    pub fn off(reason: String) -> Disk {
        let mut off = Disk::at(PathBuf::new(), 0);
        off.folder = Err(reason);
        off
    }

    /// The bytes kept under a key.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let found = fs::read(&path).ok().and_then(|file| decode(file, key));
        let count = match &found {
            Some(_) => &self.hits,
            None => &self.misses,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if found.is_some() {
            // Whether it was used lately matters to the eviction alone.
            let _ = File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(SystemTime::now()));
        }
        found
    }

    /// Keeps bytes under a key, for this process and others.
    ///
    /// # Safety
    /// The bytes are what the key stands for: whoever looks it up runs them as a program.
    pub unsafe fn put(&self, key: &str, bytes: &[u8]) {
        self.keep(key, bytes);
    }

    /// As [`Disk::put`], of bytes that nobody runs.
    pub(super) fn keep(&self, key: &str, bytes: &[u8]) {
        let Some(path) = self.path(key) else {
            return;
        };
        match self.write(&path, key, bytes) {
            Ok(()) => {
                self.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                let told = format!("`{}`: {error}", path.display());
                *lock(&self.problem) = Some(told);
            }
        }
    }

    /// How it is doing.
    pub fn status(&self) -> Status {
        let entries = self.entries();
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

    /// Removes all entries; the bytes that these were.
    pub fn clear(&self) -> u64 {
        let mut bytes = 0;
        for entry in self.entries() {
            if fs::remove_file(&entry.path).is_ok() {
                bytes += entry.bytes;
            }
        }
        bytes
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref().ok()?;
        let name = [SEED, !SEED].map(|seed| format!("{:016x}", hash(seed, key.as_bytes())));
        Some(folder.join(format!("{}.{ENTRY}", name.concat())))
    }

    fn write(&self, path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_extension(format!("{}-{number}.{PARTIAL}", std::process::id()));
        let written = create(&partial)
            .and_then(|mut file| file.write_all(&encode(key, bytes)))
            .and_then(|()| fs::rename(&partial, path));
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        self.evict();
        written
    }

    fn entries(&self) -> Vec<Entry> {
        let Ok(folder) = &self.folder else {
            return Vec::new();
        };
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let entry = |file: fs::DirEntry| {
            let (path, meta) = (file.path(), file.metadata().ok()?);
            let kind = path.extension()?.to_str()?;
            let partial = kind == PARTIAL;
            (partial || kind == ENTRY).then_some(())?;
            Some(Entry {
                bytes: meta.len(),
                used: meta.modified().ok()?,
                partial,
                path,
            })
        };
        files.filter_map(entry).collect()
    }

    /// Removes what was not used the longest until there is room, and what nobody will finish.
    fn evict(&self) {
        let mut entries = self.entries();
        let now = SystemTime::now();
        let old = |entry: &Entry| {
            now.duration_since(entry.used)
                .is_ok_and(|age| age > GIVEN_UP)
        };
        for entry in entries.extract_if(.., |entry| entry.partial) {
            if old(&entry) {
                let _ = fs::remove_file(&entry.path);
            }
        }
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        if bytes <= self.limit {
            return;
        }
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            // Some room for the next ones, so that not each of them has to look again.
            if bytes <= self.limit / 4 * 3 {
                return;
            }
            // Another process may have done it.
            let _ = fs::remove_file(&entry.path);
            bytes -= entry.bytes;
        }
    }
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

/// The basis of FNV-1a.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of 64 bits: it finds accidents, and names files. Against malice stands who may write the folder.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(seed, step)
}

/// Makes a folder that the user alone may write, or tells why the one there is not.
fn private(folder: &Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    if folder.as_os_str().is_empty() {
        return Err("no folder".into());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(told)?;
    let probe = folder.join(format!("{}-probe.{PARTIAL}", std::process::id()));
    let file = create(&probe).map_err(told)?;
    let _ = fs::remove_file(&probe);
    owned(folder, &file)
}

#[cfg(unix)]
fn owned(folder: &Path, mine: &File) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let told = |error: io::Error| error.to_string();
    let (folder, mine) = (
        fs::metadata(folder).map_err(told)?,
        mine.metadata().map_err(told)?,
    );
    if folder.uid() != mine.uid() {
        return Err("it belongs to somebody else".into());
    }
    match folder.mode() & 0o022 {
        0 => Ok(()),
        _ => Err("others may write it".into()),
    }
}

#[cfg(not(unix))]
fn owned(_folder: &Path, _mine: &File) -> Result<(), String> {
    Ok(())
}

/// A new file that the user alone may read.
fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
