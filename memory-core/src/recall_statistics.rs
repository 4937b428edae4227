//! Statistics of the recall ledger: what each agent received per week, and the memories that were received most often.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Datelike, Days, NaiveDate, TimeZone};

use crate::{RecallFilter, RecallLedger, StoreError};

/// What agents received in a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallStatistics {
    /// The totals by the first day of the week, a Monday, and by the name of the agent, which is empty if unknown.
    pub weeks: BTreeMap<NaiveDate, BTreeMap<String, RecallTotal>>,
    /// The ids of memories and entries of conversations, and how often each was received, the most often first.
    pub memories: Vec<(String, u64)>,
}

/// The total of several recalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallTotal {
    /// The number of recalls.
    pub recalls: u64,
    /// Their size in tokens.
    pub tokens: u64,
}

/// Returns the statistics of the recalls since `from`, in its zone, with the `limit` memories that were received most often.
///
/// # Errors
/// If the ledger cannot be read.
pub fn recall_statistics<Tz: TimeZone>(
    ledger: &dyn RecallLedger,
    from: &DateTime<Tz>,
    limit: usize,
) -> Result<RecallStatistics, StoreError> {
    let filter = RecallFilter {
        from: Some(from.to_utc()),
        ..RecallFilter::default()
    };
    let mut weeks = BTreeMap::<NaiveDate, BTreeMap<String, RecallTotal>>::new();
    let mut counts = HashMap::<String, u64>::new();
    for recall in ledger.recalls(&filter) {
        let recall = recall?;
        let week = first_of_week(recall.at.with_timezone(&from.timezone()).date_naive());
        let agents = weeks.entry(week).or_default();
        let total = agents.entry(recall.agent).or_default();
        total.recalls += 1;
        total.tokens += recall.tokens;
        for memory in recall.memories {
            *counts.entry(memory.id).or_default() += 1;
        }
    }
    let mut memories: Vec<(String, u64)> = counts.into_iter().collect();
    memories.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    memories.truncate(limit);
    Ok(RecallStatistics { weeks, memories })
}

/// Returns the Monday of the week that contains `day`.
pub fn first_of_week(day: NaiveDate) -> NaiveDate {
    let past = day.weekday().num_days_from_monday();
    day.checked_sub_days(Days::new(past.into())).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use chrono::{FixedOffset, Utc};

    use super::*;
    use crate::testing::FakeRecallLedger;
    use crate::{RecallRecord, RecalledId, record_recall};

    #[test]
    fn recalls_are_counted_by_agent_and_week_in_a_zone() {
        let ledger = FakeRecallLedger::default();
        let at = |text: &str| text.parse::<DateTime<Utc>>().expect("a time");
        for (time, agent, ids) in [
            ("2026-05-01T12:00:00Z", "codex", ["early", "early"]),
            ("2026-05-10T12:00:00Z", "codex", ["a", "b"]),
            ("2026-05-10T23:30:00Z", "codex", ["a", "c"]),
            ("2026-05-11T12:00:00Z", "claude", ["a", "c"]),
        ] {
            let recall = RecallRecord {
                at: at(time),
                agent: agent.into(),
                session: None,
                project: None,
                interface: "mcp".into(),
                tool: "memory_search".into(),
                query: None,
                memories: ids.map(RecalledId::unranked).to_vec(),
                tokens: 10,
            };
            record_recall(&ledger, recall);
        }
        let zone = FixedOffset::east_opt(3600).expect("an offset");
        let from = at("2026-05-04T00:00:00Z").with_timezone(&zone);
        let found = recall_statistics(&ledger, &from, 2).expect("they are read");
        let total = |recalls| RecallTotal {
            recalls,
            tokens: 10 * recalls,
        };
        let weeks: Vec<_> = (found.weeks.iter())
            .flat_map(|(week, agents)| {
                agents
                    .iter()
                    .map(|(agent, own)| (week.to_string(), agent.as_str(), *own))
            })
            .collect();
        let week = |text: &str| text.to_owned();
        assert_eq!(
            weeks,
            [
                (week("2026-05-04"), "codex", total(1)),
                (week("2026-05-11"), "claude", total(1)),
                (week("2026-05-11"), "codex", total(1)),
            ]
        );
        assert_eq!(found.memories, [("a".to_owned(), 3), ("c".into(), 2)]);
    }
}
