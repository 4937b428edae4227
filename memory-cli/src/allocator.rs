//! Tuning of the memory allocator of glibc.

/// Size from which an allocation is mapped separately, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD: i32 = 1024 * 1024;

/// Amount of memory that nearly every command uses, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PREFAULT_BYTES: usize = 384 * 1024;

/// Minimum size of a memory page, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PAGE_SIZE: usize = 4096;

/// Limits glibc to two arenas and makes it return large allocations to the system when they are freed.
///
/// The defaults (an arena for each thread, and a growing threshold for large allocations) suit long-running programs.
/// In a command that starts threads for each batch, the free memory of all arenas adds up. Smaller limits than these
/// cost time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "mallopt is the only way to say it, and the C library offers it as a foreign function"
)]
pub(crate) fn limit_arenas() {
    // SAFETY: mallopt changes three parameters of the allocator. Its only requirement is a call before the first thread
    // starts, which `main` guarantees.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, MMAP_THRESHOLD);
    }
}

/// Returns freed memory to the system, for a long-running program after a large operation.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "malloc_trim is the only way to say it, and the C library offers it as a foreign function"
)]
pub(crate) fn release_free_memory() {
    // SAFETY: malloc_trim takes the locks of the allocator and does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Requests the memory that a command typically uses in one system call, instead of page by page.
///
/// Each page fault costs about 2 µs, and there are about a hundred pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "madvise is the only way to say it, and the C library offers it as a foreign function"
)]
pub(crate) fn prefault_heap() {
    let room = Vec::<u8>::with_capacity(PREFAULT_BYTES);
    let pages = room
        .as_ptr()
        .map_addr(|address| address.next_multiple_of(PAGE_SIZE));
    // SAFETY: the pages are within `room`, which has no other user, and get the content of untouched memory. Systems
    // without this advice return an error.
    unsafe {
        libc::madvise(
            pages.cast_mut().cast(),
            PREFAULT_BYTES - PAGE_SIZE,
            libc::MADV_POPULATE_WRITE,
        );
    }
}

/// Does nothing on other systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_arenas() {}

/// Does nothing on other systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn release_free_memory() {}

/// Does nothing on other systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn prefault_heap() {}
