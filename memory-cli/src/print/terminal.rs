//! Colors, and questions at a terminal.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use dialoguer::MultiSelect;
use dialoguer::console::Term;
use dialoguer::theme::SimpleTheme;
use signal_hook::consts::SIGINT;

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

/// Asks for several of the items, and returns their indexes; none after Escape or Ctrl-C.
pub(crate) fn select_several(question: &str, items: &[(String, bool)]) -> io::Result<Vec<usize>> {
    let chosen = prompt(|| {
        MultiSelect::with_theme(&SimpleTheme)
            .with_prompt(format!(
                "{question} (space selects, enter confirms, Ctrl-C cancels)"
            ))
            .items_checked(
                items
                    .iter()
                    .map(|(label, is_selected)| (label, *is_selected)),
            )
            .report(false)
            .interact_opt()
    });
    match chosen {
        Ok(chosen) => Ok(chosen.unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Asks a question with `interact`. Ctrl-C is the error [`io::ErrorKind::Interrupted`], and the cursor is visible after it.
pub(crate) fn prompt<T>(interact: impl FnOnce() -> dialoguer::Result<T>) -> io::Result<T> {
    // With a handler, Ctrl-C does not end the process while the cursor is hidden.
    let interrupted = signal_hook::flag::register(SIGINT, Arc::default())?;
    let answer = interact();
    signal_hook::low_level::unregister(interrupted);
    answer.map_err(|dialoguer::Error::IO(error)| {
        if error.kind() == io::ErrorKind::Interrupted {
            // The error of the terminal is less important.
            let _ = Term::stderr().show_cursor();
        }
        error
    })
}
