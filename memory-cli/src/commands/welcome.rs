//! The first screen of the program: what to do, on one key each.

use std::ffi::OsString;
use std::path::Path;

use dialoguer::console::{Key, Term};
use memory_store::PublishedPage;

use crate::failure::Failure;
use crate::print::{Output, Streams};
use crate::status::page_url;

/// The choices, with the arguments of their commands.
const CHOICES: [(char, &str, &[&str]); 4] = [
    (
        'o',
        "Open the page: read, write and correct memories in a browser",
        &["ui"],
    ),
    (
        't',
        "Take the tour: two minutes, in a temporary home",
        &["tour"],
    ),
    (
        'i',
        "Import what is on this machine: notes and chats of other programs",
        &["import"],
    ),
    (
        's',
        "Set up your assistants, so that they remember",
        &["install"],
    ),
];

/// Returns whether a person can be asked.
pub(crate) fn can_ask(streams: &Streams) -> bool {
    streams.input_is_terminal && streams.out_width.is_some() && streams.err_is_terminal
}

/// Offers the choices, and returns the arguments of the selected command; those of the help after any other key.
///
/// `root` is the home, whose page is named if it is served.
pub(crate) fn ask(output: &mut Output, root: Option<&Path>) -> Result<Vec<OsString>, Failure> {
    output.line("memory: one memory for all your AI agents, as plain files on your own disk")?;
    output.line("")?;
    for (key, text, command) in CHOICES {
        output.line(&format!("  {key}  {text} (`memory {}`)", command.join(" ")))?;
    }
    if let Some(address) = root.and_then(PublishedPage::find) {
        output.line(&format!("     The page is served at {}", page_url(address)))?;
    }
    output.line("")?;
    output.flush()?;
    let terminal = Term::stderr();
    terminal.write_str("o, t, i or s; any other key lists the commands > ")?;
    // Without a key, the commands are listed.
    let key = terminal.read_key().ok();
    terminal.write_line("")?;
    let is_key =
        |own: char| matches!(key, Some(Key::Char(pressed)) if pressed.eq_ignore_ascii_case(&own));
    let chosen = CHOICES.iter().find(|(own, ..)| is_key(*own));
    let command = chosen.map_or(&["--help"][..], |(.., command)| command);
    Ok(["memory"]
        .iter()
        .chain(command)
        .map(OsString::from)
        .collect())
}
