//! The topics in the results of `memory search`.

use memory_core::topic::{TopicHit, Topics};

use super::{INDENT, MIN_INDENTED_WIDTH, escape_snippet, highlight_line};
use crate::failure::Failure;
use crate::print::{Output, OutputForm, Palette, escape_line, wrap_lines};

/// The topics of the page, and the total number of matches.
pub(super) type FoundTopics = (Vec<TopicHit>, usize);

/// Searches the topics, if there are any. An error becomes a warning, and the topics are omitted.
pub(super) fn find(
    topics: Option<&Topics>,
    question: &str,
    limit: usize,
    output: &mut Output,
) -> Result<Option<FoundTopics>, Failure> {
    let Some(topics) = topics else { return Ok(None) };
    match memory_core::topic::search(topics, question, limit) {
        Ok(found) => Ok(Some(found)),
        Err(error) => {
            output.warn_incomplete(&format!("cannot search the topics: {error}"))?;
            Ok(None)
        }
    }
}

/// Prints the topics.
pub(super) fn print_topics((hits, total): &FoundTopics, output: &mut Output) -> Result<(), Failure> {
    for hit in hits {
        match output.form() {
            OutputForm::Drawn(width) => print_topic(hit, width, output)?,
            OutputForm::Json | OutputForm::Tabbed => {
                let score = format!("{:.3}", hit.score);
                output.fields(&[&format!("topic:{}", hit.topic.name), &score, &hit.topic.title, &hit.snippet.text])?;
            }
        }
    }
    if hits.len() < *total {
        output.note(&format!("{} of {total} matching topics shown; use --limit for more", hits.len()))?;
    }
    Ok(())
}

fn print_topic(hit: &TopicHit, width: u16, output: &mut Output) -> Result<(), Failure> {
    let (topic, palette) = (&hit.topic, output.palette());
    output.line(&format!(
        "{}  {}  {}",
        Palette::paint(palette.id, escape_line(topic.name.as_str())),
        Palette::paint(palette.bold, escape_line(&topic.title)),
        Palette::paint(palette.dim, format!("topic · {}", topic.kind)),
    ))?;
    let indent = if width < MIN_INDENTED_WIDTH { 2 } else { INDENT };
    let (snippet, marks) = escape_snippet(&hit.snippet.text, &hit.snippet.marks);
    for line in wrap_lines(&snippet, usize::from(width).saturating_sub(indent)) {
        output.line(&format!("{:indent$}{}", "", highlight_line(&snippet, line, &marks, palette)))?;
    }
    Ok(())
}
