//! `memory`: the memory of all your AI agents, as plain files on your own disk.

fn main() -> std::process::ExitCode {
    memory_cli::run()
}
