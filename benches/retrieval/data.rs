//! The conversations, and what is asked of them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Outcome;

/// The conversations and what is asked of them.
pub(crate) struct Data {
    pub(crate) turns: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    /// Those that have no answer: no figure counts them, but they tell what a score means.
    pub(crate) unanswerable: Vec<Value>,
}

impl Data {
    pub(crate) fn read(folder: &Path) -> Outcome<Self> {
        let (mut turns, mut questions) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.to_string_lossy().into_owned();
            let lines = |path: &Path| -> Outcome<Vec<Value>> {
                Ok(fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
            };
            if name.ends_with(".corpus.jsonl") {
                turns.extend(lines(&path)?);
            } else if name.ends_with(".questions.jsonl") {
                questions.extend(lines(&path)?);
            }
        }
        questions.retain(|question| !text(question, "id").is_empty());
        let (unanswerable, questions): (Vec<_>, Vec<_>) =
            questions.into_iter().partition(|question| question["category"] == "adversarial");
        if turns.is_empty() || questions.is_empty() {
            return Err(format!("{} holds no *.corpus.jsonl and *.questions.jsonl", folder.display()).into());
        }
        Ok(Self { turns, questions, unanswerable })
    }

    pub(crate) fn conversations(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.turns.iter().map(|turn| text(turn, "conversation")).filter(|conversation| seen.insert(*conversation)).collect()
    }
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
