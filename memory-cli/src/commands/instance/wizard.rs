//! Prompts for the fields of an instance.

use std::path::Path;

use dialoguer::theme::SimpleTheme;
use dialoguer::{Error, Input, Password, Select};
use memory_agent::instance::{Backend, Field, FieldKind};
use memory_core::instance::{InstanceError, InstanceName};
use memory_store::sealed::{FieldValue, NewFieldValue, Zeroizing};

use crate::app::App;
use crate::failure::Failure;
use crate::instances::{InstanceRegistry, prepare_database};

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
    let usual = book.default_folder_of(backend, name)?.map(|folder| app.output.display_path(&folder));
    let present = present_values(backend, name, book, app)?;
    let mut answers = FieldAnswers::new();
    // Fields that other fields depend on come first.
    let (first, then): (Vec<&Field>, Vec<&Field>) = backend.fields.iter().partition(|field| field.shown_when.is_none());
    for field in first.into_iter().chain(then) {
        let applies = field
            .shown_when
            .is_none_or(|(other, wanted)| answers.iter().any(|(name, value)| name == other && value.as_str() == wanted));
        if !applies {
            continue;
        }
        let usual = usual.as_deref().filter(|_| field.name == "dir");
        let present = present.iter().find(|(name, _)| name == field.name).map(|(_, value)| value.as_str());
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
            app.output.warning(&format!("cannot read the present values of {}/{name}: {error}", backend.name))?;
            return Ok(FieldAnswers::new());
        }
    };
    app.output.note(&format!("{}/{name} exists; its values are the defaults", backend.name))?;
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
        let answer = prompt_field(field, default).map_err(|Error::IO(error)| Failure::file("prompt for the fields")(error))?;
        let answer = Zeroizing::new(answer);
        let Err(error) = validate_field(field, &answer, book) else { return Ok(answer) };
        app.output.warning(&format!("invalid value for {}: {error}", field.name))?;
        if let Some(hint) = error.hint() {
            app.output.hint(&hint)?;
        }
    }
}

/// Validates a value before the definition is written.
///
/// A path must be allowed and, if it exists, be a folder. A secret must be a valid connection.
fn validate_field(field: &Field, value: &Zeroizing<String>, book: &InstanceRegistry) -> Result<(), InstanceError> {
    match field.kind {
        _ if value.is_empty() => Ok(()),
        FieldKind::Path => {
            let folder = book.allowed_path(Path::new(value.as_str()))?;
            if folder.exists() && !folder.is_dir() {
                let why = format!("{} is not a folder", folder.display());
                return Err(InstanceError::invalid(why, "specify a folder; a missing one is created"));
            }
            Ok(())
        }
        FieldKind::Text if field.secret => prepare_database(&[(field.name.to_owned(), NewFieldValue::Secret(value.clone()))]),
        FieldKind::Text | FieldKind::Choice(_) => Ok(()),
    }
}

fn prompt_field(field: &Field, default: Option<&str>) -> Result<String, Error> {
    let question = format!("{} ({})", field.name, field.description);
    let default = default.or(field.default);
    match field.kind {
        // There is only one choice.
        FieldKind::Choice([only]) => Ok((*only).to_owned()),
        FieldKind::Choice(words) => {
            let usual = words.iter().position(|word| Some(*word) == default).unwrap_or(0);
            let question = format!("{question} [{}]", words[usual]);
            let chosen = Select::with_theme(&SimpleTheme).with_prompt(question).items(words).default(usual).interact()?;
            Ok(words[chosen].to_owned())
        }
        FieldKind::Text | FieldKind::Path if field.secret => {
            let question = if default.is_some() { format!("{question} [unchanged]") } else { question };
            let can_be_empty = !field.required || default.is_some();
            let typed = Password::with_theme(&SimpleTheme).with_prompt(question).allow_empty_password(can_be_empty).interact()?;
            Ok(if typed.is_empty() { default.unwrap_or_default().to_owned() } else { typed })
        }
        FieldKind::Text | FieldKind::Path => {
            let input = Input::<String>::with_theme(&SimpleTheme).with_prompt(question).allow_empty(!field.required);
            let input = default.map_or_else(|| input.clone(), |usual| input.clone().default(usual.to_owned()));
            input.interact_text()
        }
    }
}
