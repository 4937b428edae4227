//! Classifies command-line arguments, so that texts that start with a dash are accepted.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser};

use super::aliases::{self, CommandAlias};
use crate::commands::{Cli, CliCommand};

/// The arguments, the first of which is the program, and the role of each other one before `--`.
#[derive(Debug)]
pub(super) struct CommandLine {
    arguments: Vec<OsString>,
    roles: Vec<ArgumentRole>,
    /// The command that the subcommands select.
    command: Command,
    /// The other name of the command that was typed, if any.
    alias: Option<CommandAlias>,
    /// Whether the help lists all commands.
    pub(super) lists_all: bool,
    /// The global options of its parent commands.
    globals: Vec<Arg>,
    /// Whether the last argument is an option whose value is the next one.
    takes_value: bool,
}

/// The role of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentRole {
    /// The name of a subcommand.
    Subcommand,
    /// One or more options; the last may include its value.
    Option,
    /// The value of the preceding option.
    Value,
    /// A name with two dashes that is no option of the command.
    UnknownOption,
    /// Any other argument.
    Positional,
}

impl CommandLine {
    /// Classifies the arguments; replaces `help` and `version` in place of a command with the flags.
    pub(super) fn from_arguments(arguments: Vec<OsString>) -> Self {
        let line = Self::of(arguments);
        let Some(index) = line
            .roles
            .iter()
            .position(|role| *role == ArgumentRole::Positional)
            .map(|index| index + 1)
        else {
            return line;
        };
        // Where a text may follow, such as that of a reminder, only a single word is a flag.
        let takes_flag = line.command.has_subcommands()
            && (line.command.get_positionals().next().is_none()
                || line.arguments_in_role(ArgumentRole::Positional).count() == 1);
        match line.arguments[index].to_str() {
            Some("help") if takes_flag => {
                let is_all = |argument: &OsString| line.is_top_level() && argument == "--all";
                let lists_all = line.arguments.iter().any(is_all);
                let mut arguments = line.arguments.clone();
                arguments.remove(index);
                arguments.retain(|argument| !is_all(argument));
                arguments.push("--help".into());
                Self {
                    lists_all,
                    ..Self::of(arguments)
                }
            }
            // All commands have the version of the program.
            Some("version") if takes_flag => Self::of(
                line.arguments
                    .into_iter()
                    .take(1)
                    .chain(["--version".into()])
                    .collect(),
            ),
            _ => line,
        }
    }

    /// Classifies the arguments, with the words of a command in place of its other names.
    pub(super) fn of(mut arguments: Vec<OsString>) -> Self {
        let mut command = Cli::command();
        let mut globals = Vec::new();
        let mut roles = Vec::new();
        let mut alias = None;
        let (mut takes_value, mut has_positional, mut is_top_level) = (false, false, true);
        // The place after the last subcommand.
        let mut after_path = 1;
        while let Some(argument) = arguments
            .get(roles.len() + 1)
            .filter(|argument| *argument != "--")
        {
            let index = roles.len() + 1;
            let is_dashed = argument.len() > 1 && argument.as_encoded_bytes().starts_with(b"-");
            let role = if std::mem::take(&mut takes_value) {
                ArgumentRole::Value
            } else if is_dashed {
                let options = OptionLookup {
                    command: &command,
                    globals: &globals,
                };
                let role;
                (role, takes_value) = options.role(&argument.to_string_lossy());
                role
            } else if let Some(found) = command
                .find_subcommand(argument)
                .filter(|_| !has_positional)
                .cloned()
            {
                // clap takes a subcommand that follows an option for a text, if there may be one.
                let place = if command.is_args_conflicts_with_subcommands_set() {
                    after_path
                } else {
                    index
                };
                arguments[place..=index].rotate_right(1);
                roles.insert(place - 1, ArgumentRole::Subcommand);
                after_path = place + 1;
                globals.extend(
                    command
                        .get_arguments()
                        .filter(|option| option.is_global_set())
                        .cloned(),
                );
                // Only the commands at the top are defined late.
                command = if is_top_level {
                    CliCommand::define(found.get_name())
                } else {
                    found
                };
                is_top_level = false;
                continue;
            } else if let Some(other) = CommandAlias::find(argument, &arguments[index + 1..])
                .filter(|_| is_top_level && !has_positional)
            {
                arguments.splice(index..=index, other.words.iter().map(OsString::from));
                alias = Some(other);
                continue;
            } else {
                ArgumentRole::Positional
            };
            has_positional |= role == ArgumentRole::Positional;
            roles.push(role);
        }
        Self {
            arguments,
            roles,
            command,
            alias,
            lists_all: false,
            globals,
            takes_value,
        }
    }

    /// Returns the previous name of the command that was typed, and the words that replace it.
    pub(super) fn former_name(&self) -> Option<(&'static str, &'static [&'static str])> {
        let alias = self.alias.filter(|alias| alias.is_former)?;
        Some((alias.name, alias.words))
    }

    /// Returns the command that the subcommands select.
    pub(super) fn command(&self) -> &Command {
        &self.command
    }

    /// Returns the names of the subcommands, as they were typed.
    pub(super) fn subcommands(&self) -> impl Iterator<Item = &OsString> {
        self.arguments_in_role(ArgumentRole::Subcommand)
    }

    /// Returns the options of the command and the global ones.
    pub(super) fn options(&self) -> impl Iterator<Item = &Arg> {
        let options = self.command.get_arguments().chain(&self.globals);
        options.filter(|option| !option.is_positional())
    }

    /// Returns whether all further arguments are positional, and the number of those before.
    pub(super) fn positionals(&self) -> (bool, usize) {
        let after = self.arguments.len() - 1 - self.roles.len();
        let before = self.arguments_in_role(ArgumentRole::Positional).count();
        (0 < after, before + after.saturating_sub(1))
    }

    /// Returns the option whose value is the next argument.
    pub(super) fn open_option(&self) -> Option<&Arg> {
        let last = self.arguments.last().filter(|_| self.takes_value)?;
        let last = last.to_str()?;
        self.options().find(|option| match last.strip_prefix("--") {
            Some(name) => option.get_long() == Some(name) || has_alias(option, name),
            None => option.get_short() == last.chars().next_back(),
        })
    }

    /// Returns the arguments.
    pub(super) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Returns whether no command is named.
    pub(super) fn is_top_level(&self) -> bool {
        !self.roles.contains(&ArgumentRole::Subcommand)
    }

    /// Parses the arguments into a command.
    ///
    /// An argument that starts with a dash but cannot be an option, such as `- buy milk`, is the value of the preceding
    /// option or a text. An argument that can be an option is never a text.
    ///
    /// # Errors
    /// The error of clap if the arguments are invalid.
    pub(super) fn parse(&self) -> Result<Cli, clap::Error> {
        let takes_dashes = self
            .command
            .get_positionals()
            .any(Arg::is_allow_hyphen_values_set);
        if takes_dashes && self.roles.contains(&ArgumentRole::UnknownOption) {
            let path: Vec<&str> = self
                .arguments_in_role(ArgumentRole::Subcommand)
                .filter_map(|name| name.to_str())
                .collect();
            let matches = without_dashes(self.whole_command(), &path)
                .try_get_matches_from(self.sorted_arguments())?;
            return Cli::from_arg_matches(&matches);
        }
        self.parse_arguments().map_err(|error| match error.kind() {
            // An argument of all commands precedes those that are defined later, so help is rendered from the whole definition.
            ErrorKind::DisplayHelp => self
                .whole_command()
                .try_get_matches_from(&self.arguments)
                .err()
                .unwrap_or(error),
            ErrorKind::InvalidSubcommand if self.is_top_level() => with_suggestions(error),
            ErrorKind::UnknownArgument => self.with_text(error),
            _ => error,
        })
    }

    /// Returns the error about an argument, with the way to write a text that starts with the name of a subcommand.
    fn with_text(&self, mut error: clap::Error) -> clap::Error {
        let names: Vec<_> = self
            .subcommands()
            .map(|name| name.to_string_lossy())
            .collect();
        let [parent, name] = &names[..] else {
            return error;
        };
        let takes_text = CliCommand::define(parent)
            .get_positionals()
            .any(|argument| argument.get_id() == "text");
        let is_word = matches!(
            error.get(ContextKind::InvalidArg),
            Some(ContextValue::String(word)) if !word.starts_with('-')
        );
        if takes_text && is_word {
            let tip = format!(
                "a text that starts with '{name}' follows '--': memory {parent} -- {name} …"
            );
            error.insert(
                ContextKind::Suggested,
                ContextValue::StyledStrs(vec![tip.into()]),
            );
        }
        error
    }

    fn parse_arguments(&self) -> Result<Cli, clap::Error> {
        let is_special = |(argument, role): (&OsString, &ArgumentRole)| match role {
            ArgumentRole::Value => cannot_be_option(argument),
            ArgumentRole::Positional => is_text(argument),
            ArgumentRole::Subcommand | ArgumentRole::Option | ArgumentRole::UnknownOption => false,
        };
        if self
            .arguments
            .iter()
            .skip(1)
            .zip(&self.roles)
            .any(is_special)
        {
            return Cli::try_parse_from(self.sorted_arguments());
        }
        Cli::try_parse_from(&self.arguments)
    }

    /// Returns the definition of all commands, in which the arguments of the used one are defined.
    fn whole_command(&self) -> Command {
        let name = self
            .arguments_in_role(ArgumentRole::Subcommand)
            .next()
            .and_then(|name| name.to_str());
        name.map_or_else(Cli::command, |name| {
            Cli::command().mut_subcommand(name, |_| CliCommand::define(name))
        })
    }

    fn arguments_in_role(&self, role: ArgumentRole) -> impl Iterator<Item = &OsString> {
        self.arguments
            .iter()
            .skip(1)
            .zip(&self.roles)
            .filter(move |(_, own)| **own == role)
            .map(|(argument, _)| argument)
    }

    /// Returns the arguments in an order that clap parses correctly.
    ///
    /// All options come before `--`, each value that starts with a dash joined to its option. All texts follow in their order.
    fn sorted_arguments(&self) -> Vec<OsString> {
        let mut sorted: Vec<OsString> = self.arguments.iter().take(1).cloned().collect();
        for (argument, role) in self.arguments.iter().skip(1).zip(&self.roles) {
            match (role, sorted.last_mut()) {
                (ArgumentRole::Positional, _) => {}
                (ArgumentRole::Value, Some(option)) if cannot_be_option(argument) => {
                    option.push("=");
                    option.push(argument);
                }
                (_, _) => sorted.push(argument.clone()),
            }
        }
        sorted.push("--".into());
        sorted.extend(self.arguments_in_role(ArgumentRole::Positional).cloned());
        sorted.extend(self.arguments.iter().skip(self.roles.len() + 2).cloned());
        sorted
    }
}

/// The options of a command.
struct OptionLookup<'a> {
    command: &'a Command,
    /// The global options of its parent commands.
    globals: &'a [Arg],
}

impl OptionLookup<'_> {
    /// Returns the role of an argument that starts with a dash, and whether the next argument is its value.
    fn role(&self, argument: &str) -> (ArgumentRole, bool) {
        if let Some(long) = argument.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(name, value)| (name, Some(value)));
            return match self
                .find(|option| option.get_long() == Some(name) || has_alias(option, name))
            {
                Some(option) => (ArgumentRole::Option, value.is_none() && takes_value(option)),
                None if name == "help" => (ArgumentRole::Option, false),
                None if is_text(OsStr::new(argument)) || !name.starts_with(char::is_alphabetic) => {
                    (ArgumentRole::Positional, false)
                }
                None => (ArgumentRole::UnknownOption, false),
            };
        }
        let mut shorts = argument[1..].chars();
        while let Some(short) = shorts.next() {
            match self.find(|option| option.get_short() == Some(short)) {
                Some(option) if takes_value(option) => {
                    return (ArgumentRole::Option, shorts.as_str().is_empty());
                }
                Some(_) => {}
                None if short == 'h' => {}
                None if cannot_be_option(OsStr::new(argument)) => {
                    return (ArgumentRole::Positional, false);
                }
                // For a command that accepts texts with a dash, this is a text; for any other, clap reports an unknown option.
                None if self
                    .command
                    .get_positionals()
                    .any(Arg::is_allow_hyphen_values_set) =>
                {
                    return (ArgumentRole::Positional, false);
                }
                None => return (ArgumentRole::Option, false),
            }
        }
        (ArgumentRole::Option, false)
    }

    fn find(&self, is_it: impl Fn(&Arg) -> bool) -> Option<&Arg> {
        self.command
            .get_arguments()
            .chain(self.globals)
            .find(|option| !option.is_positional() && is_it(option))
    }
}

fn has_alias(option: &Arg, name: &str) -> bool {
    option
        .get_all_aliases()
        .is_some_and(|aliases| aliases.contains(&name))
}

/// Returns the error about an unknown command, with the commands that a person may mean.
fn with_suggestions(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
        let meant = aliases::suggest(word);
        error.remove(ContextKind::SuggestedSubcommand);
        if !meant.is_empty() {
            error.insert(
                ContextKind::SuggestedSubcommand,
                ContextValue::Strings(meant),
            );
        }
    }
    error
}

/// Returns whether an option needs a value.
fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
        && option
            .get_num_args()
            .is_none_or(|count| 0 < count.min_values())
}

/// Disallows positional arguments that start with a dash for the command that `path` leads to.
fn without_dashes(command: Command, path: &[&str]) -> Command {
    match path {
        [] => command.mut_args(|argument| {
            if argument.is_positional() {
                argument.allow_hyphen_values(false)
            } else {
                argument
            }
        }),
        [name, path @ ..] => command.mut_subcommand(*name, |command| without_dashes(command, path)),
    }
}

/// Returns whether an argument that starts with a dash has white space before any `=`; no option has.
fn is_text(argument: &OsStr) -> bool {
    let argument = argument.to_string_lossy();
    let name = argument.split('=').next().unwrap_or_default();
    argument.starts_with('-') && name.contains(char::is_whitespace)
}

/// Returns whether an argument with a dash cannot be an option.
///
/// It is a text, or its second character starts no option, such as a digit.
fn cannot_be_option(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy();
    let next = text.strip_prefix('-').and_then(|rest| rest.chars().next());
    is_text(argument) || next.is_some_and(|next| next != '-' && !next.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> CommandLine {
        CommandLine::from_arguments(
            ["memory"]
                .iter()
                .chain(arguments)
                .map(OsString::from)
                .collect(),
        )
    }

    fn sorted(arguments: &[&str]) -> String {
        let sorted = line(arguments).sorted_arguments();
        sorted
            .iter()
            .skip(1)
            .map(|argument| argument.to_string_lossy())
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn the_definition_of_every_command_is_consistent() {
        let command = Cli::command();
        let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        assert!(names.contains(&"write"));
        for name in names {
            CliCommand::define(name).debug_assert();
        }
    }

    fn refused(arguments: &[&str]) -> String {
        let error = line(arguments)
            .parse()
            .expect_err("the arguments are refused");
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the parsed command of arguments in one line, some of them in quotation marks.
    fn parsed(text: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        for (index, part) in text.split('\'').enumerate() {
            if index % 2 == 1 {
                words.push(part.to_owned());
                continue;
            }
            for (index, part) in part.split('"').enumerate() {
                if index % 2 == 1 {
                    words.push(part.to_owned());
                } else {
                    words.extend(part.split_whitespace().map(str::to_owned));
                }
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let cli = line(&words).parse();
        format!(
            "{:?}",
            cli.unwrap_or_else(|error| panic!("{text}: {error}"))
        )
    }

    #[test]
    fn every_command_line_of_the_specifications_is_parsed() {
        let lines = include_str!("../../tests/specification_lines.txt").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let (program, rest) = line.split_once(' ').unwrap();
            let command = match program {
                "memo" => "instance ",
                "memory-cli" => "bank ",
                _ => "",
            };
            parsed(&format!("{command}{rest}"));
        }
    }

    #[test]
    fn former_names_and_synonyms_are_parsed_as_the_new_commands() {
        for (former, new) in [
            ("reminders --all", "remind list --all"),
            (
                "--root dir done a1b2 --series",
                "--root dir remind done a1b2 --series",
            ),
            ("snooze a1b2 '2 days'", "remind snooze a1b2 '2 days'"),
            ("unlink a1b2 c3d4 --json", "link remove a1b2 c3d4 --json"),
            ("backlinks -- list", "link list -- list"),
            ("resolve-links", "link resolve"),
            ("unpin a1b2", "pin a1b2 --remove"),
            ("dream --level 3", "tidy --level 3"),
            ("decay --dry-run", "tidy --dry-run decay"),
            ("consolidate", "tidy consolidate"),
            (
                "upgrade a1b2 --category people",
                "tidy upgrade a1b2 --category people",
            ),
            ("ingest --dry-run", "import --programs --dry-run"),
            ("recalls --session s", "why --session s"),
            ("diff a1b2 --limit 3", "log --memory a1b2 --limit 3"),
            ("serve --once", "daemon run --once"),
            ("service status", "daemon status"),
            (
                "init --store postgres://host/db",
                "shared init --store postgres://host/db",
            ),
            ("principal list", "shared principal list"),
            ("migrate from to", "shared migrate from to"),
            (
                "add -c work 'likes tea'",
                "conversations add -c work 'likes tea'",
            ),
            (
                "add --memory-path m 'likes tea'",
                "conversations --memory-path m add 'likes tea'",
            ),
            ("add likes tea --tags food", "write likes tea --tags food"),
            ("--json remember likes tea", "--json write likes tea"),
            ("-q forget a1b2", "-q delete a1b2"),
            ("show a1b2", "read a1b2"),
            ("find tea", "search tea"),
            ("ls --limit 3", "list --limit 3"),
        ] {
            assert_eq!(parsed(former), parsed(new), "{former}");
        }
    }

    #[test]
    fn a_value_or_a_text_is_no_other_name_of_a_command() {
        let typed = |arguments: &[&str]| {
            let line = line(arguments);
            let words = line.arguments().iter().skip(1);
            words
                .map(|word| word.to_string_lossy())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for other in [
            &["--root", "reminders", "list"][..],
            &["search", "reminders"],
            &["write", "--title", "done", "done"],
            &["bank", "list", "ls"],
            &["--", "reminders"],
        ] {
            assert_eq!(typed(other), other.join(" "));
        }
        assert_eq!(typed(&["--root", "x", "reminders"]), "--root x remind list");
    }

    #[test]
    fn the_first_word_after_a_command_decides_whether_it_is_a_text() {
        assert_eq!(parsed("remind --json list"), parsed("remind list --json"));
        assert_eq!(
            parsed("link --json list a1b2"),
            parsed("link list a1b2 --json")
        );
        for text in [
            "remind buy list tomorrow",
            "remind -- list the guests tomorrow",
            "remind help Anna move tomorrow",
            "remind buy --tags home list",
        ] {
            assert!(parsed(text).contains("command: None"), "{text}");
        }
        assert_eq!(
            refused(&["remind", "--tags", "home", "list"]),
            "error: unexpected argument '--tags' found"
        );
    }

    #[test]
    fn a_text_that_starts_like_a_subcommand_is_refused_with_the_way_to_write_it() {
        let error = |words: &[&str]| line(words).parse().expect_err("refused").to_string();
        for words in [
            &["remind", "list", "the", "guests"],
            &["remind", "done", "the", "dishes"],
        ] {
            let way = format!("follows '--': memory remind -- {} …", words[1]);
            assert!(error(words).contains(&way), "{}", error(words));
        }
        assert!(!error(&["remind", "list", "--guests"]).contains("follows '--'"));
        assert!(!error(&["pin", "a1b2", "c3d4", "e5f6"]).contains("follows '--'"));
    }

    #[test]
    fn values_stay_with_their_options_and_texts_in_their_order() {
        assert_eq!(
            sorted(&["write", "--title", "- a", "- b"]),
            "write|--title=- a|--|- b"
        );
        assert_eq!(
            sorted(&["write", "--title=x", "- b", "--json"]),
            "write|--title=x|--json|--|- b"
        );
        assert_eq!(
            sorted(&["write", "a", "- b", "--root", "dir", "c"]),
            "write|--root|dir|--|a|- b|c"
        );
        assert_eq!(
            sorted(&["--root", "- dir", "write", "--json", "- b"]),
            "--root=- dir|write|--json|--|- b"
        );
        assert_eq!(
            sorted(&["write", "- b", "--", "--title"]),
            "write|--|- b|--title"
        );
        assert_eq!(
            sorted(&["bank", "read", "b", "--default", "-1", "k"]),
            "bank|read|--default=-1|--|b|k"
        );
        assert_eq!(
            sorted(&["topic", "write", "--dir", "- d", "t", "- c"]),
            "topic|write|--dir=- d|--|t|- c"
        );
        assert_eq!(
            sorted(&["write", "-h ello", "list"]),
            "write|--|-h ello|list"
        );
        assert_eq!(
            sorted(&["serve", "--http", "--quiet"]),
            "daemon|run|--http|--quiet|--"
        );
    }

    #[test]
    fn an_unknown_option_is_no_text() {
        assert_eq!(
            refused(&["bank", "search", "--valuee", "foo"]),
            "error: unexpected argument '--valuee' found"
        );
        assert_eq!(
            refused(&["bank", "update", "c", "k", "--craete", "."]),
            "error: unexpected argument '--craete' found"
        );
        assert_eq!(
            refused(&["bank", "update", "c", "k", "-.a", "--craete"]),
            "error: unexpected argument '--craete' found"
        );
        assert_eq!(
            refused(&["bank", "query", "b", ".", "--rwa=1"]),
            "error: unexpected argument '--rwa' found"
        );
        assert_eq!(
            refused(&["write", "- tea", "--tgas", "x"]),
            "error: unexpected argument '--tgas' found"
        );
        assert!(line(&["bank", "search", "--", "--valuee"]).parse().is_ok());
        assert!(
            line(&["bank", "update", "c", "k", "-.a", "--create"])
                .parse()
                .is_ok()
        );
        assert!(
            line(&["bank", "update", "c", "k", "-length"])
                .parse()
                .is_ok()
        );
    }

    #[test]
    fn a_refused_value_is_named_with_its_option() {
        let digit = "invalid digit found in string";
        let ttl = format!("error: invalid value '-5' for '--ttl <SECONDS>': {digit}");
        assert_eq!(
            refused(&["bank", "write", "b", "k", "1", "--ttl", "-5"]),
            ttl
        );
        assert!(
            refused(&["bank", "gc", "--older-than", "-3d"])
                .starts_with("error: invalid value '-3d' for '--older-than <SPAN>'")
        );
        assert_eq!(
            refused(&["list", "--limit", "-1"]),
            format!("error: invalid value '-1' for '--limit <N>': {digit}")
        );
    }

    #[test]
    fn words_for_flags_are_read_behind_options() {
        let read = |arguments: &[&str]| {
            let line = line(arguments);
            line.arguments()
                .iter()
                .skip(1)
                .map(|argument| argument.to_string_lossy())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            read(&["--root", "dir", "help", "write"]),
            "--root dir write --help"
        );
        assert_eq!(
            read(&["--color=never", "bank", "-q", "help"]),
            "--color=never bank -q --help"
        );
        for version in [
            &["version"][..],
            &["--root", "dir", "version"],
            &["bank", "version"],
            &["instance", "--json", "version"],
        ] {
            assert_eq!(read(version), "--version");
        }
        assert_eq!(
            read(&["conversations", "--limit", "3", "help", "show"]),
            "conversations --limit 3 show --help"
        );
        for other in [
            &["--root", "help"][..],
            &["write", "version"],
            &["--", "help"],
            &["search", "--tag", "help"],
        ] {
            assert_eq!(read(other), other.join(" "));
        }
    }
}
