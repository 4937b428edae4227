//! In-memory topics.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, NaiveDate, Utc};

use super::fake_log::FakeLog;
use crate::secret::Checked;
use crate::topic::{
    INDEX_FILE, PathEntry, Topic, TopicChange, TopicChangeResult, TopicDraft, TopicError,
    TopicIndex, TopicKind, TopicListing, TopicName, TopicPath, TopicRecord, TopicStore,
    TopicSubject, TopicText, TopicUsage, TopicUsages, TrashedTopic, index_text,
};
use crate::{Operation, OperationId};

/// Files with their texts; `None` for a file that does not exist.
type TopicFiles = Vec<(TopicPath, Option<String>)>;

/// An in-memory [`TopicStore`]. Of YAML it supports only `key: value`.
#[derive(Debug, Default)]
pub struct FakeTopics {
    state: Mutex<FakeTopicState>,
}

#[derive(Debug, Default)]
struct FakeTopicState {
    files: BTreeMap<TopicPath, String>,
    index: Option<TopicIndex>,
    uses: TopicUsages,
    log: FakeLog<TopicSubject, TopicFiles>,
}

impl FakeTopics {
    fn state(&self) -> MutexGuard<'_, FakeTopicState> {
        self.state
            .lock()
            .expect("no test panics while it holds the topics")
    }
}

impl FakeTopicState {
    fn listing(&self) -> TopicListing {
        let topic = |(path, text): (&TopicPath, &String)| {
            TopicName::from_path(path).map(|name| parse_topic(name, text))
        };
        TopicListing {
            topics: self.files.iter().filter_map(topic).collect(),
            misnamed: Vec::new(),
        }
    }

    fn text(&self, path: &TopicPath) -> Option<TopicText> {
        let text = if path.is_index() {
            self.index.clone()?.text
        } else {
            self.files.get(path)?.clone()
        };
        let topic = TopicName::from_path(path).map(|name| parse_topic(name, &text));
        Some(TopicText {
            path: path.clone(),
            text,
            topic,
        })
    }

    /// Replaces, adds or removes files, and updates the index. Returns the former and the new files.
    fn put(&mut self, files: TopicFiles) -> (TopicFiles, TopicFiles) {
        let mut former = Vec::new();
        for (path, after) in &files {
            former.push((path.clone(), self.files.remove(path)));
            if let Some(after) = after {
                self.files.insert(path.clone(), after.clone());
            }
        }
        self.index = Some(index_text(
            &self.listing().topics,
            &self.uses,
            self.index.as_ref(),
        ));
        (former, files)
    }

    fn record_change(&mut self, operation: &Operation, files: TopicFiles) {
        let names = files.iter().map(|(path, _)| path.to_string()).collect();
        let change = self.put(files);
        self.log
            .record(operation, TopicSubject { files: names }, change);
    }
}

impl TopicStore for FakeTopics {
    fn location(&self) -> String {
        "memory".into()
    }

    fn topics(&self) -> Result<TopicListing, TopicError> {
        Ok(self.state().listing())
    }

    fn text(&self, path: &TopicPath) -> Result<Option<TopicText>, TopicError> {
        Ok(self.state().text(path))
    }

    fn entries(&self, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError> {
        let state = self.state();
        let mut found: BTreeMap<TopicPath, PathEntry> = BTreeMap::new();
        let index = state
            .index
            .as_ref()
            .map(|index| (INDEX_FILE.parse().expect("a path"), index.text.clone()));
        let files = state
            .files
            .iter()
            .map(|(path, text)| (path.clone(), text.clone()))
            .chain(index);
        for (path, text) in files
            .filter(|(path, _)| folder.is_none_or(|folder| folder != path && folder.contains(path)))
        {
            let size = text.len() as u64;
            found.insert(
                path.clone(),
                PathEntry {
                    path: path.clone(),
                    size,
                    is_folder: false,
                },
            );
            let mut parent = path.parent();
            while let Some(path) = parent.filter(|parent| folder != Some(parent)) {
                parent = path.parent();
                found
                    .entry(path.clone())
                    .or_insert(PathEntry {
                        path,
                        size: 0,
                        is_folder: true,
                    })
                    .size += size;
            }
        }
        Ok((folder.is_none() || !found.is_empty()).then(|| found.into_values().collect()))
    }

    fn index(&self) -> Result<Option<TopicIndex>, TopicError> {
        Ok(self.state().index.clone())
    }

    fn usages(&self) -> TopicUsages {
        self.state().uses.clone()
    }

    fn count_use(&self, name: &TopicName, at: DateTime<Utc>) {
        let mut state = self.state();
        let used = state
            .uses
            .entry(name.to_string())
            .or_insert(TopicUsage { count: 0, last: at });
        *used = TopicUsage {
            count: used.count + 1,
            last: at,
        };
    }

    fn change(
        &self,
        path: &TopicPath,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&TopicText>) -> Result<TopicChange, TopicError>,
    ) -> Result<TopicChangeResult, TopicError> {
        let mut state = self.state();
        let former = state.text(path);
        let change = decide(former.as_ref())?;
        let same = state.files.keys().find(|own| {
            *own != path && own.as_str().to_lowercase() == path.as_str().to_lowercase()
        });
        if let (None, Some(other)) = (&former, same) {
            return Err(TopicError::Taken {
                name: path.to_string(),
                other: Some(other.to_string()),
            });
        }
        let day = operation.at.date_naive();
        let next = match change {
            TopicChange::Keep => return Ok(TopicChangeResult::No),
            TopicChange::Remove => None,
            TopicChange::Text(text) => Some(text.into_inner()),
            TopicChange::Revised(text) => Some(set_date(&text, day)),
            TopicChange::Topic(draft) => Some(render_topic(former.as_ref(), &draft, day)),
        };
        if next == former.map(|former| former.text) {
            return Ok(TopicChangeResult::No);
        }
        state.record_change(operation, vec![(path.clone(), next)]);
        Ok(TopicChangeResult::Yes { stale_index: None })
    }

    fn relocate(
        &self,
        from: &TopicPath,
        to: Option<Checked<&TopicPath>>,
        operation: &Operation,
    ) -> Result<(), TopicError> {
        let to = to.map(Checked::into_inner);
        let mut state = self.state();
        let moved: Vec<(TopicPath, String)> = state
            .files
            .iter()
            .filter(|(path, _)| from.contains(path))
            .map(|(path, text)| (path.clone(), text.clone()))
            .collect();
        if moved.is_empty() {
            return Err(TopicError::not_found(from.as_str()));
        }
        if let Some(to) = to.filter(|to| {
            state
                .files
                .keys()
                .any(|path| to.contains(path) || path.contains(to))
        }) {
            return Err(TopicError::Taken {
                name: to.to_string(),
                other: None,
            });
        }
        let mut files = Vec::new();
        for (path, text) in moved {
            if let Some(to) = to {
                let place = format!("{to}{}", &path.as_str()[from.as_str().len()..]).parse()?;
                files.push((place, Some(text)));
            }
            files.push((path, None));
        }
        state.record_change(operation, files);
        Ok(())
    }

    fn rebuild(&self, _: &Operation) -> Result<TopicChangeResult, TopicError> {
        let mut state = self.state();
        let next = Some(index_text(
            &state.listing().topics,
            &state.uses,
            state.index.as_ref(),
        ));
        if next == state.index {
            return Ok(TopicChangeResult::No);
        }
        state.index = next;
        Ok(TopicChangeResult::Yes { stale_index: None })
    }

    fn record_external_changes(
        &self,
        _: &mut dyn FnMut() -> Operation,
    ) -> Result<bool, TopicError> {
        Ok(false)
    }

    fn history(&self) -> Result<Vec<TopicRecord>, TopicError> {
        Ok(self.state().log.records())
    }

    fn trashed(&self) -> Result<Vec<TrashedTopic>, TopicError> {
        let state = self.state();
        let mut trashed = Vec::new();
        for (record, before, _) in state.log.entries().iter().rev() {
            let operation = &record.operation;
            trashed.extend(before.iter().filter_map(|(path, text)| {
                Some(TrashedTopic {
                    path: path.to_string(),
                    trash: format!("{}/{path}", operation.id),
                    size: text.as_ref()?.len() as u64,
                    operation: operation.clone(),
                })
            }));
        }
        Ok(trashed)
    }

    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<TopicRecord, TopicError> {
        let mut state = self.state();
        let (record, before, after) = state.log.open(undone)?;
        let mut changed = after
            .iter()
            .filter(|(path, after)| state.files.get(path) != after.as_ref());
        if let Some((path, _)) = changed.next() {
            return Err(TopicError::ChangedSince {
                name: path.to_string(),
            });
        }
        let change = state.put(before);
        state.log.record_undo(&record, operation, change);
        Ok(record)
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), TopicError> {
        Ok(self.state().log.purge(before))
    }
}

fn split_header(text: &str) -> Option<(Vec<(&str, &str)>, &str)> {
    let (header, body) = text.strip_prefix("---\n")?.split_once("---\n")?;
    Some((
        header
            .lines()
            .filter_map(|line| line.split_once(": "))
            .collect(),
        body,
    ))
}

fn parse_topic(name: TopicName, text: &str) -> Topic {
    let (header, _) = split_header(text).unwrap_or_default();
    let value = |key: &str| {
        header
            .iter()
            .find(|(own, _)| *own == key)
            .map(|(_, value)| (*value).to_owned())
    };
    let title = value("name").unwrap_or_else(|| name.stem().to_owned());
    Topic {
        description: value("description").unwrap_or_else(|| name.stem().to_owned()),
        title,
        kind: value("type").map_or(TopicKind::Other, |kind| TopicKind::from_file_value(&kind)),
        said_kind: value("type"),
        updated: value("updated").and_then(|day| day.parse().ok()),
        size: text.len() as u64,
        problem: None,
        is_unreadable: false,
        name,
    }
}

fn render_topic(former: Option<&TopicText>, draft: &TopicDraft, day: NaiveDate) -> String {
    let said = former.and_then(|former| former.topic.as_ref()?.said_kind.clone());
    let kind = draft
        .kind
        .map(|kind| kind.as_str().to_owned())
        .or(said)
        .unwrap_or_else(|| "other".to_owned());
    let kept = || Some(split_header(&former?.text)?.1.trim_matches('\n').to_owned());
    let content = draft.content.clone().or_else(kept).unwrap_or_default();
    format!(
        "---\nname: {}\ndescription: {}\ntype: {kind}\nupdated: {day}\n---\n\n{content}\n",
        draft.title, draft.description
    )
}

fn set_date(text: &str, day: NaiveDate) -> String {
    let redated = |line: &str| {
        if line.starts_with("updated: ") {
            format!("updated: {day}\n")
        } else {
            line.to_owned()
        }
    };
    text.split_inclusive('\n').map(redated).collect()
}
