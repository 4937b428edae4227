//! The `memory bank schema` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, BankErrorKind, BankName, MissingBank};
use memory_core::json::JsonText;

use super::common::{BankOutputFormat, BankScopeArg, open, scope_choice, write_formatted};
use crate::app::App;
use crate::failure::Failure;

/// Show, set or remove the JSON Schema for the values of a bank
///
/// JSON: {bank, scope, schema}; null if there is none
#[derive(Debug, Args)]
pub(super) struct BankSchemaArgs {
    /// Name of the bank
    bank: String,
    /// JSON Schema to set, or @FILE; the existing values must match it
    #[arg(long, value_name = "JSON", conflicts_with = "clear")]
    set: Option<String>,
    /// Remove the schema
    #[arg(long)]
    clear: bool,
    /// Scope of the bank [default: project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Output format: json, table, or value for only the schema
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankSchemaArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        let choice = scope_choice(self.scope);
        let (scope, schema) = match &self.set {
            None if !self.clear => memory_core::bank::schema(&banks, &bank, choice)?,
            None => (memory_core::bank::set_schema(&banks, &bank, None, choice, MissingBank::Refuse)?, None),
            Some(text) => {
                let schema = read_schema(text).map_err(|failure| failure.with_bank(&bank, None))?;
                (memory_core::bank::set_schema(&banks, &bank, Some(&schema), choice, MissingBank::Make)?, Some(schema))
            }
        };
        write_formatted(&mut app.output, self.format, &json::schema(&bank, scope, schema.as_ref()), &["schema"])
    }
}

fn read_schema(text: &str) -> Result<JsonText, Failure> {
    let text = match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).map_err(Failure::file(format!("read {file}")))?,
        None => text.to_owned(),
    };
    Ok(text.parse::<JsonText>().map_err(|error| BankError::new(BankErrorKind::InvalidArgument { argument: "--set", error }))?)
}
