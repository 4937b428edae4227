//! The `memory instance instances` command.

use clap::Args;
use memory_agent::instance::InstanceDefinitions as _;
use memory_agent::json;
use serde_json::Value;

use super::common::wants_table;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;
use crate::print::{Table, TableColumn};

/// List the instances
///
/// JSON: [{type, name, fields, built_in?}], with error instead for an unreadable definition; secrets are shown as sealed
/// only
#[derive(Debug, Args)]
pub(super) struct InstanceListArgs {}

impl InstanceListArgs {
    pub(super) fn run(app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let (nameless, listed): (Vec<_>, Vec<_>) =
            InstanceRegistry::open(&settings)?.list()?.into_iter().partition(|one| one.backend.is_empty());
        for reason in nameless.into_iter().filter_map(|one| one.fields.err()) {
            app.output.warn_incomplete(&reason)?;
        }
        if !wants_table(&app.output) {
            return Ok(app.output.json(&json::instances(&listed))?);
        }
        let mut table = Table::new([TableColumn::Whole("INSTANCE"), TableColumn::Text("FIELDS")]);
        for one in &listed {
            let text = |value: &Value| value.as_str().map_or_else(|| "sealed".to_owned(), str::to_owned);
            let kept = match &one.fields {
                Ok(fields) => fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect::<Vec<_>>().join(" "),
                Err(reason) => reason.clone(),
            };
            table.push([format!("{}/{}", one.backend, one.name).as_str(), &kept]);
        }
        Ok(app.output.table(&table)?)
    }
}
