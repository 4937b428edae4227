//! Colors, and questions at a terminal.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use dialoguer::console::{Key, Term};
use signal_hook::consts::SIGINT;

use super::wrap::cut_between_words;

/// Whether colours are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The colors of one stream; the default has no colors.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// Style of ids.
    pub id: Style,
    /// Style of secondary text.
    pub dim: Style,
    /// Style of headings.
    pub bold: Style,
    /// Style of search matches.
    pub mark: Style,
    /// Style of errors.
    pub error: Style,
    /// Style of warnings.
    pub warning: Style,
    /// Style of hints.
    pub hint: Style,
}

impl Palette {
    /// The palette of colored streams.
    pub(crate) const COLORED: Self = Self {
        id: AnsiColor::Yellow.on_default(),
        dim: Style::new().dimmed(),
        bold: Style::new().bold(),
        mark: AnsiColor::Green.on_default().bold(),
        error: AnsiColor::Red.on_default().bold(),
        warning: AnsiColor::Yellow.on_default().bold(),
        hint: AnsiColor::Cyan.on_default().bold(),
    };

    /// Returns `text` with a style.
    pub(crate) fn paint(style: Style, text: impl Display) -> String {
        format!("{style}{text}{style:#}")
    }
}

/// Lets the user select several of the items, and returns their indexes; `None` after Escape, `q`, Ctrl-C or Ctrl-D, and at the end of the input.
pub(crate) fn select_several(
    question: &str,
    items: &[(String, bool)],
) -> io::Result<Option<Vec<usize>>> {
    let terminal = Term::stderr();
    let width = usize::from(terminal.size().1).saturating_sub(1);
    terminal.write_line(&cut_between_words(&format!("{question}:"), width))?;
    let chosen = prompt(|| Ok(choose(&terminal, items)?));
    terminal.show_cursor()?;
    match chosen {
        Ok(chosen) => Ok(chosen),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Interrupted | ErrorKind::UnexpectedEof | ErrorKind::NotConnected
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Shows the items, and changes their marks until a key ends the selection.
fn choose(terminal: &Term, items: &[(String, bool)]) -> io::Result<Option<Vec<usize>>> {
    let mut marks: Vec<bool> = items.iter().map(|(_, is_marked)| *is_marked).collect();
    let (mut place, mut first) = (0, 0);
    terminal.hide_cursor()?;
    loop {
        let (height, width) = terminal.size();
        // The question is above the items, and the keys are below.
        let count = usize::from(height).saturating_sub(2).clamp(1, items.len());
        first = first_shown(first, place, count, items.len());
        // A line that the terminal wraps could not be cleared.
        let width = usize::from(width).saturating_sub(1);
        for index in first..first + count {
            let (cursor, mark) = (
                if index == place { '>' } else { ' ' },
                if marks[index] { 'x' } else { ' ' },
            );
            let line = format!("{cursor} [{mark}] {}", items[index].0);
            terminal.write_line(&cut_between_words(&line, width))?;
        }
        terminal.write_str(&cut_between_words(SELECTION_KEYS, width))?;
        let key = terminal.read_key();
        terminal.clear_line()?;
        match key? {
            Key::Enter => {
                let chosen = (0..items.len()).filter(|index| marks[*index]);
                return Ok(Some(chosen.collect()));
            }
            key if is_leaving(&key) => return Ok(None),
            Key::Char(' ') => marks[place] = !marks[place],
            Key::Char('a') => {
                let is_all = marks.iter().all(|is_marked| *is_marked);
                marks.fill(!is_all);
            }
            Key::ArrowDown | Key::Tab | Key::Char('j') => place = (place + 1) % items.len(),
            Key::ArrowUp | Key::BackTab | Key::Char('k') => {
                place = (place + items.len() - 1) % items.len();
            }
            _ => {}
        }
        terminal.clear_last_lines(count)?;
    }
}

/// Returns the first of `count` shown items, of which one is at `place`; `first` was the first one before.
fn first_shown(first: usize, place: usize, count: usize, items: usize) -> usize {
    first
        .clamp((place + 1).saturating_sub(count), place)
        .min(items - count)
}

/// The keys of a selection, below its items.
const SELECTION_KEYS: &str = "space selects, a all, enter confirms, q leaves ";

/// Returns whether a key leaves a selection or a tour: Escape, `q` or Ctrl-D, which is a NUL if it was typed before the question.
pub(crate) fn is_leaving(key: &Key) -> bool {
    matches!(key, Key::Escape | Key::Char('q' | 'Q' | '\u{4}' | '\0'))
}

/// Asks a question with `interact`. Ctrl-C is the error [`ErrorKind::Interrupted`], and the cursor is visible after it.
pub(crate) fn prompt<T>(interact: impl FnOnce() -> dialoguer::Result<T>) -> io::Result<T> {
    // With a handler, Ctrl-C does not end the process while the cursor is hidden.
    let interrupted = signal_hook::flag::register(SIGINT, Arc::default())?;
    let answer = interact();
    signal_hook::low_level::unregister(interrupted);
    answer.map_err(|dialoguer::Error::IO(error)| {
        if error.kind() == ErrorKind::Interrupted {
            // The error of the terminal is less important.
            let _ = Term::stderr().show_cursor();
        }
        error
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_scrolls_only_as_far_as_the_cursor_needs() {
        let places = [0, 1, 2, 3, 4, 3, 2, 1, 0, 4];
        let mut first = 0;
        let shown = places.map(|place| {
            first = first_shown(first, place, 3, 5);
            first
        });
        assert_eq!(shown, [0, 0, 0, 1, 2, 2, 2, 1, 0, 2]);
        assert_eq!(first_shown(2, 4, 5, 5), 0, "the terminal grew");
        assert_eq!(first_shown(0, 4, 1, 5), 4);
    }
}
