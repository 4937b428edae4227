//! The memories of Codex.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::{Category, Scope, Source, SourceError, SourceItem};
use regex::Regex;

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};
use crate::record_note::RecordNote;
use crate::source_text::SourceText;

/// The folder of the memories in the folder of the program.
pub(crate) const MEMORIES_FOLDER: &str = "memories";

/// The files that contain memories.
pub(crate) const HANDBOOK: &str = "MEMORY.md";
pub(crate) const SUMMARY: &str = "memory_summary.md";
const SKILLS_FOLDER: &str = "skills";
const SKILL: &str = "SKILL.md";

/// The summaries of sessions. The program merges them into the handbook.
const SESSIONS_FOLDER: &str = "rollout_summaries";

/// The memories of Codex: the sections of its handbook and of its summary, and its skills.
///
/// The handbook has groups of tasks; each section of a group is a note, with the project of the group as scope. Raw
/// memories and summaries of sessions are the input of the handbook. The summaries are read only if no handbook exists.
#[derive(Debug)]
pub(crate) struct CodexMemories {
    folder: SourceFolder,
}

impl CodexMemories {
    /// Opens the folder at `path`: `~/.codex`, or the folder of its memories.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let memories = path.join(MEMORIES_FOLDER);
        Ok(Self {
            folder: SourceFolder::open(if memories.is_dir() { &memories } else { path })?,
        })
    }

    fn entries(&self) -> Vec<FolderEntry> {
        let mut entries: Vec<_> = [HANDBOOK, SUMMARY]
            .into_iter()
            .filter_map(|name| self.folder.file(name))
            .collect();
        if self.folder.file(HANDBOOK).is_none() {
            entries.extend(
                self.folder
                    .files(SESSIONS_FOLDER)
                    .into_iter()
                    .filter(|entry| has_extension(&entry.path, &["md"])),
            );
        }
        entries.extend(self.folder.files(SKILLS_FOLDER));
        entries
    }

    fn findings(&self, entry: FolderEntry) -> Vec<SourceItem> {
        let is_skill = entry.path.starts_with(SKILLS_FOLDER);
        if is_skill && !entry.path.ends_with(&format!("/{SKILL}")) && entry.place.is_ok() {
            return vec![SourceItem::Attachment(entry.path)];
        }
        let text = match note::read_text(&entry) {
            Ok(text) => text,
            Err(skipped) => return vec![skipped],
        };
        if text.text.trim().is_empty() {
            return vec![SourceItem::Skipped {
                path: entry.path,
                reason: "is empty".into(),
            }];
        }
        match entry.path.as_str() {
            HANDBOOK => self.handbook_notes(&text),
            SUMMARY => self.summary_notes(&text),
            path => vec![self.file_note(path, &text, is_skill)],
        }
    }

    fn file_note(&self, path: &str, text: &SourceText, is_skill: bool) -> SourceItem {
        let mut note = SourceNote::new(self.name(), self.folder.name(), path, text);
        note.draft.category = is_skill.then_some(Category::Skills);
        if !is_skill {
            let line = |key: &str| {
                text.text
                    .lines()
                    .find_map(|line| line.strip_prefix(key))
                    .map(str::trim)
            };
            let folder = line("cwd:");
            note.draft.scope = folder
                .and_then(project_of)
                .map_or(Scope::Global, Scope::Project);
            note.updated_at = line("updated_at:").and_then(note::parse);
            note.local_times
                .extend(line("updated_at:").and_then(note::day_of));
            return note::in_project(note.into_finding(), folder.map(project_path));
        }
        note.into_finding()
    }

    fn handbook_notes(&self, text: &SourceText) -> Vec<SourceItem> {
        let mut paths = UniquePaths::default();
        let mut items = Vec::new();
        for part in split_at_headings(&text.text, "# ") {
            let Some(group) = part
                .heading
                .and_then(|heading| heading.strip_prefix("Task Group:"))
                .map(str::trim)
            else {
                // Text outside of groups was written by the user.
                items.extend(self.section_note(&paths.add(HANDBOOK), HANDBOOK, part.text, None));
                continue;
            };
            if part.body.trim().is_empty() {
                let path = note::one_line(&format!("{HANDBOOK}/{group}"));
                items.push(SourceItem::Skipped {
                    path,
                    reason: "is empty".into(),
                });
                continue;
            }
            let group_facts = TaskGroup::of(group, part.body);
            let count = items.len();
            for section in split_at_headings(part.body, "## ") {
                let Some(heading) = section
                    .heading
                    .filter(|heading| !heading.starts_with("Task "))
                else {
                    continue;
                };
                let path = paths.add(&format!("{HANDBOOK}/{group}/{heading}"));
                items.extend(self.section_note(&path, heading, section.body, Some(&group_facts)));
            }
            if items.len() == count {
                // A group without a section of its own has only tasks.
                let path = paths.add(&format!("{HANDBOOK}/{group}"));
                items.extend(self.section_note(&path, "tasks", part.body, Some(&group_facts)));
                continue;
            }
            for task in split_at_headings(part.body, "## ") {
                let Some(heading) = task.heading.filter(|heading| heading.starts_with("Task "))
                else {
                    continue;
                };
                let text = task_text(task.body);
                if !text.trim().is_empty() {
                    let path = paths.add(&format!("{HANDBOOK}/{group}/{heading}"));
                    items.extend(self.section_note(&path, heading, &text, Some(&group_facts)));
                }
            }
        }
        add_warning(items, text, HANDBOOK)
    }

    fn summary_notes(&self, text: &SourceText) -> Vec<SourceItem> {
        let mut paths = UniquePaths::default();
        let sections = split_at_headings(&text.text, "## ");
        // The rest of the summary is an index of the handbook.
        let is_content = |heading: &str| {
            !heading.starts_with("What's in Memory") && !heading.starts_with("What’s in Memory")
        };
        let sections = sections
            .into_iter()
            .filter_map(|section| Some((section.heading?, section.body)));
        let items = sections
            .filter(|(heading, _)| is_content(heading))
            .filter_map(|(heading, body)| {
                self.section_note(
                    &paths.add(&format!("{SUMMARY}/{heading}")),
                    heading,
                    body,
                    None,
                )
            });
        let items = items.collect();
        add_warning(items, text, SUMMARY)
    }

    fn section_note(
        &self,
        path: &str,
        heading: &str,
        body: &str,
        group: Option<&TaskGroup>,
    ) -> Option<SourceItem> {
        let body = body.trim();
        if body.is_empty() {
            return None;
        }
        let mut note = RecordNote::new(self.name(), self.folder.name(), path, body);
        let title = group.map_or_else(
            || heading.to_owned(),
            |group| format!("{}: {heading}", group.title),
        );
        note.draft.title = Some(note::one_line(&title));
        note.draft.category = section_category(heading);
        if let Some(group) = group {
            note.draft.scope = group.project.clone().map_or(Scope::Global, Scope::Project);
            note.draft.created_at = group.created_at;
            note.updated_at = group.updated_at;
            note.local_times.clone_from(&group.days);
            for (key, value) in &group.properties {
                note.add_property(key, Some(value));
            }
        }
        let folder = group.and_then(|group| group.folder.clone());
        Some(note::in_project(note.into_item(), folder))
    }
}

impl Source for CodexMemories {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut items: Vec<_> = self
            .entries()
            .into_iter()
            .flat_map(|entry| self.findings(entry))
            .collect();
        items.sort_by(|left, right| item_path(left).cmp(item_path(right)));
        Box::new(items.into_iter())
    }
}

fn item_path(item: &SourceItem) -> &str {
    match item {
        SourceItem::Note(note) => note.draft.origin.as_ref().map_or("", |origin| &origin.path),
        SourceItem::Attachment(path) | SourceItem::Skipped { path, .. } => path,
    }
}

/// Adds the problem of a file to its first note.
fn add_warning(mut items: Vec<SourceItem>, text: &SourceText, path: &str) -> Vec<SourceItem> {
    if let (Some(SourceItem::Note(note)), Some((line, what))) = (items.first_mut(), &text.warning) {
        note.warning = Some(format!("{path}:{line}: {what}"));
    }
    items
}

/// The properties of a group of tasks, which all of its sections share.
struct TaskGroup {
    title: String,
    project: Option<String>,
    folder: Option<PathBuf>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
    /// The days without a time, see [`memory_core::NoteItem::days`].
    days: Vec<DateTime<Utc>>,
    properties: Vec<(&'static str, serde_json::Value)>,
}

impl TaskGroup {
    fn of(title: &str, body: &str) -> Self {
        static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"\b(updated_at|thread_id)=([^,;)\s]+)").expect("the pattern is right")
        });
        let line = |key: &str| {
            body.lines()
                .find_map(|line| line.strip_prefix(key))
                .map(str::trim)
        };
        let applies_to = line("applies_to:");
        let folder = applies_to
            .and_then(|text| text.split_once("cwd="))
            .map(|(_, rest)| rest.split(';').next().unwrap_or_default());
        let (mut times, mut days) = (Vec::new(), Vec::new());
        let (mut threads, mut seen) = (Vec::new(), HashSet::new());
        for reference in REFERENCE.captures_iter(body) {
            let value = reference.get(2).map_or("", |value| value.as_str());
            if &reference[1] == "updated_at" {
                times.extend(note::parse(value));
                days.extend(note::day_of(value));
            } else if seen.insert(value) {
                threads.push(value);
            }
        }
        let sections = split_at_headings(body, "## ");
        let tasks: Vec<_> = sections
            .iter()
            .filter_map(|section| section.heading?.strip_prefix("Task "))
            .collect();
        let keywords: Vec<_> = sections
            .iter()
            .flat_map(|section| keywords(section.body))
            .collect();
        let mut properties: Vec<(_, serde_json::Value)> = Vec::new();
        properties.extend(line("scope:").map(|scope| ("scope", scope.into())));
        properties.extend(applies_to.map(|text| ("applies_to", text.into())));
        for (key, values) in [
            ("tasks", tasks),
            ("keywords", keywords),
            ("threads", threads),
        ] {
            properties.extend((!values.is_empty()).then(|| (key, values.into())));
        }
        Self {
            title: title.to_owned(),
            project: folder.and_then(project_of),
            folder: folder.map(project_path),
            created_at: times.iter().min().copied(),
            updated_at: times.iter().max().copied(),
            days,
            properties,
        }
    }
}

/// Returns the sections of a task that are not properties of its group.
fn task_text(task: &str) -> String {
    let is_property = |part: &MarkdownPart<'_>| {
        matches!(part.heading, Some("keywords" | "rollout_summary_files"))
    };
    split_at_headings(task, "### ")
        .iter()
        .filter(|part| !is_property(part))
        .map(|part| part.text)
        .collect()
}

/// Returns the keywords of a task.
fn keywords(task: &str) -> Vec<&str> {
    let sections = split_at_headings(task, "### ");
    let bodies = sections
        .into_iter()
        .filter(|section| section.heading == Some("keywords"))
        .map(|section| section.body);
    bodies
        .flat_map(|body| body.split([',', '\n']))
        .map(|word| word.trim().trim_start_matches("- ").trim())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the name of the project in the folder that a text names, unless it names several folders or a pattern.
fn project_of(text: &str) -> Option<String> {
    let path = path_of(text);
    let has_drive = path
        .get(1..3)
        .is_some_and(|part| part == ":\\" || part == ":/");
    let is_one =
        !path.contains(['*', ',', '<']) && !path.contains(" and ") && !path.contains(" or ");
    let is_path = path.starts_with('/') || path.starts_with("~/") || has_drive;
    let name = note::one_line(
        path.rsplit(if path.contains('/') { '/' } else { '\\' })
            .next()
            .unwrap_or_default(),
    );
    (is_path && is_one && !name.is_empty()).then_some(name)
}

/// Returns the folder that a text names.
fn project_path(text: &str) -> PathBuf {
    path_of(text).into()
}

fn path_of(text: &str) -> &str {
    text.split(" (")
        .next()
        .unwrap_or_default()
        .trim()
        .trim_matches('`')
        .trim_end_matches(['/', '\\'])
}

fn section_category(heading: &str) -> Option<Category> {
    let heading = heading.to_lowercase();
    let categories = [
        ("user preferences", Category::Preferences),
        ("reusable knowledge", Category::Knowledge),
        ("failures", Category::Lessons),
        ("general tips", Category::Lessons),
    ];
    categories
        .into_iter()
        .find(|(start, _)| heading.starts_with(start))
        .map(|(_, category)| category)
}

/// A part of a Markdown text: a heading of one level, and the text up to the next heading of this level.
struct MarkdownPart<'a> {
    /// The heading; `None` for the text before the first heading.
    heading: Option<&'a str>,
    /// The text after the heading.
    body: &'a str,
    /// The whole part.
    text: &'a str,
}

/// Splits a text at the lines that start with `mark`, except those in blocks of code.
fn split_at_headings<'a>(text: &'a str, mark: &str) -> Vec<MarkdownPart<'a>> {
    let mut starts = vec![0];
    let (mut at, mut is_code) = (0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if line.starts_with(mark) && !is_code && at != 0 {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let part = |(start, end): (usize, usize)| {
        let part = &text[start..end];
        let (first, rest) = part.split_once('\n').unwrap_or((part, ""));
        match first.strip_prefix(mark) {
            Some(heading) => MarkdownPart {
                heading: Some(heading.trim()),
                body: rest,
                text: part,
            },
            None => MarkdownPart {
                heading: None,
                body: part,
                text: part,
            },
        }
    };
    starts.iter().copied().zip(ends).map(part).collect()
}

/// The paths that are taken. A path that occurs again gets a number.
#[derive(Default)]
struct UniquePaths(HashMap<String, u64>);

impl UniquePaths {
    fn add(&mut self, path: &str) -> String {
        let path = note::one_line(path);
        let mut unique = path.clone();
        // The last number of each path is stored, so that many equal headings take linear time.
        while self.0.contains_key(&unique) {
            let number = self.0.entry(path.clone()).or_insert(1);
            *number += 1;
            unique = format!("{path} ({number})");
        }
        self.0.insert(unique.clone(), 1);
        unique
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{project_of, split_at_headings};

    #[test]
    fn a_project_is_one_folder() {
        let name = |text| project_of(text);
        assert_eq!(name("/home/me/dev/shop/").as_deref(), Some("shop"));
        assert_eq!(
            name(" `/home/me/My Shop` (worktree)").as_deref(),
            Some("My Shop")
        );
        assert_eq!(name("C:\\dev\\商店").as_deref(), Some("商店"));
        for text in [
            "",
            "/",
            "any checkout",
            "/a/*",
            "/a and /b",
            "/a, /b",
            "<path>",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn headings_in_code_do_not_split_a_text() {
        let parts = split_at_headings("intro\n# A\n```\n# no\n```\n## b\n# C", "# ");
        let headings: Vec<_> = parts.iter().map(|part| part.heading).collect();
        assert_eq!(headings, [None, Some("A"), Some("C")]);
    }

    proptest! {
        #[test]
        fn a_split_loses_no_text(text in "([a-c#]|# |\n|```|键){0,30}") {
            let parts = split_at_headings(&text, "# ");
            prop_assert_eq!(parts.iter().map(|part| part.text).collect::<String>(), text);
        }
    }
}
