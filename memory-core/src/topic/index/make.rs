//! Making an index.

use std::collections::HashSet;

use super::entry::{entry, rest};
use super::limits::{INDEX_LINES, fits};
use super::page::Page;
use super::uses::{Uses, most_used_first};
use super::weave::{Section, weave};
use crate::topic::{Topic, TopicKind};

/// How many characters of descriptions are told, as long as all find room.
const WIDTHS: [usize; 4] = [200, 120, 80, 40];

/// Returns the index of `topics`, which come by name, in the place of `former`, whose lines that are a person's stay where they are. A
/// topic to which such a line leads needs no other.
///
/// ```
/// use memory_core::topic::index_text;
///
/// assert_eq!(index_text(&[], &Default::default(), None), "# Memory\n\n(empty)\n");
/// ```
pub fn index_text(topics: &[Topic], uses: &Uses, former: Option<&str>) -> String {
    let page = Page::of(former.unwrap_or_default());
    let linked: HashSet<_> = page.linked().into_iter().collect();
    let listed: Vec<&Topic> = topics.iter().filter(|topic| !linked.contains(&topic.name)).collect();
    let ranked = most_used_first(listed.iter().copied(), uses);
    let most = ranked.len().min(INDEX_LINES);
    let made = |count: usize, width: usize| weave(&page, &sections(&listed, &ranked[..count], width));
    let mut best = (0, WIDTHS[0]);
    for width in WIDTHS {
        let count = largest(best.0, most, |count| fits(&made(count, width)));
        if best.0 < count {
            best = (count, width);
        }
    }
    made(best.0, best.1)
}

/// Returns the largest number from `least` to `most` that fits, where all below one that fits do; `least` if none does.
fn largest(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Returns the lines of each kind: the chosen topics in the order of all, and how many there are besides.
fn sections(all: &[&Topic], chosen: &[&Topic], width: usize) -> Vec<Section> {
    let shown: HashSet<_> = chosen.iter().map(|topic| &topic.name).collect();
    let section = |kind: TopicKind| {
        let of_kind = all.iter().filter(|topic| topic.kind == kind);
        let (own, others): (Vec<_>, Vec<_>) = of_kind.partition(|topic| shown.contains(&topic.name));
        let mut lines: Vec<String> = own.into_iter().map(|topic| entry(topic, width)).collect();
        if !others.is_empty() {
            lines.push(rest(others.len()));
        }
        (!lines.is_empty()).then_some((kind, lines))
    };
    TopicKind::ALL.into_iter().filter_map(section).collect()
}
