//! What the program reads from and writes to.

use std::io::{self, IsTerminal, Read, Write};

/// What the program reads from and writes to.
pub(crate) struct Streams {
    /// Where texts come from.
    pub input: Box<dyn Read + Send>,
    /// Whether a person types there.
    pub input_is_terminal: bool,
    /// Where data goes.
    pub out: Box<dyn Write>,
    /// The number of columns, if a person reads there.
    pub out_width: Option<u16>,
    /// Where everything else goes.
    pub err: Box<dyn Write>,
    /// Whether a person reads there.
    pub err_is_terminal: bool,
}

/// How wide a terminal is that does not say.
const WIDTH: u16 = 80;

impl Streams {
    /// Returns the three streams of this process.
    pub(crate) fn of_process() -> Self {
        let width = || terminal_size::terminal_size().map_or(WIDTH, |(terminal_size::Width(columns), _)| columns);
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
