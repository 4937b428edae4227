//! The `memory instance connect` command.

use std::path::Path;

use clap::Args;
use memory_agent::instance::{Kind, backend};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_store::sealed::{NewValue, Zeroizing};
use serde_json::{Map, Value, json};

use super::answer::{input, note_former, put};
use super::wizard;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{Book, operation, prepare};

/// Define an instance; the definition that there is goes to trash
///
/// `memory instance backends TYPE` shows the fields. Without --input, they are asked for at a terminal, where the present values of an
/// instance are the defaults. Elsewhere a new instance gets the default fields, and one that is there is not replaced. Secrets are sealed; give them when asked, or with --input @FILE or --input -, since others may see what is typed.
/// A database is reached, and its tables are made, before anything is kept. The command says where the former definition is, and how
/// to bring it back; `memory undo` and `memory log` do not cover definitions.
///
/// JSON: {type, name, created, fields, trash?}, where trash is the file of the former definition; of a secret only that it is sealed
#[derive(Debug, Args)]
pub(super) struct Connect {
    /// The type of the instance
    #[arg(value_name = "TYPE")]
    backend: String,
    /// Its name
    name: String,
    /// The fields as a JSON object; @FILE reads a file, - the standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
}

impl Connect {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let backend = backend(&self.backend)?;
        let (kind, name): (InstanceName, InstanceName) = (backend.name.parse()?, self.name.parse()?);
        let settings = app.settings()?;
        let book = Book::open(&settings, app.environment)?;
        let given = match &self.input {
            Some(typed) => texts(input(app, typed)?),
            None if app.output.input_is_terminal() => wizard::ask(backend, &name, &book, app)?,
            None if matches!(book.instances.read(&kind, &name), Ok(None)) => Vec::new(),
            None => {
                let hint = "give the new fields with --input, or --input '{}' for the defaults; at a terminal they are asked for";
                return Err(Failure::usage(format!("{kind}/{name} is there already, and nothing says what to change"), hint));
            }
        };
        let (mut fields, mut told) = (Vec::new(), Map::new());
        let given: Vec<_> = given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for (field, value) in backend.checked(&given)? {
            let (value, shown) = match field.kind {
                _ if field.secret => (NewValue::secret(value), json!({ "sealed": true })),
                Kind::Path => {
                    let path = path(app, &book, value)?;
                    (NewValue::Plain(path.clone()), Value::from(path))
                }
                Kind::Text | Kind::Choice(_) => (NewValue::Plain(value.to_owned()), Value::from(value)),
            };
            told.insert(field.name.to_owned(), shown);
            fields.push((field.name.to_owned(), value));
        }
        if fields.iter().any(|(_, value)| matches!(value, NewValue::Secret(_))) {
            book.instances.check_key()?;
        }
        prepare(&fields)?;
        let former = book.instances.write(&kind, &name, &fields, &operation())?;
        let mut answer = json!({ "type": backend.name, "name": name.as_str(), "created": former.is_none(), "fields": told });
        if let Some(former) = &former {
            answer["trash"] = app.output.place(&former.trash).into();
        }
        put(&mut app.output, &answer.to_string())?;
        former.map_or(Ok(()), |former| note_former(&mut app.output, &former))
    }
}

/// Returns a path in the form in which it is stored: absolute, except that a leading `~` remains.
///
/// The `~` is expanded whenever the path is used.
fn path(app: &App, book: &Book, typed: &str) -> Result<String, InstanceError> {
    book.place(Path::new(typed))?;
    let is_of_home = typed == "~" || typed.starts_with("~/");
    Ok(if is_of_home { typed.to_owned() } else { app.environment.whole(Path::new(typed)).display().to_string() })
}

/// Returns the members of an object as texts. Any of them may be a secret, so the object is zeroed.
fn texts(object: JsonText) -> Vec<(String, Zeroizing<String>)> {
    let members = object.members();
    drop(Zeroizing::new(object.into_string()));
    let text = |value: JsonText| {
        let text = value.as_string().map(Zeroizing::new);
        let json = Zeroizing::new(value.into_string());
        text.unwrap_or_else(|| if *json == "null" { Zeroizing::default() } else { json })
    };
    members.into_iter().flatten().map(|(name, value)| (name, text(value))).collect()
}
