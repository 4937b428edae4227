//! `memory write`

use clap::Args;
use memory_agent::json;
use memory_core::{Category, Draft, Scope, Secrets};

use crate::app::App;
use crate::cli;
use crate::failure::Failure;
use crate::moments::Deadline;
use crate::print::memories;

/// Remember a text
///
/// A text that is kept in the same scope already is not kept twice: the memory that has it is named. A text that holds a
/// credential, such as a private key or a token, is refused.
///
/// JSON: {id, path, created}
#[derive(Debug, Args)]
pub(crate) struct Write {
    /// The text; `-`, or nothing in a pipe, reads the standard input
    content: Option<String>,
    /// File it under this category instead of the inbox
    #[arg(long, value_parser = cli::category(), ignore_case = true)]
    category: Option<Category>,
    /// Tags, with commas between them
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// Who may see it: global, agent:NAME, project:NAME or conversation:ID
    #[arg(long, default_value_t = Scope::Global)]
    scope: Scope,
    /// The program it comes from
    #[arg(long, default_value = "", hide_default_value = true)]
    source: String,
    /// A heading
    #[arg(long)]
    title: Option<String>,
    /// Leave it out of answers from then on: a span such as 30d, a day, or a moment
    #[arg(long, value_name = "WHEN")]
    expires: Option<Deadline>,
    /// Let it stay, however old it is and however seldom it is read
    #[arg(long)]
    pinned: bool,
    /// Keep it even if it holds what looks like a credential
    #[arg(long)]
    allow_secret: bool,
}

impl Write {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let given = cli::or_piped(self.content.as_deref(), &app.output).ok_or_else(|| {
            Failure::usage("there is no text to remember", "type it: `memory write \"…\"`; or pipe it: `… | memory write`")
        })?;
        let content = cli::content(given, &mut app.output)?;
        let home = app.open()?;
        let now = home.services.clock.now();
        let expires_at = self.expires.map(|deadline| deadline.from(now));
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Failure::usage(
                "the memory would be over already: --expires lies in the past",
                "name a moment to come, such as 30d",
            ));
        }
        let draft = Draft {
            title: self.title.clone(),
            category: self.category,
            scope: self.scope.clone(),
            tags: self.tags.iter().collect(),
            source: self.source.clone(),
            expires_at,
            pinned: self.pinned,
            ..Draft::new(&content)
        };
        let secrets = if self.allow_secret { Secrets::Keep } else { Secrets::Refuse };
        let written = memory_core::write(&home.services, draft, secrets)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::written(&written))?);
        }
        memories::receipt(&mut app.output, written.id, &written.path)?;
        if !written.created {
            app.output.note("the same text was kept in the same scope already; nothing was written")?;
        }
        Ok(())
    }
}
