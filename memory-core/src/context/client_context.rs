//! The text that a client with hooks gives to its model, at the start of a session and with each prompt.

use chrono::{DateTime, TimeZone};

use super::{Context, ShownMemories, build_context, build_matching_context};
use crate::{
    RecalledId, ReminderFilter, Services, StoreError, View, pending, proposal_summary, reminders,
};

/// Token budget at the start of a session.
const SESSION_BUDGET: usize = 1_500;

/// Token budget for a prompt.
const PROMPT_BUDGET: usize = 800;

/// The moment at which a client gives memories to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientMoment<'p> {
    /// The start of a session.
    SessionStart,
    /// A prompt of the person.
    Prompt(&'p str),
}

/// What a client gives to its model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientContext {
    /// The whole text: the memories, the due reminders and a line about proposals that wait.
    pub text: String,
    /// The memories in the text for the recall ledger, with due reminders.
    pub recalled: Vec<RecalledId>,
    /// The memories, and the matches that were left out.
    pub context: Context,
}

/// Returns what a client gives to the model of an agent with `view`. Nothing is recorded, except in `given`.
///
/// `unrestricted` sees all memories: the number of proposals that wait for a person is not in the view of an agent.
///
/// # Errors
/// If the memories cannot be read.
pub fn build_client_context<Tz: TimeZone>(
    unrestricted: &Services,
    view: &View,
    moment: ClientMoment<'_>,
    given: &ShownMemories,
    now: &DateTime<Tz>,
) -> Result<ClientContext, StoreError> {
    let services = unrestricted.restrict_to(view);
    match moment {
        ClientMoment::SessionStart => {
            let context = build_context(&services, "", SESSION_BUDGET, given, now)?;
            // Reminders and proposals are an addition: the memories are given also if these cannot be read.
            let due = pending(&services, &now.timezone())
                .unwrap_or_default()
                .unwrap_or_default();
            let mut recalled = context.recalled();
            if !due.is_empty() {
                let page = reminders(&services, ReminderFilter::Due, None);
                let due = page.map_or_else(|_| Vec::new(), |page| page.memories);
                recalled.extend(due.iter().map(RecalledId::from));
            }
            let waiting = proposal_summary(unrestricted, Some(&view.scopes()))
                .unwrap_or_default()
                .announcement()
                .map(|line| format!("{line}\n"))
                .unwrap_or_default();
            Ok(ClientContext {
                text: format!("{}{due}{waiting}", context.text),
                recalled,
                context,
            })
        }
        ClientMoment::Prompt(prompt) => {
            // The session received the instructions at its start, and receives those that are new since.
            let build = if given.entries().is_empty() {
                build_matching_context
            } else {
                build_context
            };
            let context = build(&services, prompt, PROMPT_BUDGET, given, now)?;
            Ok(ClientContext {
                text: context.text.clone(),
                recalled: context.recalled(),
                context,
            })
        }
    }
}
