//! The activity of a home: operations per day, and the sessions of agents.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};

use crate::{
    LogEntry, LogError, MIN_TIME, OperationLogs, RecallFilter, RecallLedger, subtract_time,
};

/// Time around the recalls of a session in which operations of its agent count as part of it.
const SESSION_MARGIN: TimeDelta = TimeDelta::minutes(30);

/// Clock difference between processes, in which the entries of one log may be out of order.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::days(1);

/// The days and the authors of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivitySummary {
    /// The number of operations of each day that has any. The parts of a long operation count once per day.
    pub days: BTreeMap<NaiveDate, u64>,
    /// The names of the people, agents and programs that made the operations.
    pub authors: BTreeSet<String>,
}

impl OperationLogs<'_> {
    /// Returns the operations since `from`, newest first.
    ///
    /// # Errors
    /// If the operations cannot be read.
    pub fn since(self, from: DateTime<Utc>) -> Result<Vec<LogEntry>, LogError> {
        let mut entries = Vec::new();
        self.each_since(from, |entry| entries.push(entry))?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.operation.at));
        Ok(entries)
    }

    /// Returns the days and the authors of the operations since `from`, in the zone of `from`.
    ///
    /// # Errors
    /// If the operations cannot be read.
    pub fn summarize<Tz: TimeZone>(self, from: &DateTime<Tz>) -> Result<ActivitySummary, LogError> {
        let ActivitySummary {
            mut days,
            mut authors,
        } = ActivitySummary::default();
        let mut previous = None;
        self.each_since(from.to_utc(), |entry| {
            if !entry.operation.by.is_empty() && !authors.contains(&entry.operation.by) {
                authors.insert(entry.operation.by.clone());
            }
            let day = entry
                .operation
                .at
                .with_timezone(&from.timezone())
                .date_naive();
            let counted = Some((day, entry.operation.id));
            if previous != counted {
                *days.entry(day).or_default() += 1;
                previous = counted;
            }
        })?;
        Ok(ActivitySummary { days, authors })
    }

    /// Calls `visit` for the operations since `from`, those of each log newest first.
    fn each_since(
        self,
        from: DateTime<Utc>,
        mut visit: impl FnMut(LogEntry),
    ) -> Result<(), LogError> {
        let end = subtract_time(from, CLOCK_TOLERANCE);
        for log in self.logs()? {
            for entry in log {
                let entry = entry?;
                if entry.operation.at < end {
                    break;
                }
                if from <= entry.operation.at {
                    visit(entry);
                }
            }
        }
        Ok(())
    }
}

/// A session of an agent: what it received and what it changed.
///
/// The logs record the agent of an operation, but not the session. An operation belongs to one session: of the sessions of its agent
/// with a recall at most 30 minutes before or after it, the last one that began before it, or else the first one after it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSession {
    /// The name of the agent; empty if unknown.
    pub agent: String,
    /// The id of the session, if known. Without one, the session is a day in UTC.
    pub session: Option<String>,
    /// The project, if known.
    pub project: Option<String>,
    /// The time of the first recall or operation.
    pub first: DateTime<Utc>,
    /// The time of the last recall or operation.
    pub last: DateTime<Utc>,
    /// The number of recalls.
    pub recalls: u64,
    /// The queries and prompts, in the order in which the agent sent them first, each once.
    pub queries: Vec<String>,
    /// The ids of the memories that it received, in the order in which it received them first.
    pub memories: Vec<String>,
    /// The size of all recalls in tokens.
    pub tokens: u64,
    /// Its operations, newest first.
    pub operations: Vec<LogEntry>,
}

impl AgentSession {
    fn new(agent: &str, session: Option<&str>, at: DateTime<Utc>) -> Self {
        Self {
            agent: agent.to_owned(),
            session: session.map(str::to_owned),
            project: None,
            first: at,
            last: at,
            recalls: 0,
            queries: Vec::new(),
            memories: Vec::new(),
            tokens: 0,
            operations: Vec::new(),
        }
    }

    /// Returns whether the operations belong to the session only probably: by their agent and their time.
    ///
    /// A session that is a day has all operations of its agent on that day.
    pub fn has_probable_operations(&self) -> bool {
        self.session.is_some()
    }

    fn extend_to(&mut self, at: DateTime<Utc>) {
        self.first = self.first.min(at);
        self.last = self.last.max(at);
    }

    fn is_near(&self, at: DateTime<Utc>) -> bool {
        self.first - at <= SESSION_MARGIN && at - self.last <= SESSION_MARGIN
    }
}

/// Returns the sessions of agents with a recall or an operation since `filter.from`, the latest first.
///
/// `people` are the actors that are not agents, such as `cli`. Operations without an actor are left out.
///
/// # Errors
/// If the ledger or the logs cannot be read.
pub fn sessions(
    ledger: &dyn RecallLedger,
    logs: OperationLogs<'_>,
    filter: &RecallFilter,
    people: &[&str],
) -> Result<Vec<AgentSession>, LogError> {
    let mut sessions = BTreeMap::<
        (String, Option<String>, Option<NaiveDate>),
        (AgentSession, HashSet<String>),
    >::new();
    // Every session of an agent competes for its operations, so that two of them never have the same one.
    let all = RecallFilter {
        session: None,
        ..filter.clone()
    };
    for recall in ledger.recalls(&all) {
        let recall = recall?;
        let day = recall.session.is_none().then(|| recall.at.date_naive());
        let new = || {
            (
                AgentSession::new(&recall.agent, recall.session.as_deref(), recall.at),
                HashSet::new(),
            )
        };
        let (session, received) = sessions
            .entry((recall.agent.clone(), recall.session.clone(), day))
            .or_insert_with(new);
        session.extend_to(recall.at);
        session.recalls += 1;
        session.tokens += recall.tokens;
        session.project = recall.project.or(session.project.take());
        session.queries.extend(
            recall
                .query
                .filter(|query| received.insert(format!("query {query}"))),
        );
        session.memories.extend(
            recall
                .memories
                .into_iter()
                .map(|memory| memory.id)
                .filter(|id| received.insert(id.clone())),
        );
    }
    let mut sessions: Vec<AgentSession> =
        sessions.into_values().map(|(session, _)| session).collect();
    // The spans of the recalls alone determine to which session an operation belongs.
    let recalled = sessions.clone();
    let mut others = BTreeMap::<(String, NaiveDate), AgentSession>::new();
    let includes_operations = filter.memory.is_none();
    let from = filter.from.unwrap_or(MIN_TIME);
    for entry in if includes_operations {
        logs.since(from)?
    } else {
        Vec::new()
    } {
        let (by, at) = (entry.operation.by.clone(), entry.operation.at);
        let is_selected = filter.agent.as_ref().is_none_or(|agent| *agent == by)
            && filter.to.is_none_or(|to| at < to);
        if by.is_empty() || people.contains(&by.as_str()) || !is_selected {
            continue;
        }
        let near = recalled
            .iter()
            .enumerate()
            .filter(|(_, session)| session.agent == by && session.is_near(at));
        if let Some((position, _)) =
            near.max_by_key(|(_, session)| begins_closest(session.first, at))
        {
            sessions[position].extend_to(at);
            sessions[position].operations.push(entry);
        } else {
            let day = at.date_naive();
            let session = others
                .entry((by.clone(), day))
                .or_insert_with(|| AgentSession::new(&by, None, at));
            session.extend_to(at);
            session.operations.push(entry);
        }
    }
    for ((agent, day), other) in others {
        let same = sessions.iter_mut().find(|one| {
            one.session.is_none() && one.agent == agent && one.first.date_naive() == day
        });
        match same {
            Some(session) => {
                session.extend_to(other.first);
                session.extend_to(other.last);
                session.operations.extend(other.operations);
            }
            None => sessions.push(other),
        }
    }
    if let Some(start) = &filter.session {
        sessions.retain(|session| {
            session
                .session
                .as_ref()
                .is_some_and(|own| own.starts_with(start))
        });
    }
    sessions.sort_by(|left, right| {
        right
            .last
            .cmp(&left.last)
            .then_with(|| left.session.cmp(&right.session))
    });
    Ok(sessions)
}

/// Orders the starts of sessions by their claim to an operation: the last one before it, or else the first one after it.
fn begins_closest(start: DateTime<Utc>, operation: DateTime<Utc>) -> (bool, TimeDelta) {
    (
        start <= operation,
        if start <= operation {
            start - operation
        } else {
            operation - start
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::FixedOffset;

    use super::*;
    use crate::testing::{FakeClock, FakeRecallLedger, services};
    use crate::{
        Draft, MemStore, RecallRecord, RecalledId, SecretPolicy, Services, record_recall, write,
    };

    fn home() -> (Services, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::default());
        (
            Services {
                clock: clock.clone(),
                ..services(Arc::new(MemStore::default()))
            },
            clock,
        )
    }

    fn logs(services: &Services) -> OperationLogs<'_> {
        let banks = services.banks.as_ref().expect("fake banks");
        OperationLogs {
            services,
            banks,
            instances: &[],
            conversations: &[],
            others: &[],
        }
    }

    fn write_as(services: &Services, actor: &str, text: &str) {
        let services = Services {
            actor: actor.into(),
            ..services.clone()
        };
        write(&services, Draft::new(text), SecretPolicy::Refuse).expect("it is written");
    }

    fn recall(at: DateTime<Utc>, agent: &str, session: Option<&str>, ids: &[&str]) -> RecallRecord {
        RecallRecord {
            at,
            agent: agent.into(),
            session: session.map(str::to_owned),
            project: Some("home".into()),
            interface: "mcp".into(),
            tool: "memory_search".into(),
            query: None,
            memories: ids.iter().map(|id| RecalledId::unranked(*id)).collect(),
            tokens: 10,
        }
    }

    #[test]
    fn operations_are_counted_by_day_in_a_zone() {
        let (services, clock) = home();
        let logs = logs(&services);
        let start = services.clock.now();
        write_as(&services, "cli", "one");
        clock.advance(TimeDelta::days(2));
        write_as(&services, "cli", "two");
        write_as(&services, "codex", "three");
        let zone = FixedOffset::east_opt(0).expect("an offset");
        let ActivitySummary { days, authors } = logs
            .summarize(&start.with_timezone(&zone))
            .expect("they are counted");
        assert_eq!(days.values().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            authors.iter().map(String::as_str).collect::<Vec<_>>(),
            ["cli", "codex"]
        );
        let later = (start + TimeDelta::days(1)).with_timezone(&zone);
        assert_eq!(
            logs.summarize(&later)
                .expect("they are counted")
                .days
                .values()
                .sum::<u64>(),
            2
        );
        assert_eq!(logs.since(start).expect("they are read").len(), 3);
    }

    #[test]
    fn a_session_has_what_its_agent_received_and_wrote() {
        let (services, clock) = home();
        let logs = logs(&services);
        let ledger = FakeRecallLedger::default();
        record_recall(
            &ledger,
            recall(services.clock.now(), "codex", Some("s1"), &["a", "b"]),
        );
        record_recall(
            &ledger,
            recall(services.clock.now(), "codex", Some("s1"), &["b", "c"]),
        );
        write_as(&services, "codex", "by the agent");
        write_as(&services, "cli", "by a person");
        clock.advance(TimeDelta::hours(30));
        write_as(&services, "codex", "without a recall");
        let list = |filter: RecallFilter| {
            sessions(&ledger, logs, &filter, &["cli"]).expect("they are read")
        };
        let all = list(RecallFilter::default());
        let summary = |session: &AgentSession| {
            (
                session.session.clone(),
                session.memories.clone(),
                session.operations.len(),
            )
        };
        assert_eq!(
            all.iter().map(summary).collect::<Vec<_>>(),
            [
                (None, vec![], 1),
                (
                    Some("s1".to_owned()),
                    vec!["a".to_owned(), "b".into(), "c".into()],
                    1
                )
            ]
        );
        assert_eq!(
            (all[1].recalls, all[1].tokens, all[1].project.as_deref()),
            (2, 20, Some("home"))
        );
        let one = list(RecallFilter {
            session: Some("s1".into()),
            ..RecallFilter::default()
        });
        assert_eq!(one.len(), 1);
        assert!(
            list(RecallFilter {
                agent: Some("claude".into()),
                ..RecallFilter::default()
            })
            .is_empty()
        );
    }
    #[test]
    fn an_operation_belongs_to_the_last_session_that_began_before_it() {
        let (services, clock) = home();
        let logs = logs(&services);
        let ledger = FakeRecallLedger::default();
        let recalled = |session: &str| {
            record_recall(
                &ledger,
                recall(services.clock.now(), "codex", Some(session), &["a"]),
            );
        };
        recalled("first");
        clock.advance(TimeDelta::minutes(5));
        write_as(&services, "codex", "of the first session");
        clock.advance(TimeDelta::minutes(5));
        recalled("second");
        clock.advance(TimeDelta::minutes(5));
        write_as(&services, "codex", "of the second session");
        recalled("first");
        let operations = |session: Option<&str>| {
            let filter = RecallFilter {
                session: session.map(str::to_owned),
                ..RecallFilter::default()
            };
            let found = sessions(&ledger, logs, &filter, &[]).expect("they are read");
            found
                .into_iter()
                .map(|one| (one.session, one.operations.len()))
                .collect::<Vec<_>>()
        };
        let one = |session: &str| (Some(session.to_owned()), 1);
        assert_eq!(operations(None), [one("first"), one("second")]);
        assert_eq!(
            (operations(Some("first")), operations(Some("second"))),
            (vec![one("first")], vec![one("second")])
        );
    }
}
