//! The streams and the output of a command, and its format.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use memory_agent::system::has_waiting_input;
use memory_core::MemoryId;
use memory_core::json::format_pretty;
use memory_core::secret::without_secrets;
use serde_json::Value;

use super::ColorChoice;
use super::Palette;
use super::ProgramName;
use super::Table;
use super::escape_json;
use super::escape_text;
use super::progress::ProgressDisplay;
use super::wrap::{display_width, wrap_diff, wrap_paragraphs};
use crate::datetime::format_minute;
use crate::failure::Failure;
use crate::zone::UserTimeZone;

/// The output of a command. Data goes to standard output, messages go to standard error.
pub(crate) struct Output {
    streams: Streams,
    form: OutputForm,
    has_json_errors: bool,
    program: ProgramName,
    quiet: bool,
    home: Option<PathBuf>,
    zone: UserTimeZone,
    out_palette: Palette,
    err_palette: Palette,
    /// Whether a warning about the result was written.
    has_warned_of_result: bool,
    /// The name of the current step, which is shown if it takes long.
    waiting: Cell<Option<ProgressDisplay>>,
}

/// The format of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// JSON.
    Json,
    /// Text for a terminal with this number of columns.
    Drawn(u16),
    /// Lines with tab-separated fields.
    Tabbed,
}

impl Output {
    /// Creates an output in the format that suits `streams`.
    pub(crate) fn new(streams: Streams, json: bool, quiet: bool) -> Self {
        let form = match streams.out_width {
            _ if json => OutputForm::Json,
            Some(width) => OutputForm::Drawn(width),
            None => OutputForm::Tabbed,
        };
        let plain = Palette::default();
        let (has_json_errors, program) = (json, ProgramName::Memory);
        Self {
            streams,
            form,
            has_json_errors,
            program,
            quiet,
            home: None,
            zone: UserTimeZone::Machine,
            out_palette: plain,
            err_palette: plain,
            has_warned_of_result: false,
            waiting: Cell::new(None),
        }
    }

    /// Sets the colors of the streams; `Auto` colors terminals if `terminals` is true.
    pub(crate) fn set_colors(&mut self, choice: ColorChoice, terminals: bool) {
        let palette = |is_terminal: bool| match choice {
            ColorChoice::Always => Palette::COLORED,
            ColorChoice::Auto if terminals && is_terminal => Palette::COLORED,
            ColorChoice::Auto | ColorChoice::Never => Palette::default(),
        };
        self.out_palette = palette(self.streams.out_width.is_some());
        self.err_palette = palette(self.streams.err_is_terminal);
    }

    /// Sets the time zone of shown times.
    pub(crate) fn set_zone(&mut self, zone: UserTimeZone) {
        self.zone = zone;
    }

    /// Returns the time zone of shown times: that of the settings, else that of the machine.
    pub(crate) fn zone(&self) -> UserTimeZone {
        self.zone
    }

    /// Abbreviates `home` as `~` in paths on a terminal.
    pub(crate) fn set_home(&mut self, home: Option<&Path>) {
        self.home = home.map(Path::to_owned);
    }

    /// Returns the format of the data.
    pub(crate) fn form(&self) -> OutputForm {
        self.form
    }

    /// Returns whether the format is text for a terminal.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self.form, OutputForm::Drawn(_))
    }

    /// Returns whether the format is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.form == OutputForm::Json
    }

    /// Returns the colors of standard output.
    pub(crate) fn palette(&self) -> Palette {
        self.out_palette
    }

    /// Returns whether standard output is colored.
    pub(crate) fn is_colored(&self) -> bool {
        self.out_palette.id != Palette::default().id
    }

    /// Returns a path for display; on a terminal, the home folder is abbreviated as `~`.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let below = self
            .home
            .as_ref()
            .filter(|_| matches!(self.form, OutputForm::Drawn(_)))
            .and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }

    /// Returns a time for display: to the minute on a terminal, else in RFC 3339.
    pub(crate) fn time(&self, at: DateTime<Utc>) -> String {
        match self.form {
            OutputForm::Drawn(_) => format_minute(at, self.zone),
            OutputForm::Json | OutputForm::Tabbed => at.to_rfc3339_opts(SecondsFormat::Secs, true),
        }
    }

    /// Returns the id of a memory for display, which is short on a terminal.
    pub(crate) fn id(&self, id: MemoryId) -> String {
        match self.form {
            OutputForm::Drawn(_) => id.short(),
            OutputForm::Json | OutputForm::Tabbed => id.to_string(),
        }
    }

    /// Returns an id for display: its first 8 characters on a terminal, which commands accept.
    pub(crate) fn short_id<'a>(&self, id: &'a str) -> &'a str {
        let end = id.char_indices().nth(8).map(|(end, _)| end);
        let end = end.filter(|_| self.is_drawn());
        end.map_or(id, |end| &id[..end])
    }

    /// Returns whether errors are written as JSON to standard output instead of text to standard error.
    pub(crate) fn has_json_errors(&self) -> bool {
        self.has_json_errors
    }

    /// Switches data and errors to JSON, unless standard output is a terminal.
    pub(crate) fn prefer_json(&mut self) {
        self.prefer_json_answers();
        self.has_json_errors |= self.form == OutputForm::Json;
    }

    /// Switches data to JSON, unless standard output is a terminal. Errors remain text without `--json`.
    pub(crate) fn prefer_json_answers(&mut self) {
        if self.form == OutputForm::Tabbed {
            self.form = OutputForm::Json;
        }
    }

    /// Sets the program name for commands in hints, usage lines and examples.
    pub(crate) fn set_program(&mut self, program: ProgramName) {
        self.program = program;
    }

    /// Returns a message with its commands adapted to the program name.
    pub(crate) fn adapt_commands<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.program.adapt_commands(text)
    }

    /// Writes a JSON value as one line.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        let text = Self::escaped_json(value);
        Ok(writeln!(self.out(), "{text}")?)
    }

    /// Returns JSON with control characters escaped, so that a terminal does not interpret them.
    fn escaped_json(value: &Value) -> String {
        escape_json(&value.to_string()).into_owned()
    }

    /// Writes a JSON text of one or more lines.
    pub(crate) fn json_text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(self.out(), "{}", escape_json(text))?)
    }

    /// Writes a JSON text as data: indented on a terminal, else on one line.
    pub(crate) fn json_answer(&mut self, text: &str) -> Result<(), Failure> {
        if self.is_drawn() {
            self.json_text(&format_pretty(text))
        } else {
            self.json_text(text)
        }
    }

    /// Writes a part of a JSON array as data.
    ///
    /// A part is some of the items with the bracket or comma before them, or the closing bracket.
    pub(crate) fn json_piece(&mut self, piece: &str) -> Result<(), Failure> {
        if !self.is_drawn() {
            return Ok(write!(self.out(), "{}", escape_json(piece))?);
        }
        let (before, items) = piece.split_at(usize::from(piece.starts_with(['[', ','])));
        let (items, end) = items
            .strip_suffix(']')
            .map_or((items, ""), |items| (items, "\n]"));
        // The items are formatted as a whole array, whose brackets are removed.
        let laid_out = format_pretty(&format!("[{items}]"));
        let laid_out = laid_out
            .strip_prefix('[')
            .and_then(|items| items.strip_suffix("\n]"))
            .unwrap_or_default();
        Ok(write!(
            self.out(),
            "{before}{}{end}",
            escape_json(laid_out)
        )?)
    }

    /// Writes a line unchanged to a pipe; on a terminal, control characters are escaped.
    pub(crate) fn raw_line(&mut self, text: &str) -> Result<(), Failure> {
        let is_piped = self.streams.out_width.is_none();
        if is_piped {
            Ok(writeln!(self.out(), "{text}")?)
        } else {
            Ok(writeln!(self.out(), "{}", escape_text(text))?)
        }
    }

    /// Writes a table with its heading, also to a pipe.
    pub(crate) fn table_with_heading(&mut self, table: &Table) -> Result<(), Failure> {
        table
            .all_lines()
            .iter()
            .try_for_each(|line| self.line(line))
    }

    /// Writes a text of several lines with control characters escaped.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(write!(self.out(), "{}", escape_text(text))?)
    }

    /// Writes one line or several; on a terminal, they are wrapped between words.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.hanging_line(line, 0)
    }

    /// Writes a line; if it is wrapped, the lines that follow are indented by this number of columns.
    pub(crate) fn hanging_line(&mut self, line: &str, indent: usize) -> Result<(), Failure> {
        let line = match self.form {
            OutputForm::Drawn(width) => wrap_paragraphs(line, width.into(), indent),
            OutputForm::Json | OutputForm::Tabbed => Cow::Borrowed(line),
        };
        Ok(writeln!(self.out(), "{line}")?)
    }

    /// Writes lines of a diff; on a terminal, they are wrapped so that no text looks like another line of the diff.
    pub(crate) fn diff(&mut self, lines: &str) -> Result<(), Failure> {
        let lines = match self.form {
            OutputForm::Drawn(width) => wrap_diff(lines, width.into()),
            OutputForm::Json | OutputForm::Tabbed => Cow::Borrowed(lines),
        };
        Ok(writeln!(self.out(), "{lines}")?)
    }

    /// Writes one line of fields with control characters escaped, separated by tabs or, for people, blanks.
    pub(crate) fn fields(&mut self, fields: &[&str]) -> Result<(), Failure> {
        let fields: Vec<_> = fields
            .iter()
            .map(|field| super::escape_line(field))
            .collect();
        if self.form == OutputForm::Tabbed {
            return Ok(writeln!(self.out(), "{}", fields.join("\t"))?);
        }
        let parts: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
        self.parts(&parts)
    }

    /// Writes the parts of a receipt in one line; on a terminal, a part that does not fit is on a line of its own.
    pub(crate) fn parts(&mut self, parts: &[&str]) -> Result<(), Failure> {
        let width = match self.form {
            OutputForm::Drawn(width) => width.into(),
            OutputForm::Json | OutputForm::Tabbed => usize::MAX,
        };
        let (mut line, mut column) = (String::new(), 0);
        for part in parts {
            let columns = display_width(part);
            let fits = column + 2 + columns <= width;
            let gap = match (line.is_empty(), fits) {
                (true, _) => "",
                (false, true) => "  ",
                (false, false) => "\n  ",
            };
            column = if fits { column + gap.len() } else { 2 } + columns;
            line.extend([gap, part]);
        }
        self.hanging_line(&line, 2)
    }

    /// Returns standard output for data other than lines, such as an export or a manual.
    pub(crate) fn stream(&mut self) -> &mut dyn Write {
        self.out()
    }

    /// Writes a table: aligned on a terminal, else as lines with tabs.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Failure> {
        let OutputForm::Drawn(width) = self.form else {
            return table.tabbed_lines().try_for_each(|line| self.line(&line));
        };
        if table.is_empty() {
            return Ok(());
        }
        for (index, line) in table.aligned_lines(width).into_iter().enumerate() {
            let line = if index == 0 {
                Palette::paint(self.out_palette.dim, line)
            } else {
                line
            };
            writeln!(self.out(), "{line}")?;
        }
        Ok(())
    }

    /// Writes a note, unless quiet.
    pub(crate) fn note(&mut self, text: &str) -> Result<(), Failure> {
        if self.quiet {
            Ok(())
        } else {
            self.error_line(text)
        }
    }

    /// Returns whether a warning about the result was written.
    pub(crate) fn has_warned_of_result(&self) -> bool {
        self.has_warned_of_result
    }

    /// Writes a warning that the result may be incomplete.
    pub(crate) fn warn_incomplete(&mut self, why: &str) -> Result<(), Failure> {
        self.has_warned_of_result = true;
        self.warning(&format!("the result may be incomplete: {why}"))
    }

    /// Writes a warning, unless quiet.
    pub(crate) fn warning(&mut self, text: &str) -> Result<(), Failure> {
        let label = Palette::paint(self.err_palette.warning, "warning");
        if self.quiet {
            Ok(())
        } else {
            self.labelled_line(&label, text)
        }
    }

    /// Writes an error.
    pub(crate) fn error(&mut self, code: &str, text: &str) -> Result<(), Failure> {
        let label = Palette::paint(self.err_palette.error, format!("error[{code}]"));
        self.labelled_line(&label, text)
    }

    /// Writes a suggested next step.
    pub(crate) fn hint(&mut self, text: &str) -> Result<(), Failure> {
        let label = Palette::paint(self.err_palette.hint, "hint");
        let text = self.adapt_commands(text);
        self.labelled_line(&label, &text)
    }

    /// Writes a line to standard error.
    pub(crate) fn error_line(&mut self, text: &str) -> Result<(), Failure> {
        self.message(&escape_text(&without_secrets(text)))
    }

    fn labelled_line(&mut self, label: &str, text: &str) -> Result<(), Failure> {
        let text = escape_text(&without_secrets(text)).into_owned();
        self.message(&format!("{label}: {text}"))
    }

    /// Writes a message to standard error, wrapped between words on a terminal.
    fn message(&mut self, text: &str) -> Result<(), Failure> {
        self.flush_output();
        let text = match self.streams.err_width {
            Some(width) => wrap_paragraphs(text, width.into(), 0),
            None => Cow::Borrowed(text),
        };
        Ok(writeln!(self.err(), "{text}")?)
    }

    /// Flushes standard output, so that a reader of both streams sees them in order.
    fn flush_output(&mut self) {
        // A failed write stays in the buffer; the final flush fails again, and that error is reported.
        let _ = self.out().flush();
    }

    /// Flushes standard output.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out().flush()?)
    }

    /// Creates a progress bar, which is visible on a terminal unless quiet.
    pub(crate) fn progress_bar(&self, what: &'static str) -> ProgressDisplay {
        self.stop_waiting();
        ProgressDisplay::new(what, self.streams.err_is_terminal && !self.quiet)
    }

    /// Names the step on a terminal if it takes long, until something else is shown or read.
    pub(crate) fn start_waiting(&self, what: &'static str) {
        self.waiting.set(Some(self.progress_bar(what)));
    }

    /// Removes the name of a step, before another program uses the terminal.
    pub(crate) fn stop_waiting(&self) {
        drop(self.waiting.take());
    }

    fn out(&mut self) -> &mut dyn Write {
        self.stop_waiting();
        &mut self.streams.out
    }

    fn err(&mut self) -> &mut dyn Write {
        self.stop_waiting();
        &mut self.streams.err
    }

    /// Returns whether standard input is a terminal.
    pub(crate) fn input_is_terminal(&self) -> bool {
        self.streams.input_is_terminal
    }

    /// Returns whether bytes wait on standard input; it never waits itself.
    pub(crate) fn has_waiting_input(&self) -> bool {
        !self.streams.input_is_terminal && (self.streams.has_waiting_input)()
    }

    /// Returns whether a person can be asked on the terminal.
    pub(crate) fn can_ask(&self) -> bool {
        self.streams.input_is_terminal
            && self.streams.err_is_terminal
            && !self.quiet
            && !self.is_json()
    }

    /// Returns standard input.
    pub(crate) fn input(&mut self) -> &mut dyn Read {
        self.stop_waiting();
        &mut self.streams.input
    }

    /// Takes standard input, for reading while results are written; an empty input replaces it.
    pub(crate) fn take_input(&mut self) -> Box<dyn Read + Send> {
        self.stop_waiting();
        std::mem::replace(&mut self.streams.input, Box::new(io::empty()))
    }

    /// Asks a yes-no question; any input other than `y` or `yes` means no.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool, Failure> {
        self.out().flush()?;
        let question = format!("{} [y/N]", escape_text(question));
        let width = self.streams.err_width.map_or(usize::MAX, usize::from);
        write!(self.err(), "{} ", wrap_paragraphs(&question, width, 0))?;
        self.err().flush()?;
        let mut answer = String::new();
        BufReader::new(&mut self.streams.input).read_line(&mut answer)?;
        let answer = answer.trim().to_lowercase();
        Ok(matches!(answer.as_str(), "y" | "yes"))
    }
}

/// The standard streams of the program.
pub(crate) struct Streams {
    /// Standard input.
    pub input: Box<dyn Read + Send>,
    /// Whether standard input is a terminal.
    pub input_is_terminal: bool,
    /// Returns whether bytes wait on standard input.
    pub has_waiting_input: fn() -> bool,
    /// Standard output, for data.
    pub out: Box<dyn Write>,
    /// Number of columns, if standard output is a terminal.
    pub out_width: Option<u16>,
    /// Standard error, for messages.
    pub err: Box<dyn Write>,
    /// Whether standard error is a terminal.
    pub err_is_terminal: bool,
    /// Number of columns in which messages are wrapped, if they are for a terminal.
    pub err_width: Option<u16>,
}

/// Width of a terminal of unknown size, in columns.
const DEFAULT_WIDTH: u16 = 80;

impl Streams {
    /// Returns the standard streams of this process.
    pub(crate) fn from_process() -> Self {
        let width = || {
            terminal_size::terminal_size()
                .map_or(DEFAULT_WIDTH, |(terminal_size::Width(columns), _)| columns)
        };
        Self {
            input: Box::new(io::stdin()),
            input_is_terminal: io::stdin().is_terminal(),
            has_waiting_input,
            out: Box::new(io::BufWriter::new(io::stdout())),
            out_width: io::stdout().is_terminal().then(width),
            err: Box::new(io::stderr()),
            err_is_terminal: io::stderr().is_terminal(),
            err_width: io::stderr().is_terminal().then(width),
        }
    }
}
