//! Colours.

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

/// The colours of one stream; without colour, each is plain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// Of ids.
    pub id: Style,
    /// Of what matters less.
    pub dim: Style,
    /// Of headings.
    pub bold: Style,
    /// Of what a search found.
    pub mark: Style,
    /// Of errors.
    pub error: Style,
    /// Of warnings.
    pub warning: Style,
    /// Of advice.
    pub hint: Style,
}

impl Palette {
    /// The colours that are used where colours are.
    pub(crate) const COLORED: Self = Self {
        id: AnsiColor::Yellow.on_default(),
        dim: Style::new().dimmed(),
        bold: Style::new().bold(),
        mark: AnsiColor::Green.on_default().bold(),
        error: AnsiColor::Red.on_default().bold(),
        warning: AnsiColor::Yellow.on_default().bold(),
        hint: AnsiColor::Cyan.on_default().bold(),
    };

    /// Puts `text` in a style.
    pub(crate) fn paint(style: Style, text: impl Display) -> String {
        format!("{style}{text}{style:#}")
    }
}
