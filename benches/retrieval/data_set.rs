//! Loading of data sets: conversations and the questions about them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use memory_core::SpeakerRole;
use memory_core::rank::CollectionKind;
use serde_json::Value;

use crate::Outcome;

const CORPUS_SUFFIX: &str = ".corpus.jsonl";

/// A data set of conversations and questions.
pub(crate) struct DataSet {
    /// The prefix of its file names.
    pub(crate) name: String,
    pub(crate) turns: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    /// The questions of the category `adversarial`, which have no answer.
    ///
    /// No figure includes them; they calibrate the relevance.
    pub(crate) unanswerable: Vec<Value>,
}

impl DataSet {
    /// Reads all data sets of a folder, sorted by name.
    pub(crate) fn read_all(folder: &Path) -> Outcome<Vec<Self>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.extend(
                entry?
                    .file_name()
                    .to_string_lossy()
                    .strip_suffix(CORPUS_SUFFIX)
                    .map(str::to_owned),
            );
        }
        names.sort();
        if names.is_empty() {
            return Err(format!("{} contains no *{CORPUS_SUFFIX} file", folder.display()).into());
        }
        names
            .into_iter()
            .map(|name| Self::read(folder, name))
            .collect()
    }

    fn read(folder: &Path, name: String) -> Outcome<Self> {
        let lines = |suffix: &str| -> Outcome<Vec<Value>> {
            let path = folder.join(format!("{name}{suffix}"));
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(text
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?)
        };
        let (turns, mut questions) = (lines(CORPUS_SUFFIX)?, lines(".questions.jsonl")?);
        questions.retain(|question| !text_field(question, "id").is_empty());
        let (unanswerable, questions) = questions
            .into_iter()
            .partition(|question| question["category"] == "adversarial");
        Ok(Self {
            name,
            turns,
            questions,
            unanswerable,
        })
    }

    /// Returns the indices of the turns that are hidden from a question.
    ///
    /// These are the turns of its conversation from `before` on; without `before`, no turn is hidden.
    pub(crate) fn hidden_turns(&self, question: &Value) -> HashSet<usize> {
        let before = text_field(question, "before");
        let conversation = text_field(question, "conversation");
        let of = |turn: &&Value| text_field(turn, "conversation") == conversation;
        let mut later = self
            .turns
            .iter()
            .enumerate()
            .skip_while(|(_, turn)| before.is_empty() || text_field(turn, "id") != before);
        later
            .by_ref()
            .filter(|(_, turn)| of(turn))
            .map(|(number, _)| number)
            .collect()
    }

    /// Returns the kind of the data set, which is that of its first turn; a turn without a speaker is a note.
    pub(crate) fn shape(&self) -> CollectionKind {
        let speaker = self
            .turns
            .first()
            .map_or("", |turn| text_field(turn, "speaker"));
        CollectionKind::of(SpeakerRole::from_source(speaker), !speaker.is_empty())
    }

    /// Divides each sum by the number of questions.
    pub(crate) fn mean(&self, sums: Vec<f64>) -> Vec<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "there are hundreds of questions"
        )]
        let count = self.questions.len() as f64;
        sums.into_iter().map(|sum| sum / count).collect()
    }

    pub(crate) fn conversations(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.turns
            .iter()
            .map(|turn| text_field(turn, "conversation"))
            .filter(|conversation| seen.insert(*conversation))
            .collect()
    }
}

pub(crate) fn text_field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn text_list<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value[key]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
