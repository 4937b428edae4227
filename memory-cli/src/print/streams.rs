//! The standard streams.

use std::io::{self, IsTerminal, Read, Write};

/// The standard streams of the program.
pub(crate) struct Streams {
    /// Standard input.
    pub input: Box<dyn Read + Send>,
    /// Whether standard input is a terminal.
    pub input_is_terminal: bool,
    /// Standard output, for data.
    pub out: Box<dyn Write>,
    /// Number of columns, if standard output is a terminal.
    pub out_width: Option<u16>,
    /// Standard error, for messages.
    pub err: Box<dyn Write>,
    /// Whether standard error is a terminal.
    pub err_is_terminal: bool,
}

/// Width of a terminal of unknown size, in columns.
const DEFAULT_WIDTH: u16 = 80;

impl Streams {
    /// Returns the standard streams of this process.
    pub(crate) fn from_process() -> Self {
        let width = || terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(terminal_size::Width(columns), _)| columns);
        Self {
            input: Box::new(io::stdin()),
            input_is_terminal: io::stdin().is_terminal(),
            out: Box::new(io::BufWriter::new(io::stdout())),
            out_width: io::stdout().is_terminal().then(width),
            err: Box::new(io::stderr()),
            err_is_terminal: io::stderr().is_terminal(),
        }
    }
}
