//! The file tool `memory`, which the Messages API calls `memory_20250818`.
//!
//! The model works with a folder `/memories`. The wording of the results is the one that models are trained on.

mod command;
mod texts;
mod view;

use memory_core::topic::{Topics, file};
use memory_core::{Effect, SecretPolicy, ToolError};
use serde_json::{Value, json};

use super::built_in::BuiltInTool;
use super::input::parse_input;
use super::topic::topics_service;
use command::{FilesCommand, FilesInput};
use view::FilesPath;

/// Executes a command on the files of the topics folder.
pub(super) const FILES: BuiltInTool = BuiltInTool {
    name: "memory",
    description: "View, create and edit the files below /memories, which persist between conversations",
    effect: Effect::Changes,
    parameters: || {
        let path = |description: &str| json!({ "type": "string", "description": description });
        json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"] },
                "path": path("all commands but rename: /memories, or a file or folder below it"),
                "view_range": {
                    "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2,
                    "description": "view: the first and last line, from 1; -1 is the end"
                },
                "file_text": { "type": "string", "description": "create: the content of the file" },
                "old_str": { "type": "string", "description": "str_replace: text that occurs exactly once in the file" },
                "new_str": { "type": "string", "description": "str_replace: the replacement" },
                "insert_line": { "type": "integer", "description": "insert: number of the line after which the text is inserted; 0 is the start" },
                "insert_text": { "type": "string", "description": "insert: the text to insert" },
                "old_path": path("rename: the current path"),
                "new_path": path("rename: the new path")
            },
            "required": ["command"],
            "additionalProperties": false
        })
    },
    execute: |context, parameters| {
        let input: FilesInput = parse_input(parameters)?;
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
