//! The text output of the items of the inbox.

use chrono::SecondsFormat;
use memory_core::{Memory, Neighbour, NeighbourRelation, ProposedAction, WaitingProposal};
use similar::{ChangeTag, TextDiff};

use super::{InboxItem, InboxItemKind};
use crate::datetime;
use crate::failure::Failure;
use crate::print::{Output, OutputForm, Palette, escape_hidden, memories};
use crate::zone::UserTimeZone;

/// Maximum number of lines of a text that are shown at first.
const MAX_LINES: usize = 40;

/// The part of a text that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownPart {
    /// The first lines.
    Start,
    /// All lines.
    Whole,
}

impl ShownPart {
    fn lines(self) -> usize {
        match self {
            Self::Start => MAX_LINES,
            Self::Whole => usize::MAX,
        }
    }
}

/// Prints an item: one line in a pipe, and a block at a terminal.
pub(super) fn print_item(output: &mut Output, item: &InboxItem) -> Result<(), Failure> {
    match output.form() {
        OutputForm::Drawn(_) => print_block(output, item, None, ShownPart::Start).map(drop),
        OutputForm::Json | OutputForm::Tabbed => print_fields(output, item),
    }
}

fn print_fields(output: &mut Output, item: &InboxItem) -> Result<(), Failure> {
    let (kind, action, by, stale, stored) = match &item.item {
        InboxItemKind::Proposal(waiting) => {
            let WaitingProposal {
                stored,
                proposal,
                is_stale,
                ..
            } = waiting.as_ref();
            (
                "proposal",
                proposal.action.as_str(),
                proposal.by.as_str(),
                if *is_stale { "stale" } else { "" },
                stored,
            )
        }
        InboxItemKind::Note(stored) => (
            "note",
            "",
            stored.memory.source.as_str(),
            "",
            stored.as_ref(),
        ),
    };
    let memory = &stored.memory;
    let near = |neighbour: &Neighbour| format!("{}:{}", neighbour.relation.as_str(), neighbour.id);
    output.fields(&[
        kind,
        &memory.id.to_string(),
        action,
        &escape_hidden(by),
        &memory.created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
        stale,
        &item
            .neighbours
            .iter()
            .map(near)
            .collect::<Vec<_>>()
            .join(","),
        &escape_hidden(memory.headline()),
    ])
}

/// Prints an item as a block, after its place in the review if given, and returns the number of lines that were left out.
pub(super) fn print_block(
    output: &mut Output,
    item: &InboxItem,
    place: Option<&str>,
    part: ShownPart,
) -> Result<usize, Failure> {
    let palette = output.palette();
    let (stored, heading) = match &item.item {
        InboxItemKind::Proposal(waiting) => (&waiting.stored, proposal_heading(waiting)),
        InboxItemKind::Note(stored) => (stored.as_ref(), "note".to_owned()),
    };
    let id = Palette::paint(palette.id, stored.memory.id.short());
    let heading = Palette::paint(palette.bold, escape_hidden(&heading));
    let place = place.map(|place| format!("{place}  ")).unwrap_or_default();
    let facts = Palette::paint(
        palette.dim,
        escape_hidden(&facts_text(&stored.memory, output.zone())),
    );
    output.hanging_line(&format!("{place}{id}  {heading}  {facts}"), 4)?;
    let left = match &item.item {
        InboxItemKind::Proposal(waiting) => print_change(output, waiting, part)?,
        InboxItemKind::Note(stored) => print_text(output, "  ", &stored.memory.content, part)?,
    };
    for (number, neighbour) in item.neighbours.iter().enumerate() {
        let relation = match neighbour.relation {
            NeighbourRelation::Updates => Palette::paint(palette.warning, "updates"),
            NeighbourRelation::Contradicts => Palette::paint(palette.warning, "contradicts"),
            NeighbourRelation::Duplicate => "repeats".to_owned(),
            NeighbourRelation::Related => "resembles".to_owned(),
        };
        let id = Palette::paint(palette.id, neighbour.id.short());
        let line = format!(
            "  {}. {relation} {id}  {}",
            number + 1,
            one_line(&neighbour.text)
        );
        output.hanging_line(&line, 3)?;
    }
    output.line("")?;
    Ok(left)
}

fn proposal_heading(waiting: &WaitingProposal) -> String {
    let by = &waiting.proposal.by;
    let target = || match &waiting.target {
        Some(target) => format!("{} ({})", target.memory.id.short(), target.path),
        None => "a deleted memory".to_owned(),
    };
    let stale = match (&waiting.target, waiting.is_stale) {
        (Some(_), true) => "; stale: it was changed since",
        _ => "",
    };
    match waiting.proposal.action {
        ProposedAction::Write => format!("{by} proposes a memory"),
        ProposedAction::Update(_) => format!("{by} proposes to change {}{stale}", target()),
        ProposedAction::Delete(_) => format!("{by} proposes to delete {}{stale}", target()),
    }
}

fn facts_text(memory: &Memory, zone: UserTimeZone) -> String {
    let mut facts = vec![
        datetime::format_minute(memory.created_at, zone),
        memory.scope.to_string(),
        memories::category_text(memory),
    ];
    facts.extend(memory.title.as_ref().map(|title| format!("\"{title}\"")));
    facts.extend(Some(memories::tags_text(memory)).filter(|tags| !tags.is_empty()));
    facts.extend(
        memory
            .expires_at
            .map(|end| format!("expires {}", datetime::format_day(end, zone))),
    );
    facts.extend(
        memory
            .reminder
            .as_ref()
            .map(|reminder| format!("due {}", datetime::format_minute(reminder.due, zone))),
    );
    facts.extend(memory.pinned.then(|| "pinned".to_owned()));
    facts.join(", ")
}

/// Prints the proposed text, or the lines and fields that change, and returns the number of lines that were left out.
fn print_change(
    output: &mut Output,
    waiting: &WaitingProposal,
    part: ShownPart,
) -> Result<usize, Failure> {
    let proposed = &waiting.stored.memory;
    match (waiting.proposal.action, &waiting.target) {
        (ProposedAction::Write, _) | (ProposedAction::Update(_), None) => {
            print_text(output, "  ", &proposed.content, part)
        }
        (ProposedAction::Delete(_), _) => print_text(output, "  - ", &proposed.content, part),
        (ProposedAction::Update(_), Some(target)) => {
            for line in field_changes(&target.memory, proposed, output.zone()) {
                output.line(&format!("  {}", escape_hidden(&line)))?;
            }
            let changed = changed_lines(&target.memory.content, &proposed.content);
            for (sign, line) in changed.iter().take(part.lines()) {
                output.diff(&format!(
                    "  {sign} {}",
                    escape_hidden(line.trim_end_matches(['\r', '\n']))
                ))?;
            }
            print_left(output, "  ", changed.len().saturating_sub(part.lines()))
        }
    }
}

/// Maximum number of pairs of lines that are compared; comparing two texts takes up to the product of their lines.
const MAX_COMPARED_PAIRS: usize = 16_000_000;

/// Returns the removed and added lines with their signs.
///
/// If too many lines differ, the lines between the first and the last difference are all removed and added.
fn changed_lines<'t>(old: &'t str, new: &'t str) -> Vec<(char, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let count_equal = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = count_equal(&mut old.iter().zip(&new));
    let (old, new) = (&old[start..], &new[start..]);
    let end = count_equal(&mut old.iter().rev().zip(new.iter().rev()));
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if MAX_COMPARED_PAIRS < old.len().saturating_mul(new.len()) {
        let removed = old.iter().map(|line| ('-', *line));
        return removed.chain(new.iter().map(|line| ('+', *line))).collect();
    }
    let diff = TextDiff::from_slices(old, new);
    diff.iter_all_changes()
        .filter_map(|change| match change.tag() {
            ChangeTag::Equal => None,
            ChangeTag::Insert => Some(('+', change.value())),
            ChangeTag::Delete => Some(('-', change.value())),
        })
        .collect()
}

/// Describes the fields other than the text that differ between two versions.
pub(crate) fn field_changes(
    current: &Memory,
    proposed: &Memory,
    zone: UserTimeZone,
) -> Vec<String> {
    let (old_tags, new_tags) = (memories::tags_text(current), memories::tags_text(proposed));
    let ids = |memory: &Memory| {
        memory
            .links
            .iter()
            .map(memory_core::MemoryId::short)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let time = |time: Option<chrono::DateTime<chrono::Utc>>| {
        time.map(|time| datetime::format_minute(time, zone))
            .unwrap_or_default()
    };
    let id = |id: Option<memory_core::MemoryId>| id.map(|id| id.short()).unwrap_or_default();
    let due = |memory: &Memory| {
        time(
            memory
                .reminder
                .as_ref()
                .filter(|reminder| reminder.is_open())
                .map(|reminder| reminder.due),
        )
    };
    let repeats = |memory: &Memory| {
        memory
            .recurrence()
            .map_or_else(String::new, |repeats| repeats.expression.clone())
    };
    let pairs = [
        (
            "title",
            current.title.clone().unwrap_or_default(),
            proposed.title.clone().unwrap_or_default(),
        ),
        (
            "category",
            current.category.to_string(),
            proposed.category.to_string(),
        ),
        (
            "scope",
            current.scope.to_string(),
            proposed.scope.to_string(),
        ),
        ("tags", old_tags, new_tags),
        (
            "aliases",
            current.aliases.join(", "),
            proposed.aliases.join(", "),
        ),
        (
            "superseded by",
            id(current.superseded_by),
            id(proposed.superseded_by),
        ),
        (
            "valid until",
            time(current.valid_until),
            time(proposed.valid_until),
        ),
        ("links", ids(current), ids(proposed)),
        (
            "expires",
            time(current.expires_at),
            time(proposed.expires_at),
        ),
        ("due", due(current), due(proposed)),
        ("repeats", repeats(current), repeats(proposed)),
        (
            "pinned",
            current.pinned.to_string(),
            proposed.pinned.to_string(),
        ),
    ];
    let shown = |text: &str| {
        if text.is_empty() {
            "none".to_owned()
        } else {
            text.to_owned()
        }
    };
    let changed = pairs.into_iter().filter(|(_, old, new)| old != new);
    changed
        .map(|(name, old, new)| format!("{name}: {} -> {}", shown(&old), shown(&new)))
        .collect()
}

fn print_text(
    output: &mut Output,
    indent: &str,
    text: &str,
    part: ShownPart,
) -> Result<usize, Failure> {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(part.lines()) {
        // The rest of a long line is never below a sign.
        let sign = indent.trim_start().len();
        output.hanging_line(&format!("{indent}{}", escape_hidden(line)), sign)?;
    }
    print_left(output, indent, lines.len().saturating_sub(part.lines()))
}

/// Prints and returns the number of lines that were left out.
fn print_left(output: &mut Output, indent: &str, left: usize) -> Result<usize, Failure> {
    if left != 0 {
        let lines = if left == 1 { "line" } else { "lines" };
        output.line(&format!("{indent}… {left} more {lines}"))?;
    }
    Ok(left)
}

/// Maximum number of characters of a neighbour.
const MAX_CHARACTERS: usize = 120;

fn one_line(text: &str) -> String {
    escape_hidden(&memory_core::text::to_one_line(text, MAX_CHARACTERS)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_unless_too_many_differ() {
        let lines = |word: &str, count: usize| {
            let lines = (0..count).map(|number| format!("{word} {number}\n"));
            lines.collect::<Vec<_>>().concat()
        };
        assert_eq!(
            changed_lines("a\nb\nc\nd\n", "a\nx\nc\ny\nd"),
            [
                ('-', "b\n"),
                ('+', "x\n"),
                ('-', "d\n"),
                ('+', "y\n"),
                ('+', "d")
            ]
        );
        let same = lines("same", 100_000);
        let changed = |word: &str| same.clone() + word + "\n" + &same;
        assert_eq!(
            changed_lines(&changed("a"), &changed("b")),
            [('-', "a\n"), ('+', "b\n")]
        );
        let (old, new) = (lines("a", 100_000), lines("b", 100_000));
        let changed = changed_lines(&old, &new);
        assert_eq!(changed.len(), 200_000);
        assert!(changed[..100_000].iter().all(|(sign, _)| *sign == '-'));
    }
}
