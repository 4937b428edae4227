//! What each agent did since a time: questions, memories and changes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use memory_core::{AgentSession, LogEntry, RecallFilter, Verb};

use super::sessions::{agent_label, list_sessions};
use crate::web::error::PageError;
use crate::web::fields::encode_pairs;
use crate::web::html::Label;
use crate::web::operations::OperationRow;
use crate::web::request::WebRequest;

/// Maximum number of changes and of questions of an agent that are listed.
const MAX_LISTED: usize = 3;

/// What an agent did since a time.
pub(super) struct AgentSummary {
    pub(super) agent: Label,
    /// The query that selects its operations.
    pub(super) query: String,
    /// The query that selects its sessions.
    pub(super) sessions_query: String,
    /// The number of questions.
    pub(super) asked: usize,
    /// The last questions.
    pub(super) questions: Vec<Label>,
    /// The number of memories that it received.
    pub(super) memories: usize,
    pub(super) written: usize,
    pub(super) proposed: usize,
    /// The number of other changes.
    pub(super) changed: usize,
    /// The last operations.
    pub(super) operations: Vec<OperationRow>,
    pub(super) more_operations: usize,
}

impl AgentSummary {
    /// Returns what each agent did since `from`.
    ///
    /// # Errors
    /// If the ledger or the logs cannot be read.
    pub(super) fn list(request: &WebRequest, from: DateTime<Utc>) -> Result<Vec<Self>, PageError> {
        let filter = RecallFilter {
            from: Some(from),
            ..RecallFilter::default()
        };
        let mut agents = BTreeMap::<String, Vec<AgentSession>>::new();
        for session in list_sessions(request, &filter)? {
            agents
                .entry(session.agent.clone())
                .or_default()
                .push(session);
        }
        agents
            .iter()
            .map(|(agent, sessions)| Self::new(request, agent, sessions))
            .collect()
    }

    fn new(
        request: &WebRequest,
        agent: &str,
        sessions: &[AgentSession],
    ) -> Result<Self, PageError> {
        let mut operations: Vec<&LogEntry> = sessions
            .iter()
            .flat_map(|session| &session.operations)
            .collect();
        operations.sort_by_key(|entry| std::cmp::Reverse(entry.operation.at));
        let count = |verb: Verb| {
            operations
                .iter()
                .filter(|entry| entry.operation.verb == verb)
                .count()
        };
        let (written, proposed) = (count(Verb::Write), count(Verb::Propose));
        let questions = sessions
            .iter()
            .flat_map(|session| session.queries.iter().rev());
        Ok(Self {
            agent: agent_label(agent),
            query: encode_pairs([("by", agent)]),
            sessions_query: encode_pairs([("agent", agent)]),
            asked: questions.clone().count(),
            questions: questions
                .take(MAX_LISTED)
                .map(|question| Label::cut(question, 160))
                .collect(),
            memories: sessions
                .iter()
                .flat_map(|session| &session.memories)
                .collect::<BTreeSet<_>>()
                .len(),
            written,
            proposed,
            changed: operations.len() - written - proposed,
            more_operations: operations.len().saturating_sub(MAX_LISTED),
            operations: operations
                .iter()
                .take(MAX_LISTED)
                .map(|entry| OperationRow::new(request, entry))
                .collect::<Result<_, _>>()?,
        })
    }
}
