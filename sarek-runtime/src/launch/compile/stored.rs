//! Artifacts in the disk cache. One that several kernels share is kept once; each of their keys leads
//! to it.

use crate::cache::Disk;
use crate::plugin::backend::Artifact;

/// The beginning of an artifact that stands for another one. The key of that follows.
const ELSEWHERE: &[u8] = b"sarek artifact elsewhere 1\n";

/// Keeps an artifact under a key.
pub(super) fn put(disk: &Disk, key: &str, artifact: &Artifact) {
    // There is nothing to keep of an empty artifact.
    if !artifact.bytes.is_empty() {
        disk.put(key, &artifact.to_disk());
    }
}

/// Keeps under `key` that the artifact has the bytes of the one under `whole`.
pub(super) fn put_part(disk: &Disk, key: &str, artifact: &Artifact, whole: &str) {
    let bytes = [ELSEWHERE, whole.as_bytes()].concat();
    let part = Artifact {
        bytes: bytes.into(),
        ..artifact.clone()
    };
    put(disk, key, &part);
}

/// The artifact of a key.
pub(super) fn get(disk: &Disk, key: &str) -> Option<Artifact> {
    let artifact = Artifact::from_disk(&disk.get(key)?)?;
    let Some(whole) = artifact.bytes.strip_prefix(ELSEWHERE) else {
        return Some(artifact);
    };
    let whole = Artifact::from_disk(&disk.get(std::str::from_utf8(whole).ok()?)?)?;
    let bytes = whole.bytes;
    Some(Artifact { bytes, ..artifact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_of_several_kernels_is_kept_once() {
        let folder = std::env::temp_dir().join(format!("sarek-parts-{}", std::process::id()));
        let disk = Disk::at(folder.clone(), 1 << 20);
        let all = Artifact::new(vec![7; 10_000]).with_entries(["first", "second"]);
        put(&disk, "all", &all);
        for name in ["first", "second"] {
            let name = name.to_owned();
            let named = Artifact {
                name,
                ..all.clone()
            };
            put_part(&disk, &named.name, &named, "all");
            let found = get(&disk, &named.name).expect("it is kept");
            assert_eq!((&found.name, &found.entries), (&named.name, &all.entries));
            assert_eq!(found.bytes, all.bytes);
        }
        let bytes = disk.status().bytes;
        assert!((10_000..12_000).contains(&bytes), "{bytes} bytes");
        // Without the whole, the parts are not there.
        disk.remove(
            disk.stored()
                .iter()
                .find(|s| s.bytes > 5000)
                .expect("the whole"),
        );
        assert!(get(&disk, "first").is_none());
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
