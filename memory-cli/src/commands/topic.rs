//! The `memory topic` commands.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memory_agent::json::topic as json;
use memory_core::SecretPolicy;
use memory_core::text::to_one_line;
use memory_core::topic::{TopicChangeResult, TopicWriteRequest, TopicWriteResult, Topics};

use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::print::{Table, TableColumn, counted};
use crate::topics;

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
    /// Show the index, built from the present topics
    ///
    /// A folder that does not exist is created with an empty index.
    ///
    /// JSON: {index, warning?}; the warning says that your own lines exceed the limits of MEMORY.md
    View,
    Read(TopicReadArgs),
    Write(TopicWriteArgs),
    Update(TopicUpdateArgs),
    Delete(TopicDeleteArgs),
    /// List the topics with their metadata
    ///
    /// JSON: {files: [{file, name, description, type, updated?, size, problem?}], misnamed?: [{file, problem}]}
    List,
    /// Rebuild the index MEMORY.md after files were edited by hand
    ///
    /// All other commands update the index automatically. Your own lines in it stay in place.
    ///
    /// JSON: {changed, topics, warning?}; the warning says that your own lines exceed the limits of the index
    Index,
    /// Show the system prompt block: instructions for topics, their types, and the index
    ///
    /// JSON: {context}
    Context,
}

impl TopicArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let dir = self.dir.as_deref();
        let topics = match &self.command {
            // An agent starts with an empty index if nothing was written yet.
            TopicCommand::Write(_) | TopicCommand::View | TopicCommand::Context => open(app, dir)?,
            _ => open_existing_topics(app, dir)?,
        };
        match &self.command {
            TopicCommand::View => view(&topics, app),
            TopicCommand::Read(command) => command.run(&topics, app),
            TopicCommand::Write(command) => command.run(&topics, dir, app),
            TopicCommand::Update(command) => command.run(&topics, dir, app),
            TopicCommand::Delete(command) => command.run(&topics, dir, app),
            TopicCommand::List => list(&topics, app),
            TopicCommand::Index => rebuild_index(&topics, app),
            TopicCommand::Context => print_context(&topics, app),
        }
    }
}

fn view(topics: &Topics, app: &mut App) -> Result<(), Failure> {
    let index = memory_core::topic::view(topics)?;
    let warning = memory_core::topic::index_overflow(topics)?;
    if app.output.is_json() {
        return app.output.json(&json::index(&index, warning.as_deref()));
    }
    app.output.text(&index)?;
    warning.iter().try_for_each(|why| app.output.warning(why))
}

/// Read a topic, as the whole file
///
/// JSON: {file, name, description, type, updated?, size, problem?, text, links?: [{link, file?}]}
#[derive(Debug, Args)]
struct TopicReadArgs {
    /// The topic: its file, with or without .md, or its name
    topic: String,
}

impl TopicReadArgs {
    fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let reading = memory_core::topic::read(topics, &self.topic)?;
        if app.output.is_json() {
            return app.output.json(&json::full_topic(&reading));
        }
        app.output.text(&reading.text)?;
        reading
            .topic
            .problem
            .iter()
            .try_for_each(|problem| app.output.warn_incomplete(problem))
    }
}

/// Write a topic; an existing one is replaced
///
/// Other front matter keys of the file are preserved, unless its front matter is unreadable: then the file is replaced if
/// all fields are specified. A text with a credential, such as a private key or a token, is refused.
///
/// JSON: {file, created, warning?}; the warning says why the index could not be updated, or that it is too long
#[derive(Debug, Args)]
struct TopicWriteArgs {
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
    fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let name = self.file.parse()?;
        let kind = self.kind.as_deref().map(str::parse).transpose()?;
        let given = args::or_stdin(self.content.as_deref(), &app.output);
        let content = given
            .map(|given| args::read_content(given, &mut app.output))
            .transpose()?;
        // A program started without input often has an empty pipe as its standard input.
        let content = content.filter(|content| !content.is_empty() || given != Some("-"));
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let (title, description) = (self.name.clone(), self.description.clone());
        let written = memory_core::topic::write(
            topics,
            &TopicWriteRequest {
                name,
                title,
                description,
                kind,
                content,
                secrets,
            },
        )?;
        print_written(
            &written,
            if written.created {
                "created"
            } else {
                "replaced"
            },
            dir,
            app,
        )
    }
}

/// Replace a passage of a topic, which must occur exactly once
///
/// JSON: {file, created, warning?}
#[derive(Debug, Args)]
struct TopicUpdateArgs {
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
    fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let updated =
            memory_core::topic::update(topics, &self.topic, &self.old, &self.new, secrets)?;
        print_written(&updated, "the passage was replaced", dir, app)
    }
}

/// Delete a topic; it moves to the trash
///
/// JSON: {file, deleted}
#[derive(Debug, Args)]
struct TopicDeleteArgs {
    /// The topic: its file, with or without .md, or its name
    topic: String,
}

impl TopicDeleteArgs {
    fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let name = memory_core::topic::delete(topics, &self.topic)?;
        if app.output.is_json() {
            return app.output.json(&json::delete_result(&name));
        }
        app.output.fields(&[name.as_str()])?;
        app.output.note(&format!(
            "moved to the trash; `{}` restores it",
            topics::undo_command(None, dir)
        ))
    }
}

fn list(topics: &Topics, app: &mut App) -> Result<(), Failure> {
    let listing = memory_core::topic::list(topics)?;
    if app.output.is_json() {
        return app.output.json(&json::listing(&listing));
    }
    let columns = [
        TableColumn::Whole("file"),
        TableColumn::Text("type"),
        TableColumn::Text("updated"),
        TableColumn::Number("bytes"),
        TableColumn::Text("name"),
        TableColumn::Text("description"),
    ];
    let mut table = Table::new(columns);
    for topic in &listing.topics {
        let kind = topic.said_kind.as_deref().unwrap_or(topic.kind.as_str());
        let updated = topic
            .updated
            .map_or_else(|| "-".to_owned(), |day| day.to_string());
        table.push([
            topic.name.as_str(),
            kind,
            &updated,
            &topic.size.to_string(),
            &topic.title,
            &topic.description,
        ]);
    }
    app.output.table(&table)?;
    if listing.topics.is_empty() {
        app.output
            .note(&format!("no topics in {}", topics.store.location()))?;
    }
    let problems = listing
        .topics
        .iter()
        .filter_map(|topic| Some((topic.name.as_str(), topic.problem.as_deref()?)));
    let misnamed = listing
        .misnamed
        .iter()
        .map(|(file, why)| (file.as_str(), why.as_str()));
    problems.chain(misnamed).try_for_each(|(file, why)| {
        app.output
            .warn_incomplete(&format!("{}: {why}", to_one_line(file, usize::MAX)))
    })
}

fn rebuild_index(topics: &Topics, app: &mut App) -> Result<(), Failure> {
    let is_changed = memory_core::topic::rebuild(topics)? != TopicChangeResult::No;
    let count = memory_core::topic::list(topics)?.topics.len();
    let counted_topics = counted(count as u64, "topic");
    let warning = memory_core::topic::index_overflow(topics)?;
    if app.output.is_json() {
        return app
            .output
            .json(&json::rebuild_result(is_changed, count, warning.as_deref()));
    }
    warning.iter().try_for_each(|why| app.output.warning(why))?;
    let what = if is_changed {
        "was rebuilt"
    } else {
        "is up to date"
    };
    app.output
        .note(&format!("the index of {counted_topics} {what}"))
}

fn print_context(topics: &Topics, app: &mut App) -> Result<(), Failure> {
    let context = memory_core::topic::context(topics)?;
    if app.output.is_json() {
        app.output.json(&json::context(&context))
    } else {
        app.output.text(&context)
    }
}

/// Opens the topics; the first write or view creates a missing folder.
fn open(app: &mut App, dir: Option<&Path>) -> Result<Topics, Failure> {
    let settings = app.settings()?;
    let opened = topics::open(&settings, dir, "cli")?;
    opened.ok_or_else(|| topics::no_topics_error(&settings))
}

/// Opens the topics for reading; a `dir` that does not exist is an error.
fn open_existing_topics(app: &mut App, dir: Option<&Path>) -> Result<Topics, Failure> {
    let opened = open(app, dir)?;
    let settings = app.settings()?;
    dir.map_or(Ok(()), |dir| topics::check_exists(&settings, dir))?;
    Ok(opened)
}

/// Prints the result of a write, with the command that undoes it.
fn print_written(
    written: &TopicWriteResult,
    what: &str,
    dir: Option<&Path>,
    app: &mut App,
) -> Result<(), Failure> {
    if app.output.is_json() {
        return app.output.json(&json::write_result(written));
    }
    app.output.fields(&[written.name.as_str()])?;
    if let Some(why) = &written.stale_index {
        app.output
            .warning(&format!("cannot update the index: {why}"))?;
    }
    written
        .long_index
        .iter()
        .try_for_each(|why| app.output.warning(why))?;
    if !written.changed {
        return app.output.note("nothing to change");
    }
    app.output.note(&format!(
        "{what}; `{}` undoes it",
        topics::undo_command(None, dir)
    ))
}
