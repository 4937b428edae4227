//! The `memory topic update` command.

use std::path::Path;

use clap::Args;
use memory_core::SecretPolicy;
use memory_core::topic::Topics;

use super::common::print_written;
use crate::app::App;
use crate::failure::Failure;

/// Replace a passage of a topic, which must occur exactly once
///
/// JSON: {file, created, warning?}
#[derive(Debug, Args)]
pub(super) struct TopicUpdateArgs {
    /// The topic: its file, with or without .md, or its name
    topic: String,
    /// Exact text of the passage; only line breaks may differ
    #[arg(allow_hyphen_values = true)]
    old: String,
    /// Replacement text
    #[arg(allow_hyphen_values = true)]
    new: String,
    /// Store the topic even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl TopicUpdateArgs {
    pub(super) fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let secrets = if self.allow_secret { SecretPolicy::Keep } else { SecretPolicy::Refuse };
        let updated = memory_core::topic::update(topics, &self.topic, &self.old, &self.new, secrets)?;
        print_written(&updated, "the passage was replaced", dir, app)
    }
}
