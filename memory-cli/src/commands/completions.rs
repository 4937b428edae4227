//! The `memory completions` command.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::app::App;
use crate::failure::Failure;

/// Print a shell completion script
///
/// For bash: memory completions bash > ~/.local/share/bash-completion/completions/memory
///
/// The output is a script, also with --json.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        // The generator panics when a pipe is closed early, so it writes to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "memory", &mut script);
        Ok(app.output.stream().write_all(&script)?)
    }
}
