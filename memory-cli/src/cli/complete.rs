//! The candidates that the completion script of a shell shows.
//!
//! A script calls `memory complete SHELL COLUMNS [TYPE BREAKS] LINE`, where LINE is the command line up to the cursor, and the others are
//! variables of bash. The output has a line for each candidate. For zsh and fish it has a tab and a description; for bash it is quoted,
//! because bash inserts it as it is. The line `\tfiles` stands for the names of files.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ValueHint};
use memory_core::text::to_one_line;
use memory_store::{IndexedNames, NamedGroup, check_owner};
use unicode_width::UnicodeWidthStr;

use super::command_line::CommandLine;
use super::typed_words::{CompletingShell, TypedWord};
use crate::config::{Environment, Settings, described_keys};
use crate::print::ProgramName;

/// Maximum number of memories that are shown. Above a hundred candidates, bash asks first.
const MAX_MEMORIES: usize = 99;

/// The values of `COMP_TYPE` with which bash lists the candidates and inserts none of them.
const LISTING: [&str; 3] = ["63", "33", "64"];

/// A word that may be inserted.
struct CompletionCandidate {
    value: String,
    description: String,
    /// Whether the value replaces the typed word although it does not start with it.
    is_match: bool,
}

impl CompletionCandidate {
    fn new(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            description: description.into(),
            is_match: false,
        }
    }

    fn styled(value: impl Into<String>, description: Option<&StyledStr>) -> Self {
        Self::new(
            value,
            description.map(ToString::to_string).unwrap_or_default(),
        )
    }
}

/// What may be typed at the cursor.
enum Completion {
    Files,
    Words(Vec<CompletionCandidate>),
}

/// Returns the output for a script, if the arguments are those of a script.
pub(super) fn answer_script(arguments: &[OsString], environment: &Environment) -> Option<String> {
    let arguments: Vec<_> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .collect();
    let ([_, command, shell, columns, variables @ .., line], true) =
        (&arguments[..], arguments.len() > 4)
    else {
        return None;
    };
    let shell = match (&**command, &**shell) {
        ("complete", "bash") => CompletingShell::Bash,
        ("complete", "fish") => CompletingShell::Fish,
        ("complete", "zsh") => CompletingShell::Zsh,
        _ => return None,
    };
    let [kind, breaks] = [0, 1].map(|index| variables.get(index).map_or("", |variable| variable));
    let words = TypedWord::split(line, shell, breaks);
    let typed = words.last()?;
    let found = match complete(&words, environment) {
        Completion::Files => return Some("\tfiles\n".to_owned()),
        Completion::Words(found) => found,
    };
    let (lower, is_list) = (typed.text.to_lowercase(), LISTING.contains(&kind));
    let found: Vec<_> = found
        .into_iter()
        .filter(|candidate| !candidate.value.contains(char::is_control))
        .filter(|candidate| {
            candidate.is_match || candidate.value.to_lowercase().starts_with(&lower)
        })
        .collect();
    let (is_one, columns) = (found.len() == 1, columns.parse().unwrap_or(80));
    let mut output = String::new();
    for CompletionCandidate {
        value, description, ..
    } in found
    {
        let room = usize::saturating_sub(columns, value.width() + 5);
        let description = shorten(&description, room);
        let line = match shell {
            CompletingShell::Fish | CompletingShell::Zsh if description.is_empty() => value,
            CompletingShell::Fish | CompletingShell::Zsh => format!("{value}\t{description}"),
            CompletingShell::Bash => match typed.for_bash(&value) {
                Some(inserted) if is_one || !is_list || description.is_empty() => inserted,
                Some(inserted) => format!("{inserted}  ({description})"),
                None => continue,
            },
        };
        output.extend([&*line, "\n"]);
    }
    Some(output)
}

/// Returns the first line of a text in up to `columns` columns.
fn shorten(text: &str, columns: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    // A wide character takes two columns.
    let characters = columns * line.chars().count() / line.width().max(1);
    if characters < 4 {
        String::new()
    } else {
        to_one_line(line, characters)
    }
}

/// Returns what may stand at the last of the words.
fn complete(words: &[TypedWord], environment: &Environment) -> Completion {
    let (typed, before) = words.split_last().expect("a line has a word");
    let program = |word: &TypedWord| ProgramName::from_first_argument(OsStr::new(&word.text));
    // Assignments and programs such as sudo may precede the program. Another word at the start may be an alias of it.
    let names = ["memory", "memo", "memory-cli"];
    let first = before.iter().position(|word| {
        names.contains(&program(word).name()) && word.text.ends_with(program(word).name())
    });
    let before = &before[first.unwrap_or(0)..];
    let Some(first) = before.first() else {
        return Completion::Words(Vec::new());
    };
    let mut arguments: Vec<OsString> = before
        .iter()
        .map(|word| OsString::from(&word.text))
        .collect();
    if let Some(command) = program(first).command() {
        arguments.insert(1, command.into());
    }
    let asks_help = arguments.get(1).is_some_and(|first| first == "help");
    if asks_help {
        arguments.remove(1);
    }
    let root = root_folder(&arguments, environment);
    let line = CommandLine::of(arguments);
    let names = NameSource {
        line: &line,
        root,
        environment,
    };
    let typed = &*typed.text;
    let (is_positional, index) = line.positionals();
    if let Some(option) = line.open_option() {
        return names.values(option, "", typed);
    }
    if !is_positional && typed.starts_with('-') {
        let Some((name, value)) = typed.split_once('=') else {
            return Completion::Words(options(&line));
        };
        let option = line.options().find(|option| {
            option
                .get_long()
                .is_some_and(|long| name == format!("--{long}"))
        });
        return option.map_or(Completion::Words(Vec::new()), |option| {
            names.values(option, &format!("{name}="), value)
        });
    }
    let mut found = if index == 0 && !is_positional {
        subcommands(&line)
    } else {
        Vec::new()
    };
    if line.subcommands().next().is_none() && !asks_help {
        found.push(CompletionCandidate::new("help", "Describe a command"));
    }
    let positionals: Vec<_> = line.command().get_positionals().collect();
    let several = positionals
        .last()
        .filter(|last| matches!(last.get_action(), ArgAction::Append));
    let argument = positionals.get(index).or(several).filter(|_| !asks_help);
    match argument.map(|argument| names.values(argument, "", typed)) {
        Some(Completion::Files) if found.is_empty() => return Completion::Files,
        Some(Completion::Words(values)) => found.extend(values),
        _ => {}
    }
    Completion::Words(found)
}

/// Returns the folder of the option `--root`.
fn root_folder(arguments: &[OsString], environment: &Environment) -> Option<PathBuf> {
    let texts: Vec<_> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .collect();
    let next = |at: usize| texts.get(at + 1).map(|text| &**text);
    let given = texts
        .iter()
        .enumerate()
        .find_map(|(at, text)| match &**text {
            "--root" => next(at),
            text => text.strip_prefix("--root="),
        })?;
    // The shell expands it when the command runs.
    let home = given
        .strip_prefix("~/")
        .and_then(|rest| Some(environment.home.as_ref()?.join(rest)));
    Some(home.unwrap_or_else(|| given.into()))
}

fn subcommands(line: &CommandLine) -> Vec<CompletionCandidate> {
    let mut command = line.command().clone();
    if line.subcommands().next().is_none() {
        // The commands at the top are described where their arguments are defined.
        command.build();
    }
    let shown = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    shown
        .map(|command| CompletionCandidate::styled(command.get_name(), command.get_about()))
        .collect()
}

fn options(line: &CommandLine) -> Vec<CompletionCandidate> {
    let shown = line.options().filter(|option| !option.is_hide_set());
    let long = shown.filter_map(|option| {
        Some(CompletionCandidate::styled(
            format!("--{}", option.get_long()?),
            option.get_help(),
        ))
    });
    long.chain([CompletionCandidate::new("--help", "Print help")])
        .collect()
}

/// Where the values of arguments come from.
struct NameSource<'a> {
    line: &'a CommandLine,
    root: Option<PathBuf>,
    environment: &'a Environment,
}

impl NameSource<'_> {
    /// Returns the values of an argument, each with the text before it: `before`, and the items of a list.
    fn values(&self, argument: &Arg, before: &str, typed: &str) -> Completion {
        let items = argument
            .get_value_delimiter()
            .and_then(|delimiter| typed.rfind(delimiter));
        let (list, item) = typed.split_at(items.map_or(0, |comma| comma + 1));
        let Some(mut found) = self.words(argument, item) else {
            let is_file = argument.get_value_hint() == ValueHint::AnyPath;
            return if is_file {
                Completion::Files
            } else {
                Completion::Words(Vec::new())
            };
        };
        found.retain(|candidate| !list.split(',').any(|chosen| chosen == candidate.value));
        for candidate in &mut found {
            candidate.value.insert_str(0, &format!("{before}{list}"));
        }
        Completion::Words(found)
    }

    /// Returns the values of an argument; `None` if they are not known.
    fn words(&self, argument: &Arg, typed: &str) -> Option<Vec<CompletionCandidate>> {
        let fixed = argument.get_possible_values();
        if !fixed.is_empty() {
            let shown = fixed.iter().filter(|value| !value.is_hide_set());
            return Some(
                shown
                    .map(|value| CompletionCandidate::styled(value.get_name(), value.get_help()))
                    .collect(),
            );
        }
        let command = self
            .line
            .subcommands()
            .next()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let id = argument.get_id().as_str();
        let name = argument
            .get_value_names()
            .and_then(|names| names.first())
            .map_or(id, |name| name.as_str());
        let plain = |names: Vec<String>| {
            names
                .into_iter()
                .map(|name| CompletionCandidate::new(name, ""))
                .collect()
        };
        let of_kind = |kind: &str| {
            let scopes = self.names()?.scopes();
            Some(plain(
                scopes
                    .iter()
                    .filter_map(|scope| Some(scope.strip_prefix(kind)?.to_owned()))
                    .collect(),
            ))
        };
        match (command, id, &*name.to_ascii_lowercase()) {
            ("config", "key", _) => Some(
                described_keys()
                    .into_iter()
                    .map(|key| CompletionCandidate::new(key.path, key.meaning))
                    .collect(),
            ),
            (_, "project", _) | ("project", "name", _) => of_kind("project:"),
            (_, "agent", _) => of_kind("agent:"),
            (_, _, "scope") => of_kind(""),
            (_, _, "tags") => Some(plain(self.names()?.tags())),
            // These ids are of conversations, devices, operations and sessions.
            ("conversations" | "trash" | "ui", _, _) | (_, "session", _) => None,
            (_, _, "id" | "ids") => {
                let group = match command {
                    "inbox" => NamedGroup::Inbox,
                    "remind" if id != "of" => NamedGroup::Reminders,
                    _ => NamedGroup::All,
                };
                let memories = self.names()?.memories(typed, group, MAX_MEMORIES);
                let found = memories.into_iter().map(|memory| CompletionCandidate {
                    is_match: true,
                    ..CompletionCandidate::new(memory.reference, memory.title)
                });
                Some(found.collect())
            }
            _ => None,
        }
    }

    /// Opens the names of the home that the command would use; `None` if it cannot be used or has no index.
    fn names(&self) -> Option<IndexedNames> {
        let settings = Settings::load(self.root.as_deref(), self.environment).ok()?;
        let root = &settings.root.value;
        check_owner(root).ok()?;
        IndexedNames::open(root)
    }
}
