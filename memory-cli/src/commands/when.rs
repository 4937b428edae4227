//! The `memory when` command.

use std::io::{self, BufRead, BufReader, Read};

use chrono::{DateTime, FixedOffset};
use clap::Args;
use memory_agent::json;
use memory_core::datetime::{DateMention, DatePrecision, find_date, find_impossible};
use memory_core::{Code, unused_times};
use serde_json::Value;

use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::print::{Output, OutputForm, counted};
use crate::zone::{ReferenceTime, UserTimeZone};

/// Parse the date or time in a text
///
/// Understands English and Chinese, relative to now, in the configured time zone or else that of the machine. Ambiguous
/// times resolve to the next one, and the assumption is printed. Of several times, the next future one is shown.
///
/// JSON: {text, at, end?, span, kind, relation, repeats, vague, assumed?, unused?, impossible?}: `text` is the part of the text
/// with the time, `span` its start and end in bytes, `at` the time, or the start of the day; null if there is none. `end` is
/// the end of a range, `kind` date, time or datetime, `relation` past, present or future; `unused` lists the other times of
/// the text, and `impossible` names a time that does not exist
#[derive(Debug, Args)]
pub(crate) struct WhenArgs {
    /// Text; `-`, or piped input, is the standard input
    #[arg(conflicts_with = "stdin")]
    text: Option<String>,
    /// Reference time in RFC 3339; its offset is the time zone if none is configured
    #[arg(long, value_name = "MOMENT")]
    now: Option<ReferenceTime>,
    /// Read one {"text", "now"?} per line from the standard input, and answer each with one line of JSON
    #[arg(long)]
    stdin: bool,
}

impl WhenArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let zone = app.settings()?.timezone.value;
        let now = app.now();
        let seen = move |named: Option<ReferenceTime>| {
            named.map_or_else(
                || now.with_timezone(&UserTimeZone::of(zone)),
                |own| own.in_zone(zone),
            )
        };
        if self.stdin {
            return answer_lines(&|own| seen(own.or(self.now)), &mut app.output);
        }
        let given = args::or_stdin(self.text.as_deref(), &app.output).ok_or_else(|| {
            Failure::usage(
                "no text specified",
                "pass it as an argument: `memory when \"tomorrow at 3pm\"`",
            )
        })?;
        let text = args::read_content(given, &mut app.output)?;
        let now = seen(self.now);
        print_reading(&TextReading::of(&text, &now), &mut app.output)
    }
}

/// The time in a text.
struct TextReading {
    mention: Option<DateMention>,
    /// The other times that the text names.
    unused: Vec<String>,
    /// The part of the text that is no time that exists, if the text has no other time.
    impossible: Option<String>,
}

impl TextReading {
    fn of(text: &str, now: &DateTime<UserTimeZone>) -> Self {
        let mention = find_date(text, now);
        let unused = mention.as_ref().map(|own| unused_times(text, own, now));
        let impossible = match mention {
            Some(_) => None,
            None => find_impossible(text, now),
        };
        Self {
            unused: unused
                .into_iter()
                .flatten()
                .map(|other| other.text)
                .collect(),
            impossible: impossible.map(|part| part.to_string()),
            mention,
        }
    }

    fn to_json(&self) -> Value {
        json::time_expression(
            self.mention.as_ref(),
            &self.unused,
            self.impossible.as_deref(),
        )
    }
}

fn print_reading(found: &TextReading, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(&found.to_json());
    }
    let Some(reading) = &found.mention else {
        let why = match &found.impossible {
            Some(part) => format!("no time found: {part}"),
            None => "no time found".to_owned(),
        };
        return output.note(&why);
    };
    let form = output.form();
    let shown = |at: DateTime<FixedOffset>, kind: DatePrecision| match (form, kind) {
        (OutputForm::Drawn(_), DatePrecision::Date) => at.format("%a %Y-%m-%d").to_string(),
        (OutputForm::Drawn(_), DatePrecision::Time | DatePrecision::DateTime) => {
            at.format("%a %Y-%m-%d %H:%M").to_string()
        }
        (OutputForm::Json | OutputForm::Tabbed, _) => {
            at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
        }
    };
    output.fields(&[
        &shown(reading.at, reading.kind),
        reading.kind.as_str(),
        reading.relation.as_str(),
        &reading.text,
    ])?;
    if let Some(end) = reading.end {
        output.note(&format!("until {}", shown(end, reading.end_kind())))?;
    }
    if reading.repeats {
        output.note("recurring; the next occurrence is shown")?;
    }
    if reading.is_vague {
        output.note("approximate; the start is shown")?;
    }
    if let Some(assumed) = &reading.assumed {
        output.note(assumed)?;
    }
    found
        .unused
        .iter()
        .try_for_each(|text| output.note(&format!("{text:?} is not used")))
}

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 1024 * 1024;

/// Answers each line of the standard input with one line, as soon as it is read.
fn answer_lines(
    seen: &dyn Fn(Option<ReferenceTime>) -> DateTime<UserTimeZone>,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut input = BufReader::new(output.take_input());
    let mut count = 0;
    while let Some(line) =
        next_line(&mut input).map_err(Failure::file("read the standard input"))?
    {
        match line.and_then(|line| answer_line(&line, seen)) {
            Ok(answer) => output.json(&answer)?,
            Err(why) => {
                count += 1;
                output.json(&json::error("INVALID_INPUT", &why, None))?;
            }
        }
        // The caller may wait for this answer before it sends the next line.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Failure::unless_none(
        count,
        counted(count, "invalid line"),
        "all other lines were answered; see the errors in the output",
        Code::InvalidInput,
    )
}

/// Returns the next line that is not empty, or why the line is rejected; `None` at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, String>>> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") && MAX_LINE <= line.len() as u64 {
            input.skip_until(b'\n')?;
            return Ok(Some(Err(format!(
                "the line is longer than {MAX_LINE} bytes"
            ))));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Ok(line)));
        }
    }
}

fn answer_line(
    line: &[u8],
    seen: &dyn Fn(Option<ReferenceTime>) -> DateTime<UserTimeZone>,
) -> Result<Value, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("invalid JSON: {error}"))?;
    let Value::Object(object) = value else {
        return Err("not a JSON object".into());
    };
    let text = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(format!("{key} is not a string")),
    };
    let now = text("now")?
        .map(|now| {
            now.parse::<ReferenceTime>()
                .map_err(|error| format!("now: {error}"))
        })
        .transpose()?;
    let text = text("text")?.ok_or("the field text is missing")?;
    Ok(TextReading::of(text, &seen(now)).to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_is_read() {
        let long = "x".repeat(usize::try_from(MAX_LINE).expect("it fits"));
        let mut input = io::Cursor::new(format!("{long}\nshort\n"));
        assert!(matches!(next_line(&mut input), Ok(Some(Err(_)))));
        assert!(matches!(next_line(&mut input), Ok(Some(Ok(line))) if line == b"short\n"));
        assert!(matches!(next_line(&mut input), Ok(None)));
    }
}
