//! `memory instance connect`

use std::path::Path;

use clap::Args;
use memory_agent::instance::{Kind, backend};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_store::sealed::{Kept, NewValue, Zeroizing};
use serde_json::{Map, Value, json};

use super::answer::{input, put};
use super::wizard;
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{Book, operation, prepare};

/// Define an instance; the definition that there is goes to trash
///
/// `memory instance backends TYPE` shows the fields. Without --input, they are asked for at a terminal, and have their defaults
/// elsewhere. Secrets are sealed; give them when asked, or with --input @FILE or --input -, since others may see what is typed.
/// A database is reached, and its tables are made, before anything is kept.
///
/// JSON: {type, name, created, fields}; of a secret only that it is sealed
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
            None if app.output.input_is_terminal() => wizard::ask(backend).map_err(Failure::file("ask for the fields"))?,
            None => Vec::new(),
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
        prepare(&fields)?;
        let kept = book.instances.write(&kind, &name, &fields, &operation())?;
        let created = kept == Kept::New;
        put(
            &mut app.output,
            &json!({ "type": backend.name, "name": name.as_str(), "created": created, "fields": told }).to_string(),
        )
    }
}

/// Returns a path as it is kept: whole, but for `~`, whoever that is later.
fn path(app: &App, book: &Book, typed: &str) -> Result<String, InstanceError> {
    book.place(Path::new(typed))?;
    let is_of_home = typed == "~" || typed.starts_with("~/");
    Ok(if is_of_home { typed.to_owned() } else { app.environment.whole(Path::new(typed)).display().to_string() })
}

/// Returns the members of an object as texts. Any of them may be a secret, and so the object does not stay in memory.
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
