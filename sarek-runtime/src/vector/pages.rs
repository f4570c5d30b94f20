//! Large pages for large host memory.
//!
//! The system maps fresh memory page by page, at the first write. For elements that a device
//! delivers at tens of gigabytes a second, mapping pages of 4 KiB would take most of the time.

/// The least number of bytes for which large pages are requested.
#[cfg(target_os = "linux")]
const WORTH: usize = 8 << 20;

/// Asks the system for large pages where memory has not been touched. The system may ignore it.
///
/// # Safety
/// The range is memory that the caller owns.
#[cfg(target_os = "linux")]
pub(super) unsafe fn prefer_large(at: *mut u8, len: usize) {
    if len < WORTH {
        return;
    }
    // SAFETY: `sysconf` only returns the page size here.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page) = usize::try_from(page) else {
        return; // the system does not report it
    };
    let before = at.align_offset(page);
    let Some(len) = len.checked_sub(before) else {
        return;
    };
    // SAFETY: the range lies within the caller's memory and begins at a page; the advice changes no
    // contents.
    let _advice = unsafe { libc::madvise(at.add(before).cast(), len, libc::MADV_HUGEPAGE) };
}

/// A no-op on this system.
///
/// # Safety
/// No requirement.
#[cfg(not(target_os = "linux"))]
pub(super) unsafe fn prefer_large(_at: *mut u8, _len: usize) {}
