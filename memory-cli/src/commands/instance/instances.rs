//! `memory instance instances`

use clap::Args;
use memory_agent::instance::{Backend, backend, backends};
use memory_core::instance::InstanceError;
use memory_store::sealed::{Definition, FieldValue};
use serde_json::{Map, Value, json};

use super::answer::wants_table;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{Book, DEFAULT};
use crate::print::{Column, Table};

/// List the instances
///
/// JSON: [{type, name, fields, built_in?}], where error stands for what cannot be read; of a secret only that it is sealed
#[derive(Debug, Args)]
pub(super) struct Instances {}

impl Instances {
    pub(super) fn run(app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let book = Book::open(&settings, app.environment)?;
        let mut listed: Vec<(String, String, Value)> = Vec::new();
        let defined = book.instances.list()?;
        for backend in backends() {
            let is_defined = |one: &Result<Definition, InstanceError>| {
                one.as_ref().is_ok_and(|one| one.backend.as_str() == backend.name && one.name.as_str() == DEFAULT)
            };
            if !defined.iter().any(is_defined) {
                let definition = book.definition(&backend, &DEFAULT.parse()?)?;
                let fields = fields(&book, &backend, &definition)?;
                listed.push((backend.name.into(), DEFAULT.into(), json!({ "fields": fields, "built_in": true })));
            }
        }
        for definition in defined {
            let (kind, name, told) = match definition {
                Err(error) => {
                    app.output.less_than_it_should_be(&error.to_string())?;
                    continue;
                }
                Ok(definition) => {
                    let told = backend(definition.backend.as_str()).and_then(|backend| fields(&book, &backend, &definition));
                    let told =
                        told.map_or_else(|error| json!({ "error": error.to_string() }), |fields| json!({ "fields": fields }));
                    (definition.backend.to_string(), definition.name.to_string(), told)
                }
            };
            listed.push((kind, name, told));
        }
        listed.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        if !wants_table(&app.output) {
            let one = |(kind, name, told): (String, String, Value)| {
                let mut object = Map::from_iter([("type".to_owned(), kind.into()), ("name".to_owned(), name.into())]);
                object.extend(told.as_object().cloned().unwrap_or_default());
                Value::Object(object)
            };
            return Ok(app.output.json(&listed.into_iter().map(one).collect())?);
        }
        let mut table = Table::new([Column::Text("INSTANCE"), Column::Text("KEPT")]);
        for (kind, name, told) in &listed {
            let text = |value: &Value| value.as_str().map_or_else(|| "sealed".to_owned(), str::to_owned);
            let kept = match told["fields"].as_object() {
                Some(fields) => {
                    fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect::<Vec<_>>().join(" ")
                }
                None => text(&told["error"]),
            };
            table.push([format!("{kind}/{name}").as_str(), &kept]);
        }
        Ok(app.output.table(&table)?)
    }
}

fn fields(book: &Book, backend: &Backend, definition: &Definition) -> Result<Map<String, Value>, InstanceError> {
    let plain = book.fields(backend, definition)?.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    let sealed = definition.fields.iter().filter(|(_, value)| matches!(value, FieldValue::Sealed(_)));
    Ok(plain.chain(sealed.map(|(name, _)| (name.clone(), json!({ "sealed": true })))).collect())
}
