//! The steps of the tour, in order.

use std::path::PathBuf;

use clap::Args;

use super::stage::Stage;
use crate::app::App;
use crate::failure::Failure;

/// Play the program on some seventy notes, in a home that is thrown away
///
/// Every command is printed before its answer. Your own memories are not touched.
///
/// JSON: {steps: [{command, output}], home}; `home` is null unless it is kept
#[derive(Debug, Args)]
pub(crate) struct Tour {
    /// Leave the home here, to try things out; an empty folder, or none yet
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The memory that an agent writes in the middle of the tour.
const REMARK: &str = "Mei reviews every change to the timetable cache, see [[Harbour]].";

impl Tour {
    pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let mut stage = Stage::set_up(self.keep.as_deref(), app)?;
        stage.say("Some seventy notes lie in ~/vault, an Obsidian vault. Taking them in makes each a memory.", app)?;
        stage.play(&["ingest", "--source", "obsidian", "--path", "~/vault"], app)?;

        stage.say("An agent writes down what it learned.", app)?;
        stage.play(&["write", REMARK, "--category", "people", "--tags", "harbour,review", "--source", "claude"], app)?;

        let remark = stage.id(&["--source", "claude"], |_| true)?;
        let harbour = stage.id(&["--source", "obsidian"], |memory| memory["title"] == "Harbour")?;
        stage.say("It belongs to the note about the project, so the two are linked, both ways.", app)?;
        stage.play(&["link", &remark, &harbour], app)?;

        stage.say("Any agent finds it again: by words, best answer first,", app)?;
        stage.play(&["search", "timetable cache", "--limit", "3"], app)?;
        stage.say("in Chinese,", app)?;
        stage.play(&["search", "备份", "--limit", "3"], app)?;
        stage.say("and by a single character.", app)?;
        stage.play(&["search", "茶", "--limit", "3"], app)?;

        stage.say("What an agent should know before it answers comes as one block, fenced as data.", app)?;
        stage.play(&["agent", "--agent", "claude", "--prompt", "who reviews the timetable cache?", "--budget", "250"], app)?;

        stage.say("It reminds, too: when is said in English or Chinese. `memory notify` shows what is due.", app)?;
        stage.play(&["remind", "ask Mei for her review tomorrow at 3pm"], app)?;
        stage.play(&["reminders"], app)?;

        stage.say("What has keys and values is kept as JSON in banks, and asked with jq.", app)?;
        stage.play(&["bank", "write", "session", "context", r#"{"topic": "timetables", "open": ["cache", "tests"]}"#], app)?;
        stage.play(&["bank", "update", "session", "context", r#".open -= ["tests"]"#], app)?;
        stage.play(&["bank", "query", "session", "context", ".open[]"], app)?;

        stage.say("While nobody looks, the inbox sorts itself, and what says the same becomes one.", app)?;
        stage.play(&["dream", "--level", "2"], app)?;

        stage.say("A memory is a Markdown file. Edit it with whatever you like.", app)?;
        stage.show_file(&remark, app)?;

        stage.say("Nothing is destroyed. What was deleted comes back,", app)?;
        stage.play(&["delete", &remark], app)?;
        stage.play(&["undo"], app)?;
        stage.say("and the journal knows all that happened.", app)?;
        stage.play(&["log"], app)?;

        stage.close(app)
    }
}
