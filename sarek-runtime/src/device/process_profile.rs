//! The profile of a whole process, which `SAREK_PROFILE` asks for: a trace of all devices, written when the process ends.
//!
//! `%p` in the file's name stands for the number of the process.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::trace::traces;
use super::{Device, Profile};
use crate::settings;
use crate::sync::{fork, lock};

/// The devices that are profiled.
static WATCHED: Mutex<Vec<Device>> = Mutex::new(vec![]);

/// The number of pieces of work so far.
static WORK: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
}

/// Begins the profile of a device that was just opened, if the setting asks for it.
pub(super) fn watch(device: &Device) {
    if settings::path("SAREK_PROFILE").is_none() {
        return;
    }
    match device.begin_process_profile() {
        Ok(()) => lock(&WATCHED).push(device.clone()),
        Err(error) => settings::say(&format!("{device} is not profiled: {error}")),
    }
}

/// Makes the process write the profile when it ends. To be called after each piece of work.
///
/// Handlers run in the reverse order of their registration, and the profile needs drivers that still work. They may register theirs at any
/// time, so this one is registered again and again; the first call writes.
pub(super) fn worked() {
    let work = WORK.fetch_add(1, Ordering::Relaxed) + 1;
    if work.is_power_of_two() {
        // SAFETY: `atexit` may be called at any time, and the function has its type. If it fails, an earlier one runs.
        let _ = unsafe { atexit(at_exit) };
    }
}

extern "C" fn at_exit() {
    // This thread's own variables are gone, and some drivers need them.
    if !fork::is_forked() {
        // A panic was reported; there is nobody to return it to.
        let _ = std::thread::spawn(write).join();
    }
}

fn write() {
    let devices = std::mem::take(&mut *lock(&WATCHED));
    let Some(file) = settings::path("SAREK_PROFILE").filter(|_| !devices.is_empty()) else {
        return;
    };
    let mut profiles: Vec<Profile> = vec![];
    for device in devices {
        match device.end_process_profile() {
            Ok(profile) => profiles.extend(profile),
            Err(error) => settings::say(&format!("{device} has no profile: {error}")),
        }
    }
    let file = file
        .to_string_lossy()
        .replace("%p", &std::process::id().to_string());
    let file = PathBuf::from(file);
    if let Err(error) = std::fs::write(&file, traces(&profiles)) {
        settings::say(&format!(
            "the profile cannot be written to `{}`: {error}",
            file.display()
        ));
    }
}
