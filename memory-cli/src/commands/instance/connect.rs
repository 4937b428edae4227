//! The `memory instance connect` command.

use std::path::Path;

use clap::Args;
use memory_agent::instance::{FieldKind, backend};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_store::sealed::{NewFieldValue, Zeroizing};
use serde_json::{Map, Value, json};

use super::common::{print_former_definition, read_object, write_json};
use super::wizard;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{InstanceRegistry, new_operation, prepare_database};
use memory_core::Verb;

/// Define an instance; an existing definition moves to the trash
///
/// `memory instance backends TYPE` lists the fields. Without --input, a terminal prompts for them, with the present values
/// of an existing instance as defaults; elsewhere a new instance gets the default fields, and an existing one is not
/// replaced. Secrets are encrypted; enter them at the prompt or with --input @FILE or --input -, since other users can see
/// arguments. For a database, the connection is tested and its tables are created before anything is stored. The command
/// prints the location of the previous definition and how to restore it; `memory undo` and `memory log` do not cover
/// definitions.
///
/// JSON: {type, name, created, fields, trash?}; trash is the file of the previous definition, and secrets are shown as
/// sealed only
#[derive(Debug, Args)]
pub(super) struct InstanceConnectArgs {
    /// The instance type
    #[arg(value_name = "TYPE")]
    backend: String,
    /// Name of the instance
    name: String,
    /// Fields as a JSON object; @FILE reads a file, - the standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
}

impl InstanceConnectArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let backend = backend(&self.backend)?;
        let (kind, name): (InstanceName, InstanceName) = (backend.name.parse()?, self.name.parse()?);
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let given = match &self.input {
            Some(typed) => member_texts(read_object(app, typed)?),
            None if app.output.input_is_terminal() => wizard::prompt_fields(backend, &name, &book, app)?,
            None if matches!(book.instances.read(&kind, &name), Ok(None)) => Vec::new(),
            None => {
                let hint = "pass the fields with --input, or --input '{}' for the defaults, or run it at a terminal";
                return Err(Failure::usage(format!("{kind}/{name} already exists, and no new fields are specified"), hint));
            }
        };
        let (mut fields, mut told) = (Vec::new(), Map::new());
        let given: Vec<_> = given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for (field, value) in backend.check_fields(&given)? {
            let (value, shown) = match field.kind {
                _ if field.secret => (NewFieldValue::secret(value), json!({ "sealed": true })),
                FieldKind::Path => {
                    let path = stored_path(app, &book, value)?;
                    (NewFieldValue::Plain(path.clone()), Value::from(path))
                }
                FieldKind::Text | FieldKind::Choice(_) => (NewFieldValue::Plain(value.to_owned()), Value::from(value)),
            };
            told.insert(field.name.to_owned(), shown);
            fields.push((field.name.to_owned(), value));
        }
        if fields.iter().any(|(_, value)| matches!(value, NewFieldValue::Secret(_))) {
            book.instances.check_key()?;
        }
        prepare_database(&fields)?;
        let former = book.instances.write(&kind, &name, &fields, &new_operation(Verb::Set))?;
        let mut answer = json!({ "type": backend.name, "name": name.as_str(), "created": former.is_none(), "fields": told });
        if let Some(former) = &former {
            answer["trash"] = app.output.display_path(&former.trash).into();
        }
        write_json(&mut app.output, &answer.to_string())?;
        former.map_or(Ok(()), |former| print_former_definition(&mut app.output, &former))
    }
}

/// Returns a path in the form in which it is stored: absolute, except that a leading `~` remains.
///
/// The `~` is expanded whenever the path is used.
fn stored_path(app: &App, book: &InstanceRegistry, typed: &str) -> Result<String, InstanceError> {
    book.allowed_path(Path::new(typed))?;
    let is_of_home = typed == "~" || typed.starts_with("~/");
    Ok(if is_of_home { typed.to_owned() } else { app.environment.absolute_path(Path::new(typed)).display().to_string() })
}

/// Returns the members of an object as texts. Any of them may be a secret, so the object is zeroed.
fn member_texts(object: JsonText) -> Vec<(String, Zeroizing<String>)> {
    let members = object.members();
    drop(Zeroizing::new(object.into_string()));
    let text = |value: JsonText| {
        let text = value.as_string().map(Zeroizing::new);
        let json = Zeroizing::new(value.into_string());
        text.unwrap_or_else(|| if *json == "null" { Zeroizing::default() } else { json })
    };
    members.into_iter().flatten().map(|(name, value)| (name, text(value))).collect()
}
