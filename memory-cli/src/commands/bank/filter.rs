//! `memory bank filter`

use clap::Args;

use crate::app::App;
use crate::failure::Failure;

/// Run a jq filter on the JSON values of the standard input
#[derive(Debug, Args)]
pub(super) struct Filter {
    /// The filter
    #[arg(allow_hyphen_values = true)]
    filter: String,
    /// Each value on one line
    #[arg(long = "compact-output", short)]
    compact: bool,
    /// Texts without their quotes
    #[arg(long = "raw-output", short)]
    raw: bool,
}

impl Filter {
    pub(super) fn run(&self, _app: &mut App) -> Result<(), Failure> {
        Err(Failure::usage("not yet", "not yet"))
    }
}
