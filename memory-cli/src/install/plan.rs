//! What becomes of a file, as text from text.

use super::command::{Invocation, Verb};
use super::jsonc::{self, Step};
use super::refusal::Refusal;
use super::server::Server;
use super::{hooks, toml};

/// What a client keeps of us in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The entry of a server, in JSON.
    Server(Server),
    /// The entry of a server, in the TOML of Codex.
    Toml,
    /// The hooks of Claude Code.
    Hooks,
}

/// What is left of a file without us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rest {
    /// All of it: we were not there.
    Same,
    /// The very file that it was before us: this one of the former ones.
    Former(usize),
    /// A text.
    Text(String),
    /// Nothing: the file was made for us.
    Nothing,
}

/// The mark with which a file may begin; it is no part of the text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Returns a file with our part in it; there may be no file yet.
pub(super) fn install(file: Option<&str>, part: Part, own: &Invocation) -> Result<String, Refusal> {
    let (mark, text) = split(file.unwrap_or_default());
    let installed = match part {
        Part::Server(server) => server.install(text, own)?,
        Part::Toml => toml::install(text, own)?,
        Part::Hooks => hooks::install(text, own)?,
    };
    // What cannot be found again was put where it means something else.
    match found(&installed, part, own) {
        Ok(Some(words)) if words == own.renewed(part.verb(), &words) => Ok([mark, &installed].concat()),
        Ok(_) | Err(_) => Err(Refusal::unreadable(text, 0, "it is written so that nothing can be added safely")),
    }
}

/// Returns what is left of a file without our part. `formers` are the files from before us, as far as they are known.
pub(super) fn uninstall(file: &str, part: Part, own: &Invocation, formers: &[&str]) -> Result<Rest, Refusal> {
    let (mark, text) = split(file);
    let found = match found(text, part, own) {
        Ok(Some(found)) => own.of(&found),
        Ok(None) => return Ok(Rest::Same),
        Err(refusal) if refusal.is_taken() => return Ok(Rest::Same),
        Err(refusal) => return Err(refusal),
    };
    let is_clean = |former: &&str| matches!(self::found(split(former).1, part, own), Ok(None));
    let becomes_this = |former: Option<&str>| install(former, part, &found).is_ok_and(|installed| installed == file);
    if let Some(index) = formers.iter().position(|former| is_clean(former) && becomes_this(Some(former))) {
        return Ok(Rest::Former(index));
    }
    let clean: Vec<&str> = formers.iter().copied().filter(|former| is_clean(former)).collect();
    let was_made_for_us = clean.is_empty();
    if was_made_for_us && becomes_this(None) {
        return Ok(Rest::Nothing);
    }
    let left = match part {
        Part::Server(server) => server.uninstall(text, own)?,
        Part::Toml => toml::uninstall(text, own)?,
        Part::Hooks => hooks::uninstall(text, own)?,
    };
    let left = without_empty(left, part, &clean)?;
    let is_empty = if part == Part::Toml { toml::is_empty(&left) } else { jsonc::is_empty(&left) };
    Ok(if was_made_for_us && is_empty { Rest::Nothing } else { Rest::Text([mark, &left].concat()) })
}

/// Takes out what holds nothing any more, unless it was there before us.
fn without_empty(mut text: String, part: Part, formers: &[&str]) -> Result<String, Refusal> {
    let paths: Vec<Vec<Step>> = match part {
        Part::Server(server) => vec![vec![Step::Key(server.under)]],
        Part::Toml => return Ok(text),
        Part::Hooks => {
            let events = hooks::EVENTS.map(|(event, _)| vec![Step::Key(hooks::UNDER), Step::Key(event)]);
            events.into_iter().chain([vec![Step::Key(hooks::UNDER)]]).collect()
        }
    };
    let holds = |text: &str, path: &[Step]| -> Option<serde_json::Value> {
        let root = jsonc::parse(split(text).1).ok().flatten()?;
        jsonc::find(&root, path).map(jsonc::value)
    };
    for path in paths {
        let is_empty = holds(&text, &path).is_some_and(|held| held == serde_json::json!({}) || held == serde_json::json!([]));
        if is_empty && !formers.iter().any(|former| holds(former, &path).is_some()) {
            text = jsonc::remove(&text, &path)?;
        }
    }
    Ok(text)
}

fn found(text: &str, part: Part, own: &Invocation) -> Result<Option<Vec<String>>, Refusal> {
    match part {
        Part::Server(server) => server.found(text, own),
        Part::Toml => toml::found(text, own),
        Part::Hooks => hooks::found(text, own),
    }
}

fn split(file: &str) -> (&str, &str) {
    let text = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    (&file[..file.len() - text.len()], text)
}

impl Part {
    /// Returns what `found` finds first.
    fn verb(self) -> Verb {
        match self {
            Self::Server(_) | Self::Toml => Verb::Serve,
            Self::Hooks => hooks::EVENTS[0].1,
        }
    }
}

#[cfg(test)]
mod tests;
