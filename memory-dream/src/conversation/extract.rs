//! Extracts facts from turns in batches, and reconciles them with existing ones.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::TimeDelta;
use memory_core::conversation::{
    ConversationEntry, ConversationId, EntryChange, EntryId, EntryRole, ExtractedFact,
    FactDecision, JobState, ParsedFacts, is_courtesy, plan_facts, similar_facts,
};
use memory_core::{BudgetStatus, ChatError, ChatModel, StoreError};

use super::job_run::{DecidedJob, ExtractedJob, JobRun, WaitingJob, is_budget_error};
use super::requests::{self, ModelRequestError, SHOWN, UserMessage};

/// Number of failed requests after which a turn is completed without facts.
const MAX_ATTEMPTS: u32 = 5;

/// Number of unusable responses after which a turn is completed without facts.
const MAX_UNUSABLE_ATTEMPTS: u32 = 2;

/// A waiting turn with its text.
#[derive(Debug)]
struct BatchTurn {
    waiting: WaitingJob,
    message: UserMessage,
}

impl JobRun<'_> {
    /// Extracts and reconciles the facts of turns while requests are possible. Returns whether to continue.
    pub(super) fn extract_all(
        &mut self,
        conversation: &ConversationId,
        waiting: Vec<WaitingJob>,
        mut extracted: Vec<ExtractedJob>,
    ) -> Result<bool, StoreError> {
        let Some(chat) = self.chat_model() else {
            return Ok(true);
        };
        let mut waiting = VecDeque::from(waiting);
        self.finish_without_content(conversation, &mut waiting)?;
        while !waiting.is_empty() || !extracted.is_empty() {
            if !(self.goes_on)() {
                return Ok(false);
            }
            if !self.may_request(conversation, chat) {
                self.processed.waiting += waiting.len() + extracted.len();
                break;
            }
            if let Some(next) = self.take_failed_job(conversation, &mut extracted) {
                if !self.reconcile(conversation, chat, vec![next])? {
                    self.processed.waiting += waiting.len() + extracted.len();
                    break;
                }
                continue;
            }
            let batch = self.next_batch(conversation, chat, &mut waiting)?;
            if batch.is_empty() && extracted.is_empty() {
                // They wait for later turns to share a request with.
                self.processed.waiting += waiting.len();
                break;
            }
            if !batch.is_empty() {
                extracted.extend(self.extract(conversation, chat, batch)?);
            }
            let extracted = std::mem::take(&mut extracted);
            if !self.reconcile(conversation, chat, extracted)? {
                // Later facts may contradict the waiting ones.
                self.processed.waiting += waiting.len();
                break;
            }
        }
        Ok(true)
    }

    /// Removes a turn with a failed reconciliation, to retry it alone, since another turn may be the cause.
    fn take_failed_job(
        &self,
        conversation: &ConversationId,
        extracted: &mut Vec<ExtractedJob>,
    ) -> Option<ExtractedJob> {
        let place = extracted
            .iter()
            .position(|own| 0 < own.attempts)
            .filter(|_| !self.backoff.is_failing(conversation))?;
        Some(extracted.remove(place))
    }

    /// Completes the jobs of deleted turns, and of those that only greet or thank.
    fn finish_without_content(
        &mut self,
        conversation: &ConversationId,
        waiting: &mut VecDeque<WaitingJob>,
    ) -> Result<(), StoreError> {
        let known = self.conversations.store.read(conversation)?;
        let (there, gone): (VecDeque<_>, VecDeque<_>) = waiting.drain(..).partition(|own| {
            let turn = known.get(&own.job.turn);
            turn.is_some_and(|turn| !is_courtesy(&turn.content))
        });
        *waiting = there;
        if gone.is_empty() {
            return Ok(());
        }
        let decided: Vec<_> = gone
            .into_iter()
            .map(|own| DecidedJob::without_changes(own.job))
            .collect();
        self.apply_decisions(conversation, &decided)
    }

    /// Removes the turns for the next request; returns an empty batch if they wait for others.
    fn next_batch(
        &mut self,
        conversation: &ConversationId,
        chat: &dyn ChatModel,
        waiting: &mut VecDeque<WaitingJob>,
    ) -> Result<Vec<BatchTurn>, StoreError> {
        let rule = BatchRule::new(&chat.allowance().unwrap_or_default());
        let oldest = waiting.iter().map(|own| own.job.at).min();
        let now = self.conversations.clock.now();
        if !oldest.is_some_and(|oldest| rule.is_due(waiting.len(), now - oldest)) {
            return Ok(Vec::new());
        }
        let known = self.conversations.store.read(conversation)?.entries();
        let size = rule.size(waiting.len());
        let (mut batch, mut length) = (Vec::new(), 0);
        while let Some(next) = waiting.pop_front() {
            // The turn may have been deleted since the jobs were checked.
            let message = user_message(&known, &next.job.turn);
            // A turn that failed before is retried alone, since another turn may be the cause.
            let is_alone = 0 < next.attempts && !self.backoff.is_failing(conversation);
            length += message.text.len() + message.previous.len();
            if !batch.is_empty() && (is_alone || SHOWN < length) {
                waiting.push_front(next);
                break;
            }
            batch.push(BatchTurn {
                waiting: next,
                message,
            });
            if is_alone || batch.len() == size {
                break;
            }
        }
        Ok(batch)
    }

    /// Extracts the facts of some turns. A failed turn waits, or is completed without facts.
    fn extract(
        &mut self,
        conversation: &ConversationId,
        chat: &dyn ChatModel,
        batch: Vec<BatchTurn>,
    ) -> Result<Vec<ExtractedJob>, StoreError> {
        let prompts = &self.rules.prompts;
        let messages: Vec<UserMessage> = batch.iter().map(|turn| turn.message.clone()).collect();
        let answer = match messages.as_slice() {
            [message] => requests::request_facts(chat, prompts, message)
                .map(|read| vec![read])
                .map_err(ModelRequestError::from),
            messages => requests::request_batch_facts(chat, prompts, messages),
        };
        let now = self.conversations.clock.now();
        match answer {
            Ok(read) => {
                let (misread, read): (Vec<_>, Vec<_>) = batch
                    .into_iter()
                    .zip(read)
                    .partition(|(_, read)| read.facts.is_empty() && read.trouble.is_some());
                if read.is_empty() {
                    self.backoff.record_unusable(conversation, now);
                } else if read.iter().all(|(_, read)| read.facts.is_empty()) {
                    self.backoff.record_success(conversation);
                }
                if let Some(why) = misread.iter().find_map(|(_, read)| read.trouble.as_deref()) {
                    let why = unreadable_facts_message(why);
                    let turns = misread.into_iter().map(|(turn, _)| turn).collect();
                    self.record_failed_extraction(
                        conversation,
                        turns,
                        MAX_UNUSABLE_ATTEMPTS,
                        &why,
                    )?;
                }
                Ok(read
                    .into_iter()
                    .map(|(turn, read)| self.record_extraction(turn, read))
                    .collect())
            }
            Err(ModelRequestError::Chat(error)) if is_budget_error(&error) => {
                self.report_budget(chat, &error);
                self.processed.waiting += batch.len();
                Ok(Vec::new())
            }
            Err(ModelRequestError::Chat(error)) if is_retryable(&error) => {
                self.backoff.record_no_answer(now);
                self.record_failed_extraction(
                    conversation,
                    batch,
                    MAX_ATTEMPTS,
                    &error.to_string(),
                )?;
                Ok(Vec::new())
            }
            // Another turn may be the cause, or the model cannot tell several apart.
            Err(_) if 1 < batch.len() => self.extract_one_by_one(conversation, chat, batch),
            Err(ModelRequestError::Chat(error)) => {
                self.backoff.record_unusable(conversation, now);
                self.record_failed_extraction(conversation, batch, 1, &error.to_string())?;
                Ok(Vec::new())
            }
            Err(ModelRequestError::Misread(why)) => {
                self.backoff.record_unusable(conversation, now);
                self.record_failed_extraction(
                    conversation,
                    batch,
                    MAX_UNUSABLE_ATTEMPTS,
                    &unreadable_facts_message(why),
                )?;
                Ok(Vec::new())
            }
        }
    }

    fn extract_one_by_one(
        &mut self,
        conversation: &ConversationId,
        chat: &dyn ChatModel,
        batch: Vec<BatchTurn>,
    ) -> Result<Vec<ExtractedJob>, StoreError> {
        let mut extracted = Vec::new();
        for turn in batch {
            if (self.goes_on)() && self.may_request(conversation, chat) {
                extracted.extend(self.extract(conversation, chat, vec![turn])?);
            } else {
                self.processed.waiting += 1;
            }
        }
        Ok(extracted)
    }

    fn record_extraction(&mut self, turn: BatchTurn, read: ParsedFacts) -> ExtractedJob {
        if let Some(why) = read.trouble {
            self.add_error(&unreadable_facts_message(why));
        }
        ExtractedJob {
            job: turn.waiting.job,
            facts: read.facts,
            attempts: 0,
        }
    }

    /// Records a failed attempt of turns, and completes those without attempts left.
    fn record_failed_extraction(
        &mut self,
        conversation: &ConversationId,
        batch: Vec<BatchTurn>,
        attempts: u32,
        why: &str,
    ) -> Result<(), StoreError> {
        let failed = batch.into_iter().map(|turn| WaitingJob {
            attempts: turn.waiting.attempts + 1,
            ..turn.waiting
        });
        let (finished, again): (Vec<_>, Vec<_>) = failed.partition(|own| attempts <= own.attempts);
        if !again.is_empty() {
            self.add_error(&format!("{why}; the turns will be retried"));
            let states = again.iter().map(|own| {
                (
                    own.job.id.clone(),
                    JobState::Waiting {
                        attempts: own.attempts,
                    },
                )
            });
            self.queue.record_states(&states.collect::<Vec<_>>())?;
            self.processed.waiting += again.len();
        }
        if finished.is_empty() {
            return Ok(());
        }
        self.add_error(&format!("{why}; no facts were extracted"));
        let decided: Vec<_> = finished
            .into_iter()
            .map(|own| DecidedJob::without_changes(own.job))
            .collect();
        self.apply_decisions(conversation, &decided)
    }

    /// Reconciles the facts of some turns with one request; returns `false` if some of them wait.
    ///
    /// If the request fails, the facts wait for another one, since they may contradict existing ones.
    fn reconcile(
        &mut self,
        conversation: &ConversationId,
        chat: &dyn ChatModel,
        extracted: Vec<ExtractedJob>,
    ) -> Result<bool, StoreError> {
        if extracted.is_empty() {
            return Ok(true);
        }
        let all: Vec<String> = extracted
            .iter()
            .flat_map(|own| own.facts.iter().cloned())
            .collect();
        let known = if all.is_empty() {
            Vec::new()
        } else {
            similar_facts(self.conversations, conversation, &all)?
        };
        let texts: Vec<&str> = all.iter().map(String::as_str).collect();
        let now = self.conversations.clock.now();
        let answer = if known.is_empty() {
            Ok(Vec::new())
        } else {
            requests::request_decisions(chat, &self.rules.prompts, &known, &texts)
        };
        let decisions = match answer {
            Ok(decisions) => {
                if !all.is_empty() {
                    self.backoff.record_success(conversation);
                }
                decisions
            }
            Err(ModelRequestError::Chat(error)) if is_budget_error(&error) => {
                self.report_budget(chat, &error);
                self.save_extracted(conversation, extracted)?;
                return Ok(false);
            }
            Err(error) => {
                let attempts = match &error {
                    ModelRequestError::Chat(error) if is_retryable(error) => {
                        self.backoff.record_no_answer(now);
                        MAX_ATTEMPTS
                    }
                    ModelRequestError::Chat(_) | ModelRequestError::Misread(_) => {
                        self.backoff.record_unusable(conversation, now);
                        MAX_UNUSABLE_ATTEMPTS
                    }
                };
                return self.record_failed_reconciliation(
                    conversation,
                    &known,
                    extracted,
                    attempts,
                    &error.to_string(),
                );
            }
        };
        self.apply_reconciliation(conversation, &known, &decisions, extracted)?;
        Ok(true)
    }

    /// Applies decisions about the facts of some turns. Facts without a decision are added.
    fn apply_reconciliation(
        &mut self,
        conversation: &ConversationId,
        known: &[Arc<ConversationEntry>],
        decisions: &[FactDecision],
        extracted: Vec<ExtractedJob>,
    ) -> Result<(), StoreError> {
        let now = self.conversations.clock.now();
        let facts: Vec<ExtractedFact> = extracted.iter().flat_map(extracted_facts).collect();
        let mut next_id = || EntryId::from(self.conversations.ids.memory_id());
        let changes = plan_facts(conversation, known, &facts, decisions, now, &mut next_id);
        let decided = assign_changes(changes, extracted);
        let state = |own: &DecidedJob| JobState::Decided {
            changes: own.changes.clone(),
            facts: own.facts.clone(),
        };
        let states: Vec<_> = decided
            .iter()
            .map(|own| (own.job.id.clone(), state(own)))
            .collect();
        self.queue.record_states(&states)?;
        self.apply_decisions(conversation, &decided)
    }

    /// Records a failed attempt to reconcile facts.
    ///
    /// Facts without attempts left are added beside the `known` ones, which they may contradict: so none is lost.
    fn record_failed_reconciliation(
        &mut self,
        conversation: &ConversationId,
        known: &[Arc<ConversationEntry>],
        extracted: Vec<ExtractedJob>,
        attempts: u32,
        why: &str,
    ) -> Result<bool, StoreError> {
        let failed = extracted.into_iter().map(|own| ExtractedJob {
            attempts: own.attempts + 1,
            ..own
        });
        let (finished, again): (Vec<_>, Vec<_>) = failed.partition(|own| attempts <= own.attempts);
        let is_done = again.iter().all(|own| own.facts.is_empty());
        if !is_done {
            self.add_error(&format!(
                "the facts cannot be reconciled: {why}; they will be retried"
            ));
        }
        self.save_extracted(conversation, again)?;
        if finished.iter().any(|own| !own.facts.is_empty()) {
            self.add_error(&format!(
                "the facts cannot be reconciled: {why}; they are added to the existing ones"
            ));
        }
        if !finished.is_empty() {
            self.apply_reconciliation(conversation, known, &[], finished)?;
        }
        Ok(is_done)
    }

    /// Stores extracted facts until the next attempt to reconcile them.
    fn save_extracted(
        &mut self,
        conversation: &ConversationId,
        extracted: Vec<ExtractedJob>,
    ) -> Result<(), StoreError> {
        let (nothing, facts): (Vec<_>, Vec<_>) =
            extracted.into_iter().partition(|own| own.facts.is_empty());
        self.processed.waiting += facts.len();
        let state = |own: ExtractedJob| {
            (
                own.job.id,
                JobState::Extracted {
                    facts: own.facts,
                    attempts: own.attempts,
                },
            )
        };
        self.queue
            .record_states(&facts.into_iter().map(state).collect::<Vec<_>>())?;
        if nothing.is_empty() {
            return Ok(());
        }
        let decided: Vec<_> = nothing
            .into_iter()
            .map(|own| DecidedJob::without_changes(own.job))
            .collect();
        self.apply_decisions(conversation, &decided)
    }
}

/// Maximum size of the answer before a message in a request, in bytes. Its end counts, where questions are.
const MAX_PREVIOUS: usize = 600;

/// Returns a turn with its day and the answer before it; `entries` are by time.
fn user_message(entries: &[Arc<ConversationEntry>], turn: &EntryId) -> UserMessage {
    let Some(place) = entries.iter().position(|entry| entry.id == *turn) else {
        return UserMessage::default();
    };
    let turn = &entries[place];
    let previous = entries[..place]
        .iter()
        .rfind(|entry| entry.role == EntryRole::Assistant)
        .map_or("", |entry| entry.content.as_str());
    let start = previous.ceil_char_boundary(previous.len().saturating_sub(MAX_PREVIOUS));
    UserMessage {
        text: turn.content.clone(),
        date: turn.created_at.date_naive().to_string(),
        previous: previous[start..].to_owned(),
    }
}

fn extracted_facts(extracted: &ExtractedJob) -> impl Iterator<Item = ExtractedFact> {
    extracted.facts.iter().map(|text| ExtractedFact {
        text: text.clone(),
        source: Some(extracted.job.turn.clone()),
    })
}

/// Assigns changes to the turns that cause them.
///
/// So each job can be completed separately after a crash.
fn assign_changes(changes: Vec<EntryChange>, extracted: Vec<ExtractedJob>) -> Vec<DecidedJob> {
    let mut decided: Vec<DecidedJob> = extracted
        .into_iter()
        .map(|own| DecidedJob {
            job: own.job,
            changes: Vec::new(),
            facts: own.facts,
        })
        .collect();
    for change in changes {
        let place = match &change {
            EntryChange::Add(entry) => decided
                .iter()
                .position(|own| entry.source_id.as_ref() == Some(&own.job.turn)),
            EntryChange::Delete { replaced_by, .. } => decided
                .iter()
                .position(|own| replaced_by.as_ref().is_some_and(|by| own.adds_entry(by))),
        };
        // A deletion without a replacement is assigned to the last turn.
        let place = place.unwrap_or_else(|| decided.len().saturating_sub(1));
        if let Some(own) = decided.get_mut(place) {
            own.changes.push(change);
        }
    }
    decided
}

impl DecidedJob {
    fn adds_entry(&self, id: &EntryId) -> bool {
        self.changes
            .iter()
            .any(|change| matches!(change, EntryChange::Add(entry) if entry.id == *id))
    }
}

fn unreadable_facts_message(why: impl std::fmt::Display) -> String {
    format!("the language model's response cannot be parsed as facts: {why}")
}

/// Returns whether a later request may succeed.
fn is_retryable(error: &ChatError) -> bool {
    match error {
        ChatError::Unreachable(_)
        | ChatError::Lost(_)
        | ChatError::Timeout(_)
        | ChatError::Exhausted(_)
        | ChatError::Meter(_) => true,
        ChatError::Unusable(_) | ChatError::Refused { .. } | ChatError::Unreadable { .. } => false,
    }
}

/// Maximum number of turns per request.
const MAX_TURNS: usize = 32;

/// With sufficient budget, turns are extracted one by one unless more than this number are waiting.
const SINGLE_TURN_LIMIT: usize = 8;

/// The conditions for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BatchRule {
    /// Number of waiting turns of a conversation from which a request is made.
    pub(super) turns: usize,
    /// Maximum age of the oldest waiting turn before a request is made.
    pub(super) patience: TimeDelta,
}

impl BatchRule {
    /// Returns the rule for the remaining budget of the day.
    ///
    /// Each time half of the rest is used, the batch size doubles (after a first step to 4), so that requests remain for the rest of the
    /// day.
    pub(super) fn new(allowance: &BudgetStatus) -> Self {
        let (turns, minutes) = match allowance.remaining_share() {
            share if 0.5 < share => (1, 0),
            share if 0.25 < share => (4, 15),
            share if 0.125 < share => (8, 30),
            share if 0.0625 < share => (16, 60),
            _ => (MAX_TURNS, 120),
        };
        Self {
            turns,
            patience: TimeDelta::minutes(minutes),
        }
    }

    /// Returns whether to make a request now, given the number of waiting turns and the age of the oldest.
    pub(super) fn is_due(self, waiting: usize, oldest: TimeDelta) -> bool {
        // A negative age means that the clock was set back.
        self.turns <= waiting || self.patience <= oldest || oldest < TimeDelta::zero()
    }

    /// Returns the number of turns for the next request, given the number of waiting turns.
    pub(super) fn size(self, waiting: usize) -> usize {
        if self.turns == 1 && waiting <= SINGLE_TURN_LIMIT {
            1
        } else {
            waiting.min(MAX_TURNS)
        }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Budget, LlmUsage};

    use super::*;

    fn rule(spent: u64) -> BatchRule {
        let budget = Budget {
            calls_a_day: Some(300),
            tokens_a_day: None,
        };
        let left = budget.remaining(LlmUsage {
            calls: spent,
            ..LlmUsage::default()
        });
        BatchRule::new(&BudgetStatus { budget, left })
    }

    #[test]
    fn the_less_is_left_the_more_turns_share_a_call() {
        let turns: Vec<usize> = [0, 149, 150, 225, 263, 282, 299]
            .map(|spent| rule(spent).turns)
            .to_vec();
        assert_eq!(turns, [1, 1, 4, 8, 16, 32, 32]);
        assert!(
            rule(0).is_due(1, TimeDelta::zero()) && !rule(150).is_due(3, TimeDelta::minutes(14))
        );
        assert!(
            rule(150).is_due(4, TimeDelta::zero()) && rule(150).is_due(1, TimeDelta::minutes(15))
        );
        assert_eq!(
            [
                rule(0).size(8),
                rule(0).size(9),
                rule(0).size(99),
                rule(150).size(4)
            ],
            [1, 9, MAX_TURNS, 4]
        );
    }

    #[test]
    fn three_calls_a_batch_suffice_for_hundreds_of_turns_a_day() {
        let (mut spent, mut turns) = (0, 0);
        while spent + 3 <= 300 {
            turns += rule(spent).turns;
            spent += 3;
        }
        assert!(400 < turns, "{turns}");
    }
}
