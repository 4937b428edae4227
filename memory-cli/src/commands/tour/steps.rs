//! The steps of the tour, in order.

use std::path::PathBuf;

use clap::Args;

use super::sandbox::TourSandbox;
use crate::app::App;
use crate::failure::Failure;

/// Demonstrate the commands on about seventy notes in a temporary home
///
/// Each command is printed before its output. Your own memories are not changed.
///
/// JSON: {steps: [{command, output}], home}; `home` is null unless --keep is set
#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// Keep the home in this empty or new folder, to try commands on it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The memory that an agent writes in the middle of the tour.
const AGENT_MEMORY: &str = "Mei reviews every change to the timetable cache, see [[Harbour]].";

impl TourArgs {
    pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut stage = TourSandbox::create(self.keep.as_deref(), app)?;
        stage.explain("About seventy notes are in ~/vault, an Obsidian vault. `ingest` turns each into a memory.", app)?;
        stage.run_step(&["ingest", "--source", "obsidian", "--path", "~/vault"], app)?;

        stage.explain("An agent stores what it learned.", app)?;
        stage
            .run_step(&["write", AGENT_MEMORY, "--category", "people", "--tags", "harbour,review", "--source", "claude"], app)?;

        let remark = stage.find_id(&["--source", "claude"], app, |_| true)?;
        let harbour = stage.find_id(&["--source", "obsidian"], app, |memory| memory["title"] == "Harbour")?;
        stage.explain("It belongs to the note about the project, so the two are linked in both directions.", app)?;
        stage.run_step(&["link", &remark, &harbour], app)?;

        stage.explain("Any agent can search for it: by words, best match first,", app)?;
        stage.run_step(&["search", "timetable cache", "--limit", "3"], app)?;
        stage.explain("in Chinese,", app)?;
        stage.run_step(&["search", "备份", "--limit", "3"], app)?;
        stage.explain("and by a single character.", app)?;
        stage.run_step(&["search", "茶", "--limit", "3"], app)?;

        stage.explain("Relevant memories for an agent come as one block, fenced as data.", app)?;
        stage
            .run_step(&["agent", "--agent", "claude", "--prompt", "who reviews the timetable cache?", "--budget", "250"], app)?;

        stage.explain("Reminders take times in English or Chinese. `memory notify` shows due reminders.", app)?;
        stage.run_step(&["remind", "ask Mei for her review tomorrow at 3pm"], app)?;
        stage.run_step(&["reminders"], app)?;

        stage.explain("Keys and values are stored as JSON in banks, and queried with jq.", app)?;
        stage
            .run_step(&["bank", "write", "session", "context", r#"{"topic": "timetables", "open": ["cache", "tests"]}"#], app)?;
        stage.run_step(&["bank", "update", "session", "context", r#".open -= ["tests"]"#], app)?;
        stage.run_step(&["bank", "query", "session", "context", ".open[]"], app)?;

        stage.explain("In the background, the daemon files the inbox and merges duplicates.", app)?;
        stage.run_step(&["dream", "--level", "2"], app)?;

        stage.explain("A memory is a Markdown file. Edit it with any editor.", app)?;
        stage.show_file(&remark, app)?;

        stage.explain("Nothing is destroyed. A deleted memory can be restored,", app)?;
        stage.run_step(&["delete", &remark], app)?;
        stage.run_step(&["undo"], app)?;
        stage.explain("and the journal lists all operations.", app)?;
        stage.run_step(&["log"], app)?;

        stage.close(app)
    }
}
