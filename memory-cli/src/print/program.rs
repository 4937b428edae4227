//! The names of the program.

use std::borrow::Cow;
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsStr;
use std::path::Path;

/// The name under which the program was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramName {
    /// `memory`.
    Memory,
    /// `memo`, short for `memory instance`.
    Memo,
    /// `memory-cli`, short for `memory bank`.
    MemoryCli,
}

impl ProgramName {
    /// Returns the program for this first argument, which may be a path.
    pub(crate) fn from_first_argument(first: &OsStr) -> Self {
        let name = Path::new(first).file_name().and_then(OsStr::to_str);
        match name.map(|name| name.strip_suffix(EXE_SUFFIX).unwrap_or(name)) {
            Some("memo") => Self::Memo,
            Some("memory-cli") => Self::MemoryCli,
            _ => Self::Memory,
        }
    }

    /// Returns the name and the command of `memory` that it abbreviates.
    const fn short_for(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Memory => None,
            Self::Memo => Some(("memo", "memory instance")),
            Self::MemoryCli => Some(("memory-cli", "memory bank")),
        }
    }

    /// Returns the command of `memory` that the program runs, if it is short for one.
    pub(crate) fn command(self) -> Option<&'static str> {
        self.short_for()
            .and_then(|(_, long)| long.split_once(' '))
            .map(|(_, command)| command)
    }

    /// Returns the name.
    pub(crate) const fn name(self) -> &'static str {
        match self.short_for() {
            None => "memory",
            Some((name, _)) => name,
        }
    }

    /// Returns a message with its commands adapted to this program.
    ///
    /// For `memo`, the command `memory instance run` becomes `memo run`.
    ///
    /// Only text at the start of a line, code span or usage line is a command; the same words in a sentence are
    /// unchanged.
    pub(crate) fn adapt_commands(self, text: &str) -> Cow<'_, str> {
        let Some((name, long)) = self.short_for().filter(|(_, long)| text.contains(long)) else {
            return Cow::Borrowed(text);
        };
        let (mut own, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find(long) {
            let (before, found) = rest.split_at(at);
            own.push_str(before);
            rest = &found[long.len()..];
            let is_whole = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-');
            own.push_str(if is_whole && begins_command(&own) {
                name
            } else {
                long
            });
        }
        own.push_str(rest);
        Cow::Owned(own)
    }
}

/// Returns whether a command may follow this text.
///
/// A command starts a line, a code span or a usage line, possibly after a color code.
fn begins_command(before: &str) -> bool {
    let is_code = |code: &str| {
        code.strip_prefix('[').is_some_and(|code| {
            code.trim_start_matches(|own: char| own.is_ascii_digit() || own == ';') == "m"
        })
    };
    let mut plain = before;
    while let Some((former, _)) = plain
        .rsplit_once('\u{1b}')
        .filter(|(_, code)| is_code(code.trim_end()))
    {
        plain = former;
    }
    let line = plain.trim_end_matches([' ', '$']);
    line.is_empty() || line.ends_with(['\n', '`', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_spelled_as_the_program_that_runs() {
        let hint = "`memory instance instances` lists the instances; `memory instance connect` creates one";
        assert_eq!(
            ProgramName::Memo.adapt_commands(hint),
            "`memo instances` lists the instances; `memo connect` creates one"
        );
        assert_eq!(ProgramName::Memory.adapt_commands(hint), hint);
        assert_eq!(
            ProgramName::Memo.adapt_commands("Usage: memory instance run [OPTIONS]"),
            "Usage: memo run [OPTIONS]"
        );
        assert_eq!(
            ProgramName::MemoryCli.adapt_commands("Usage: \u{1b}[1mmemory bank\u{1b}[0m"),
            "Usage: \u{1b}[1mmemory-cli\u{1b}[0m"
        );
        assert_eq!(
            ProgramName::MemoryCli.adapt_commands("\n  $ memory bank gc\n"),
            "\n  $ memory-cli gc\n"
        );
        assert_eq!(
            ProgramName::MemoryCli.adapt_commands("`memory bank`"),
            "`memory-cli`"
        );
        let sentence = "Key 'a' does not exist in memory bank 'b'; the memory banks";
        assert_eq!(ProgramName::MemoryCli.adapt_commands(sentence), sentence);
    }

    #[test]
    fn the_name_is_the_last_part_of_the_first_argument() {
        for (first, name) in [
            ("memo", "memo"),
            ("/usr/bin/memo", "memo"),
            ("memory-cli", "memory-cli"),
            ("/x/memory", "memory"),
            ("", "memory"),
        ] {
            assert_eq!(
                ProgramName::from_first_argument(OsStr::new(first)).name(),
                name
            );
        }
    }
}
