//! The `memory instance actions` command.

use clap::Args;
use memory_agent::instance::backend;
use memory_agent::json;

use super::common::wants_table;
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// List the actions of an instance type
///
/// `memory instance run TYPE/NAME ACTION --help` shows the fields of an action.
///
/// JSON: [{name, description, parameters}]; parameters is a JSON Schema
#[derive(Debug, Args)]
pub(super) struct InstanceActionsArgs {
    /// The instance type
    #[arg(value_name = "TYPE")]
    backend: String,
}

impl InstanceActionsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let backend = backend(&self.backend)?;
        if wants_table(&app.output) {
            let mut table =
                Table::new([TableColumn::Whole("ACTION"), TableColumn::Text("DESCRIPTION"), TableColumn::Text("FIELDS")]);
            for action in &backend.actions {
                let fields = action.parameters["properties"].as_object();
                let fields: Vec<_> = fields.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                table.push([action.name, action.description, &fields.join(", ")]);
            }
            return Ok(app.output.table(&table)?);
        }
        Ok(app.output.json(&json::actions(backend))?)
    }
}
