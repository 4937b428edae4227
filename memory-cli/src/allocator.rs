//! How memory is taken from the system.

/// From how many bytes on a piece of memory is large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1024 * 1024;

/// How much memory nearly every command comes to use, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const USUAL: usize = 384 * 1024;

/// How large a page of memory is at least, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PAGE: usize = 4096;

/// Tells glibc to keep two pools of memory, and to give large pieces back to the system when they are freed.
///
/// Its defaults (a pool for each thread, and a limit for large pieces that grows) suit programs that stay; in a command that
/// starts threads for one batch after another, what each pool keeps adds up. Smaller limits than these cost time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt is the only way to say it, and the C library offers it as a foreign function")]
pub(crate) fn keep_little() {
    // SAFETY: mallopt changes three numbers of the allocator and has no other requirement than to be called before the first
    // thread is started, which `main` does.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}

/// Gives the system back what was freed, for a program that stays and has just done something large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "malloc_trim is the only way to say it, and the C library offers it as a foreign function")]
pub(crate) fn give_back() {
    // SAFETY: malloc_trim takes the allocator's own locks and touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks the system for the memory that a command comes to use at once, instead of for one page after another: each time it is
/// asked costs some 2 µs, and there are a hundred pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "madvise is the only way to say it, and the C library offers it as a foreign function")]
pub(crate) fn take_usual() {
    let room = Vec::<u8>::with_capacity(USUAL);
    let pages = room.as_ptr().map_addr(|address| address.next_multiple_of(PAGE));
    // SAFETY: the pages lie within `room`, which nobody else uses, and get the content that untouched memory has. Systems that
    // do not know the advice refuse it.
    unsafe {
        libc::madvise(pages.cast_mut().cast(), USUAL - PAGE, libc::MADV_POPULATE_WRITE);
    }
}

/// Other systems are asked page by page.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn take_usual() {}

/// Other allocators give back by themselves, or not.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}
