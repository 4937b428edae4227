//! The words of a command line that is being typed in a shell.

/// A shell whose completion script calls the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletingShell {
    Bash,
    Fish,
    Zsh,
}

/// A word of a command line, without its quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TypedWord {
    pub(super) text: String,
    /// The quotation mark that is not closed.
    quote: Option<char>,
    /// Where the part starts that bash replaces by a candidate, in bytes of the text.
    start: usize,
}

impl TypedWord {
    /// Splits a line at the cursor into words; the last one is the word at the cursor, which may be empty.
    ///
    /// `breaks` are the characters after which bash starts a new word for completions.
    pub(super) fn split(line: &str, shell: CompletingShell, breaks: &str) -> Vec<Self> {
        let (mut words, mut word): (Vec<Self>, Option<Self>) = (Vec::new(), None);
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            let own = word.as_ref().and_then(|word| word.quote);
            if own.is_none() && character.is_whitespace() {
                words.extend(word.take());
                continue;
            }
            let word = word.get_or_insert_default();
            let is_escape = character == '\\'
                && match (own, characters.peek()) {
                    (_, None) => false,
                    (None, Some(_)) => true,
                    (Some('"'), Some(next)) => "\"\\$`".contains(*next),
                    (Some(_), Some(next)) => {
                        shell == CompletingShell::Fish && "'\\".contains(*next)
                    }
                };
            match character {
                _ if is_escape => word.text.extend(characters.next()),
                '\'' | '"' if own.is_none() => {
                    (word.quote, word.start) = (Some(character), word.text.len());
                }
                _ if own == Some(character) => (word.quote, word.start) = (None, word.text.len()),
                _ => {
                    word.text.push(character);
                    if own.is_none() && breaks.contains(character) {
                        word.start = word.text.len();
                    }
                }
            }
        }
        words.push(word.unwrap_or_default());
        words
    }

    /// Returns what bash has to insert for `value`; `None` if the part that it keeps differs.
    pub(super) fn for_bash(&self, value: &str) -> Option<String> {
        let inserted = value.strip_prefix(&self.text[..self.start])?;
        let is_plain =
            |character: char| character.is_alphanumeric() || "_-./:=@%+,^".contains(character);
        let mut quoted = String::with_capacity(inserted.len());
        for character in inserted.chars() {
            match self.quote {
                Some('\'') if character == '\'' => quoted.push_str(r"'\'"),
                Some('"') if "\"\\$`".contains(character) => quoted.push('\\'),
                None if !is_plain(character) => quoted.push('\\'),
                _ => {}
            }
            quoted.push(character);
        }
        Some(quoted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKS: &str = " \t\n\"'@><=;|&(:";

    fn texts(line: &str, shell: CompletingShell) -> Vec<String> {
        let words = TypedWord::split(line, shell, BREAKS);
        words.into_iter().map(|word| word.text).collect()
    }

    fn inserted(line: &str, value: &str) -> Option<String> {
        TypedWord::split(line, CompletingShell::Bash, BREAKS)
            .pop()?
            .for_bash(value)
    }

    #[test]
    fn quotes_and_escapes_belong_to_the_shell() {
        let line = r#"memory read "a \"b" 'c d'e \ f "#;
        assert_eq!(
            texts(line, CompletingShell::Bash),
            ["memory", "read", "a \"b", "c de", " f", ""]
        );
        assert_eq!(texts(r"x 'it\'s", CompletingShell::Fish), ["x", "it's"]);
        assert_eq!(texts(r"x 'it\'s", CompletingShell::Zsh), ["x", r"it\s"]);
        assert_eq!(texts(r"x y\", CompletingShell::Bash), ["x", r"y\"]);
    }

    #[test]
    fn bash_replaces_the_part_after_a_quote_or_a_break() {
        assert_eq!(
            inserted("m --tags=a", "--tags=a b").as_deref(),
            Some(r"a\ b")
        );
        assert_eq!(
            inserted("m --tags=\"a", "--tags=a \"b$").as_deref(),
            Some(r#"a \"b\$"#)
        );
        assert_eq!(inserted("m 'a", "a'b").as_deref(), Some(r"a'\''b"));
        assert_eq!(
            inserted("m project:w", "project:web").as_deref(),
            Some("web")
        );
        assert_eq!(inserted("m Project:w", "project:web"), None);
    }
}
