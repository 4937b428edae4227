//! Colors.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

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
