//! The `memory instance backends` command.

use clap::Args;
use memory_agent::instance::{Backend, backend, backends};
use memory_agent::json;

use super::common::wants_table;
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// List the instance types, or describe one
///
/// JSON: [{type, description, fields, actions}]; with a TYPE only that type, including the schemas of its action parameters
#[derive(Debug, Args)]
pub(super) struct InstanceBackendsArgs {
    /// Instance type to describe
    #[arg(value_name = "TYPE")]
    backend: Option<String>,
}

impl InstanceBackendsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if let Some(name) = &self.backend {
            return super::common::write_json(&mut app.output, &json::backend(backend(name)?).to_string());
        }
        let all = backends();
        if wants_table(&app.output) {
            let mut table =
                Table::new([TableColumn::Whole("TYPE"), TableColumn::Text("DESCRIPTION"), TableColumn::Text("ACTIONS")]);
            for backend in all {
                table.push([backend.name, backend.description, &action_names(backend).join(", ")]);
            }
            return Ok(app.output.table(&table)?);
        }
        Ok(app.output.json(&json::backends(all))?)
    }
}

fn action_names(backend: &Backend) -> Vec<&'static str> {
    backend.actions.iter().map(|action| action.name).collect()
}
