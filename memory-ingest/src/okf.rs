//! Bundles of the Open Knowledge Format, versions 0.1 and 0.2.

use std::path::Path;

use memory_core::{Phase, Source, SourceError, SourceItem, SpeakerRole, front_matter};

use crate::folder::has_extension;
use crate::front_matter::split_front_matter;
use crate::markdown_links::file_target;
use crate::note::{self, SourceNote};
use crate::own_fields;
use crate::program_folder::sample_texts;
use crate::record::map_category;
use crate::text_files::{TextFile, TextFiles};
use crate::yaml::Yaml;

/// The name of the source.
pub(crate) const NAME: &str = "okf";

/// The names of files that are derived from the concepts: lists of files and histories.
const RESERVED_NAMES: [&str; 2] = ["index.md", "log.md"];

/// The file by which a bundle is recognized, and the key in it.
const ROOT_INDEX: &str = "index.md";
const VERSION_KEY: &str = "okf_version";

/// A bundle of the Open Knowledge Format: every Markdown file is a concept, except those with reserved names.
#[derive(Debug)]
pub struct Okf {
    files: TextFiles,
}

impl Okf {
    /// Opens the bundle at `path`: a folder or a ZIP archive.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            files: TextFiles::open(path)?,
        })
    }

    /// Returns whether the index at the root of `path` states the version of the format.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let Ok(files) = TextFiles::open(path) else {
            return false;
        };
        let index = files
            .file(ROOT_INDEX)
            .and_then(|file| file.read_text().ok());
        index.is_some_and(|text| front_matter_names(&text.text, VERSION_KEY))
    }

    /// Returns whether the Markdown files of a folder or archive are concepts, which all have a type. A bundle need not state its version.
    ///
    /// The folder of a program for notes is none.
    pub(crate) fn has_concepts(path: &Path) -> bool {
        let is_concept_file = |path: &str| {
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            has_extension(name, &["md"]) && !RESERVED_NAMES.contains(&name)
        };
        let is_concept = |text: &String| {
            let fields = split_front_matter(text).fields.unwrap_or_default();
            let kind = fields.iter().find(|(key, _)| key == "type");
            kind.and_then(|(_, value)| value.scalar())
                .is_some_and(|kind| !kind.trim().is_empty())
        };
        let texts = sample_texts(path, &is_concept_file);
        !texts.is_empty() && texts.iter().all(is_concept)
    }

    fn finding(&self, file: TextFile<'_>) -> SourceItem {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if !has_extension(name, &["md"]) || RESERVED_NAMES.contains(&name) {
            return file.into_attachment();
        }
        let mut note = match file.into_note(self.name(), self.files.root()) {
            Ok(note) => note,
            Err(skipped) => return skipped,
        };
        note.uncounted_links.extend(concept_links(&note));
        let text_of = |path: &[&str]| nested_text(&note, path);
        let generated_at = text_of(&["generated", "at"])
            .or_else(|| text_of(&["timestamp"]))
            .and_then(note::parse);
        let role = text_of(&["generated", "by"]).and_then(actor_role);
        let expires_at = text_of(&["stale_after"]).and_then(note::parse);
        let is_deprecated =
            text_of(&["status"]).is_some_and(|status| status.eq_ignore_ascii_case("deprecated"));
        let is_ours = note.field(own_fields::KEY).is_some();
        let description = text_of(&["description"])
            .filter(|_| !is_ours)
            .map(str::to_owned);
        let category = text_of(&["type"]).and_then(map_category);
        note.updated_at = generated_at.or(note.updated_at);
        let draft = &mut note.draft;
        (draft.role, draft.expires_at, draft.category) = (role, expires_at, category);
        draft.phase = Some(Phase::Inbox);
        if is_deprecated && !is_ours {
            draft.tags = draft
                .tags
                .iter()
                .cloned()
                .chain(["deprecated".to_owned()])
                .collect();
        }
        if let Some(description) = description.filter(|_| draft.content.trim().is_empty()) {
            draft.content = description;
        }
        note.into_finding()
    }
}

impl Source for Okf {
    fn name(&self) -> &'static str {
        NAME
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(
            self.files
                .files()
                .into_iter()
                .map(|file| self.finding(file)),
        )
    }
}

/// Returns whether the front matter of a text has a line for `key`.
fn front_matter_names(text: &str, key: &str) -> bool {
    front_matter::split(text).front.is_some_and(|front| {
        front.yaml.lines().any(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    })
}

/// Returns the text at a path of keys in the front matter.
fn nested_text<'a>(note: &'a SourceNote, path: &[&str]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(note.field(first)?, |value, key| value.get(key))?
        .scalar()
}

/// Returns the role of the actor in `generated.by`.
fn actor_role(actor: &str) -> Option<SpeakerRole> {
    match actor.split_once(':') {
        Some(("human", _)) => Some(SpeakerRole::Person),
        Some(("process", _)) => Some(SpeakerRole::Tool),
        Some(_) => None,
        // An agent is written as its name and its version.
        None => actor.contains('/').then_some(SpeakerRole::Assistant),
    }
}

/// Returns the concepts that the front matter refers to: its sources, the parts of a computation, and relationships.
///
/// Sources may also be descriptions or files elsewhere, so these links are not counted.
fn concept_links(note: &SourceNote) -> Vec<String> {
    let items = |value: &Yaml| match value {
        Yaml::List(items) => items.clone(),
        single => vec![single.clone()],
    };
    let parts = ["sources", "executor", "attester", "relationships"]
        .into_iter()
        .filter_map(|key| note.field(key))
        .flat_map(items);
    let addresses = parts.filter_map(|part| {
        let address = part.get("resource").or_else(|| part.get("target"))?;
        address.scalar().map(str::to_owned)
    });
    let computation = note
        .field("computation")
        .and_then(Yaml::scalar)
        .map(str::to_owned);
    // Paths without `./` are relative to the bundle.
    let target = |address: String| {
        file_target(&address).map(|target| {
            if address.starts_with('.') {
                target
            } else {
                target.trim_start_matches("./").to_owned()
            }
        })
    };
    addresses.chain(computation).filter_map(target).collect()
}
