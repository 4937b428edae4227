//! Command-line flags of every command.

use std::path::PathBuf;

use clap::Args;

use crate::print::ColorChoice;

/// The flags that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Globals {
    /// Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print output as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Check every file for changes by other programs first
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Color the output: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: ColorChoice,
    /// Print only the result and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}
