//! Functions that the topic commands share.

use std::path::Path;

use memory_agent::json::topic as json;
use memory_core::topic::{TopicWriteResult, Topics};

use crate::app::App;
use crate::failure::Failure;
use crate::topics;

/// Opens the topics for writing; the first write creates a missing folder.
pub(super) fn open(app: &mut App, dir: Option<&Path>) -> Result<Topics, Failure> {
    let settings = app.settings()?;
    let opened = topics::open(&settings, dir, "cli")?;
    opened.ok_or_else(|| topics::no_topics_error(&settings))
}

/// Opens the topics for reading; a `dir` that does not exist is an error.
pub(super) fn open_existing_topics(app: &mut App, dir: Option<&Path>) -> Result<Topics, Failure> {
    let opened = open(app, dir)?;
    let settings = app.settings()?;
    dir.map_or(Ok(()), |dir| topics::check_exists(&settings, dir))?;
    Ok(opened)
}

/// Prints the result of a write, with the command that undoes it.
pub(super) fn print_written(written: &TopicWriteResult, what: &str, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json(&json::write_result(written))?);
    }
    app.output.fields(&[written.name.as_str()])?;
    if let Some(why) = &written.stale_index {
        app.output.warning(&format!("cannot update the index: {why}"))?;
    }
    written.long_index.iter().try_for_each(|why| app.output.warning(why))?;
    if !written.changed {
        return Ok(app.output.note("nothing to change")?);
    }
    Ok(app.output.note(&format!("{what}; `{}` undoes it", topics::undo_command(None, dir)))?)
}
