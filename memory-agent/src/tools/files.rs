//! The file tool `memory`, which the Messages API calls `memory_20250818`.
//!
//! The model works with a folder `/memories`. The wording of the results is the one that models are trained on.

mod command;
mod texts;
mod view;

use memory_core::topic::{Topics, file};
use memory_core::{Effect, SecretPolicy, ToolError};
use serde_json::Value;

use super::built_in::BuiltInTool;
use super::topic::topics_service;
use command::{FilesCommand, FilesInput};
use view::FilesPath;

/// Executes a command on the files of the topics folder.
pub(super) const FILES: BuiltInTool<FilesInput> = BuiltInTool {
    name: "memory",
    description: "View, create and edit the files below /memories, which persist between conversations",
    effect: Effect::Changes,
    execute: |context, input| {
        let done =
            execute_command(&topics_service(context)?, input.parse_command()?).map(Value::String);
        done.map_err(|error| ToolError {
            is_text: true,
            ..error
        })
    },
};

fn execute_command(topics: &Topics, command: FilesCommand) -> Result<String, ToolError> {
    match command {
        FilesCommand::View { path, range } => view::view(topics, &FilesPath::of(&path)?, range),
        FilesCommand::Create { path, text } => {
            let place = FilesPath::of(&path)?;
            file::create(topics, place.file()?, &text, SecretPolicy::Refuse)
                .map_err(|error| texts::create_error(&path, error))?;
            Ok(texts::created_text(&path))
        }
        FilesCommand::Replace { path, old, new } => {
            let place = FilesPath::of(&path)?;
            let replaced = file::replace(topics, place.file()?, &old, &new, SecretPolicy::Refuse);
            let (text, line) =
                replaced.map_err(|error| texts::replace_error(&path, &old, error))?;
            Ok(texts::replaced_text(&text, line, &new))
        }
        FilesCommand::Insert { path, line, text } => {
            let place = FilesPath::of(&path)?;
            // A negative number is out of range for every file.
            let behind = usize::try_from(line).unwrap_or(usize::MAX);
            let inserted = file::insert(topics, place.file()?, behind, &text, SecretPolicy::Refuse);
            match inserted.map_err(|error| texts::path_error(&path, error))? {
                Ok(()) => Ok(texts::edited_text(&path)),
                Err(lines) => Err(texts::line_error(line, lines)),
            }
        }
        FilesCommand::Delete { path } => {
            let place = FilesPath::of(&path)?;
            file::delete(topics, place.file()?).map_err(|error| texts::path_error(&path, error))?;
            Ok(texts::deleted_text(&path))
        }
        FilesCommand::Rename { from, to } => {
            let (old, new) = (FilesPath::of(&from)?, FilesPath::of(&to)?);
            file::rename(topics, old.file()?, new.file()?)
                .map_err(|error| texts::rename_error(&from, &to, error))?;
            Ok(texts::renamed_text(&from, &to))
        }
    }
}
