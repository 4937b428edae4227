//! The text output of refinement.

use chrono::{DateTime, Utc};
use memory_core::{MemoryId, Services};
use memory_dream::DreamReport;
use memory_dream::lifecycle::LifecycleAction;
use memory_dream::plan::{Filing, FilingReason, UnclassifiedMemory};
use memory_dream::review::{Contradiction, Review, TruncatedList};

use crate::datetime;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Output, Table, TableColumn};
use crate::zone::UserTimeZone;

/// Maximum number of lines per kind; a dry run shows all.
const MAX_LINES: usize = 20;

/// Prints the result of a run or dry run.
///
/// The signs are `~` for a moved or changed memory, `-` for a removed one, `+` for an added text or reminder, `=` for the memory it
/// is added to, and `?` for a conflict that needs a decision.
pub(super) fn print_result(
    dreamt: &DreamReport,
    is_rehearsal: bool,
    home: &Home,
    output: &mut Output,
) -> Result<(), Failure> {
    let most = if is_rehearsal { usize::MAX } else { MAX_LINES };
    let mut lines = DreamTable {
        services: &home.services,
        output,
        table: None,
        most,
        left: 0,
        zone: home.zone,
    };
    lines.add_all(dreamt);
    let DreamTable { table, left, .. } = lines;
    if let Some(table) = table {
        output.table(&table)?;
    }
    if 0 < left {
        output.note(&format!("and {left} more; use --json to list them all"))?;
    }
    print_counts(dreamt, is_rehearsal, output)
}

struct DreamTable<'l> {
    services: &'l Services,
    output: &'l Output,
    table: Option<Table>,
    most: usize,
    left: usize,
    zone: UserTimeZone,
}

impl DreamTable<'_> {
    fn add_all(&mut self, dreamt: &DreamReport) {
        for filing in self.take_shown(&dreamt.filed) {
            self.push("~", filing.id, &category_text(filing), None);
        }
        let suggestion = |unsure: &UnclassifiedMemory| Some((unsure.id, unsure.choice.suggestion?));
        let suggested: Vec<_> = dreamt.unsure.iter().filter_map(suggestion).collect();
        for (id, category) in self.take_shown(&suggested) {
            self.push("?", *id, &format!("perhaps {category}"), None);
        }
        for merge in self.take_shown(&dreamt.merged) {
            self.push("=", merge.kept, "", None);
            for text in &merge.added {
                self.push("+", merge.kept, "", Some(text));
            }
            for (gone, headline) in merge.gone.iter().zip(&merge.headlines) {
                self.push(
                    "-",
                    *gone,
                    &format!("merged into {}", self.output.id(merge.kept)),
                    Some(headline),
                );
            }
        }
        for (one, other) in self.take_shown(&dreamt.similar) {
            let what = format!("similar to {}", self.output.id(*other));
            self.push("?", *one, &what, None);
        }
        for reminding in self.take_shown(&dreamt.reminders) {
            self.push(
                "+",
                reminding.of,
                &format!(
                    "new reminder for {}",
                    datetime::format_minute(reminding.at, self.zone)
                ),
                Some(&reminding.said),
            );
        }
        for own in self.take_shown(&dreamt.withdrawn) {
            let what = format!(
                "reminder for {} cancelled",
                datetime::format_minute(own.at, self.zone)
            );
            self.push("-", own.id, &what, Some(&own.said));
        }
        for own in self.take_shown(&dreamt.superseded) {
            self.push(
                "~",
                own.of,
                &format!("superseded by {}", self.output.id(own.superseded_by)),
                None,
            );
        }
        for id in self.take_shown(&dreamt.compressed) {
            self.push("~", *id, "summarised", None);
        }
        let contradictions = dreamt
            .review
            .iter()
            .flat_map(|review| &review.contradictions.first);
        let open: Vec<&Contradiction> = contradictions.filter(|own| !own.is_certain).collect();
        for own in self.take_shown(&open) {
            self.push(
                "?",
                own.older.id,
                &format!("contradicts {}", self.output.id(own.newer.id)),
                Some(&own.older.text),
            );
            self.push(
                "?",
                own.newer.id,
                &format!("({:.2})", own.confidence()),
                Some(&own.newer.text),
            );
        }
        for parting in self.take_shown(&dreamt.parted) {
            self.push(
                "-",
                parting.id,
                &removal_reason(parting.fate, self.zone),
                Some(&parting.headline),
            );
        }
    }

    fn take_shown<'t, T>(&mut self, all: &'t [T]) -> &'t [T] {
        let (shown, rest) = all.split_at(all.len().min(self.most));
        self.left += rest.len();
        shown
    }

    fn push(&mut self, sign: &str, id: MemoryId, what: &str, text: Option<&str>) {
        let headline = || {
            self.services
                .store
                .get(&id)
                .map(|stored| stored.memory.headline().to_owned())
                .unwrap_or_default()
        };
        let text = text.map_or_else(headline, str::to_owned);
        let name = self.output.id(id);
        let columns = || {
            Table::truncated([
                TableColumn::Whole(""),
                TableColumn::Whole("id"),
                TableColumn::Text("what"),
                TableColumn::Text("text"),
            ])
        };
        self.table
            .get_or_insert_with(columns)
            .push([sign, &name, what, &text]);
    }
}

fn category_text(filing: &Filing) -> String {
    match filing.why {
        FilingReason::Suggested => format!("{} (suggested)", filing.category),
        FilingReason::Sure(confidence) => format!("{} ({confidence:.2})", filing.category),
        FilingReason::Read(accesses) => format!("{} (read {accesses} times)", filing.category),
        FilingReason::Asked => format!("{} (language model)", filing.category),
    }
}

fn removal_reason(fate: LifecycleAction, zone: UserTimeZone) -> String {
    let day = |moment: DateTime<Utc>| datetime::format_day(moment, zone);
    match fate {
        LifecycleAction::Over => "expired".to_owned(),
        LifecycleAction::Expired(since) => format!("in the inbox since {}", day(since)),
        LifecycleAction::Decayed(since) => format!("not read since {}", day(since)),
        LifecycleAction::Filed(_) => String::new(),
    }
}

fn print_counts(
    dreamt: &DreamReport,
    is_rehearsal: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let gone = dreamt.merged.iter().map(|merge| merge.gone.len()).sum();
    let done = [
        (dreamt.filed.len(), "filed"),
        (gone, "merged"),
        (dreamt.parted.len(), "moved to trash"),
        (dreamt.reminders.len(), "new reminders"),
        (dreamt.withdrawn.len(), "reminders cancelled"),
        (dreamt.superseded.len(), "superseded"),
        (dreamt.compressed.len(), "summarised"),
        (
            usize::try_from(dreamt.links.updated).unwrap_or(usize::MAX),
            "with new links",
        ),
    ];
    let done: Vec<String> = done
        .into_iter()
        .filter(|(count, _)| 0 < *count)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match (done.is_empty(), is_rehearsal) {
        (true, _) => output.note("nothing to refine")?,
        (false, true) => output.note(&format!(
            "dry run, nothing was written: {}",
            done.join(", ")
        ))?,
        (false, false) => output.note(&done.join(", "))?,
    }
    let stays = [
        (dreamt.unsure.len(), "left in the inbox: category unsure"),
        (
            dreamt.alike.len(),
            "duplicates not merged: each came from a separate note",
        ),
        (
            dreamt.similar.len(),
            "similar pairs not merged: merge them on the page, or with `memory tidy --merge-similar`",
        ),
        (
            dreamt.spared.len(),
            "expired but retained: pinned, linked, a reminder, ingested from a note, received by an agent, or not written by this program",
        ),
    ];
    for (count, why) in stays.into_iter().filter(|(count, _)| 0 < *count) {
        output.note(&format!("{count} {why}"))?;
    }
    if let Some(Review {
        clusters,
        orphans,
        stale,
        ..
    }) = &dreamt.review
    {
        let seen = [
            (count(clusters), "clusters"),
            (count(orphans), "orphans"),
            (count(stale), "stale projects"),
        ];
        let seen: Vec<String> = seen
            .into_iter()
            .filter(|(count, _)| 0 < *count)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !seen.is_empty() {
            output.note(&format!(
                "review: {}; use --json for details",
                seen.join(", ")
            ))?;
        }
    }
    for trouble in &dreamt.troubles {
        output.warning(trouble)?;
    }
    for skipped in dreamt.skipped.iter().take(MAX_LINES) {
        output.warning(&format!("{} was skipped: {}", skipped.id, skipped.reason))?;
    }
    if let Some(operation) = &dreamt.operation {
        output.note(&format!("`memory undo {operation}` undoes it"))?;
    }
    Ok(())
}

fn count<T>(all: &TruncatedList<T>) -> usize {
    all.first.len() + all.left_out
}
