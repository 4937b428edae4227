//! An index, the usage counts that order it, and the generation of its text within its limits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};

use super::entry::{format_entry, format_remaining};
use super::merge::{IndexSection, merge_index};
use super::page::{IndexLineKind, IndexPage, TopicIndex};
use crate::topic::{INDEX_FILE, Topic, TopicKind};

/// Maximum lengths of descriptions in characters, tried in this order until all topics fit.
const WIDTHS: [usize; 4] = [200, 120, 80, 40];

/// Usage counts by the file name of the topic.
pub type TopicUsages = BTreeMap<String, TopicUsage>;

/// The usage count of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicUsage {
    /// Number of uses.
    pub count: u64,
    /// Time of the last use.
    pub last: DateTime<Utc>,
}

/// Returns the index of `topics`, which are sorted by name, based on the previous index `former`.
///
/// Lines of the user in `former` are preserved. A topic that such a line links to gets no generated line. The generated
/// line of an unreadable topic is preserved.
///
/// ```
/// use memory_core::topic::index_text;
///
/// assert_eq!(index_text(&[], &Default::default(), None).text, "# Memory\n\n(empty)\n");
/// ```
pub fn index_text(topics: &[Topic], uses: &TopicUsages, former: Option<&TopicIndex>) -> TopicIndex {
    let nothing = TopicIndex::default();
    let page = IndexPage::of(former.unwrap_or(&nothing));
    let linked: HashSet<_> = page.user_links().into_iter().collect();
    let listed: Vec<&Topic> = topics
        .iter()
        .filter(|topic| !linked.contains(&topic.name))
        .collect();
    let ranked = most_used_first(listed.iter().copied(), uses);
    let most = ranked.len().min(INDEX_LINES);
    let made = |count: usize, width: usize| {
        merge_index(
            &page,
            &build_sections(&page, &listed, &ranked[..count], width),
        )
    };
    let mut best = (0, WIDTHS[0]);
    for width in WIDTHS {
        let count = largest_fitting(best.0, most, |count| fits(&made(count, width).text));
        if best.0 < count {
            best = (count, width);
        }
    }
    let index = made(best.0, best.1);
    if fits(&index.text) || listed.is_empty() {
        return index;
    }
    merge_index(&page, &[(None, vec![format_remaining(listed.len())])])
}

/// Returns a message if the lines of the user alone exceed the limits.
///
/// With `has_topics` the line with the number of topics is included.
pub(in crate::topic) fn overflow_message(index: &TopicIndex, has_topics: bool) -> Option<String> {
    let page = IndexPage::of(index);
    let count = if has_topics {
        vec![(None, vec![format_remaining(1)])]
    } else {
        Vec::new()
    };
    let least = merge_index(&page, &count).text;
    (page.is_shared() && !fits(&least)).then(|| {
        let (lines, bytes) = (least.lines().count(), least.len());
        format!(
            "with your own lines, {INDEX_FILE} has {lines} lines and {bytes} bytes; the limits are {} lines and {} bytes. \
             Shorten your lines; until then prompts contain only the lines that fit",
            INDEX_LINES - 1,
            INDEX_BYTES - 1
        )
    })
}

/// Returns the largest number from `least` to `most` for which `fits` holds, or `least`.
///
/// `fits` must be monotonic.
fn largest_fitting(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(most) {
        return most;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Returns the lines of each type: the chosen topics in the order of `all`, then the number of others.
fn build_sections(
    page: &IndexPage<'_>,
    all: &[&Topic],
    chosen: &[&Topic],
    width: usize,
) -> Vec<IndexSection> {
    let shown: HashSet<_> = chosen.iter().map(|topic| &topic.name).collect();
    let mut lines: BTreeMap<TopicKind, (Vec<String>, usize)> = BTreeMap::new();
    for topic in all {
        let former = topic
            .is_unreadable
            .then(|| page.line_of(&topic.name))
            .flatten();
        let (entries, others) = lines
            .entry(former.map_or(topic.kind, |(kind, _)| kind))
            .or_default();
        if shown.contains(&topic.name) {
            entries.push(
                former.map_or_else(|| format_entry(topic, width), |(_, line)| line.to_owned()),
            );
        } else {
            *others += 1;
        }
    }
    let section = |(kind, (mut entries, others)): (TopicKind, (Vec<String>, usize))| {
        entries.extend((others != 0).then(|| format_remaining(others)));
        (Some(kind), entries)
    };
    lines.into_iter().map(section).collect()
}

/// An index has fewer lines than this.
pub const INDEX_LINES: usize = 200;

/// An index has fewer bytes than this.
pub const INDEX_BYTES: usize = 25_000;

/// Returns whether an index is within the limits.
pub(super) fn fits(text: &str) -> bool {
    text.len() < INDEX_BYTES && text.lines().count() < INDEX_LINES
}

/// Returns the index within the limits: all generated lines, and the first lines of the user that fit.
///
/// A line with the number of omitted lines replaces the rest.
pub(in crate::topic) fn truncate_index(index: &TopicIndex) -> String {
    if fits(&index.text) {
        return index.text.clone();
    }
    let page = IndexPage::of(index);
    let is_ours = |what: IndexLineKind| {
        matches!(
            what,
            IndexLineKind::Ours | IndexLineKind::Title | IndexLineKind::Heading(_)
        )
    };
    let theirs = page.lines.iter().filter(|line| !is_ours(line.what)).count();
    let shortened = |kept: usize| {
        let (mut text, mut seen) = (page.mark.to_owned(), 0);
        for line in &page.lines {
            if is_ours(line.what) {
                text.push_str(line.text);
                continue;
            }
            seen += 1;
            if seen <= kept {
                text.push_str(line.text);
            } else if seen == kept + 1 {
                let left = theirs - kept;
                let plural = if left == 1 { "" } else { "s" };
                text.extend([
                    &format!("({left} more line{plural} in {INDEX_FILE})"),
                    page.newline,
                ]);
            }
        }
        text
    };
    (0..theirs.min(INDEX_LINES))
        .rev()
        .map(shortened)
        .find(|text| fits(text))
        .unwrap_or_else(|| shortened(0))
}

/// Returns topics sorted by usage count, then last use, then last change, all descending, then by name.
fn most_used_first<'t>(
    topics: impl IntoIterator<Item = &'t Topic>,
    uses: &TopicUsages,
) -> Vec<&'t Topic> {
    let mut topics: Vec<&Topic> = topics.into_iter().collect();
    topics.sort_by_cached_key(|topic| {
        let known = uses
            .get(topic.name.as_str())
            .map(|known| (known.count, known.last));
        (Reverse((known, topic.updated)), topic.name.clone())
    });
    topics
}
