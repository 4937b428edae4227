//! The JSON output of refinement.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_agent::json::add_field;
use memory_core::OperationId;
use memory_dream::DreamReport;
use memory_dream::lifecycle::{Exemption, LifecycleAction};
use memory_dream::plan::{
    AgeRemoval, CancelledReminder, Filing, FilingReason, Merge, NewReminder, UnclassifiedMemory,
};
use memory_dream::review::{
    Cluster, Contradiction, ContradictionSide, Orphan, Review, StaleProject, Supersession,
    TruncatedList,
};
use serde_json::{Value, json};

/// Returns the result of a run or dry run as JSON.
pub(super) fn result_json(dreamt: &DreamReport, is_rehearsal: bool) -> Value {
    let partings = |wanted: fn(LifecycleAction) -> bool| -> Vec<Value> {
        dreamt
            .parted
            .iter()
            .filter(|parting| wanted(parting.fate))
            .map(removal_json)
            .collect()
    };
    let mut shape = json!({
        "dry_run": is_rehearsal,
        "filed": dreamt.filed.iter().map(filing_json).collect::<Vec<_>>(),
        "unsure": dreamt.unsure.iter().map(unsure_json).collect::<Vec<_>>(),
        "merged": dreamt.merged.iter().map(merge_json).collect::<Vec<_>>(),
        "alike": dreamt.alike.iter().map(|(one, other)| json!([one.to_string(), other.to_string()])).collect::<Vec<_>>(),
        "similar": dreamt.similar.iter().map(|(one, other)| json!([one.to_string(), other.to_string()])).collect::<Vec<_>>(),
        "expired": partings(|fate| matches!(fate, LifecycleAction::Over | LifecycleAction::Expired(_))),
        "decayed": partings(|fate| matches!(fate, LifecycleAction::Decayed(_))),
        "spared": dreamt.spared.iter().map(|(id, why)| json!({ "id": id.to_string(), "why": exemption_name(*why) })).collect::<Vec<_>>(),
        "reminders": dreamt.reminders.iter().map(new_reminder_json).collect::<Vec<_>>(),
        "withdrawn": dreamt.withdrawn.iter().map(cancelled_reminder_json).collect::<Vec<_>>(),
        "superseded": dreamt.superseded.iter().map(supersession_json).collect::<Vec<_>>(),
        "compressed": dreamt.compressed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "links": {
            "resolved": dreamt.links.resolved,
            "unresolved": dreamt.links.unresolved,
            "updated": dreamt.links.updated,
        },
        "skipped": dreamt.skipped.iter().map(|own| json!({ "id": own.id.to_string(), "reason": own.reason })).collect::<Vec<_>>(),
    });
    add_field(
        &mut shape,
        "review",
        dreamt.review.as_ref().map(review_json),
    );
    if !dreamt.troubles.is_empty() {
        shape["degraded"] = dreamt.troubles.join("; ").into();
    }
    add_field(
        &mut shape,
        "operation",
        dreamt.operation.as_ref().map(OperationId::as_str),
    );
    shape
}

fn filing_json(filing: &Filing) -> Value {
    let mut shape = json!({ "id": filing.id.to_string(), "category": filing.category.as_str() });
    match filing.why {
        FilingReason::Suggested => shape["why"] = "suggested".into(),
        FilingReason::Sure(confidence) => {
            shape["why"] = "sure".into();
            shape["confidence"] = hundredths(confidence);
        }
        FilingReason::Read(accesses) => {
            shape["why"] = "read".into();
            shape["access_count"] = accesses.into();
        }
        FilingReason::Asked => shape["why"] = "asked".into(),
    }
    shape
}

fn unsure_json(unsure: &UnclassifiedMemory) -> Value {
    let UnclassifiedMemory { id, choice } = unsure;
    let mut shape = json!({ "id": id.to_string(), "confidence": hundredths(choice.confidence) });
    if let Some(category) = choice.suggestion {
        shape["category"] = category.as_str().into();
    }
    shape
}

fn merge_json(merge: &Merge) -> Value {
    let gone: Vec<String> = merge.gone.iter().map(ToString::to_string).collect();
    json!({ "kept": merge.kept.to_string(), "gone": gone, "added": merge.added })
}

fn format_time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

fn new_reminder_json(reminding: &NewReminder) -> Value {
    json!({ "of": reminding.of.to_string(), "at": format_time(reminding.at), "text": reminding.said })
}

fn cancelled_reminder_json(own: &CancelledReminder) -> Value {
    json!({ "id": own.id.to_string(), "of": own.of.to_string(), "at": format_time(own.at), "text": own.said })
}

fn supersession_json(own: &Supersession) -> Value {
    let Supersession {
        of,
        valid_until,
        superseded_by,
    } = own;
    json!({ "id": of.to_string(), "valid_until": format_time(*valid_until), "superseded_by": superseded_by.to_string() })
}

fn review_json(review: &Review) -> Value {
    let side = |side: &ContradictionSide| json!({ "id": side.id.to_string(), "sentence": side.text, "text": side.text });
    let contradiction = |own: &Contradiction| {
        json!({
            "older": side(&own.older),
            "newer": side(&own.newer),
            "confidence": hundredths(own.confidence()),
            "certain": own.is_certain,
        })
    };
    let cluster = |own: &Cluster| {
        let members: Vec<String> = own.members.iter().map(ToString::to_string).collect();
        json!({ "label": own.label, "members": members })
    };
    let orphan = |own: &Orphan| json!({ "id": own.id.to_string(), "created_at": format_time(own.created_at) });
    let stale = |own: &StaleProject| json!({ "scope": own.scope.to_string(), "last_at": format_time(own.last_at), "memories": own.memories, "latest": own.latest.to_string() });
    json!({
        "contradictions": listed_json(&review.contradictions, contradiction),
        "clusters": listed_json(&review.clusters, cluster),
        "orphans": listed_json(&review.orphans, orphan),
        "stale": listed_json(&review.stale, stale),
    })
}

fn listed_json<T>(all: &TruncatedList<T>, shape: impl Fn(&T) -> Value) -> Value {
    json!({ "first": all.first.iter().map(shape).collect::<Vec<_>>(), "left_out": all.left_out })
}

fn removal_json(parting: &AgeRemoval) -> Value {
    match parting.fate {
        LifecycleAction::Expired(since) | LifecycleAction::Decayed(since) => {
            json!({ "id": parting.id.to_string(), "since": format_time(since) })
        }
        LifecycleAction::Over | LifecycleAction::Filed(_) => {
            json!({ "id": parting.id.to_string() })
        }
    }
}

/// Returns the JSON value for the reason why an expired memory was not removed.
fn exemption_name(why: Exemption) -> &'static str {
    match why {
        Exemption::Pinned => "pinned",
        Exemption::Linked => "linked",
        Exemption::Reminder => "reminder",
        Exemption::TakenIn => "taken in",
        Exemption::History => "history",
        Exemption::Received => "received",
        Exemption::Unwritten => "unwritten",
    }
}

/// Returns a confidence rounded to two decimal places.
fn hundredths(confidence: f32) -> Value {
    json!(f64::from((confidence * 100.0).round()) / 100.0)
}
