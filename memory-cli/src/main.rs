//! `memory`: the memory of all your AI agents, as plain files on your own disk.

/// With the allocator of musl, building an index takes a third more processor time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    memory_cli::run()
}
