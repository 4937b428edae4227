//! Where the answer goes, and in which form.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use memory_core::json::pretty;
use serde_json::Value;

use super::progress::Bar;
use super::{ColorChoice, Palette, Program, Streams, Table, visible_json, visible_text};

/// Where the answer goes, and in which form. Data goes to the standard output, all else to the standard error.
pub(crate) struct Output {
    streams: Streams,
    form: Form,
    has_json_errors: bool,
    program: Program,
    quiet: bool,
    home: Option<PathBuf>,
    out_palette: Palette,
    err_palette: Palette,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON.
    Json,
    /// For people at a terminal of this many columns.
    Drawn(u16),
    /// Lines with tabs between the fields.
    Tabbed,
}

impl Output {
    /// Returns an output in the form that suits `streams`.
    pub(crate) fn new(streams: Streams, json: bool, quiet: bool) -> Self {
        let form = match streams.out_width {
            _ if json => Form::Json,
            Some(width) => Form::Drawn(width),
            None => Form::Tabbed,
        };
        let plain = Palette::default();
        let (has_json_errors, program) = (json, Program::Memory);
        Self { streams, form, has_json_errors, program, quiet, home: None, out_palette: plain, err_palette: plain }
    }

    /// Colours the streams that `choice` wants coloured; `Auto` means terminals, if `terminals` says so.
    pub(crate) fn color(&mut self, choice: ColorChoice, terminals: bool) {
        let palette = |is_terminal: bool| match choice {
            ColorChoice::Always => Palette::COLORED,
            ColorChoice::Auto if terminals && is_terminal => Palette::COLORED,
            ColorChoice::Auto | ColorChoice::Never => Palette::default(),
        };
        self.out_palette = palette(self.streams.out_width.is_some());
        self.err_palette = palette(self.streams.err_is_terminal);
    }

    /// Writes paths below `home` as `~/…` where people read them.
    pub(crate) fn abbreviate(&mut self, home: Option<&Path>) {
        self.home = home.map(Path::to_owned);
    }

    /// Returns the form of the answer.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Tells whether the answer is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Returns the colours of the answer.
    pub(crate) fn palette(&self) -> Palette {
        self.out_palette
    }

    /// Tells whether the answer has colours.
    pub(crate) fn is_colored(&self) -> bool {
        self.out_palette.id != Palette::default().id
    }

    /// Returns how a path reads: where people read it, one below their home begins with `~`.
    pub(crate) fn place(&self, path: &Path) -> String {
        let below =
            self.home.as_ref().filter(|_| matches!(self.form, Form::Drawn(_))).and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }

    /// Tells whether an error is written as JSON to the standard output, and not as text to the standard error.
    pub(crate) fn has_json_errors(&self) -> bool {
        self.has_json_errors
    }

    /// Writes answers and errors as JSON from now on, unless the standard output is a terminal.
    pub(crate) fn prefer_json(&mut self) {
        self.prefer_json_answers();
        self.has_json_errors |= self.form == Form::Json;
    }

    /// Writes answers as JSON from now on, unless the standard output is a terminal. Errors stay text unless `--json` was given.
    pub(crate) fn prefer_json_answers(&mut self) {
        if self.form == Form::Tabbed {
            self.form = Form::Json;
        }
    }

    /// Spells commands in hints, usage lines and examples as `program` runs them.
    pub(crate) fn call_self(&mut self, program: Program) {
        self.program = program;
    }

    /// Returns a text of ours with its commands as the program that runs spells them.
    pub(crate) fn own_commands<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.program.own_commands(text)
    }

    /// Writes one JSON value as one line.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        let text = Self::bare(value);
        writeln!(self.streams.out, "{text}")
    }

    /// Returns JSON that no terminal obeys: it may hold control characters bare, within texts only.
    fn bare(value: &Value) -> String {
        visible_json(&value.to_string()).into_owned()
    }

    /// Writes a JSON text, on one line or several.
    pub(crate) fn json_text(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.streams.out, "{}", visible_json(text))
    }

    /// Writes a JSON text as an answer: on lines for people, on one line otherwise.
    pub(crate) fn json_answer(&mut self, text: &str) -> io::Result<()> {
        if matches!(self.form, Form::Drawn(_)) { self.json_text(&pretty(text)) } else { self.json_text(text) }
    }

    /// Writes a piece of an array as an answer: some of its items, with the bracket or comma before them, or the bracket that ends it.
    pub(crate) fn json_piece(&mut self, piece: &str) -> io::Result<()> {
        if !matches!(self.form, Form::Drawn(_)) {
            return write!(self.streams.out, "{}", visible_json(piece));
        }
        let (before, items) = piece.split_at(usize::from(piece.starts_with(['[', ','])));
        let (items, end) = items.strip_suffix(']').map_or((items, ""), |items| (items, "\n]"));
        // Laid out as a whole array, without its brackets.
        let laid_out = pretty(&format!("[{items}]"));
        let laid_out = laid_out.strip_prefix('[').and_then(|items| items.strip_suffix("\n]")).unwrap_or_default();
        write!(self.streams.out, "{before}{}{end}", visible_json(laid_out))
    }

    /// Writes a text as it is where it is piped; at a terminal, control characters become visible.
    pub(crate) fn raw_line(&mut self, text: &str) -> io::Result<()> {
        let is_piped = self.streams.out_width.is_none();
        if is_piped { writeln!(self.streams.out, "{text}") } else { writeln!(self.streams.out, "{}", visible_text(text)) }
    }

    /// Writes a table with its heading, also where it is piped.
    pub(crate) fn columns(&mut self, table: &Table) -> io::Result<()> {
        table.columns().iter().try_for_each(|line| writeln!(self.streams.out, "{line}"))
    }

    /// Writes a text of several lines; control characters become visible.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.streams.out, "{}", visible_text(text))
    }

    /// Writes one line of the answer as it is.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.streams.out, "{line}")
    }

    /// Writes one line of fields with tabs between them, or, for people, of words; control characters become visible.
    pub(crate) fn fields(&mut self, fields: &[&str]) -> io::Result<()> {
        let fields: Vec<_> = fields.iter().map(|field| super::visible_line(field)).collect();
        let line = fields.join(if self.form == Form::Tabbed { "\t" } else { "  " });
        writeln!(self.streams.out, "{line}")
    }

    /// Returns the stream of the answer, for what is no line: an export, a manual.
    pub(crate) fn stream(&mut self) -> &mut dyn Write {
        &mut self.streams.out
    }

    /// Writes a table: drawn for people, as lines with tabs otherwise.
    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        let Form::Drawn(width) = self.form else {
            return table.tabbed().try_for_each(|line| writeln!(self.streams.out, "{line}"));
        };
        if table.is_empty() {
            return Ok(());
        }
        for (index, line) in table.drawn(width).into_iter().enumerate() {
            let line = if index == 0 { Palette::paint(self.out_palette.dim, line) } else { line };
            writeln!(self.streams.out, "{line}")?;
        }
        Ok(())
    }

    /// Says something by the way, unless all shall be quiet.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        if self.quiet { Ok(()) } else { self.complaint(text) }
    }

    /// Says why an answer may be less than it should be.
    pub(crate) fn less_than_it_should_be(&mut self, why: &str) -> io::Result<()> {
        self.warning(&format!("the answer may be less than it should be: {why}"))
    }

    /// Warns of something, unless all shall be quiet.
    pub(crate) fn warning(&mut self, text: &str) -> io::Result<()> {
        let label = Palette::paint(self.err_palette.warning, "warning");
        if self.quiet { Ok(()) } else { self.labelled(&label, text) }
    }

    /// Says what went wrong.
    pub(crate) fn error(&mut self, code: &str, text: &str) -> io::Result<()> {
        let label = Palette::paint(self.err_palette.error, format!("error[{code}]"));
        self.labelled(&label, text)
    }

    /// Says what to do next.
    pub(crate) fn hint(&mut self, text: &str) -> io::Result<()> {
        let label = Palette::paint(self.err_palette.hint, "hint");
        let text = self.own_commands(text);
        self.labelled(&label, &text)
    }

    /// Writes a line to the standard error.
    pub(crate) fn complaint(&mut self, text: &str) -> io::Result<()> {
        self.put_answer_first();
        writeln!(self.streams.err, "{}", visible_text(text))
    }

    fn labelled(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.put_answer_first();
        writeln!(self.streams.err, "{label}: {}", visible_text(text))
    }

    /// Lets whoever reads both streams at once read them in order.
    fn put_answer_first(&mut self) {
        // What cannot be written stays, and fails again when all is flushed: then it is told, on the other stream.
        let _ = self.streams.out.flush();
    }

    /// Writes out what has gathered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.streams.out.flush()
    }

    /// Returns a progress bar for long work: visible on a terminal, unless all shall be quiet.
    pub(crate) fn bar(&self, what: &'static str) -> Bar {
        Bar::new(what, self.streams.err_is_terminal && !self.quiet)
    }

    /// Tells whether a person types at the standard input.
    pub(crate) fn input_is_terminal(&self) -> bool {
        self.streams.input_is_terminal
    }

    /// Returns the standard input.
    pub(crate) fn input(&mut self) -> &mut dyn Read {
        &mut self.streams.input
    }

    /// Hands over the standard input, for what is read while answers are given; nothing is left there.
    pub(crate) fn take_input(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.streams.input, Box::new(io::empty()))
    }

    /// Asks a person a question that is answered by yes or no; anything but `y` or `yes` is no.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<bool> {
        self.streams.out.flush()?;
        write!(self.streams.err, "{} [y/N] ", visible_text(question))?;
        self.streams.err.flush()?;
        let mut answer = String::new();
        BufReader::new(&mut self.streams.input).read_line(&mut answer)?;
        let answer = answer.trim().to_lowercase();
        Ok(matches!(answer.as_str(), "y" | "yes"))
    }
}
