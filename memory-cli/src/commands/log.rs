//! `memory log`

use clap::Args;
use memory_agent::json;
use memory_core::{Record, RecordedChange, RecordedFile, StoreError};

use crate::app::{App, Home};
use crate::failure::Failure;
use crate::moments;
use crate::print::{Column, Form, Table};

/// Show what was done, newest first; or what one operation changed
///
/// JSON: {operations: [{operation, at, verb, by, undoes?, undone_by?, files}]}; with an OPERATION, that one alone, with
/// changes: [{id, before?, after?}], each a file: {path, hash, trash?}
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// An operation; 4 digits of it or more
    operation: Option<String>,
    /// How many operations at most; 0 means no limit
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

impl Log {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        match &self.operation {
            Some(operation) => show(operation, &home, app),
            None => self.list(&home, app),
        }
    }

    fn list(&self, home: &Home, app: &mut App) -> Result<(), Failure> {
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let records = home.services.history.records().take(limit).collect::<Result<Vec<_>, _>>()?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::records(&records))?);
        }
        let columns = ["operation", "when", "what", "by", "files", "state"].map(|name| match name {
            "files" => Column::Number(name),
            _ => Column::Text(name),
        });
        let mut table = Table::new(columns);
        for record in &records {
            let when = match app.output.form() {
                Form::Drawn(_) => moments::minute_text(record.at),
                Form::Json | Form::Tabbed => record.at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
            };
            let (files, state) = (record.files.to_string(), state(record));
            table.push([record.id.as_str(), &when, record.verb.as_str(), &record.by, &files, &state]);
        }
        app.output.table(&table)?;
        if records.is_empty() {
            app.output.note("nothing was done yet")?;
        }
        Ok(())
    }
}

fn show(operation: &str, home: &Home, app: &mut App) -> Result<(), Failure> {
    let record = find(operation, home)?;
    let changes = home.services.history.changes(&record.id).collect::<Result<Vec<_>, _>>()?;
    if app.output.is_json() {
        return Ok(app.output.json(&json::record(&record, &changes))?);
    }
    let mut table = Table::new(["id", "before", "after", "former file", "why"].map(Column::Text));
    for RecordedChange { id, before, after, why } in &changes {
        let id = if app.output.form() == Form::Tabbed { id.to_string() } else { id.short() };
        let path = |file: &Option<RecordedFile>| file.as_ref().map_or_else(|| "-".to_owned(), |file| file.path.clone());
        let trash = before.as_ref().and_then(|before| before.trash.as_deref()).unwrap_or("-");
        table.push([&id, &path(before), &path(after), trash, why.as_deref().unwrap_or("-")]);
    }
    Ok(app.output.table(&table)?)
}

fn find(operation: &str, home: &Home) -> Result<Record, StoreError> {
    let wanted = operation.trim().to_lowercase();
    for record in home.services.history.records() {
        let record = record?;
        if 4 <= wanted.len() && record.id.as_str().starts_with(&wanted) {
            return Ok(record);
        }
    }
    Err(StoreError::OperationNotFound { wanted: format!("no operation is called {operation}") })
}

fn state(record: &Record) -> String {
    match (&record.undoes, &record.undone_by) {
        (_, Some(by)) => format!("taken back by {by}"),
        (Some(undone), None) => format!("takes back {undone}"),
        (None, None) => String::new(),
    }
}
