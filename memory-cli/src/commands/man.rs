//! The `memory man` and `memory completions` commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use clap_complete_nushell::Nushell;
use serde_json::json;

use super::Cli;
use crate::app::App;
use crate::failure::Failure;

/// Print the manual page, or write the pages of all commands to a folder
///
/// JSON: {output} with --output; otherwise the page itself
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Output folder; a missing one is created
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let Some(folder) = &self.output else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            return Ok(app.output.stream().write_all(&page)?);
        };
        let action = format!("write manual pages to {}", folder.display());
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
            .map_err(Failure::file(action))?;
        if app.output.is_json() {
            return app.output.json(&json!({ "output": folder }));
        }
        let place = app.output.display_path(folder);
        app.output.fields(&[&place])
    }
}

/// Print a shell completion script
///
/// Those of bash, zsh and fish also complete ids, titles, tags, projects and settings, from the index of the home.
///
/// For bash: memory completions bash > ~/.local/share/bash-completion/completions/memory (create the folder first)
///
/// For zsh: memory completions zsh > DIR/_memory, where DIR is in fpath
///
/// For fish: memory completions fish > ~/.config/fish/completions/memory.fish
///
/// The output is a script, also with --json.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: CompletedShell,
}

/// The shells with completion of commands.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompletedShell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

impl CompletionsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        // The generator panics when a pipe is closed early, so it writes to memory first.
        let mut script = Vec::new();
        let command = &mut Cli::command();
        match self.shell {
            CompletedShell::Bash => script.extend(include_bytes!("completions/memory.bash")),
            CompletedShell::Fish => script.extend(include_bytes!("completions/memory.fish")),
            CompletedShell::Zsh => script.extend(include_bytes!("completions/_memory")),
            CompletedShell::Elvish => {
                clap_complete::generate(Shell::Elvish, command, "memory", &mut script);
            }
            CompletedShell::Nushell => {
                clap_complete::generate(Nushell, command, "memory", &mut script);
            }
            CompletedShell::Powershell => {
                clap_complete::generate(Shell::PowerShell, command, "memory", &mut script);
            }
        }
        Ok(app.output.stream().write_all(&script)?)
    }
}
