//! The folder of a cache, opened and checked.
//!
//! The folder must belong to the user, must not be writable by others, and must not be a symbolic
//! link. The check applies to an open handle, through which files are then accessed by name. So an
//! attacker who replaces the folder or its path by a link redirects nothing.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// An open folder.
pub(super) struct Folder {
    path: PathBuf,
    #[cfg(unix)]
    handle: File,
}

impl Folder {
    /// Creates the folder if it is missing, accessible by the user alone.
    pub(super) fn make(path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(()),
            Err(_) => builder.create(path),
        }
    }

    /// The names of the files in it.
    pub(super) fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        files
            .filter_map(|file| file.file_name().into_string().ok())
            .collect()
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::CString;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use libc::c_int;

    use super::*;

    impl Folder {
        /// Opens a folder and checks it.
        pub(in super::super) fn open(path: &Path) -> Result<Folder, String> {
            // A trailing slash would make the system follow a link.
            let path: PathBuf = path.components().collect();
            let in_words = |error: io::Error| error.to_string();
            let handle = File::options()
                .read(true)
                .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
                .open(&path)
                .map_err(|error| match fs::symlink_metadata(&path) {
                    Ok(found) if found.is_symlink() => {
                        "it is a symbolic link, whose target may change; name the folder itself"
                            .into()
                    }
                    Ok(_) | Err(_) => in_words(error),
                })?;
            let found = handle.metadata().map_err(in_words)?;
            // SAFETY: `geteuid` only returns a number.
            if found.uid() != unsafe { libc::geteuid() } {
                return Err("it belongs to another user".into());
            }
            match found.mode() & 0o022 {
                0 => Ok(Folder { path, handle }),
                _ => Err("other users may write to it".into()),
            }
        }

        fn open_file(&self, name: &str, flags: c_int) -> io::Result<File> {
            let name = CString::new(name)?;
            let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
            let mode: libc::c_uint = 0o600;
            // SAFETY: the handle is open, and the name ends with a zero.
            let file = unsafe { libc::openat(self.handle.as_raw_fd(), name.as_ptr(), flags, mode) };
            match file {
                -1 => Err(io::Error::last_os_error()),
                // SAFETY: the file was just opened, and no other code has its descriptor.
                file => Ok(unsafe { File::from_raw_fd(file) }),
            }
        }

        /// Opens a file for reading.
        pub(in super::super) fn read(&self, name: &str) -> io::Result<File> {
            self.open_file(name, libc::O_RDONLY)
        }

        /// Opens an existing file for writing.
        pub(in super::super) fn write(&self, name: &str) -> io::Result<File> {
            self.open_file(name, libc::O_WRONLY)
        }

        /// Creates a new file that only the user may read.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            self.open_file(name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)
        }

        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            let (from, to) = (CString::new(from)?, CString::new(to)?);
            let folder = self.handle.as_raw_fd();
            // SAFETY: the handle is open, and the names end with a zero.
            match unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        }

        pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
            let name = CString::new(name)?;
            // SAFETY: as above.
            match unsafe { libc::unlinkat(self.handle.as_raw_fd(), name.as_ptr(), 0) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }
}

#[cfg(not(unix))]
impl Folder {
    /// On systems without Unix owners and modes, the folder is accessed by its path.
    pub(super) fn open(path: &Path) -> Result<Folder, String> {
        let found = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
        match found.is_dir() {
            true => Ok(Folder {
                path: path.to_owned(),
            }),
            false => Err("it is not a folder".into()),
        }
    }

    pub(super) fn read(&self, name: &str) -> io::Result<File> {
        File::open(self.path.join(name))
    }

    pub(super) fn write(&self, name: &str) -> io::Result<File> {
        File::options().write(true).open(self.path.join(name))
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }
}
