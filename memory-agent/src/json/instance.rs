//! The JSON of instances and their types.

use serde_json::{Map, Value, json};

use crate::instance::{Action, Backend, Field, FieldKind, InstanceListing};

/// Returns the JSON of types of instances: `[{type, description, fields, actions}]`, with action names.
pub fn backends<'a>(backends: impl IntoIterator<Item = &'a Backend>) -> Value {
    let one = |backend: &Backend| {
        let fields: Vec<_> = backend.fields.iter().map(field).collect();
        let actions: Vec<_> = backend.actions.iter().map(|action| action.name).collect();
        json!({ "type": backend.name, "description": backend.description, "fields": fields, "actions": actions })
    };
    backends.into_iter().map(one).collect()
}

/// Returns the JSON of a type of instances, with the schemas of its actions.
pub fn backend(backend: &Backend) -> Value {
    let fields: Vec<_> = backend.fields.iter().map(field).collect();
    json!({ "type": backend.name, "description": backend.description, "fields": fields, "actions": actions(backend) })
}

/// Returns the JSON of the actions of a type: `[{name, description, parameters}]`.
///
/// `parameters` is a JSON Schema.
pub fn actions(backend: &Backend) -> Value {
    let one = |action: &Action| json!({ "name": action.name, "description": action.description, "parameters": action.parameters });
    backend.actions.iter().map(one).collect()
}

/// Returns the JSON of instances: `[{type, name, fields, built_in?}]`.
///
/// An unreadable instance has `error` instead of `fields`; secrets are only marked as sealed.
pub fn instances(listed: &[InstanceListing]) -> Value {
    let one = |one: &InstanceListing| {
        let mut told = json!({ "type": one.backend, "name": one.name });
        match &one.fields {
            Ok(fields) => told["fields"] = Value::Object(fields.clone()),
            Err(reason) => told["error"] = reason.as_str().into(),
        }
        if one.is_built_in {
            told["built_in"] = true.into();
        }
        told
    };
    listed.iter().map(one).collect()
}

fn field(field: &Field) -> Value {
    let mut told = Map::new();
    told.insert("name".into(), field.name.into());
    told.insert("type".into(), field.kind.as_str().into());
    if let FieldKind::Choice(words) = field.kind {
        told.insert("choices".into(), json!(words));
    }
    told.insert("description".into(), field.description.into());
    told.insert("required".into(), field.required.into());
    told.insert("secret".into(), field.secret.into());
    if let Some(default) = field.default {
        told.insert("default".into(), default.into());
    }
    if let Some((other, value)) = field.shown_when {
        told.insert("shown_when".into(), json!({ other: value }));
    }
    Value::Object(told)
}
