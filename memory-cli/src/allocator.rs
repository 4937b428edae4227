//! How memory is taken from the system.

/// From how many bytes on a piece of memory is large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1024 * 1024;

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

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}
