//! The JSON output of refinement.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_dream::Dreamt;
use memory_dream::lifecycle::{Fate, Spared};
use memory_dream::plan::{Filing, Merge, Parting, Reminding, Unsure, Why, Withdrawal};
use memory_dream::review::{Cluster, Contradiction, Listed, Orphan, Review, Side, StaleProject, Supersession};
use serde_json::{Value, json};

/// Returns the result of a run or dry run as JSON.
pub(super) fn shape(dreamt: &Dreamt, is_rehearsal: bool) -> Value {
    let partings = |wanted: fn(Fate) -> bool| -> Vec<Value> {
        dreamt.parted.iter().filter(|parting| wanted(parting.fate)).map(parting).collect()
    };
    let mut shape = json!({
        "dry_run": is_rehearsal,
        "filed": dreamt.filed.iter().map(filing).collect::<Vec<_>>(),
        "unsure": dreamt.unsure.iter().map(unsure).collect::<Vec<_>>(),
        "merged": dreamt.merged.iter().map(merge).collect::<Vec<_>>(),
        "alike": dreamt.alike.iter().map(|(one, other)| json!([one.to_string(), other.to_string()])).collect::<Vec<_>>(),
        "expired": partings(|fate| matches!(fate, Fate::Over | Fate::Expired(_))),
        "decayed": partings(|fate| matches!(fate, Fate::Decayed(_))),
        "spared": dreamt.spared.iter().map(|(id, why)| json!({ "id": id.to_string(), "why": spared(*why) })).collect::<Vec<_>>(),
        "reminders": dreamt.reminders.iter().map(reminding).collect::<Vec<_>>(),
        "withdrawn": dreamt.withdrawn.iter().map(withdrawal).collect::<Vec<_>>(),
        "superseded": dreamt.superseded.iter().map(supersession).collect::<Vec<_>>(),
        "compressed": dreamt.compressed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "links": {
            "resolved": dreamt.links.resolved,
            "unresolved": dreamt.links.unresolved,
            "updated": dreamt.links.updated,
        },
        "skipped": dreamt.skipped.iter().map(|own| json!({ "id": own.id.to_string(), "reason": own.reason })).collect::<Vec<_>>(),
    });
    if let Some(own) = &dreamt.review {
        shape["review"] = review(own);
    }
    if !dreamt.troubles.is_empty() {
        shape["degraded"] = dreamt.troubles.join("; ").into();
    }
    if let Some(operation) = &dreamt.operation {
        shape["operation"] = operation.as_str().into();
    }
    shape
}

fn filing(filing: &Filing) -> Value {
    let mut shape = json!({ "id": filing.id.to_string(), "category": filing.category.as_str() });
    match filing.why {
        Why::Suggested => shape["why"] = "suggested".into(),
        Why::Sure(confidence) => {
            shape["why"] = "sure".into();
            shape["confidence"] = hundredths(confidence);
        }
        Why::Read(accesses) => {
            shape["why"] = "read".into();
            shape["access_count"] = accesses.into();
        }
        Why::Asked => shape["why"] = "asked".into(),
    }
    shape
}

fn unsure(unsure: &Unsure) -> Value {
    json!({ "id": unsure.id.to_string(), "confidence": hundredths(unsure.confidence) })
}

fn merge(merge: &Merge) -> Value {
    let gone: Vec<String> = merge.gone.iter().map(ToString::to_string).collect();
    json!({ "kept": merge.kept.to_string(), "gone": gone, "added": merge.added })
}

fn time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

fn reminding(reminding: &Reminding) -> Value {
    json!({ "of": reminding.of.to_string(), "at": time(reminding.at), "text": reminding.said })
}

fn withdrawal(own: &Withdrawal) -> Value {
    json!({ "id": own.id.to_string(), "of": own.of.to_string(), "at": time(own.at), "text": own.said })
}

fn supersession(own: &Supersession) -> Value {
    let Supersession { of, valid_until, superseded_by } = own;
    json!({ "id": of.to_string(), "valid_until": time(*valid_until), "superseded_by": superseded_by.to_string() })
}

fn review(review: &Review) -> Value {
    let side = |side: &Side| json!({ "id": side.id.to_string(), "sentence": side.sentence, "text": side.text });
    let contradiction = |own: &Contradiction| {
        json!({
            "older": side(&own.older),
            "newer": side(&own.newer),
            "confidence": hundredths(own.confidence),
            "certain": own.is_certain,
        })
    };
    let cluster = |own: &Cluster| {
        let members: Vec<String> = own.members.iter().map(ToString::to_string).collect();
        json!({ "label": own.label, "members": members })
    };
    let orphan = |own: &Orphan| json!({ "id": own.id.to_string(), "created_at": time(own.created_at) });
    let stale = |own: &StaleProject| json!({ "scope": own.scope.to_string(), "last_at": time(own.last_at), "memories": own.memories, "latest": own.latest.to_string() });
    json!({
        "contradictions": listed(&review.contradictions, contradiction),
        "clusters": listed(&review.clusters, cluster),
        "orphans": listed(&review.orphans, orphan),
        "stale": listed(&review.stale, stale),
    })
}

fn listed<T>(all: &Listed<T>, shape: impl Fn(&T) -> Value) -> Value {
    json!({ "first": all.first.iter().map(shape).collect::<Vec<_>>(), "left_out": all.left_out })
}

fn parting(parting: &Parting) -> Value {
    match parting.fate {
        Fate::Expired(since) | Fate::Decayed(since) => json!({ "id": parting.id.to_string(), "since": time(since) }),
        Fate::Over | Fate::Filed(_) => json!({ "id": parting.id.to_string() }),
    }
}

/// Returns the JSON value for the reason why an expired memory was not removed.
fn spared(why: Spared) -> &'static str {
    match why {
        Spared::Pinned => "pinned",
        Spared::Linked => "linked",
        Spared::Reminder => "reminder",
        Spared::TakenIn => "taken in",
        Spared::History => "history",
    }
}

/// Returns a confidence rounded to two decimal places.
fn hundredths(confidence: f32) -> Value {
    json!(f64::from((confidence * 100.0).round()) / 100.0)
}
