//! The `memory topic write` command.

use std::path::Path;

use clap::Args;
use memory_core::Secrets;
use memory_core::topic::{Topics, WriteRequest};

use super::answer::tell;
use crate::app::App;
use crate::cli;
use crate::failure::Failure;

/// Write a topic, in place of the one that is there
///
/// What else its file says of itself stays, unless its front matter cannot be read: then a topic that is given whole takes its place. A text that holds a credential, such as a private key or a token, is refused.
///
/// JSON: {file, created, warning?}, where the warning says why the index does not follow, or is too long
#[derive(Debug, Args)]
pub(super) struct Write {
    /// Its file, with or without .md
    file: String,
    /// The text, without front matter; `-`, or nothing in a pipe, reads the standard input [default: as before]
    #[arg(allow_hyphen_values = true)]
    content: Option<String>,
    /// What people call it [default: as before, else as the file]
    #[arg(long)]
    name: Option<String>,
    /// What it is about, in a line for the index [default: as before]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// user, feedback, project or reference [default: as before]
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Keep it even if it holds what looks like a credential
    #[arg(long)]
    allow_secret: bool,
}

impl Write {
    pub(super) fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let name = self.file.parse()?;
        let kind = self.kind.as_deref().map(str::parse).transpose()?;
        let given = cli::or_piped(self.content.as_deref(), &app.output);
        let content = given.map(|given| cli::content(given, &mut app.output)).transpose()?;
        // A program started without input often has an empty pipe as its standard input.
        let content = content.filter(|content| !content.is_empty() || given != Some("-"));
        let secrets = if self.allow_secret { Secrets::Keep } else { Secrets::Refuse };
        let (title, description) = (self.name.clone(), self.description.clone());
        let written = memory_core::topic::write(topics, &WriteRequest { name, title, description, kind, content, secrets })?;
        tell(&written, if written.created { "it is new" } else { "it was there, and is replaced" }, dir, app)
    }
}
