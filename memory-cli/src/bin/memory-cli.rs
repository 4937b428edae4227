//! `memory-cli`: short for `memory bank`.

mod short;

fn main() -> std::process::ExitCode {
    short::become_memory("memory-cli", "bank")
}
