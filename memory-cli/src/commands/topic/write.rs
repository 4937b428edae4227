//! The `memory topic write` command.

use std::path::Path;

use clap::Args;
use memory_core::SecretPolicy;
use memory_core::topic::{TopicWriteRequest, Topics};

use super::common::print_written;
use crate::app::App;
use crate::args;
use crate::failure::Failure;

/// Write a topic; an existing one is replaced
///
/// Other front matter keys of the file are preserved, unless its front matter is unreadable: then the file is replaced if
/// all fields are specified. A text with a credential, such as a private key or a token, is refused.
///
/// JSON: {file, created, warning?}; the warning says why the index could not be updated, or that it is too long
#[derive(Debug, Args)]
pub(super) struct TopicWriteArgs {
    /// File name, with or without .md
    file: String,
    /// Text without front matter; `-`, or piped input, is the standard input [default: unchanged]
    #[arg(allow_hyphen_values = true)]
    content: Option<String>,
    /// Name of the topic [default: unchanged, or the file name]
    #[arg(long)]
    name: Option<String>,
    /// One-line description for the index [default: unchanged]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Type: user, feedback, project or reference [default: unchanged]
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Store the topic even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl TopicWriteArgs {
    pub(super) fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let name = self.file.parse()?;
        let kind = self.kind.as_deref().map(str::parse).transpose()?;
        let given = args::or_stdin(self.content.as_deref(), &app.output);
        let content = given.map(|given| args::read_content(given, &mut app.output)).transpose()?;
        // A program started without input often has an empty pipe as its standard input.
        let content = content.filter(|content| !content.is_empty() || given != Some("-"));
        let secrets = if self.allow_secret { SecretPolicy::Keep } else { SecretPolicy::Refuse };
        let (title, description) = (self.name.clone(), self.description.clone());
        let written = memory_core::topic::write(topics, &TopicWriteRequest { name, title, description, kind, content, secrets })?;
        print_written(&written, if written.created { "created" } else { "replaced" }, dir, app)
    }
}
