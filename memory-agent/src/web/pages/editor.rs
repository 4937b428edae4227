//! The fields of a memory in a form, for a new memory and for one that exists.

use chrono::{DateTime, Days, TimeDelta, Utc};
use memory_core::{
    Category, ContentHash, Draft, FileVersion, Memory, Patch, Phase, Query, Scope, StoredMemory,
    Tags, facets, parse_day, resolve_wikilink,
};

use super::inbox_item::find_suggestion;
use super::memory::parse_tags;
use crate::web::card::describe_readers;
use crate::web::error::PageError;
use crate::web::fields::Fields;
use crate::web::html::{Label, SafeHtml};
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;

/// The fields of the form, as the person sees and edits them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EditedFields {
    pub(super) title: String,
    pub(super) content: String,
    /// Empty if the text decides.
    pub(super) category: String,
    pub(super) tags: String,
    pub(super) scope: String,
    /// The last day on which agents receive the memory, such as `2026-05-31`; empty if it does not expire.
    pub(super) last_day: String,
    pub(super) is_pinned: bool,
}

/// The editor, for the template `editor.html`.
pub(super) struct Editor {
    pub(super) fields: EditedFields,
    pub(super) categories: Vec<Category>,
    /// The choices of readers: value and description.
    pub(super) readers: Vec<(String, String)>,
    pub(super) preview: Option<SafeHtml>,
    pub(super) is_new: bool,
}

impl EditedFields {
    pub(super) fn of(request: &WebRequest, memory: &Memory) -> Self {
        let category = if memory.phase == Phase::Inbox {
            Category::Inbox
        } else {
            memory.category
        };
        let last_day = memory.expires_at.map(|end| {
            request
                .local(end - TimeDelta::nanoseconds(1))
                .format("%Y-%m-%d")
                .to_string()
        });
        Self {
            title: memory.title.clone().unwrap_or_default(),
            content: memory.content.clone(),
            category: category.to_string(),
            tags: memory.tags.as_slice().join(", "),
            scope: memory.scope.to_string(),
            last_day: last_day.unwrap_or_default(),
            is_pinned: memory.pinned,
        }
    }

    /// Returns the fields of a sent form. A browser sends each line break as CR LF.
    pub(super) fn from_form(form: &Fields) -> Self {
        let project = form.text("project").map(|name| format!("project:{name}"));
        Self {
            title: form.get("title").trim().to_owned(),
            content: form.get("content").replace("\r\n", "\n"),
            category: form.get("category").to_owned(),
            tags: form.get("tags").to_owned(),
            scope: project.unwrap_or_else(|| form.get("scope").to_owned()),
            last_day: form.get("last-day").trim().to_owned(),
            is_pinned: form.text("pinned").is_some(),
        }
    }

    /// Returns the patch that changes `memory` to these fields. Fields that are the same are left out.
    pub(super) fn patch(&self, request: &WebRequest, memory: &Memory) -> Result<Patch, PageError> {
        self.check_text()?;
        let tags = parse_tags(&self.tags);
        let category: Category = self.category.parse()?;
        let scope = self.scope()?;
        let shown = Self::of(request, memory);
        let title = Some(self.title.clone()).filter(|title| !title.is_empty());
        let expires_at = (self.last_day != shown.last_day)
            .then(|| self.expires_at(request))
            .transpose()?;
        Ok(Patch {
            content: new_content(&memory.content, &self.content),
            title: Some(title).filter(|title| *title != memory.title),
            category: Some(category).filter(|category| category.as_str() != shown.category),
            scope: Some(scope).filter(|scope| *scope != memory.scope),
            remove_tags: memory
                .tags
                .iter()
                .map(String::as_str)
                .filter(|tag| !tags.contains(tag))
                .collect::<Tags>(),
            add_tags: tags,
            expires_at,
            pinned: Some(self.is_pinned).filter(|is_pinned| *is_pinned != memory.pinned),
            ..Patch::default()
        })
    }

    /// Returns the draft of a new memory with these fields. Without a category, its text decides.
    pub(super) fn draft(&self, request: &WebRequest) -> Result<Draft, PageError> {
        self.check_text()?;
        let draft = Draft {
            title: Some(self.title.clone()).filter(|title| !title.is_empty()),
            tags: parse_tags(&self.tags),
            scope: self.scope()?,
            expires_at: self.expires_at(request)?,
            pinned: self.is_pinned,
            ..Draft::new(&self.content)
        };
        let category = match self.category.as_str() {
            "" => {
                let memory = self.unsaved(request).memory;
                find_suggestion(
                    request
                        .web
                        .config
                        .host
                        .planner(request.services.clone())
                        .as_ref(),
                    &memory,
                )
            }
            name => Some(name.parse()?),
        };
        Ok(Draft {
            category: category.filter(|category| *category != Category::Inbox),
            ..draft
        })
    }

    fn check_text(&self) -> Result<(), PageError> {
        if self.content.trim().is_empty() {
            return Err(PageError::of_field("content", "the text is empty"));
        }
        Ok(())
    }

    fn scope(&self) -> Result<Scope, PageError> {
        self.scope
            .parse()
            .map_err(|error| PageError::of_field("scope", error))
    }

    /// Returns the time from which agents no longer receive the memory.
    fn expires_at(&self, request: &WebRequest) -> Result<Option<DateTime<Utc>>, PageError> {
        if self.last_day.is_empty() {
            return Ok(None);
        }
        let invalid = || PageError::of_field("last-day", "this is not a day such as 2026-05-31");
        let day = parse_day(&self.last_day).ok_or_else(invalid)?;
        let end = request
            .zone()
            .start_of_day(day.checked_add_days(Days::new(1)).ok_or_else(invalid)?);
        if end <= request.services.clock.now() {
            return Err(PageError::of_field("last-day", "this day is past"));
        }
        Ok(Some(end))
    }

    /// Returns the fields that differ from the current ones: name, current value and own value.
    pub(super) fn differences(&self, current: &Self) -> Vec<(&'static str, Label, Label)> {
        let pinned = |fields: &Self| if fields.is_pinned { "yes" } else { "no" }.to_owned();
        let rows = [
            ("Title", current.title.clone(), self.title.clone()),
            ("Category", current.category.clone(), self.category.clone()),
            ("Tags", current.tags.clone(), self.tags.clone()),
            ("Readers", current.scope.clone(), self.scope.clone()),
            ("Last day", current.last_day.clone(), self.last_day.clone()),
            ("Pinned", pinned(current), pinned(self)),
        ];
        let differing = rows.into_iter().filter(|(_, current, own)| current != own);
        differing
            .map(|(name, current, own)| (name, Label::new(&current), Label::new(&own)))
            .collect()
    }

    /// Returns a memory with the text of the form that is not stored.
    fn unsaved(&self, request: &WebRequest) -> StoredMemory {
        StoredMemory {
            memory: Draft::new(&self.content).into_memory(
                request.services.ids.memory_id(),
                request.services.clock.now(),
            ),
            path: String::new(),
            stamp: FileVersion(ContentHash::of("")),
            problem: None,
            other_fields: Vec::new(),
        }
    }
}

/// Returns the content to store for the text of the form, or `None` if the person did not change it.
///
/// The line endings of the file are those of its owner, so a text with CR LF receives them again.
pub(super) fn new_content(old: &str, edited: &str) -> Option<String> {
    let uses_crlf = old.contains("\r\n");
    if old.replace("\r\n", "\n") == edited {
        return None;
    }
    Some(if uses_crlf {
        edited.replace('\n', "\r\n")
    } else {
        edited.to_owned()
    })
}

impl Editor {
    /// Returns the editor of `stored`, or of a new memory. It has a preview if the form asks for one.
    pub(super) fn new(
        request: &WebRequest,
        fields: EditedFields,
        stored: Option<&StoredMemory>,
    ) -> Result<Self, PageError> {
        let scope = fields.scope.parse().unwrap_or(Scope::Global);
        let mut scopes = vec![Scope::Global, scope];
        scopes.extend(
            facets(&request.services, &Query::new(""))?
                .scopes
                .into_iter()
                .map(|(scope, _)| scope),
        );
        scopes.sort_by_key(|scope| (*scope != Scope::Global, scope.to_string()));
        scopes.dedup();
        let may_remind = stored.is_some_and(|stored| stored.memory.category == Category::Reminders);
        let preview = request.form.text("preview").map(|_| {
            let unsaved = fields.unsaved(request);
            let from = stored.unwrap_or(&unsaved);
            render_markdown(&fields.content, &|target| {
                let id = resolve_wikilink(request.services.store.as_ref(), target, from).ok()??;
                Some(format!("/memories/{id}"))
            })
        });
        Ok(Self {
            preview,
            readers: scopes
                .iter()
                .map(|scope| (scope.to_string(), describe_readers(scope)))
                .collect(),
            categories: Category::ALL
                .into_iter()
                .filter(|category| *category != Category::Reminders || may_remind)
                .collect(),
            is_new: stored.is_none(),
            fields,
        })
    }

    /// Returns whether a field besides the title and the text has a value of its own.
    pub(super) fn has_options(&self) -> bool {
        let fields = &self.fields;
        let usual = EditedFields {
            title: fields.title.clone(),
            content: fields.content.clone(),
            scope: Scope::Global.to_string(),
            ..EditedFields::default()
        };
        *fields != usual
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_endings_of_the_file_are_restored() {
        assert_eq!(new_content("a\r\nb", "a\nb"), None);
        assert_eq!(
            new_content("a\r\nb", "a\nc\n").as_deref(),
            Some("a\r\nc\r\n")
        );
        assert_eq!(new_content("a\nb", "a\nc").as_deref(), Some("a\nc"));
    }

    proptest! {
        #[test]
        fn an_unchanged_text_is_not_rewritten(text in "[a\r\n]{0,12}") {
            let sent = text.replace("\r\n", "\n");
            prop_assert_eq!(new_content(&text, &sent), None);
        }
    }
}
