//! Classifies and summarises memories with a language model, if one is configured.

use std::collections::{BTreeMap, HashMap};

use memory_core::{
    Change, ContentHash, Filter, Memory, MemoryId, Refinement, RefinementUnit, Services,
    StoreError, embedded_text, secret,
};

use crate::apply::{SkippedChange, read_unchanged, replace};
use crate::model_requests::{build_summary_request, classify_batches, validate_summary};
use crate::plan::{AnalysedMemories, DreamPlan, Filing, FilingReason};

/// Number of memories in one classification request.
const CLASSIFY_BATCH: usize = 20;

/// Maximum number of memories to classify by the model in one dream.
const MAX_CLASSIFIED: usize = 200;

/// Maximum number of texts to summarise in one dream.
const MAX_SUMMARIES: usize = 10;

/// Classifies the unsure memories of `plan` with the language model; returns the failure, if any.
///
/// Each memory is submitted once; later dreams skip it. After a failure, the remaining memories stay in the inbox.
pub(crate) fn classify(
    services: &Services,
    looked: &mut AnalysedMemories,
    plan: &mut DreamPlan,
) -> Result<Option<String>, StoreError> {
    let Some(chat) = &services.chat else {
        return Ok(None);
    };
    let mut memories = Vec::new();
    for unsure in &plan.unsure {
        let place = looked.position(&unsure.id);
        let is_asked = place
            .and_then(|place| looked.glances[place].as_ref())
            .is_none_or(|glance| glance.is_asked);
        if is_asked || MAX_CLASSIFIED <= memories.len() {
            continue;
        }
        let text = place.map(|place| looked.outlines[place].text);
        memories.extend(
            text.map(|text| read_unchanged(services, &unsure.id, text))
                .transpose()?
                .flatten()
                .map(|stored| stored.memory),
        );
    }
    let texts: HashMap<MemoryId, ContentHash> = memories
        .iter()
        .map(|memory| (memory.id, ContentHash::of(&embedded_text(memory))))
        .collect();
    for batch in classify_batches(&memories, CLASSIFY_BATCH) {
        let filed = match chat.answer(batch.request()) {
            Ok(answer) => batch.parse_answer(&answer.text),
            Err(error) => {
                return Ok(Some(format!(
                    "{error}; unclassified memories stay in the inbox"
                )));
            }
        };
        if let Some(why) = filed.unreadable {
            return Ok(Some(format!(
                "the language model's response is not valid: {why}; unclassified memories stay in the inbox"
            )));
        }
        for id in batch.ids() {
            if let Some(glance) = looked
                .position(id)
                .and_then(|place| looked.glances[place].as_mut())
            {
                glance.is_asked = true;
            }
        }
        for (id, category) in filed.categories {
            plan.unsure.retain(|unsure| unsure.id != id);
            plan.filings.push(Filing {
                id,
                text: texts[&id],
                category,
                why: FilingReason::Asked,
            });
        }
    }
    Ok(None)
}

/// The result of summarising long texts.
#[derive(Debug, Default)]
pub(crate) struct SummariesReport {
    pub(crate) done: Vec<MemoryId>,
    pub(crate) trouble: Option<String>,
}

/// Replaces long texts by summaries of the language model; the originals go to the trash.
///
/// Memories that were ingested from notes, pinned memories and reminders remain unchanged.
pub(crate) fn compress(
    services: &Services,
    looked: &mut AnalysedMemories,
    refinement: &mut Refinement<'_>,
    skipped: &mut Vec<SkippedChange>,
) -> Result<SummariesReport, StoreError> {
    let mut summaries = SummariesReport::default();
    let Some(chat) = &services.chat else {
        return Ok(summaries);
    };
    let now = services.clock.now();
    let is_new = |looked: &AnalysedMemories, id: &MemoryId| {
        looked
            .position(id)
            .and_then(|place| looked.glances[place].as_ref())
            .is_some_and(|glance| !glance.is_summarised)
    };
    let mut long = Vec::new();
    for stored in services.store.memories(&Filter::all(), now) {
        let stored = stored?;
        let memory = &stored.memory;
        let is_ours =
            stored.problem.is_none() && memory.superseded_by.is_none() && !memory.has_ended(now);
        let is_free =
            is_ours && memory.origin.is_none() && !memory.pinned && memory.reminder.is_none();
        if long.len() < MAX_SUMMARIES
            && is_free
            && is_new(looked, &memory.id)
            && build_summary_request(memory).is_some()
        {
            long.push(stored);
        }
    }
    for stored in long {
        let Some(request) = build_summary_request(&stored.memory) else {
            continue;
        };
        let answer = match chat.answer(&request) {
            Ok(answer) => answer.text,
            Err(error) => {
                summaries.trouble =
                    Some(format!("{error}; the remaining texts were not summarised"));
                break;
            }
        };
        let id = stored.memory.id;
        looked.mark_summarised(&[id]);
        let summary = match validate_summary(&stored.memory.content, &answer) {
            // A refinement does not scan texts for credentials, but the output of a model is new text, so the scan is here.
            Ok(summary) if secret::find(&summary.text).is_empty() => summary.text,
            Ok(_) => {
                skipped.push(SkippedChange {
                    id,
                    reason: "its summary was rejected: it seems to contain a credential".to_owned(),
                });
                continue;
            }
            Err(why) => {
                skipped.push(SkippedChange {
                    id,
                    reason: format!("its summary was rejected: {why}"),
                });
                continue;
            }
        };
        let version = stored.memory.version + 1;
        let summarised_by = Some(refinement.id().clone());
        let memory = Memory {
            content: summary,
            summarised_by,
            version,
            updated_at: now.max(stored.memory.updated_at),
            ..stored.memory.clone()
        };
        let reasons = BTreeMap::from([(
            id,
            "it was summarised; the original text is in the trash".to_owned(),
        )]);
        let changes: Vec<Change> = vec![replace(&stored, memory)];
        match refinement
            .commit(vec![RefinementUnit { changes, reasons }])?
            .pop()
        {
            None => summaries.done.push(id),
            Some(refused) => skipped.push(SkippedChange {
                id,
                reason: refused.error.to_string(),
            }),
        }
    }
    Ok(summaries)
}
