//! The `memory instance rm` command.

use clap::Args;
use memory_core::instance::InstanceError;
use serde_json::json;

use super::common::{parse_instance, print_former_definition, write_json};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{InstanceRegistry, new_operation};
use memory_core::Verb;

/// Delete the definition of an instance; its data stays unchanged
///
/// The definition moves to the trash of its folder; the command prints its location and how to restore it. `memory undo`
/// and `memory log` do not cover definitions.
///
/// JSON: {type, name, removed, trash}; trash is the file
#[derive(Debug, Args)]
pub(super) struct InstanceRmArgs {
    /// The instance
    #[arg(value_name = "TYPE/NAME")]
    instance: String,
}

impl InstanceRmArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if !self.instance.contains('/') {
            return Err(Failure::usage(
                format!("{:?} is not a TYPE/NAME", self.instance),
                "list instances with `memory instance instances`",
            ));
        }
        let (backend, name) = parse_instance(&self.instance)?;
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let Some(former) = book.instances.remove(&backend.name.parse()?, &name, &new_operation(Verb::Delete))? else {
            let instance = self.instance.clone();
            return Err(match name.as_str() {
                "default" => {
                    let hint = "to remove a session or a key from it, run the action delete";
                    InstanceError::invalid(format!("{instance} is built in and has no definition to delete"), hint)
                }
                _ => InstanceError::InstanceNotFound { instance },
            }
            .into());
        };
        let trash = app.output.display_path(&former.trash);
        let answer = json!({ "type": backend.name, "name": name.as_str(), "removed": true, "trash": trash });
        write_json(&mut app.output, &answer.to_string())?;
        print_former_definition(&mut app.output, &former)
    }
}
