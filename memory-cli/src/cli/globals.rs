//! Command-line flags of every command.

use std::path::PathBuf;

use clap::Args;

use crate::print::ColorChoice;

/// The flags that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Globals {
    /// Keep the memories in this folder [default: MEMORY_ROOT, else ~/.memory]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Look at every file for changes by others first
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Color the answer: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: ColorChoice,
    /// Say nothing but the answer and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}
