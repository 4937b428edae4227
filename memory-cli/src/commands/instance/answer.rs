//! What the commands on instances have in common: names, input, and how they answer.

use memory_agent::instance::{Backend, Piece, Pieces, backend};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;

use crate::app::App;
use crate::failure::Failure;
use crate::instances::DEFAULT;
use crate::print::{Form, Output};

/// Writes a JSON text: on lines for people, on one line otherwise.
pub(super) fn put(output: &mut Output, json: &str) -> Result<(), Failure> {
    Ok(output.json_answer(json)?)
}

/// Writes an array piece by piece, as it is read.
pub(super) fn put_pieces(output: &mut Output, first: &str, more: Pieces) -> Result<(), Failure> {
    output.json_piece(first)?;
    for piece in more {
        match piece.map_err(|source| Failure::BrokenOff { source })? {
            Piece::Json(json) => output.json_piece(&json)?,
            Piece::Warning(warning) => output.less_than_it_should_be(&warning)?,
        }
    }
    Ok(output.line("")?)
}

/// Tells whether an answer is to be a table.
pub(super) fn wants_table(output: &Output) -> bool {
    matches!(output.form(), Form::Drawn(_))
}

/// Reads `TYPE/NAME`; a type alone means its default instance.
pub(super) fn instance(text: &str) -> Result<(&'static Backend, InstanceName), InstanceError> {
    let (kind, name) = text.split_once('/').unwrap_or((text, DEFAULT));
    Ok((backend(kind)?, name.parse()?))
}

/// Reads an object: as it was typed, out of a file as `@file.json`, or from the standard input as `-`.
pub(super) fn input(app: &mut App, typed: &str) -> Result<JsonText, Failure> {
    let bytes = match typed.strip_prefix('@') {
        Some(path) => std::fs::read(path).map_err(Failure::file(format!("read {path}")))?,
        None if typed == "-" => {
            let mut bytes = Vec::new();
            app.output.input().read_to_end(&mut bytes).map_err(Failure::file("read the standard input"))?;
            bytes
        }
        None => typed.as_bytes().to_vec(),
    };
    let wrong = |source| InstanceError::InvalidJson { what: "the input".into(), source };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong(memory_core::json::JsonError::Syntax { at, what: "the text is not UTF-8" })
    })?;
    let object: JsonText = text.parse().map_err(wrong)?;
    if object.members().is_none() {
        let hint = r#"write it as --input '{"field": "value"}'"#;
        return Err(InstanceError::invalid("the input is no JSON object", hint).into());
    }
    Ok(object)
}
