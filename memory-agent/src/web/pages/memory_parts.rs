//! The parts of the page of a memory: attributes, changes and recalls.

use memory_core::{
    ContentHash, HomeSection, Memory, MemoryHistory, MemoryStep, RecallRecord, StoredMemory,
};

use crate::web::card::{describe_parts, describe_readers};
use crate::web::changed_object::past_tense;
use crate::web::diff::{changed_attributes, render_diff};
use crate::web::fields::{encode, encode_pairs};
use crate::web::html::{Label, SafeHtml};
use crate::web::request::WebRequest;
use crate::web::time_label::TimeLabel;
use crate::web::undo_offer::UndoOffer;

/// Maximum number of fields of other programs.
const MAX_OTHER_FIELDS: usize = 50;

/// Maximum number of characters of the value of such a field.
const MAX_OTHER_VALUE: usize = 500;

/// The value of an attribute.
pub(super) enum FactValue {
    Text(Label),
    Time(TimeLabel),
    Link(Label, String),
}

/// A change, as the history shows it.
pub(super) struct StepView {
    pub(super) action: &'static str,
    pub(super) by: Label,
    pub(super) at: TimeLabel,
    pub(super) operation: String,
    pub(super) why: Option<Label>,
    /// The attributes that changed: name, previous value and new value.
    pub(super) attributes: Vec<(&'static str, Label, Label)>,
    pub(super) diff: Option<SafeHtml>,
    pub(super) is_edited_after: bool,
    pub(super) undo: UndoOffer,
    /// The path in the trash of the version before the change, if the change is not undone and cannot be.
    pub(super) restorable: Option<String>,
}

/// A recall of the memory by an agent.
pub(super) struct RecallView {
    pub(super) at: TimeLabel,
    pub(super) agent: Label,
    pub(super) tool: Label,
    pub(super) query: Option<Label>,
    pub(super) rank: usize,
    pub(super) count: usize,
    /// The parts that contributed most to the score, in words.
    pub(super) reasons: String,
    /// The path of the page of the session.
    pub(super) session: String,
    /// The text that the agent received, if it was changed since.
    pub(super) former_text: Option<SafeHtml>,
}

pub(super) fn facts(
    request: &WebRequest,
    stored: &StoredMemory,
) -> Vec<(&'static str, &'static str, FactValue)> {
    let memory = &stored.memory;
    let time = |time| FactValue::Time(TimeLabel::exact(request.local(time)));
    let text = |text: &str| FactValue::Text(Label::new(text));
    let list_path = |field: &str, value: &str| format!("/memories?{field}={}", encode(value));
    let mut facts = vec![("Created", "", time(memory.created_at))];
    if memory.version != 1 {
        facts.push(("Changed", "", time(memory.updated_at)));
    }
    let readers = Label::new(&describe_readers(&memory.scope));
    facts.push((
        "Readers",
        "who receives it",
        FactValue::Link(readers, list_path("scope", &memory.scope.to_string())),
    ));
    if !memory.source.is_empty() {
        facts.push((
            "Source",
            "the program it came from",
            FactValue::Link(
                Label::new(&memory.source),
                list_path("source", &memory.source),
            ),
        ));
    }
    if let Some(role) = memory.speaker_role() {
        facts.push(("Author", "", text(role.as_str())));
    }
    if let Some(origin) = &memory.origin {
        facts.push((
            "Ingested from",
            "",
            text(&format!(
                "{}/{}",
                origin.root.trim_end_matches('/'),
                origin.path
            )),
        ));
    }
    let times = [
        ("Stated again", memory.stated_at),
        ("Valid from", memory.valid_from),
        ("Valid until", memory.valid_until),
        ("Expires", memory.expires_at),
        (
            "Reminder",
            memory.reminder.as_ref().map(|reminder| reminder.due),
        ),
    ];
    facts.extend(
        times
            .into_iter()
            .filter_map(|(name, at)| Some((name, "", time(at?)))),
    );
    if let Some(repeats) = memory.recurrence() {
        facts.push(("Repeats", "", text(&repeats.expression)));
    }
    if !memory.aliases.is_empty() {
        facts.push(("Also called", "", text(&memory.aliases.join(", "))));
    }
    if HomeSection::of(&stored.path) == HomeSection::Conversations {
        facts.push(("Kind", "", text("entry of a conversation")));
    }
    facts
}

pub(super) fn more_facts(stored: &StoredMemory) -> Vec<(Label, FactValue)> {
    let memory = &stored.memory;
    let own = [
        ("Uses by agents and people", memory.access_count.to_string()),
        ("Version", memory.version.to_string()),
        ("File", stored.path.clone()),
        ("Id", memory.id.to_string()),
    ];
    let own = own
        .into_iter()
        .map(|(name, value)| (Label::new(name), FactValue::Text(Label::new(&value))));
    let other = stored.other_fields.iter().take(MAX_OTHER_FIELDS);
    own.chain(other.map(|(name, value)| {
        let value = if value.trim().is_empty() {
            "(empty)"
        } else {
            value
        };
        (
            Label::cut(name, 60),
            FactValue::Text(Label::cut(value, MAX_OTHER_VALUE)),
        )
    }))
    .collect()
}

/// Returns the views of the changes. Of several changes whose undo deletes the memory, only the last offers it.
pub(super) fn step_views(request: &WebRequest, history: &MemoryHistory) -> Vec<StepView> {
    let mut is_deletion_offered = false;
    let mut views = Vec::with_capacity(history.steps.len());
    for step in &history.steps {
        let mut view = StepView::new(request, step);
        if step.is_creation
            && view.undo.button().is_some()
            && std::mem::replace(&mut is_deletion_offered, true)
        {
            view.undo = UndoOffer::Refused("The undo of a later change also deletes the memory.");
        }
        views.push(view);
    }
    views
}

impl StepView {
    fn new(request: &WebRequest, step: &MemoryStep) -> Self {
        let operation = &step.operation;
        let versions = step.before.as_ref().zip(step.after.as_ref());
        let undo = UndoOffer::for_step(step);
        Self {
            action: past_tense(operation.verb),
            by: Label::cut(
                if operation.by.is_empty() {
                    "unknown"
                } else {
                    &operation.by
                },
                60,
            ),
            at: TimeLabel::exact(request.local(operation.at)),
            operation: operation.id.to_string(),
            // The reason of a rejection identifies its content for the program alone.
            why: step
                .why
                .as_deref()
                .filter(|why| !is_fingerprint(why))
                .map(Label::new),
            attributes: versions
                .map(|(before, after)| changed_attributes(before, after))
                .unwrap_or_default(),
            diff: versions
                .filter(|(before, after)| before.content != after.content)
                .map(|(before, after)| render_diff(&before.content, &after.content)),
            is_edited_after: step.is_edited_after,
            restorable: step.trash.clone().filter(|_| undo.refusal().is_some()),
            undo,
        }
    }
}

/// Returns whether a reason of the journal ends with a hash.
fn is_fingerprint(why: &str) -> bool {
    why.rsplit(' ')
        .next()
        .is_some_and(|last| last.parse::<ContentHash>().is_ok())
}

impl RecallView {
    /// Returns the view of a recall of the memory `id`. `former` is the version at that time, if its text was changed since.
    pub(super) fn new(
        request: &WebRequest,
        recall: &RecallRecord,
        id: &str,
        former: Option<&Memory>,
    ) -> Self {
        let place = recall.memories.iter().position(|memory| memory.id == id);
        let parts = place.map_or(&[][..], |place| recall.memories[place].parts.as_slice());
        let day = recall.at.format("%Y-%m-%d").to_string();
        let of_session = match &recall.session {
            Some(session) => ("session", session.as_str()),
            None => ("day", day.as_str()),
        };
        Self {
            at: TimeLabel::exact(request.local(recall.at)),
            agent: Label::cut(
                if recall.agent.is_empty() {
                    "unnamed agent"
                } else {
                    &recall.agent
                },
                60,
            ),
            tool: Label::cut(&recall.tool, 60),
            query: recall.query.as_deref().map(|query| Label::cut(query, 300)),
            rank: place.map_or(0, |place| place + 1),
            count: recall.memories.len(),
            reasons: describe_parts(parts),
            session: format!(
                "/sessions/show?{}",
                encode_pairs([("agent", recall.agent.as_str()), of_session])
            ),
            former_text: former.map(|former| SafeHtml::from_text(&former.content)),
        }
    }
}
