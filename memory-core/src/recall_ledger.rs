//! The ledger of recalls: which memories were given to which agent, and why.

use std::fmt::Debug;
use std::mem::take;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};

use crate::conversation::{RecalledMemory, RecalledStanding, StandingOrigin};
use crate::secret::{Checked, redact};
use crate::{Hit, ScoreExplanation, StoreError, StoreResults, StoredMemory};

/// A record of the memories that agents received.
///
/// Any number of ledgers may share one store, in one or more processes, and all of them may record at the same time. A ledger
/// may lose records, for example if the disk is full or the power fails: a recall is more important than its record.
pub trait RecallLedger: Debug + Send + Sync {
    /// Records a recall. It waits for no other process, and the record need not survive a power failure.
    ///
    /// # Errors
    /// If the recall cannot be recorded.
    fn record(&self, recall: &Checked<RecallRecord>) -> Result<(), StoreError>;

    /// Iterates over the recalls that pass `filter`, in the order in which they were recorded. Damaged records are skipped.
    fn recalls<'a>(&'a self, filter: &'a RecallFilter) -> StoreResults<'a, RecallRecord>;

    /// Returns the time since which no record was purged, or `None` if nothing was recorded yet.
    ///
    /// # Errors
    /// If the records cannot be read.
    fn complete_since(&self) -> Result<Option<DateTime<Utc>>, StoreError>;

    /// Returns the size of all records in bytes. It is called every second, to detect new records.
    ///
    /// # Errors
    /// If the size cannot be read.
    fn size(&self) -> Result<u64, StoreError>;

    /// Deletes the recalls before `before`, and the oldest ones beyond the maximum size. Returns the number of deleted bytes.
    ///
    /// # Errors
    /// If the records cannot be deleted.
    fn purge(&self, before: DateTime<Utc>) -> Result<u64, StoreError>;
}

/// A recall: memories that an agent received at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRecord {
    /// The time.
    pub at: DateTime<Utc>,
    /// The name of the agent; empty if unknown.
    pub agent: String,
    /// The session: the id of the client, or one that the program chose for the connection; for a chat, the conversation.
    pub session: Option<String>,
    /// The project of the agent.
    pub project: Option<String>,
    /// The name of the interface; one of [`RecallInterface`], or a name of a later version.
    pub interface: String,
    /// The tool, the prompt, the resource or the event that returned the memories.
    pub tool: String,
    /// The query or the prompt, without credentials, cut to [`RecallRecord::MAX_QUERY`] characters.
    pub query: Option<String>,
    /// The memories, in the order in which they were returned.
    pub memories: Vec<RecalledId>,
    /// The size of the answer in tokens, see [`crate::text::token_count`].
    pub tokens: u64,
}

/// A memory of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledId {
    /// The id of the memory, or of the entry of a conversation.
    pub id: String,
    /// The score, which is meaningful only as an order within the recall; `None` if the memories were not ranked.
    pub score: Option<f32>,
    /// The contribution of each part to the score, the largest first, without parts that contribute nothing.
    ///
    /// A part is named as in [`crate::rank::RankFeature`]; `standing` marks a standing instruction or preference, and `rerank`
    /// is the score of the reranking model. [`Self::COSINE`] and [`Self::USEFULNESS`] are no contributions.
    pub parts: Vec<(String, f32)>,
}

/// The interface through which an agent received memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecallInterface {
    /// The command `memory agent`.
    Agent,
    /// The Model Context Protocol.
    Mcp,
    /// The Unix socket.
    Socket,
    /// The HTTP routes of tools.
    Http,
    /// The hooks of clients.
    Hook,
    /// The chat proxy.
    Proxy,
    /// A program that embeds the crates.
    Program,
}

impl RecallInterface {
    /// Returns the name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Mcp => "mcp",
            Self::Socket => "socket",
            Self::Http => "http",
            Self::Hook => "hook",
            Self::Proxy => "proxy",
            Self::Program => "program",
        }
    }
}

impl_display!(RecallInterface);

/// A selection of recalls; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallFilter {
    /// The id of a memory, or its first characters.
    pub memory: Option<String>,
    /// The name of the agent.
    pub agent: Option<String>,
    /// The session, or its first characters.
    pub session: Option<String>,
    /// The first time, inclusive.
    pub from: Option<DateTime<Utc>>,
    /// The last time, exclusive.
    pub to: Option<DateTime<Utc>>,
}

impl RecallFilter {
    /// Returns whether `recall` is selected.
    pub fn includes(&self, recall: &RecallRecord) -> bool {
        let has = |id: &str| {
            recall
                .memories
                .iter()
                .any(|memory| memory.id.starts_with(id))
        };
        self.memory.as_deref().is_none_or(has)
            && self
                .agent
                .as_ref()
                .is_none_or(|agent| recall.agent == *agent)
            && self.session.as_ref().is_none_or(|own| {
                recall
                    .session
                    .as_ref()
                    .is_some_and(|session| session.starts_with(own))
            })
            && self.from.is_none_or(|from| from <= recall.at)
            && self.to.is_none_or(|to| recall.at < to)
    }
}

/// Maximum length of the other texts of a record, in characters.
const MAX_TEXT: usize = 200;

/// Number of characters of a query that are checked for credentials. A credential that starts in the recorded part ends in it.
const MAX_CHECKED: usize = 16_000;

impl RecallRecord {
    /// Maximum length of a recorded query, in characters.
    pub const MAX_QUERY: usize = 1_000;

    /// Returns the record as a ledger stores it: credentials are replaced, and long texts are cut.
    pub fn redacted(self) -> Checked<Self> {
        let text = |text: String| redact_text(&text, MAX_TEXT);
        Checked::allowed(Self {
            agent: text(self.agent),
            session: self.session.map(text),
            project: self.project.map(text),
            interface: text(self.interface),
            tool: text(self.tool),
            query: self.query.map(|query| redact_text(&query, Self::MAX_QUERY)),
            memories: self
                .memories
                .into_iter()
                .map(|memory| RecalledId {
                    id: text(memory.id),
                    ..memory
                })
                .collect(),
            ..self
        })
    }
}

/// Records `recall` if it has memories. A failure only loses the record.
pub fn record_recall(ledger: &dyn RecallLedger, recall: RecallRecord) {
    if !recall.memories.is_empty() {
        // The agent has its answer; the ledger must not turn it into an error.
        let _ = ledger.record(&recall.redacted());
    }
}

fn redact_text(text: &str, longest: usize) -> String {
    let checked: String = text.chars().take(MAX_CHECKED).collect();
    let redacted = redact(&checked).map_or(checked, |redacted| redacted.text);
    match redacted.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &redacted[..end]),
        None => redacted,
    }
}

impl RecalledId {
    /// The name of the cosine among the parts. It is no part of the sum, so it is the last one.
    pub const COSINE: &str = "cosine";

    /// The name of the probability of [`Self::useful()`] among the parts. It is no part of the sum either.
    pub const USEFULNESS: &str = "usefulness";

    /// Returns the cosine of the vectors of the query and the memory, if it was compared.
    pub fn cosine(parts: &[(String, f32)]) -> Option<f32> {
        parts
            .iter()
            .find(|(name, _)| name == Self::COSINE)
            .map(|(_, cosine)| *cosine)
    }

    /// Returns the probability that the memory is useful for the prompt, if it was estimated.
    pub fn usefulness(&self) -> Option<f32> {
        let part = self.parts.iter().find(|(name, _)| name == Self::USEFULNESS);
        part.map(|(_, probability)| *probability)
    }

    /// Returns a memory without a score.
    pub fn unranked(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            score: None,
            parts: Vec::new(),
        }
    }

    /// Returns this memory, marked as a standing instruction or preference.
    #[must_use]
    pub fn standing(mut self) -> Self {
        self.parts.insert(0, ("standing".to_owned(), 1.0));
        self
    }

    /// Returns this memory with the probability that it is useful for a prompt.
    #[must_use]
    pub fn useful(mut self, probability: f32) -> Self {
        self.parts
            .push((Self::USEFULNESS.to_owned(), round(probability)));
        self
    }

    /// Returns a memory with its score and the composition of the score.
    pub fn ranked(id: impl Into<String>, score: f32, explanation: &ScoreExplanation) -> Self {
        let mut parts: Vec<(String, f32)> = explanation
            .parts
            .iter()
            .map(|part| (part.part.as_str().to_owned(), round(part.score)))
            .chain(
                explanation
                    .rerank
                    .map(|rerank| ("rerank".to_owned(), round(rerank.score))),
            )
            .filter(|(_, score)| *score != 0.0)
            .collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        parts.extend(
            explanation
                .cosine
                .map(|cosine| (Self::COSINE.to_owned(), round(cosine))),
        );
        Self {
            id: id.into(),
            score: Some(round(score)).filter(|score| score.is_finite()),
            parts,
        }
    }
}

impl From<&StoredMemory> for RecalledId {
    fn from(stored: &StoredMemory) -> Self {
        Self::unranked(stored.memory.id.to_string())
    }
}

impl From<&Hit> for RecalledId {
    fn from(hit: &Hit) -> Self {
        Self::ranked(
            hit.stored.memory.id.to_string(),
            hit.score,
            &hit.explanation,
        )
    }
}

impl From<&RecalledMemory> for RecalledId {
    fn from(recalled: &RecalledMemory) -> Self {
        let parts = vec![("relevance".to_owned(), round(recalled.relevance))];
        Self {
            id: recalled.entry.id.to_string(),
            score: Some(round(recalled.score)),
            parts,
        }
    }
}

impl From<&RecalledStanding> for RecalledId {
    fn from(standing: &RecalledStanding) -> Self {
        let id = match &standing.origin {
            StandingOrigin::Entry(entry) => entry.id.to_string(),
            StandingOrigin::Memory { id, .. } => id.to_string(),
        };
        Self::unranked(id).standing()
    }
}

/// Rounds to three decimals, which is enough to compare scores.
fn round(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}

/// The memories that a tool call returns, which the tool adds and the session records.
#[derive(Debug, Default)]
pub struct RecallCollector(Mutex<CollectedRecall>);

/// The memories that a tool call returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectedRecall {
    /// The query, if there was one.
    pub query: Option<String>,
    /// The memories.
    pub memories: Vec<RecalledId>,
}

impl RecallCollector {
    /// Adds memories that the call returns, with the query that found them.
    pub fn add<H: Into<RecalledId>>(
        &self,
        query: Option<&str>,
        memories: impl IntoIterator<Item = H>,
    ) {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        collected
            .memories
            .extend(memories.into_iter().map(Into::into));
        if let Some(query) = query.filter(|query| !query.trim().is_empty()) {
            collected.query = Some(query.to_owned());
        }
    }

    /// Returns what was added, and forgets it.
    pub fn take(&self) -> CollectedRecall {
        take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rank::RankFeature;
    use crate::secret::find;
    use crate::testing::any_text;
    use crate::{RankFeatureScore, RerankScore};

    fn record(query: &str) -> RecallRecord {
        RecallRecord {
            at: DateTime::UNIX_EPOCH,
            agent: "codex".into(),
            session: Some("s1".into()),
            project: None,
            interface: RecallInterface::Mcp.as_str().into(),
            tool: "memory_search".into(),
            query: Some(query.into()),
            memories: vec![RecalledId::unranked("55dc9232-1111-4111-8111-111111111111")],
            tokens: 12,
        }
    }

    #[test]
    fn a_recorded_query_has_no_credential_and_at_most_the_maximum_length() {
        let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
        let recorded = record(&format!("why does {token} fail?")).redacted();
        assert_eq!(
            recorded.query.as_deref(),
            Some("why does [redacted: GitHub token] fail?")
        );
        let late = record(&format!("{}{token}", "ab ".repeat(330))).redacted();
        let query = late.query.as_deref().unwrap();
        assert!(
            !query.contains("ghp_") && query.chars().count() <= RecallRecord::MAX_QUERY + 1,
            "{query}"
        );
        let recorded = RecallRecord {
            session: Some(token.clone()),
            agent: token,
            ..record("")
        }
        .redacted();
        assert_eq!(
            (recorded.agent.as_str(), recorded.session.as_deref()),
            ("[redacted: GitHub token]", Some("[redacted: GitHub token]"))
        );
    }

    proptest! {
        #[test]
        fn any_query_is_recorded_without_credentials(before in any_text(), after in any_text()) {
            let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
            let recorded = record(&format!("{before} {token} {after}")).redacted();
            let query = recorded.query.as_deref().unwrap_or_default();
            prop_assert!(!query.contains(&token), "{query}");
            prop_assert!(query.chars().count() <= RecallRecord::MAX_QUERY + 1);
            prop_assert_eq!(&recorded.clone().into_inner().redacted(), &recorded, "it is stable");
            prop_assert!(find(query).iter().all(|secret| !query[secret.span.clone()].contains("ghp_")));
        }
    }

    #[test]
    fn a_filter_selects_by_each_of_its_fields() {
        let recall = RecallRecord {
            at: DateTime::UNIX_EPOCH,
            ..record("tea")
        };
        let all = RecallFilter::default();
        assert!(all.includes(&recall));
        for (filter, expected) in [
            (
                RecallFilter {
                    memory: Some("55dc".into()),
                    ..all.clone()
                },
                true,
            ),
            (
                RecallFilter {
                    memory: Some("5dc9".into()),
                    ..all.clone()
                },
                false,
            ),
            (
                RecallFilter {
                    agent: Some("codex".into()),
                    ..all.clone()
                },
                true,
            ),
            (
                RecallFilter {
                    agent: Some("cod".into()),
                    ..all.clone()
                },
                false,
            ),
            (
                RecallFilter {
                    session: Some("s".into()),
                    ..all.clone()
                },
                true,
            ),
            (
                RecallFilter {
                    session: Some("t".into()),
                    ..all.clone()
                },
                false,
            ),
            (
                RecallFilter {
                    from: Some(recall.at),
                    ..all.clone()
                },
                true,
            ),
            (
                RecallFilter {
                    to: Some(recall.at),
                    ..all.clone()
                },
                false,
            ),
        ] {
            assert_eq!(filter.includes(&recall), expected, "{filter:?}");
        }
        let no_session = RecallRecord {
            session: None,
            ..recall
        };
        assert!(
            !RecallFilter {
                session: Some("s1".into()),
                ..all
            }
            .includes(&no_session)
        );
    }

    #[test]
    fn the_largest_part_comes_first_and_zero_is_left_out() {
        let part = |part, score| RankFeatureScore {
            part,
            value: 1.0,
            score,
        };
        let parts = vec![
            part(RankFeature::Coverage, 0.25),
            part(RankFeature::Words, 1.0006),
            part(RankFeature::Links, 0.0001),
        ];
        let rerank = Some(RerankScore {
            score: -0.5,
            before: 0.2,
        });
        let explanation = ScoreExplanation {
            parts,
            rerank,
            ..ScoreExplanation::default()
        };
        let ranked = RecalledId::ranked("a", 1.25, &explanation);
        let parts: Vec<_> = ranked
            .parts
            .iter()
            .map(|(name, score)| (name.as_str(), *score))
            .collect();
        assert_eq!(
            parts,
            [("words", 1.001), ("coverage", 0.25), ("rerank", -0.5)]
        );
        assert_eq!(RecalledId::ranked("a", f32::NAN, &explanation).score, None);
    }
}
