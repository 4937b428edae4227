//! Executes the jobs of conversations.

use std::collections::HashSet;

use memory_core::conversation::{ConversationId, Conversations, JobQueue, JobState, PendingJob};
use memory_core::text::format_error_chain;
use memory_core::{Code, StoreError};

use super::Backoff;
use super::job_run::{DecidedJob, ExtractedJob, JobRun, ProcessReport, ProcessRules, WaitingJob};

/// Executes each pending job once, unless another process does.
///
/// `goes_on` is called before each request and returns whether to continue. During a pause of `backoff`, no requests are made and jobs that
/// need the model wait.
///
/// # Errors
/// If the queue cannot be read, or the disk is full. Another conversation that cannot be read or written is reported; its jobs remain pending.
pub fn process_jobs(
    conversations: &Conversations,
    queue: &dyn JobQueue,
    rules: &ProcessRules,
    backoff: &mut Backoff,
    goes_on: &dyn Fn() -> bool,
) -> Result<ProcessReport, StoreError> {
    let mut run = JobRun {
        conversations,
        queue,
        rules,
        backoff,
        goes_on,
        processed: ProcessReport::default(),
    };
    let mut tried = HashSet::new();
    let mut latest = run.backoff.tended_until;
    'claims: loop {
        let Some(claim) = queue.claim()? else { break };
        loop {
            let mut pending = queue.pending()?;
            pending.retain(|pending| tried.insert(pending.job.id.clone()));
            if pending.is_empty() {
                break;
            }
            latest = pending
                .iter()
                .map(|pending| Some(pending.job.at))
                .fold(latest, Option::max);
            for (conversation, jobs) in group_by_conversation(pending) {
                let count = jobs.len();
                match run.process_conversation(&conversation, jobs) {
                    Ok(true) => {}
                    Ok(false) => break 'claims,
                    // On a full disk, the requests for the others would be in vain.
                    Err(error) if error.code() == Code::DiskFull => return Err(error),
                    // One that cannot be read or written delays no other.
                    Err(error) => {
                        let error = format_error_chain(&error);
                        run.add_error(&format!(
                            "cannot store facts of conversation {conversation}: {error}"
                        ));
                        run.processed.waiting += count;
                    }
                }
            }
        }
        drop(claim);
        // A process that added a job a moment ago may have found the queue claimed, so it is checked again.
        if !goes_on()
            || queue
                .pending()?
                .iter()
                .all(|pending| tried.contains(&pending.job.id))
        {
            break;
        }
    }
    run.backoff.tended_until = latest;
    Ok(run.processed)
}

/// Groups jobs by conversation, in the order of the oldest job of each.
fn group_by_conversation(pending: Vec<PendingJob>) -> Vec<(ConversationId, Vec<PendingJob>)> {
    let mut groups: Vec<(ConversationId, Vec<PendingJob>)> = Vec::new();
    for pending in pending {
        match groups
            .iter_mut()
            .find(|(conversation, _)| *conversation == pending.job.conversation)
        {
            Some((_, jobs)) => jobs.push(pending),
            None => groups.push((pending.job.conversation.clone(), vec![pending])),
        }
    }
    groups
}

impl JobRun<'_> {
    /// Executes the jobs of one conversation as far as possible. Returns whether to continue.
    fn process_conversation(
        &mut self,
        conversation: &ConversationId,
        jobs: Vec<PendingJob>,
    ) -> Result<bool, StoreError> {
        let (mut waiting, mut extracted, mut decided) = (Vec::new(), Vec::new(), Vec::new());
        for PendingJob { job, state } in jobs {
            match state {
                JobState::Done => {}
                JobState::Waiting { attempts } => waiting.push(WaitingJob { job, attempts }),
                JobState::Extracted { facts, attempts } => extracted.push(ExtractedJob {
                    job,
                    facts,
                    attempts,
                }),
                JobState::Decided { changes, facts } => decided.push(DecidedJob {
                    job,
                    changes,
                    facts,
                }),
            }
        }
        let Some(chat) = self.chat_model() else {
            let rest = waiting
                .into_iter()
                .map(|own| own.job)
                .chain(extracted.into_iter().map(|own| own.job));
            decided.extend(rest.map(DecidedJob::without_changes));
            for decided in decided {
                if !(self.goes_on)() {
                    return Ok(false);
                }
                self.apply_decisions(conversation, &[decided])?;
            }
            return Ok(true);
        };
        if !self.may_request(conversation, chat) {
            let before = decided.len();
            decided.retain(|own| !self.backoff.committed.contains(&own.job.id));
            self.processed.waiting += before - decided.len();
        }
        if !decided.is_empty() {
            if !(self.goes_on)() {
                return Ok(false);
            }
            self.apply_decisions(conversation, &decided)?;
        }
        let latest = waiting.iter().map(|own| own.job.at).max();
        let before = self.processed.waiting;
        let goes_on = self.extract_all(conversation, waiting, extracted)?;
        let is_untended = self.backoff.tended_until < latest;
        if before < self.processed.waiting && is_untended {
            // Jobs can wait for days; eviction and embedding must not wait as long.
            self.evict_and_embed(conversation)?;
        }
        Ok(goes_on)
    }
}
