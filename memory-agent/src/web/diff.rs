//! Differences between two texts as HTML, line by line, and between the attributes of two versions of a memory.

use std::borrow::Cow;
use std::iter;

use chrono::{DateTime, Utc};
use memory_core::html::{HiddenCharacterStyle, push_visible};
use memory_core::{Memory, MemoryId, Phase};
use similar::{ChangeTag, DiffOp, TextDiff};

use super::card::describe_readers;
use super::html::{Label, SafeHtml};

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// Maximum number of lines of a text. The lines after them are left out.
const MAX_LINES: usize = 4_000;

/// Maximum number of pairs of bytes in all changed lines with compared words.
///
/// Comparing the words of two texts takes up to the product of their sizes.
const MAX_COMPARED_PAIRS: usize = 16 << 20;

/// Returns the differences between two texts: removed and added lines with a few unchanged lines around them.
///
/// Each line begins with `-`, `+` or a blank, so that the colours add nothing that a reader without them misses. The words that
/// differ between similar lines are marked, unless the lines are too long to be compared.
pub(crate) fn render_diff(old: &str, new: &str) -> SafeHtml {
    let (old, is_old_cut) = first_lines(old);
    let (new, is_new_cut) = first_lines(new);
    let (old, new) = (with_line_break(old), with_line_break(new));
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    let mut html =
        String::from("<div class=\"diff\" role=\"group\" aria-label=\"Changes\" tabindex=\"0\">");
    let groups = diff.grouped_ops(CONTEXT);
    if groups.is_empty() {
        html.push_str("<span>No line differs.</span>");
    }
    let mut pairs_left = MAX_COMPARED_PAIRS;
    for (number, group) in groups.iter().enumerate() {
        if 0 < number {
            push_gap(&mut html);
        }
        for operation in group {
            let pairs = compared_pairs(&diff, operation);
            if pairs <= pairs_left {
                pairs_left -= pairs;
                for change in diff.iter_inline_changes(operation) {
                    push_line(&mut html, change.tag(), change.iter_strings_lossy());
                }
            } else {
                for change in diff.iter_changes(operation) {
                    let line = (false, change.value().into());
                    push_line(&mut html, change.tag(), iter::once(line));
                }
            }
        }
    }
    if is_old_cut || is_new_cut {
        push_gap(&mut html);
    }
    html.push_str("</div>");
    SafeHtml::from_escaped(html)
}

/// Returns the number of pairs of bytes in the words that are compared for an operation.
fn compared_pairs(diff: &TextDiff<'_, '_, '_, str>, operation: &DiffOp) -> usize {
    let DiffOp::Replace { .. } = operation else {
        return 0;
    };
    let size = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let old = size(&diff.old_slices()[operation.old_range()]);
    old.saturating_mul(size(&diff.new_slices()[operation.new_range()]))
}

/// Returns a text whose last line ends with a line break, so that a line after it does not change it.
fn with_line_break(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') {
        text.into()
    } else {
        format!("{text}\n").into()
    }
}

/// Appends a line, which consists of parts; each part is marked if its words differ in an otherwise similar line.
fn push_line<'a>(
    html: &mut String,
    tag: ChangeTag,
    parts: impl Iterator<Item = (bool, Cow<'a, str>)>,
) {
    let (element, sign) = match tag {
        ChangeTag::Equal => ("span", "  "),
        ChangeTag::Insert => ("ins", "+ "),
        ChangeTag::Delete => ("del", "- "),
    };
    html.push('<');
    html.push_str(element);
    html.push_str(" dir=\"auto\">");
    html.push_str(sign);
    for (is_marked, part) in parts {
        let part = part.trim_end_matches(['\n', '\r']);
        if is_marked && !part.is_empty() {
            html.push_str("<b>");
            push_visible(html, part, HiddenCharacterStyle::Element);
            html.push_str("</b>");
        } else {
            push_visible(html, part, HiddenCharacterStyle::Element);
        }
    }
    html.push_str("</");
    html.push_str(element);
    html.push('>');
}

fn push_gap(html: &mut String) {
    html.push_str("<span class=\"diff-gap\" aria-label=\"lines left out\">⋯</span>");
}

/// Returns the first lines of a text, and whether there are more.
fn first_lines(text: &str) -> (&str, bool) {
    match text.match_indices('\n').nth(MAX_LINES - 1) {
        Some((end, _)) if end + 1 < text.len() => (&text[..=end], true),
        _ => (text, false),
    }
}

/// Returns the attributes that differ between two versions, without the text.
pub(crate) fn changed_attributes(
    before: &Memory,
    after: &Memory,
) -> Vec<(&'static str, Label, Label)> {
    let values = |memory: &Memory| {
        let time = |time: Option<DateTime<Utc>>| {
            time.map(|time| time.format("%Y-%m-%d %H:%M UTC").to_string())
        };
        let category = if memory.phase == Phase::Inbox {
            format!("inbox ({})", memory.category)
        } else {
            memory.category.to_string()
        };
        [
            ("Title", memory.title.clone().unwrap_or_default()),
            ("Category", category),
            ("Tags", memory.tags.as_slice().join(", ")),
            ("Readers", describe_readers(&memory.scope)),
            ("Source", memory.source.clone()),
            ("Aliases", memory.aliases.join(", ")),
            (
                "Pinned",
                if memory.pinned { "yes" } else { "no" }.to_owned(),
            ),
            ("Expires", time(memory.expires_at).unwrap_or_default()),
            ("Valid until", time(memory.valid_until).unwrap_or_default()),
            (
                "Reminder",
                time(memory.reminder.as_ref().map(|reminder| reminder.due)).unwrap_or_default(),
            ),
            (
                "Repeats",
                memory
                    .recurrence()
                    .map(|repeats| repeats.expression.clone())
                    .unwrap_or_default(),
            ),
            (
                "Done",
                time(
                    memory
                        .reminder
                        .as_ref()
                        .and_then(|reminder| reminder.done_at),
                )
                .unwrap_or_default(),
            ),
            (
                "Superseded by",
                memory
                    .superseded_by
                    .map(|id| id.to_string())
                    .unwrap_or_default(),
            ),
            (
                "Links",
                memory
                    .links
                    .iter()
                    .map(MemoryId::short)
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
        ]
    };
    let pairs = values(before).into_iter().zip(values(after));
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    let label = |text: &str| Label::cut(if text.is_empty() { "none" } else { text }, 200);
    changed
        .map(|((name, before), (_, after))| (name, label(&before), label(&after)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::check_safe;

    #[test]
    fn changed_lines_are_marked_and_distant_lines_left_out() {
        let line = |number: u32| format!("line {number}\n");
        let old: String = (1..=20).map(line).collect();
        let new = old
            .replace("line 2\n", "line two <b>\n")
            .replace("line 18\n", "");
        let html = render_diff(&old, &new);
        let html = html.as_str();
        assert!(
            html.contains("<del dir=\"auto\">- line <b>2</b></del><ins dir=\"auto\">+ line <b>two &lt;b&gt;</b></ins>"),
            "{html}"
        );
        assert!(html.contains("<del dir=\"auto\">- line 18</del>") && !html.contains("line 10"));
        assert_eq!(html.matches("diff-gap").count(), 1);
        assert!(
            render_diff("same", "same")
                .as_str()
                .contains("No line differs.")
        );
        assert!(
            !render_diff("one", "one\ntwo").as_str().contains("<del"),
            "the first line is the same"
        );
    }

    #[test]
    fn very_long_texts_are_cut() {
        let html = render_diff("", &"a\n".repeat(2 * MAX_LINES));
        assert_eq!(
            (
                html.as_str().matches("<ins").count(),
                html.as_str().matches("diff-gap").count()
            ),
            (MAX_LINES, 1)
        );
    }

    #[test]
    fn the_words_of_very_long_lines_are_not_compared() {
        let line = |word: &str, count: usize| format!("tea {word} ").repeat(count) + "\n";
        let (old, new) = (line("green", 50_000), line("black", 50_000));
        let html = render_diff(&old, &new);
        assert!(!html.as_str().contains("<b>"));
        assert!(html.as_str().contains("<del dir=\"auto\">- tea green tea"));
        assert!(html.as_str().contains("<ins dir=\"auto\">+ tea black tea"));
        // All lines together have one limit.
        let (old, new): (String, String) = (0..1_000)
            .map(|number| {
                let same = format!("line {number}\n");
                (line("green", 30) + &same, line("black", 30) + &same)
            })
            .unzip();
        let marks = render_diff(&old, &new).as_str().matches("<b>").count();
        let most = MAX_COMPARED_PAIRS / (300 * 300) * 60;
        assert!((1..=most).contains(&marks), "{marks}");
    }

    proptest! {
        #[test]
        fn any_two_texts_yield_safe_html_with_all_changed_lines(old in "([a-c<>\"&]{0,3}\n){0,12}", new in "([a-c<>\"&]{0,3}\n){0,12}") {
            let html = render_diff(&old, &new);
            if let Err(error) = check_safe(html.as_str()) {
                prop_assert!(false, "{}", error);
            }
            prop_assert_eq!(old == new, !html.as_str().contains("<ins") && !html.as_str().contains("<del"));
        }
    }
}
