//! Large pages for large memory.
//!
//! Memory that nobody has touched is found by the system page by page, when it is first written. For elements that come back from a
//! device at tens of gigabytes in a second, pages of 4 KiB are what takes longest.

/// Less is not worth asking for.
#[cfg(target_os = "linux")]
const WORTH: usize = 8 << 20;

/// Asks the system for large pages where memory has not been touched. It may do otherwise.
///
/// # Safety
/// The range is memory of the caller's.
#[cfg(target_os = "linux")]
pub(super) unsafe fn prefer_large(at: *mut u8, len: usize) {
    if len < WORTH {
        return;
    }
    // SAFETY: asks the system for nothing but its size.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page) = usize::try_from(page) else {
        return; // it does not tell
    };
    let before = at.align_offset(page);
    let Some(len) = len.checked_sub(before) else {
        return;
    };
    // SAFETY: the range lies within the caller's memory, and begins with a page; the advice changes no content.
    let _advice = unsafe { libc::madvise(at.add(before).cast(), len, libc::MADV_HUGEPAGE) };
}

/// Asks for nothing here.
///
/// # Safety
/// None.
#[cfg(not(target_os = "linux"))]
pub(super) unsafe fn prefer_large(_at: *mut u8, _len: usize) {}
