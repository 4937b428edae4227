//! Names, input and output that the instance commands share.

use std::io::{self, Read};

use memory_agent::instance::{Backend, ResultChunk, ResultChunks, backend};
use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_store::sealed::{TrashedDefinition, Zeroizing};

use crate::app::App;
use crate::failure::Failure;
use crate::instances::DEFAULT;
use crate::print::Output;
use crate::topics::shell_quoted;

/// Streams a JSON array. Warnings follow the array, since a terminal shows both streams.
pub(super) fn write_json_pieces(
    output: &mut Output,
    first: &str,
    more: ResultChunks,
) -> Result<(), Failure> {
    output.json_piece(first)?;
    let (mut warnings, mut broken) = (Vec::new(), None);
    for piece in more {
        match piece {
            Ok(ResultChunk::Json(json)) => output.json_piece(&json)?,
            Ok(ResultChunk::Warning(warning)) => warnings.push(warning),
            Err(source) => broken = Some(Failure::BrokenOff { source }),
        }
    }
    if broken.is_none() {
        output.line("")?;
    }
    warnings
        .iter()
        .try_for_each(|warning| output.warn_incomplete(warning))?;
    broken.map_or(Ok(()), Err)
}

/// Prints where the previous definition of an instance is, and how to restore it.
pub(super) fn print_former_definition(
    output: &mut Output,
    former: &TrashedDefinition,
) -> Result<(), Failure> {
    let [trash, place] =
        [&former.trash, &former.place].map(|path| shell_quoted(&output.display_path(path)));
    output.note(&format!(
        "the previous definition is in the trash; restore it with `cp {trash} {place}`"
    ))
}

/// Parses `TYPE/NAME`; a type without a name means its default instance.
pub(super) fn parse_instance(
    text: &str,
) -> Result<(&'static Backend, InstanceName), InstanceError> {
    let (kind, name) = text.split_once('/').unwrap_or((text, DEFAULT));
    Ok((backend(kind)?, name.parse()?))
}

/// Parses a JSON object from the argument, from a file (`@file.json`) or from the standard input (`-`).
///
/// The bytes are zeroed after parsing, since they may contain secrets.
pub(super) fn read_object(app: &mut App, typed: &str) -> Result<JsonText, Failure> {
    let bytes = read_argument(app, typed)?;
    let wrong = |source| InstanceError::InvalidJson {
        what: "the input".into(),
        source,
    };
    let text = str::from_utf8(&bytes).map_err(|error| {
        let at = error.valid_up_to();
        wrong(memory_core::json::JsonError::Syntax {
            at,
            what: "the text is not UTF-8",
        })
    })?;
    let object: JsonText = text.parse().map_err(wrong)?;
    if object.members().is_none() {
        let hint = r#"write it as --input '{"field": "value"}'"#;
        return Err(InstanceError::invalid("the input is not a JSON object", hint).into());
    }
    Ok(object)
}

/// Returns an argument that may be in a file (`@file`) or in the standard input (`-`).
pub(in crate::commands) fn read_argument(
    app: &mut App,
    typed: &str,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match typed.strip_prefix('@') {
        Some(path) => {
            Zeroizing::new(std::fs::read(path).map_err(Failure::file(format!("read {path}")))?)
        }
        None if typed == "-" => {
            read_to_end(app.output.input()).map_err(Failure::file("read the standard input"))?
        }
        None => Zeroizing::new(typed.as_bytes().to_vec()),
    })
}

/// Size of one read, in bytes.
///
/// A read of this size bypasses the buffer of the standard input, so that no data remains in it.
const BLOCK: usize = 16 * 1024;

/// Reads the input to its end. Buffers that become too small are zeroed.
fn read_to_end(input: &mut dyn Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    let mut block = Zeroizing::new(vec![0; BLOCK]);
    loop {
        let read = match input.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if bytes.capacity() < bytes.len() + read {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * (bytes.len() + read)));
            larger.extend_from_slice(&bytes);
            bytes = larger;
        }
        bytes.extend_from_slice(&block[..read]);
    }
}
