//! The command with which a client starts this program.

use std::path::Path;

/// The command with which a client starts this program, and the options of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The absolute path of the program.
    pub program: String,
    /// The name of the client.
    pub agent: String,
    /// The path of the memories, if it is not the default.
    pub root: Option<String>,
    /// The name of the server entry; by default that of an existing entry, else `memory`.
    pub server_name: Option<String>,
    /// Whether entries of other programs with the same name are replaced.
    pub replaces: bool,
    /// The folder of topics for the client's own memory.
    pub topics: Option<String>,
}

/// The flags before a subcommand that have their value in the next argument.
const GLOBAL_FLAGS_WITH_VALUE: [&str; 2] = ["--root", "--color"];

/// The agent of `memory hook` without `--agent`.
pub(crate) const DEFAULT_HOOK_AGENT: &str = "claude-code";

/// The subcommand that the client runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientSubcommand {
    /// `memory mcp`: serves tools.
    Serve,
    /// `memory hook`: handles this event.
    Hook(&'static str),
}

impl ClientSubcommand {
    fn words(self) -> Vec<&'static str> {
        match self {
            Self::Serve => vec!["mcp"],
            Self::Hook(event) => vec!["hook", event],
        }
    }
}

impl Invocation {
    /// Returns the program and its arguments.
    pub(super) fn words(&self, verb: ClientSubcommand) -> Vec<String> {
        let mut words = vec![self.program.clone()];
        words.extend(verb.words().into_iter().map(str::to_owned));
        if verb == ClientSubcommand::Serve || self.agent != DEFAULT_HOOK_AGENT {
            words.extend(["--agent".to_owned(), self.agent.clone()]);
        }
        words.extend(
            self.root
                .iter()
                .flat_map(|root| ["--root".to_owned(), root.clone()]),
        );
        words
    }

    /// Returns the command as a line for a shell.
    pub(super) fn shell_line(&self, verb: ClientSubcommand) -> String {
        join_words(&self.words(verb))
    }

    /// Returns whether a command starts this program with the same subcommand for the same agent, at any path.
    ///
    /// An installation for this client may have written it.
    pub(super) fn is_installed(&self, verb: ClientSubcommand, words: &[String]) -> bool {
        let default = if verb == ClientSubcommand::Serve {
            None
        } else {
            Some(DEFAULT_HOOK_AGENT)
        };
        self.is_ours(verb, words)
            && CommandFlags::of(words).agent.or(default) == Some(self.agent.as_str())
    }

    /// Returns whether a command starts this program with the same subcommand, at any path.
    pub(super) fn is_ours(&self, verb: ClientSubcommand, words: &[String]) -> bool {
        let Some((program, arguments)) = words.split_first() else {
            return false;
        };
        let is_us = *program == self.program
            || name(program) == "memory"
            || name(program) == name(&self.program);
        let arguments: Vec<&str> = after_global_flags(arguments)
            .iter()
            .map(String::as_str)
            .collect();
        is_us && arguments.starts_with(&verb.words())
    }

    /// Returns the updated form of a command that is in the file.
    ///
    /// Arguments that a user added remain, except `--agent`, which is reset. The home in the command remains too, unless
    /// `self` has one: an update never sends an agent to another home.
    pub(super) fn updated(&self, verb: ClientSubcommand, found: &[String]) -> Vec<String> {
        let home = self
            .root
            .clone()
            .or_else(|| CommandFlags::of(found).root.map(str::to_owned));
        let own = Self {
            root: home,
            ..self.clone()
        }
        .words(verb);
        let (of_found, more) = (CommandFlags::of(found), CommandFlags::of(found).more);
        let own_flags = CommandFlags::of(&own);
        if found.first() == own.first()
            && of_found.agent == own_flags.agent
            && of_found.root == own_flags.root
        {
            return found.to_vec();
        }
        let verb = verb.words();
        let more = more
            .into_iter()
            .filter(|word| !verb.contains(word))
            .map(str::to_owned)
            .collect::<Vec<_>>();
        [own, more].concat()
    }

    /// Returns the invocation that produced a command that is in the file.
    pub(super) fn of(&self, found: &[String]) -> Self {
        let program = found.first().cloned().unwrap_or_default();
        Self {
            program,
            root: CommandFlags::of(found).root.map(str::to_owned),
            ..self.clone()
        }
    }
}

/// Returns words as a line for a shell.
pub(super) fn join_words(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str))
        .expect("what came from arguments or from a file's text has no NUL")
}

/// Returns the line for a shell with the words `new` in place of `old`.
///
/// If the user added shell syntax, such as a redirection, only the program is replaced, since the words do not show the syntax.
pub(super) fn replace_command(line: &str, old: &[String], new: &[String]) -> String {
    let program = |words: &[String]| join_words(&words[..1]);
    match line.strip_prefix(&program(old)) {
        Some(rest) if join_words(old) != line => program(new) + rest,
        _ => join_words(new),
    }
}

/// Splits a line for a shell into words; `None` if its quotes are not closed.
pub(super) fn split_words(line: &str) -> Option<Vec<String>> {
    shlex::split(line)
}

/// Returns the arguments from the subcommand on.
fn after_global_flags(mut arguments: &[String]) -> &[String] {
    while let Some((flag, rest)) = arguments
        .split_first()
        .filter(|(flag, _)| flag.starts_with('-'))
    {
        let has_value = GLOBAL_FLAGS_WITH_VALUE.contains(&flag.as_str());
        arguments = if has_value {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
    }
    arguments
}

fn name(program: &str) -> &str {
    // The file may have been written on Windows.
    let program = program.rsplit('\\').next().unwrap_or(program);
    let name = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The arguments of a command: the flags that this program sets, and all others.
struct CommandFlags<'a> {
    agent: Option<&'a str>,
    root: Option<&'a str>,
    more: Vec<&'a str>,
}

impl<'a> CommandFlags<'a> {
    fn of(words: &'a [String]) -> Self {
        let mut flags = Self {
            agent: None,
            root: None,
            more: Vec::new(),
        };
        let mut words = words.iter().skip(1).map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--agent" => flags.agent = words.next(),
                "--root" => flags.root = words.next(),
                _ => match word.split_once('=') {
                    Some(("--agent", value)) => flags.agent = Some(value),
                    Some(("--root", value)) => flags.root = Some(value),
                    _ => flags.more.push(word),
                },
            }
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Invocation {
        /// Returns an invocation without options.
        pub(in crate::install) fn for_tests() -> Self {
            Self {
                program: "/bin/memory".into(),
                agent: "some".into(),
                root: None,
                server_name: None,
                replaces: false,
                topics: None,
            }
        }
    }

    fn own() -> Invocation {
        Invocation {
            program: "/opt/memory".into(),
            agent: "codex".into(),
            ..Invocation::for_tests()
        }
    }

    fn found(line: &str) -> Vec<String> {
        split_words(line).expect("words")
    }

    #[test]
    fn a_command_is_ours_by_its_program_and_its_verb() {
        for line in [
            "/opt/memory mcp",
            "memory mcp --agent x",
            "'/a b/memory' --root /x mcp",
            "memory --quiet --root=/x mcp",
            r"'C:\bin\memory.exe' mcp",
        ] {
            assert!(
                own().is_ours(ClientSubcommand::Serve, &found(line)),
                "{line}"
            );
        }
        for line in [
            "npx -y @modelcontextprotocol/server-memory",
            "memory",
            "memory list",
            "/opt/memory-mcp mcp",
            "memory hook mcpx",
            "/opt/other/memory serve mcp --port 1",
            "memory --root mcp",
            "memory serve --root mcp",
        ] {
            assert!(
                !own().is_ours(ClientSubcommand::Serve, &found(line)),
                "{line}"
            );
        }
        assert!(own().is_ours(
            ClientSubcommand::Hook("prompt"),
            &found("memory hook prompt --root /x")
        ));
        assert!(!own().is_ours(
            ClientSubcommand::Hook("prompt"),
            &found("memory hook session-start")
        ));
        assert!(!own().is_ours(
            ClientSubcommand::Hook("prompt"),
            &found("memory git hook prompt")
        ));
        let renamed = Invocation {
            program: "/opt/remember".into(),
            ..own()
        };
        assert!(renamed.is_ours(
            ClientSubcommand::Serve,
            &renamed.words(ClientSubcommand::Serve)
        ));
    }

    #[test]
    fn what_was_added_to_our_words_stays() {
        let renewed = |line: &str| {
            own()
                .updated(ClientSubcommand::Serve, &found(line))
                .join(" ")
        };
        assert_eq!(
            renewed("/opt/memory mcp --agent codex"),
            "/opt/memory mcp --agent codex"
        );
        assert_eq!(
            renewed("/opt/memory --tools all mcp --agent=codex"),
            "/opt/memory --tools all mcp --agent=codex"
        );
        assert_eq!(
            renewed("/old/memory mcp --agent codex --tools all"),
            "/opt/memory mcp --agent codex --tools all"
        );
        assert_eq!(
            renewed("/old/memory mcp --agent codex --root /x"),
            "/opt/memory mcp --agent codex --root /x"
        );
        let elsewhere = Invocation {
            root: Some("/y".into()),
            ..own()
        };
        let moved = elsewhere.updated(
            ClientSubcommand::Serve,
            &found("/opt/memory mcp --agent codex --root /x"),
        );
        assert_eq!(moved.join(" "), "/opt/memory mcp --agent codex --root /y");
    }

    #[test]
    fn the_shell_syntax_of_a_user_stays() {
        let replaced = |line: &str| {
            replace_command(
                line,
                &found(line),
                &own().updated(ClientSubcommand::Hook("prompt"), &found(line)),
            )
        };
        assert_eq!(
            replaced("/old/memory hook prompt --agent codex"),
            "/opt/memory hook prompt --agent codex"
        );
        let with =
            |program: &str| format!("{program} hook prompt --agent codex 2>>$HOME/a.log || true");
        assert_eq!(replaced(&with("/old/memory")), with("/opt/memory"));
        assert_eq!(
            replaced(&with("'/my programs/memory'")),
            with("/opt/memory")
        );
    }

    #[test]
    fn a_line_for_a_shell_has_the_very_words() {
        let odd = Invocation {
            program: "/my programs/it's/$memory".into(),
            root: Some("/a \"b\"".into()),
            ..own()
        };
        assert_eq!(
            split_words(&odd.shell_line(ClientSubcommand::Hook("prompt"))),
            Some(odd.words(ClientSubcommand::Hook("prompt")))
        );
        assert_eq!(
            own().shell_line(ClientSubcommand::Hook("prompt")),
            "/opt/memory hook prompt --agent codex"
        );
        let usual = Invocation {
            agent: DEFAULT_HOOK_AGENT.into(),
            ..own()
        };
        assert_eq!(
            usual.shell_line(ClientSubcommand::Hook("prompt")),
            "/opt/memory hook prompt"
        );
    }
}
