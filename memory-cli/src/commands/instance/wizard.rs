//! Asking a person for the fields of an instance.

use std::io;

use dialoguer::theme::SimpleTheme;
use dialoguer::{Error, Input, Password, Select};
use memory_agent::instance::{Backend, Field, Kind};
use memory_store::sealed::Zeroizing;

/// What was answered, by field.
pub(super) type Answers = Vec<(String, Zeroizing<String>)>;

/// Asks for each field that means something beside those that were answered.
///
/// # Errors
/// When there is nobody to answer any more.
pub(super) fn ask(backend: &Backend) -> io::Result<Answers> {
    let mut answers = Answers::new();
    for field in backend.fields.iter().filter(|field| field.shown_when.is_none()) {
        put(field, &mut answers)?;
    }
    for field in backend.fields.iter().filter(|field| field.shown_when.is_some()) {
        let is_meant = field
            .shown_when
            .is_some_and(|(other, wanted)| answers.iter().any(|(name, value)| name == other && value.as_str() == wanted));
        if is_meant {
            put(field, &mut answers)?;
        }
    }
    Ok(answers)
}

fn put(field: &Field, answers: &mut Answers) -> io::Result<()> {
    let answer = Zeroizing::new(one(field).map_err(|Error::IO(error)| error)?);
    // Nothing said is nothing given.
    if !answer.is_empty() {
        answers.push((field.name.to_owned(), answer));
    }
    Ok(())
}

fn one(field: &Field) -> Result<String, Error> {
    let question = format!("{} ({})", field.name, field.description);
    match field.kind {
        // There is nothing to choose.
        Kind::Choice([only]) => Ok((*only).to_owned()),
        Kind::Choice(words) => {
            let usual = words.iter().position(|word| Some(*word) == field.default).unwrap_or(0);
            let chosen = Select::with_theme(&SimpleTheme).with_prompt(question).items(words).default(usual).interact()?;
            Ok(words[chosen].to_owned())
        }
        Kind::Text | Kind::Path if field.secret => {
            Password::with_theme(&SimpleTheme).with_prompt(question).allow_empty_password(!field.required).interact()
        }
        Kind::Text | Kind::Path => {
            let input = Input::<String>::with_theme(&SimpleTheme).with_prompt(question).allow_empty(!field.required);
            let input = field.default.map_or_else(|| input.clone(), |usual| input.clone().default(usual.to_owned()));
            input.interact_text()
        }
    }
}
