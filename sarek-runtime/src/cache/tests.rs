use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Disk;

/// A temporary folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("sarek-cache-{}-{name}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        folder
    }

    fn disk(&self, limit: u64) -> Disk {
        Disk::at(self.0.clone(), limit)
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.0).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const ROOM: u64 = 1 << 20;

#[test]
fn what_is_put_is_found_by_its_key_alone() {
    let folder = Folder::new("found");
    let disk = folder.disk(ROOM);
    assert_eq!(disk.get("a"), None);
    disk.put("a", b"one");
    disk.put("b", b"");
    assert_eq!(disk.get("a").unwrap(), b"one");
    assert_eq!(disk.get("b").unwrap(), b"");
    assert_eq!(disk.get("ab"), None);
    disk.put("a", b"two");
    // Another process finds the same entry.
    assert_eq!(folder.disk(ROOM).get("a").unwrap(), b"two");
    let status = disk.status();
    assert_eq!((status.hits, status.misses, status.written), (2, 2, 3));
    assert_eq!((disk.clear(), disk.get("a")), (status.bytes, None));
}

#[test]
fn entries_are_listed_with_their_keys_and_damaged_ones_without() {
    let folder = Folder::new("listed");
    let disk = folder.disk(ROOM);
    disk.put("one\ntext", b"bytes");
    disk.put("two", b"");
    let mut keys: Vec<_> = disk.stored().into_iter().map(|entry| entry.key).collect();
    keys.sort();
    assert_eq!(keys, [Some("one\ntext".into()), Some("two".into())]);

    // An entry under the name of another one is damaged, too: lookups would not find it.
    let [one, two] = folder.files().try_into().unwrap();
    fs::copy(&one, &two).unwrap();
    let damaged = disk.stored().into_iter().find(|entry| entry.key.is_none());
    let damaged = damaged.unwrap();
    assert!(two.ends_with(&damaged.file));
    let mut bytes = fs::read(&one).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&one, bytes).unwrap();
    assert!(disk.stored().iter().all(|entry| entry.key.is_none()));

    assert!(disk.remove(&damaged) && !disk.remove(&damaged));
    assert_eq!(disk.stored().len(), 1);
}

#[test]
fn a_damaged_entry_is_a_miss() {
    let folder = Folder::new("damaged");
    let disk = folder.disk(ROOM);
    disk.put("key", b"some bytes of a program");
    let file = folder.files().pop().unwrap();
    let intact = fs::read(&file).unwrap();
    for at in 0..intact.len() {
        let mut damaged = intact.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        assert_eq!(disk.get("key"), None, "byte {at} changed");
        fs::write(&file, &intact[..at]).unwrap();
        assert_eq!(disk.get("key"), None, "cut off at {at}");
    }
    fs::write(&file, [&intact[..], b"x"].concat()).unwrap();
    assert_eq!(disk.get("key"), None, "longer");
    disk.put("key", b"again");
    assert_eq!(disk.get("key").unwrap(), b"again");
}

#[test]
fn an_entry_of_another_key_is_a_miss() {
    let folder = Folder::new("foreign");
    let disk = folder.disk(ROOM);
    disk.put("one", b"1");
    let one = folder.files().pop().unwrap();
    disk.put("two", b"2");
    let two = folder.files().into_iter().find(|f| *f != one).unwrap();
    fs::copy(&two, &one).unwrap();
    assert_eq!(disk.get("one"), None);
}

#[test]
fn what_was_used_lately_stays() {
    let folder = Folder::new("bounded");
    let disk = folder.disk(8000);
    let age = |file: &Path, secs| {
        let then = SystemTime::now() - Duration::from_secs(secs);
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_modified(then).unwrap();
    };
    for i in 0..7 {
        disk.put(&format!("key {i}"), &[0; 1000]);
    }
    folder.files().iter().for_each(|file| age(file, 100));
    assert!(disk.get("key 3").is_some());
    for i in 7..9 {
        disk.put(&format!("key {i}"), &[0; 1000]);
    }
    assert!(disk.status().bytes <= 8000);
    for kept in ["key 3", "key 7", "key 8"] {
        assert!(disk.get(kept).is_some(), "{kept}");
    }
    // An abandoned partial file is removed once it is old.
    let partial = folder.0.join("x.1-1.partial");
    fs::write(&partial, b"x").unwrap();
    disk.put("key", b"");
    assert!(partial.exists());
    age(&partial, 7200);
    disk.put("key", b"");
    assert!(!partial.exists());
}

#[test]
fn many_writers_leave_whole_entries() {
    let folder = Folder::new("writers");
    let disks: Vec<Disk> = (0..4).map(|_| folder.disk(ROOM)).collect();
    std::thread::scope(|scope| {
        for (i, disk) in (0u8..).zip(&disks) {
            scope.spawn(move || {
                for round in 0..200 {
                    disk.put("key", &[i; 3000]);
                    let found = disk.get("key").expect("there is always one");
                    assert!(
                        found.len() == 3000 && found.iter().all(|b| *b == found[0]),
                        "{round}"
                    );
                }
            });
        }
    });
    assert_eq!(folder.files().len(), 1);
}

#[test]
fn a_folder_that_cannot_be_used_is_told() {
    let folder = Folder::new("refused");
    fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let disk = Disk::at(file.join("cache"), ROOM);
    disk.put("key", b"x");
    assert_eq!(disk.get("key"), None);
    let status = disk.status();
    assert!(status.folder.unwrap_err().contains("file/cache"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = folder.0.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let reason = Disk::at(open, ROOM).status().folder.unwrap_err();
        assert!(reason.contains("other users may write"), "{reason}");
        let own = folder.0.join("own");
        Disk::at(own.clone(), ROOM).put("key", b"x");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let entry = fs::read_dir(&own).unwrap().next().unwrap().unwrap().path();
        assert_eq!((mode(&own), mode(&entry)), (0o700, 0o600));
    }
    assert_eq!(Disk::off("why".into()).status().folder, Err("why".into()));
}

/// An attacker who can put a link in the folder's place must not redirect reads or writes.
#[test]
#[cfg(unix)]
fn a_link_is_refused_at_each_use() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    let (own, elsewhere, link) = (
        folder.0.join("own"),
        folder.0.join("other"),
        folder.0.join("link"),
    );
    fs::create_dir_all(&folder.0).unwrap();
    let disk = Disk::at(own.clone(), ROOM);
    disk.put("key", b"mine");
    Disk::at(elsewhere.clone(), ROOM).put("key", b"planted");
    // A link from the start; also with a trailing slash, and with a missing target.
    symlink(&own, &link).unwrap();
    for path in [link.clone(), link.join("")] {
        let reason = Disk::at(path, ROOM).status().folder.unwrap_err();
        assert!(reason.contains("symbolic link"), "{reason}");
    }
    let dangling = folder.0.join("dangling");
    symlink(folder.0.join("made"), &dangling).unwrap();
    assert!(Disk::at(dangling, ROOM).status().folder.is_err());
    assert!(!folder.0.join("made").exists());
    // A link that appears later.
    let kept = folder.0.join("kept");
    fs::rename(&own, &kept).unwrap();
    symlink(&elsewhere, &own).unwrap();
    disk.put("another", b"x");
    assert_eq!(disk.get("key"), None);
    assert_eq!(
        (disk.clear(), fs::read_dir(&elsewhere).unwrap().count()),
        (0, 1)
    );
    let problem = disk.status().problem.unwrap();
    assert!(
        problem.contains("symbolic link") && problem.contains("own/"),
        "{problem}"
    );
    fs::remove_file(&own).unwrap();
    fs::rename(&kept, &own).unwrap();
    assert_eq!(disk.get("key").unwrap(), b"mine");
    // An entry that is a link.
    let entry = fs::read_dir(&own).unwrap().next().unwrap().unwrap().path();
    fs::rename(&entry, folder.0.join("moved")).unwrap();
    symlink(folder.0.join("moved"), &entry).unwrap();
    assert_eq!(disk.get("key"), None);
    disk.put("key", b"new");
    assert_eq!(disk.get("key").unwrap(), b"new");
}

/// The folder becomes writable by others after it was opened.
#[test]
#[cfg(unix)]
fn a_folder_is_looked_at_at_each_use() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("opened");
    let disk = folder.disk(ROOM);
    disk.put("key", b"x");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o770)).unwrap();
    disk.put("other", b"y");
    assert_eq!((disk.get("key"), disk.status().written), (None, 1));
    assert!(
        disk.status()
            .problem
            .unwrap()
            .contains("other users may write")
    );
    // Only a privileged process can give the folder to another user and test that.
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
    if std::os::unix::fs::chown(&folder.0, Some(12345), None).is_ok() {
        disk.put("other", b"y");
        assert_eq!((disk.get("key"), disk.status().written), (None, 1));
        assert!(disk.status().problem.unwrap().contains("another user"));
    }
}

#[test]
fn a_write_that_fails_is_told_and_hurts_nothing() {
    let folder = Folder::new("full");
    let disk = folder.disk(ROOM);
    disk.put("key", b"x");
    // The folder disappears during use, as if a disk became full or read-only.
    fs::remove_dir_all(&folder.0).unwrap();
    disk.put("other", b"y");
    assert_eq!((disk.get("key"), disk.get("other")), (None, None));
    assert!(disk.status().problem.unwrap().contains(".entry"));
    fs::create_dir(&folder.0).unwrap();
    disk.put("key", b"z");
    assert_eq!(disk.get("key").unwrap(), b"z");
}

/// Runs in a child process that may write no file of more than 1024 bytes, as on a full disk.
#[test]
#[cfg(unix)]
fn a_full_disk_is_told_and_hurts_nothing() {
    const CHILD: &str = "SAREK_TEST_FULL_DISK";
    if let Ok(folder) = std::env::var(CHILD) {
        let disk = Disk::at(PathBuf::from(&folder), ROOM);
        disk.put("small", b"x");
        disk.put("large", &[7; 100_000]);
        assert_eq!(disk.get("small").unwrap(), b"x");
        assert_eq!(disk.get("large"), None);
        let status = disk.status();
        assert_eq!(status.written, 1);
        assert!(status.problem.unwrap().contains(".entry"));
        let left = fs::read_dir(folder).unwrap().count();
        assert_eq!(left, 1, "nothing half written stays");
        return;
    }
    let folder = Folder::new("no-room");
    // Its output goes through a pipe: a log file would be too large as well.
    let child = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "cache::tests::a_full_disk_is_told_and_hurts_nothing",
            "--exact",
        ])
        .env(CHILD, &folder.0)
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
}
