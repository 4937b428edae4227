//! One memory: text, attributes, links, history and recalls, and the forms that change it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::{
    Category, HomeSection, Memory, MemoryHistory, MemoryId, MemoryStep, MemoryStoreExt, Patch, Phase, ProposalEnd, RecallRecord,
    SecretPolicy, StoreError, StoredMemory, Tags, backlinks, delete, memory_history, outgoing_links, pin, proposal, proposal_end,
    resolve_wikilink, restore, tag, unpin, update, why,
};

use super::inbox_item::InboxCard;
use super::merge::choice_path;
use crate::web::card::{MemoryCard, TagLink, describe_parts, describe_readers, memory_path, title};
use crate::web::changed_object::past_tense;
use crate::web::diff::{changed_attributes, render_diff};
use crate::web::error::{PageError, render};
use crate::web::fields::{encode, encode_pairs};
use crate::web::html::{Label, SafeHtml, visible_text};
use crate::web::layout::Layout;
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;
use crate::web::undo_offer::UndoOffer;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/memories/{id}", get(show))
        .route("/memories/{id}/tags", post(change_tags))
        .route("/memories/{id}/category", post(change_category))
        .route("/memories/{id}/pin", post(change_pin))
        .route("/memories/{id}/delete", post(delete_memory))
        .route("/memories/{id}/restore", post(restore_version))
}

/// Number of changes and of recalls on the page.
const MAX_STEPS: usize = 20;

/// Maximum number of fields of other programs.
const MAX_OTHER_FIELDS: usize = 50;

/// Maximum number of characters of the value of such a field.
const MAX_OTHER_VALUE: usize = 500;

/// Number of linked memories in each direction.
const MAX_LINKS: usize = 30;

#[derive(Template)]
#[template(path = "memory.html")]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
struct MemoryDetailsPage {
    layout: Layout,
    path: String,
    /// The list to return to.
    list: String,
    id: String,
    title: Label,
    text: SafeHtml,
    /// The text as it is in the file.
    source_text: SafeHtml,
    /// What a person must know before they rely on the memory, each with a linked memory, if any.
    notices: Vec<(String, Option<MemoryCard>)>,
    is_deleted: bool,
    /// How the proposal ended, if the memory in the trash is one.
    end: Option<ProposalEnd>,
    is_pinned: bool,
    is_editable: bool,
    category: &'static str,
    is_in_inbox: bool,
    categories: Vec<Category>,
    tags: Vec<TagLink>,
    /// The attributes: name, explanation, which may be empty, and value.
    facts: Vec<(&'static str, &'static str, FactValue)>,
    /// Technical facts, and the fields of other programs in the file.
    more_facts: Vec<(Label, FactValue)>,
    links: Vec<MemoryCard>,
    backlinks: Vec<MemoryCard>,
    steps: Vec<StepView>,
    has_more_steps: bool,
    recalls: Vec<RecallView>,
    /// The number of recalls, as text.
    recall_count: String,
    /// The path of the choice of a memory to merge this one into, if it can be merged.
    merge: Option<String>,
    /// The controls to decide on a proposal, if it is one.
    decision: Option<InboxCard>,
    /// The version in the trash that restores a deleted memory.
    restorable: Option<String>,
}

/// The value of an attribute.
enum FactValue {
    Text(Label),
    Time(TimeLabel),
    Link(Label, String),
}

/// A change, as the history shows it.
struct StepView {
    action: &'static str,
    by: Label,
    at: TimeLabel,
    operation: String,
    why: Option<Label>,
    /// The attributes that changed: name, previous value and new value.
    attributes: Vec<(&'static str, Label, Label)>,
    diff: Option<SafeHtml>,
    is_edited_after: bool,
    undo: UndoOffer,
    /// The path in the trash of the version before the change, if the change is not undone and cannot be.
    restorable: Option<String>,
}

/// A recall of the memory by an agent.
struct RecallView {
    at: TimeLabel,
    agent: Label,
    tool: Label,
    query: Option<Label>,
    rank: usize,
    count: usize,
    /// The parts that contributed most to the score, in words.
    reasons: String,
    /// The path of the page of the session.
    session: String,
    /// The text that the agent received, if it was changed since.
    former_text: Option<SafeHtml>,
}

async fn show(Path(id): Path<String>, request: WebRequest) -> Response {
    request.respond(move |request| Ok(render(&memory_page(request, &id)?))).await
}

fn memory_page(request: &WebRequest, reference: &str) -> Result<MemoryDetailsPage, PageError> {
    let services = &request.services;
    match services.store.get_by(reference) {
        Ok(stored) => existing_page(request, &stored),
        Err(error @ StoreError::NotFound { .. }) => match reference.parse::<MemoryId>() {
            Ok(id) => deleted_page(request, &id)?.ok_or_else(|| error.into()),
            Err(_) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

fn existing_page(request: &WebRequest, stored: &StoredMemory) -> Result<MemoryDetailsPage, PageError> {
    let (services, memory) = (&request.services, &stored.memory);
    let history = memory_history(services, &memory.id, step_limit(request))?;
    let linked = outgoing_links(services, stored)?;
    let referring = backlinks(services, &memory.id.to_string())?;
    let cards =
        |memories: &[StoredMemory]| memories.iter().take(MAX_LINKS).map(|stored| MemoryCard::new(request, stored)).collect();
    let find_path = |target: &str| {
        let id = resolve_wikilink(services.store.as_ref(), target, stored).ok()??;
        Some(format!("/memories/{id}"))
    };
    let mut page = MemoryDetailsPage::new(request, memory, render_markdown(&memory.content, &find_path), &history)?;
    page.notices = notices(request, stored)?;
    page.facts = facts(request, stored);
    page.more_facts = more_facts(stored);
    page.links = cards(&linked);
    page.backlinks = cards(&referring);
    page.is_editable = stored.problem.is_none() && !memory.is_proposal();
    page.merge = page.is_editable.then(|| choice_path(stored, &page.path));
    if memory.is_proposal() && stored.problem.is_none() {
        let planner = request.web.config.host.planner(services.clone());
        let waiting = proposal(services, &memory.id.to_string())?;
        let card = InboxCard::of_proposal(request, planner.as_ref(), &waiting)?;
        // The page shows the text of a new memory itself.
        let body = if card.target.is_some() { card.body } else { SafeHtml::default() };
        page.decision = Some(InboxCard { body, ..card });
    }
    Ok(page)
}

/// Returns the page of a deleted memory; `None` if nothing is known about it.
fn deleted_page(request: &WebRequest, id: &MemoryId) -> Result<Option<MemoryDetailsPage>, PageError> {
    let history = memory_history(&request.services, id, step_limit(request))?;
    let last = history.steps.iter().find(|step| step.is_deletion && step.undone_by.is_none());
    let Some(last) = last else { return Ok(None) };
    let Some((memory, trash)) = last.before.clone().zip(last.trash.clone()) else { return Ok(None) };
    let mut page = MemoryDetailsPage::new(request, &memory, render_markdown(&memory.content, &|_| None), &history)?;
    page.is_deleted = true;
    page.end = proposal_end(&request.services, id)?;
    // An accepted proposal had its effect, which an undo of the acceptance reverts.
    page.restorable = Some(trash).filter(|_| page.end != Some(ProposalEnd::Accepted));
    Ok(Some(page))
}

fn step_limit(request: &WebRequest) -> usize {
    if request.query.get("history") == "all" { usize::MAX - 1 } else { MAX_STEPS }
}

impl MemoryDetailsPage {
    /// Returns the page without the parts that only an existing memory has.
    fn new(request: &WebRequest, memory: &Memory, text: SafeHtml, history: &MemoryHistory) -> Result<Self, PageError> {
        let id = memory.id.to_string();
        let recalls = why(&request.services, request.web.config.recalls.as_ref(), &id, MAX_STEPS)?.list;
        Ok(Self {
            layout: request.layout(&visible_text(memory.headline())),
            path: memory_path(memory),
            list: request.list.clone().unwrap_or_else(|| "/memories".to_owned()),
            title: title(memory),
            text,
            source_text: SafeHtml::from_text(&memory.content),
            notices: Vec::new(),
            is_deleted: false,
            end: None,
            is_pinned: memory.pinned,
            is_editable: false,
            category: memory.category.as_str(),
            is_in_inbox: memory.phase == Phase::Inbox,
            categories: Category::ALL.into_iter().filter(|category| *category != Category::Reminders).collect(),
            tags: memory.tags.iter().map(|tag| TagLink::new(tag)).collect(),
            facts: Vec::new(),
            more_facts: Vec::new(),
            links: Vec::new(),
            backlinks: Vec::new(),
            has_more_steps: history.has_more,
            steps: step_views(request, history),
            recall_count: recall_count(recalls.total, recalls.recalls.len()),
            recalls: recalls
                .recalls
                .iter()
                .map(|recall| {
                    let given = history.replaced_version_at(recall.at).filter(|given| given.content != memory.content);
                    RecallView::new(request, recall, &id, given)
                })
                .collect(),
            merge: None,
            decision: None,
            restorable: None,
            id,
        })
    }

    /// Returns whether this is a proposal that changes or deletes a memory. Its differences replace the text.
    fn is_change_or_deletion(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.target.is_some())
    }

    /// Returns whether this option of the category form is the current one.
    fn is_current_category(&self, category: Category) -> bool {
        if self.is_in_inbox { category == Category::Inbox } else { category.as_str() == self.category }
    }
}

fn recall_count(total: u64, shown: usize) -> String {
    match total {
        1 => "Once".to_owned(),
        total if total == shown as u64 => format!("{total} times"),
        total => format!("{total} times; the last {shown}"),
    }
}

fn notices(request: &WebRequest, stored: &StoredMemory) -> Result<Vec<(String, Option<MemoryCard>)>, PageError> {
    let (memory, mut notices) = (&stored.memory, Vec::new());
    if let Some(problem) = &stored.problem {
        notices.push((format!("The file is damaged, so the memory cannot be changed here: {problem}"), None));
    }
    if let Some(newer) = &memory.superseded_by {
        let newer = match request.services.store.get(newer) {
            Ok(newer) => Some(MemoryCard::new(request, &newer)),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
            Err(error) => return Err(error.into()),
        };
        notices.push(("Agents no longer receive this memory, because another one supersedes it.".to_owned(), newer));
    } else if memory.has_ended(request.services.clock.now()) {
        notices.push(("Agents no longer receive this memory, because it has expired.".to_owned(), None));
    }
    if memory.summarised_by.is_some() {
        notices.push(("The text is a summary; the history has the full text.".to_owned(), None));
    }
    Ok(notices)
}

fn facts(request: &WebRequest, stored: &StoredMemory) -> Vec<(&'static str, &'static str, FactValue)> {
    let memory = &stored.memory;
    let time = |time| FactValue::Time(TimeLabel::exact(request.local(time)));
    let text = |text: &str| FactValue::Text(Label::new(text));
    let list_path = |field: &str, value: &str| format!("/memories?{field}={}", encode(value));
    let mut facts = vec![("Created", "", time(memory.created_at))];
    if memory.version != 1 {
        facts.push(("Changed", "", time(memory.updated_at)));
    }
    let readers = Label::new(&describe_readers(&memory.scope));
    facts.push(("Readers", "who receives it", FactValue::Link(readers, list_path("scope", &memory.scope.to_string()))));
    if !memory.source.is_empty() {
        facts.push((
            "Source",
            "the program it came from",
            FactValue::Link(Label::new(&memory.source), list_path("source", &memory.source)),
        ));
    }
    if let Some(role) = memory.speaker_role() {
        facts.push(("Author", "", text(role.as_str())));
    }
    if let Some(origin) = &memory.origin {
        facts.push(("Ingested from", "", text(&format!("{}/{}", origin.root.trim_end_matches('/'), origin.path))));
    }
    let times = [
        ("Stated again", memory.stated_at),
        ("Valid from", memory.valid_from),
        ("Valid until", memory.valid_until),
        ("Expires", memory.expires_at),
        ("Reminder", memory.reminder.map(|reminder| reminder.due)),
    ];
    facts.extend(times.into_iter().filter_map(|(name, at)| Some((name, "", time(at?)))));
    if !memory.aliases.is_empty() {
        facts.push(("Also called", "", text(&memory.aliases.join(", "))));
    }
    if HomeSection::of(&stored.path) == HomeSection::Conversations {
        facts.push(("Kind", "", text("entry of a conversation")));
    }
    facts
}

fn more_facts(stored: &StoredMemory) -> Vec<(Label, FactValue)> {
    let memory = &stored.memory;
    let own = [
        ("Reads by agents and commands", memory.access_count.to_string()),
        ("Version", memory.version.to_string()),
        ("File", stored.path.clone()),
        ("Id", memory.id.to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| (Label::new(name), FactValue::Text(Label::new(&value))));
    let other = stored.other_fields.iter().take(MAX_OTHER_FIELDS);
    own.chain(other.map(|(name, value)| {
        let value = if value.trim().is_empty() { "(empty)" } else { value };
        (Label::cut(name, 60), FactValue::Text(Label::cut(value, MAX_OTHER_VALUE)))
    }))
    .collect()
}

/// Returns the views of the changes. Of several changes whose undo deletes the memory, only the last offers it.
fn step_views(request: &WebRequest, history: &MemoryHistory) -> Vec<StepView> {
    let mut is_deletion_offered = false;
    let mut views = Vec::with_capacity(history.steps.len());
    for step in &history.steps {
        let mut view = StepView::new(request, step);
        if step.is_creation && view.undo.button().is_some() && std::mem::replace(&mut is_deletion_offered, true) {
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
            by: Label::cut(if operation.by.is_empty() { "unknown" } else { &operation.by }, 60),
            at: TimeLabel::exact(request.local(operation.at)),
            operation: operation.id.to_string(),
            why: step.why.as_deref().map(Label::new),
            attributes: versions.map(|(before, after)| changed_attributes(before, after)).unwrap_or_default(),
            diff: versions
                .filter(|(before, after)| before.content != after.content)
                .map(|(before, after)| render_diff(&before.content, &after.content)),
            is_edited_after: step.is_edited_after,
            restorable: step.trash.clone().filter(|_| undo.refusal().is_some()),
            undo,
        }
    }
}

impl RecallView {
    /// Returns the view of a recall of the memory `id`. `former` is the version at that time, if its text was changed since.
    fn new(request: &WebRequest, recall: &RecallRecord, id: &str, former: Option<&Memory>) -> Self {
        let place = recall.memories.iter().position(|memory| memory.id == id);
        let parts = place.map_or(&[][..], |place| recall.memories[place].parts.as_slice());
        let day = recall.at.format("%Y-%m-%d").to_string();
        let of_session = match &recall.session {
            Some(session) => ("session", session.as_str()),
            None => ("day", day.as_str()),
        };
        Self {
            at: TimeLabel::exact(request.local(recall.at)),
            agent: Label::cut(if recall.agent.is_empty() { "unnamed agent" } else { &recall.agent }, 60),
            tool: Label::cut(&recall.tool, 60),
            query: recall.query.as_deref().map(|query| Label::cut(query, 300)),
            rank: place.map_or(0, |place| place + 1),
            count: recall.memories.len(),
            reasons: describe_parts(parts),
            session: format!("/sessions/show?{}", encode_pairs([("agent", recall.agent.as_str()), of_session])),
            former_text: former.map(|former| SafeHtml::from_text(&former.content)),
        }
    }
}

async fn change_tags(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (add, remove) = (parse_tags(request.form.get("add")), request.form.all("remove").collect::<Tags>());
            let before = request.services.store.get_by(&id)?;
            let stored = tag(&request.services, &id, add, remove)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

/// Parses tags that are separated by commas or line breaks.
pub(super) fn parse_tags(text: &str) -> Tags {
    text.split([',', '\n']).map(|tag| tag.trim().trim_start_matches('#')).filter(|tag| !tag.is_empty()).collect()
}

async fn change_category(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let patch = Patch { category: Some(request.form.get("category").parse()?), ..Patch::default() };
            let before = request.services.store.get_by(&id)?;
            let stored = update(&request.services, &id, &patch, None, SecretPolicy::Keep)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

async fn change_pin(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let before = request.services.store.get_by(&id)?;
            let change = if request.form.get("pinned") == "yes" { pin } else { unpin };
            let stored = change(&request.services, &id)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

/// Redirects to the page of a memory, and offers to undo the change if there was one.
pub(super) fn redirect_to(request: &WebRequest, before: &StoredMemory, after: &StoredMemory) -> Response {
    let path = memory_path(&after.memory);
    if before.stamp == after.stamp { request.redirect_after(&path, &[]) } else { request.redirect(&path) }
}

async fn delete_memory(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            delete(&request.services, &id)?;
            let next = request.form.text("next").unwrap_or("/memories");
            Ok(request.redirect(next))
        })
        .await
}

async fn restore_version(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let trash = request.form.text("trash").ok_or_else(|| PageError::invalid("no version is given"))?;
            restore(&request.services, trash)?;
            let page = format!("/memories/{}", encode(&id));
            Ok(request.redirect(request.form.text("next").unwrap_or(&page)))
        })
        .await
}
