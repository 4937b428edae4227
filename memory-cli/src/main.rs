//! `memory`: the memory of all your AI agents, as plain files on your own disk.

/// The allocator of musl is slow, in particular with threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    memory_cli::run()
}
