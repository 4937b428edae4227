//! `memo`: short for `memory instance`.

mod short;

fn main() -> std::process::ExitCode {
    short::become_memory("memo", "instance")
}
