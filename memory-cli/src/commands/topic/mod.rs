//! The `memory topic` commands, one per file.

mod common;
mod context;
mod delete;
mod index;
mod list;
mod read;
mod update;
mod view;
mod write;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::failure::Failure;

/// Manage topics: Markdown files with a short index for every prompt
///
/// A topic is a file in .memory of the current project, or in any folder specified with --dir, such as the auto-memory
/// folder of an agent. Its front matter has name, description and type: user, feedback, project or reference. MEMORY.md is
/// the index: one line per topic, always below 200 lines and 25 KB; your own lines in it stay in place. `memory undo`
/// undoes the last change.
#[derive(Debug, Args)]
pub(crate) struct TopicArgs {
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    command: TopicCommand,
}

/// One command on topics. Their order is that of the help.
#[derive(Debug, Subcommand)]
enum TopicCommand {
    View(view::TopicViewArgs),
    Read(read::TopicReadArgs),
    Write(write::TopicWriteArgs),
    Update(update::TopicUpdateArgs),
    Delete(delete::TopicDeleteArgs),
    List(list::TopicListArgs),
    Index(index::TopicIndexArgs),
    Context(context::TopicContextArgs),
}

impl TopicArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let dir = self.dir.as_deref();
        let topics = match &self.command {
            // An agent starts with an empty index if nothing was written yet.
            TopicCommand::Write(_) | TopicCommand::Context(_) => common::open(app, dir)?,
            _ => common::open_existing_topics(app, dir)?,
        };
        match &self.command {
            TopicCommand::View(command) => command.run(&topics, app),
            TopicCommand::Read(command) => command.run(&topics, app),
            TopicCommand::Write(command) => command.run(&topics, dir, app),
            TopicCommand::Update(command) => command.run(&topics, dir, app),
            TopicCommand::Delete(command) => command.run(&topics, dir, app),
            TopicCommand::List(command) => command.run(&topics, app),
            TopicCommand::Index(command) => command.run(&topics, app),
            TopicCommand::Context(command) => command.run(&topics, app),
        }
    }
}
