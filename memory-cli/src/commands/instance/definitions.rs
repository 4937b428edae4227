//! The commands on definitions: `memory instance instances`, `connect`, `rm` and `rekey`.

use std::path::Path;

use clap::Args;
use dialoguer::theme::SimpleTheme;
use dialoguer::{Input, Password, Select};
use memory_agent::instance::{Backend, Field, FieldKind, InstanceDefinitions as _, backend};
use memory_agent::json;
use memory_core::Verb;
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_store::sealed::{FieldValue, NewFieldValue, Zeroizing};
use serde_json::{Map, Value, json};

use super::common::{parse_instance, print_former_definition, read_object};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{InstanceRegistry, new_operation, prepare_database};
use crate::print::{Table, TableColumn, prompt};

pub(super) fn list(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let (nameless, listed): (Vec<_>, Vec<_>) = InstanceRegistry::open(&settings)?
        .list()?
        .into_iter()
        .partition(|one| one.backend.is_empty());
    for reason in nameless.into_iter().filter_map(|one| one.fields.err()) {
        app.output.warn_incomplete(&reason)?;
    }
    if !app.output.is_drawn() {
        return app.output.json(&json::instances(&listed));
    }
    let mut table = Table::new([TableColumn::Whole("INSTANCE"), TableColumn::Text("FIELDS")]);
    for one in &listed {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| "sealed".to_owned(), str::to_owned)
        };
        let kept = match &one.fields {
            Ok(fields) => fields
                .iter()
                .map(|(name, value)| format!("{name}={}", text(value)))
                .collect::<Vec<_>>()
                .join(" "),
            Err(reason) => reason.clone(),
        };
        table.push([format!("{}/{}", one.backend, one.name).as_str(), &kept]);
    }
    app.output.table(&table)
}

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
        let (kind, name): (InstanceName, InstanceName) =
            (backend.name.parse()?, self.name.parse()?);
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let given = match &self.input {
            Some(typed) => member_texts(read_object(app, typed)?),
            None if app.output.input_is_terminal() => prompt_fields(backend, &name, &book, app)?,
            None if matches!(book.instances.read(&kind, &name), Ok(None)) => Vec::new(),
            None => {
                let hint = "pass the fields with --input, or --input '{}' for the defaults, or run it at a terminal";
                return Err(Failure::usage(
                    format!("{kind}/{name} already exists, and no new fields are specified"),
                    hint,
                ));
            }
        };
        let (mut fields, mut told) = (Vec::new(), Map::new());
        let given: Vec<_> = given
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        for (field, value) in backend.check_fields(&given)? {
            let (value, shown) = match field.kind {
                _ if field.secret => (NewFieldValue::secret(value), json!({ "sealed": true })),
                FieldKind::Path => {
                    let path = stored_path(app, &book, value)?;
                    (NewFieldValue::Plain(path.clone()), Value::from(path))
                }
                FieldKind::Text | FieldKind::Choice(_) => {
                    (NewFieldValue::Plain(value.to_owned()), Value::from(value))
                }
            };
            told.insert(field.name.to_owned(), shown);
            fields.push((field.name.to_owned(), value));
        }
        if fields
            .iter()
            .any(|(_, value)| matches!(value, NewFieldValue::Secret(_)))
        {
            book.instances.check_key()?;
        }
        prepare_database(&fields)?;
        let former = book
            .instances
            .write(&kind, &name, &fields, &new_operation(Verb::Set))?;
        let mut answer = json!({ "type": backend.name, "name": name.as_str(), "created": former.is_none(), "fields": told });
        if let Some(former) = &former {
            answer["trash"] = app.output.display_path(&former.trash).into();
        }
        app.output.json_answer(&answer.to_string())?;
        former.map_or(Ok(()), |former| {
            print_former_definition(&mut app.output, &former)
        })
    }
}

/// Returns a path in the form in which it is stored: absolute, except that a leading `~` remains.
///
/// The `~` is expanded whenever the path is used.
fn stored_path(app: &App, book: &InstanceRegistry, typed: &str) -> Result<String, InstanceError> {
    book.allowed_path(Path::new(typed))?;
    let is_of_home = typed == "~" || typed.starts_with("~/");
    Ok(if is_of_home {
        typed.to_owned()
    } else {
        app.environment
            .absolute_path(Path::new(typed))
            .display()
            .to_string()
    })
}

/// Returns the members of an object as texts. Any of them may be a secret, so the object is zeroed.
fn member_texts(object: JsonText) -> Vec<(String, Zeroizing<String>)> {
    let members = object.members();
    drop(Zeroizing::new(object.into_string()));
    let text = |value: JsonText| {
        let text = value.as_string().map(Zeroizing::new);
        let json = Zeroizing::new(value.into_string());
        text.unwrap_or_else(|| {
            if *json == "null" {
                Zeroizing::default()
            } else {
                json
            }
        })
    };
    members
        .into_iter()
        .flatten()
        .map(|(name, value)| (name, text(value)))
        .collect()
}

/// Delete the definition of an instance; its data stays unchanged
///
/// The definition moves to the trash of its folder; the command prints its location and how to restore it. `memory undo`
/// and `memory log` do not cover definitions.
///
/// JSON: {type, name, removed, trash}; trash is the file
#[derive(Debug, Args)]
pub(super) struct InstanceRmArgs {
    /// The instance
    #[arg(value_name = "TYPE/NAME")]
    instance: String,
}

impl InstanceRmArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if !self.instance.contains('/') {
            return Err(Failure::usage(
                format!("{:?} is not a TYPE/NAME", self.instance),
                "list instances with `memory instance instances`",
            ));
        }
        let (backend, name) = parse_instance(&self.instance)?;
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let Some(former) =
            book.instances
                .remove(&backend.name.parse()?, &name, &new_operation(Verb::Delete))?
        else {
            let instance = self.instance.clone();
            return Err(match name.as_str() {
                "default" => {
                    let hint = "to remove a session or a key from it, run the action delete";
                    InstanceError::invalid(
                        format!("{instance} is built in and has no definition to delete"),
                        hint,
                    )
                }
                _ => InstanceError::InstanceNotFound { instance },
            }
            .into());
        };
        let trash = app.output.display_path(&former.trash);
        let answer =
            json!({ "type": backend.name, "name": name.as_str(), "removed": true, "trash": trash });
        app.output.json_answer(&answer.to_string())?;
        print_former_definition(&mut app.output, &former)
    }
}

pub(super) fn rekey(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let book = InstanceRegistry::open(&settings)?;
    let resealed = book.instances.rekey(book.new_master_key()?.as_ref())?;
    app.output
        .json_answer(&json!({ "resealed": resealed }).to_string())
}

/// The entered values, by field.
pub(super) type FieldAnswers = Vec<(String, Zeroizing<String>)>;

/// Prompts for each field that applies, again after an invalid value.
///
/// The defaults are the present values if the instance exists.
///
/// # Errors
/// If the input ends.
pub(super) fn prompt_fields(
    backend: &Backend,
    name: &InstanceName,
    book: &InstanceRegistry,
    app: &mut App,
) -> Result<FieldAnswers, Failure> {
    let usual = book
        .default_folder_of(backend, name)?
        .map(|folder| app.output.display_path(&folder));
    let present = present_values(backend, name, book, app)?;
    let mut answers = FieldAnswers::new();
    // Fields that other fields depend on come first.
    let (first, then): (Vec<&Field>, Vec<&Field>) = backend
        .fields
        .iter()
        .partition(|field| field.shown_when.is_none());
    for field in first.into_iter().chain(then) {
        let applies = field.shown_when.is_none_or(|(other, wanted)| {
            answers
                .iter()
                .any(|(name, value)| name == other && value.as_str() == wanted)
        });
        if !applies {
            continue;
        }
        let usual = usual.as_deref().filter(|_| field.name == "dir");
        let present = present
            .iter()
            .find(|(name, _)| name == field.name)
            .map(|(_, value)| value.as_str());
        let answer = prompt_until_valid(field, present.or(usual), book, app)?;
        // An empty value omits the field. The default folder is omitted too, so that it follows the home.
        if !answer.is_empty() && Some(answer.as_str()) != usual {
            answers.push((field.name.to_owned(), answer));
        }
    }
    Ok(answers)
}

/// Returns the present values of the fields of an instance; warns of unreadable values and omits them.
fn present_values(
    backend: &Backend,
    name: &InstanceName,
    book: &InstanceRegistry,
    app: &mut App,
) -> Result<FieldAnswers, Failure> {
    let definition = match book.instances.read(&backend.name.parse()?, name) {
        Ok(Some(definition)) => definition,
        Ok(None) => return Ok(FieldAnswers::new()),
        Err(error) => {
            app.output.warning(&format!(
                "cannot read the present values of {}/{name}: {error}",
                backend.name
            ))?;
            return Ok(FieldAnswers::new());
        }
    };
    app.output.note(&format!(
        "{}/{name} exists; its values are the defaults",
        backend.name
    ))?;
    let mut values = FieldAnswers::new();
    for (field, value) in &definition.fields {
        match value {
            FieldValue::Plain(text) => values.push((field.clone(), Zeroizing::new(text.clone()))),
            FieldValue::Sealed(sealed) => match book.instances.open(&definition, field, sealed) {
                Ok(secret) => values.push((field.clone(), secret)),
                Err(error) => app.output.warning(&error.to_string())?,
            },
        }
    }
    Ok(values)
}

/// Prompts for a field until its value is valid; `default` is the value of an empty line.
fn prompt_until_valid(
    field: &Field,
    default: Option<&str>,
    book: &InstanceRegistry,
    app: &mut App,
) -> Result<Zeroizing<String>, Failure> {
    loop {
        let answer = prompt(|| prompt_field(field, default))
            .map_err(Failure::file("prompt for the fields"))?;
        let answer = Zeroizing::new(answer);
        let Err(error) = validate_field(field, &answer, book) else {
            return Ok(answer);
        };
        app.output
            .warning(&format!("invalid value for {}: {error}", field.name))?;
        if let Some(hint) = error.hint() {
            app.output.hint(&hint)?;
        }
    }
}

/// Validates a value before the definition is written.
///
/// A path must be allowed and, if it exists, be a folder. A secret must be a valid connection.
fn validate_field(
    field: &Field,
    value: &Zeroizing<String>,
    book: &InstanceRegistry,
) -> Result<(), InstanceError> {
    match field.kind {
        _ if value.is_empty() => Ok(()),
        FieldKind::Path if value.contains("://") => Err(InstanceError::invalid(
            "an address is not a folder",
            "choose another driver for an address",
        )),
        FieldKind::Path => {
            let folder = book.allowed_path(Path::new(value.as_str()))?;
            if folder.exists() && !folder.is_dir() {
                let why = format!("{} is not a folder", folder.display());
                return Err(InstanceError::invalid(
                    why,
                    "specify a folder; a missing one is created",
                ));
            }
            Ok(())
        }
        FieldKind::Text if field.secret => {
            prepare_database(&[(field.name.to_owned(), NewFieldValue::Secret(value.clone()))])
        }
        FieldKind::Text | FieldKind::Choice(_) => Ok(()),
    }
}

fn prompt_field(field: &Field, default: Option<&str>) -> dialoguer::Result<String> {
    let question = format!("{} ({})", field.name, field.description);
    let default = default.or(field.default);
    match field.kind {
        // There is only one choice.
        FieldKind::Choice([only]) => Ok((*only).to_owned()),
        FieldKind::Choice(words) => {
            let usual = words
                .iter()
                .position(|word| Some(*word) == default)
                .unwrap_or(0);
            let question = format!("{question} [{}]", words[usual]);
            let chosen = Select::with_theme(&SimpleTheme)
                .with_prompt(question)
                .items(words)
                .default(usual)
                .interact()?;
            Ok(words[chosen].to_owned())
        }
        FieldKind::Text | FieldKind::Path if field.secret => {
            let question = if default.is_some() {
                format!("{question} [unchanged]")
            } else {
                question
            };
            let can_be_empty = !field.required || default.is_some();
            let typed = Password::with_theme(&SimpleTheme)
                .with_prompt(question)
                .allow_empty_password(can_be_empty)
                .interact()?;
            Ok(if typed.is_empty() {
                default.unwrap_or_default().to_owned()
            } else {
                typed
            })
        }
        FieldKind::Text | FieldKind::Path => {
            let input = Input::<String>::with_theme(&SimpleTheme)
                .with_prompt(question)
                .allow_empty(!field.required);
            let input = default.map_or_else(
                || input.clone(),
                |usual| input.clone().default(usual.to_owned()),
            );
            input.interact_text()
        }
    }
}
