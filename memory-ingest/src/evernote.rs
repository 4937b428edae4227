//! Exports of Evernote.

use std::collections::{HashMap, HashSet};
use std::io::{BufReader, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use chrono::{DateTime, NaiveDateTime, Utc};
use memory_core::wikilink::{WikilinkRule, fold_link_name};
use memory_core::{ContentHash, Source, SourceError, SourceItem, valid_time};
use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::Event;
use regex::Regex;
use serde_json::Value;

use crate::archive::{Archive, is_zip};
use crate::distinct_names::distinct_names;
use crate::enex::{EnexNote, EnexReader};
use crate::enml::{self, ConvertedText};
use crate::folder::has_extension;
use crate::note::{self, one_line, stem};
use crate::record_note::{RecordNote, join_paragraphs};
use crate::source_text::{self, TextContent};
use crate::text_files::TextFiles;

/// The root of all notes. The notebook, the time of creation and the title identify a note in every export, and for several
/// equal ones also the text.
const ROOT: &str = "notebooks";

/// The title of notes without a title.
const NO_TITLE: &str = "Untitled Note";

/// Number of digits of the hash of a text that identifies a note without a time.
const HASH_DIGITS: usize = 16;

/// Number of digits of the hash of a text that distinguishes notes with equal times and titles.
const SHORT_HASH_DIGITS: usize = 8;

/// The attributes of a note that are preserved as properties.
const PROPERTIES: [&str; 13] = [
    "altitude",
    "author",
    "content-class",
    "latitude",
    "longitude",
    "place-name",
    "reminder-done-time",
    "reminder-order",
    "reminder-time",
    "source",
    "source-application",
    "source-url",
    "subject-date",
];

/// Notebooks that Evernote exported: files that end in `.enex`.
#[derive(Debug)]
pub struct Evernote {
    files: TextFiles,
}

/// A note in an export, with the path that identifies it.
struct NotePosition {
    path: String,
    title: Option<String>,
    /// The path without and with a hash of the text, unless the hash alone identifies the note.
    former_paths: Vec<String>,
    file: TextContent,
    /// The path with a hash of the text.
    exact_path: String,
    /// The path of the file, for reports.
    file_path: String,
    start: u64,
}

impl Evernote {
    /// Opens the notebook at `path`, or all notebooks in the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], or [`SourceError::NotRecognized`] without notebooks.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let evernote = Self {
            files: TextFiles::open_export(path)?,
        };
        if !evernote
            .files
            .files()
            .iter()
            .any(|file| has_extension(&file.path, &["enex"]))
        {
            let expected = "a notebook exported by Evernote (.enex)".to_owned();
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(evernote)
    }

    /// Returns whether `path` is a notebook, or an archive of notebooks.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let is_notebook = |name: &str| has_extension(name, &["enex"]);
        let has_notebook = || {
            is_zip(path).unwrap_or(false)
                && Archive::open(path, &is_notebook).is_ok_and(|archive| !archive.files.is_empty())
        };
        path.is_file() && (is_notebook(&path.to_string_lossy()) || has_notebook())
    }

    /// Returns the notes, ordered by path, and the notes that cannot be read.
    fn index(&self) -> (Vec<NotePosition>, Vec<SourceItem>) {
        let (mut positions, mut skipped) = (Vec::new(), Vec::new());
        for notebook in self
            .files
            .files()
            .into_iter()
            .filter(|file| has_extension(&file.path, &["enex"]))
        {
            let mut add_problem = |reason| {
                skipped.push(SourceItem::Skipped {
                    path: notebook.path.clone(),
                    reason,
                });
            };
            let file = match notebook.disk_path() {
                Ok(file) => file,
                Err(reason) => {
                    add_problem(reason);
                    continue;
                }
            };
            if let Err(error) =
                index_notebook(file, &notebook.path, &mut positions, &mut add_problem)
            {
                add_problem(format!("cannot be read: {error}"));
            }
        }
        positions.sort_by(|left, right| {
            (&left.file_path, left.start).cmp(&(&right.file_path, right.start))
        });
        let names: Vec<_> = positions
            .iter()
            .map(|position| [position.path.clone(), position.exact_path.clone()])
            .collect();
        for (position, name) in positions.iter_mut().zip(distinct_names(&names)) {
            position.path = name;
        }
        positions.sort_by(|left, right| left.path.cmp(&right.path));
        (positions, skipped)
    }
}

impl Source for Evernote {
    fn name(&self) -> &'static str {
        "evernote"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Titles
    }

    /// A file contains the notes that were selected for it.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let (positions, skipped) = self.index();
        let titles = positions
            .iter()
            .filter_map(|position| position.title.as_deref());
        let titles: HashSet<String> = titles.map(fold_link_name).collect();
        Box::new(
            skipped.into_iter().chain(
                positions
                    .into_iter()
                    .map(move |position| read_note_at(&position, &titles)),
            ),
        )
    }
}

fn read_note_at(position: &NotePosition, titles: &HashSet<String>) -> SourceItem {
    let skipped = |reason: String| SourceItem::Skipped {
        path: position.path.clone(),
        reason,
    };
    let read = || -> std::io::Result<Option<EnexNote>> {
        let mut file = position.file.open()?;
        file.seek(SeekFrom::Start(position.start))?;
        EnexReader::new(BufReader::new(file), position.start).next_note()
    };
    let note = match read() {
        Ok(Some(note)) => note,
        Ok(None) => return skipped("was removed from the file".into()),
        Err(error) => return skipped(format!("cannot be read: {error}")),
    };
    let fields = match note.xml {
        Ok(xml) => EnexFields::of(xml, &note.hashes),
        Err(reason) => return skipped(reason),
    };
    match fields.into_note(position, titles) {
        Ok(note) => note.into_item(),
        Err(reason) => skipped(reason),
    }
}

fn index_notebook(
    file: &Path,
    file_path: &str,
    positions: &mut Vec<NotePosition>,
    add_problem: &mut dyn FnMut(String),
) -> std::io::Result<()> {
    let file = TextContent::of_file(file)?;
    let mut reader = EnexReader::new(BufReader::new(file.open()?), 0);
    let mut count = 0_u64;
    while let Some(note) = reader.next_note()? {
        count += 1;
        let fields = match note.xml {
            Ok(xml) => EnexFields::of(xml, &[]),
            Err(reason) => {
                add_problem(format!("its note {count} {reason}"));
                continue;
            }
        };
        let created = fields
            .text("created")
            .and_then(parse_time)
            .map(|time| time.format("%Y%m%dT%H%M%SZ").to_string());
        // Notebooks with equal names may have notes without a time and with equal titles. Their texts identify these.
        let hash = ContentHash::of(fields.text("content").unwrap_or_default()).to_string();
        // The id of a note without a time is exact already.
        let exact = created
            .as_ref()
            .map(|_| format!(" {}", &hash[..SHORT_HASH_DIGITS]))
            .unwrap_or_default();
        let has_time = created.is_some();
        let id = created.unwrap_or_else(|| hash[..HASH_DIGITS].to_owned());
        let title = fields.title();
        let notebook = stem(file_path);
        let parts = [id]
            .into_iter()
            .chain(title.clone())
            .collect::<Vec<_>>()
            .join(" ");
        let path = one_line(&format!("{notebook}/{parts}"));
        let exact_path = format!("{path}{exact}");
        let file_path = file_path.to_owned();
        let former_paths = if has_time {
            vec![path.clone(), exact_path.clone()]
        } else {
            Vec::new()
        };
        positions.push(NotePosition {
            path,
            title,
            former_paths,
            exact_path,
            file: file.clone(),
            file_path,
            start: note.start,
        });
    }
    if count == 0 {
        add_problem("contains no notes".into());
    }
    Ok(())
}

/// A file of a note.
#[derive(Default)]
struct EnexFile {
    name: Option<String>,
    kind: Option<String>,
    hash: Option<String>,
}

/// A task of a note.
#[derive(Default)]
struct EnexTask {
    title: String,
    is_done: bool,
    due: Option<String>,
}

/// The fields of a note.
#[derive(Default)]
struct EnexFields {
    /// The elements with text, except those below.
    texts: HashMap<String, String>,
    tags: Vec<String>,
    files: Vec<EnexFile>,
    tasks: Vec<EnexTask>,
    warnings: Vec<String>,
    /// The reason why the text cannot be read.
    problem: Option<String>,
}

impl EnexFields {
    /// Parses the XML of a note. `hashes` are those of its files, in order.
    fn of(xml: Vec<u8>, hashes: &[String]) -> Self {
        let xml = source_text::decode_text(xml);
        let mut fields = Self::default();
        fields.warnings.extend(
            xml.warning
                .map(|(line, what)| format!("line {line} {what}")),
        );
        let mut hashes = hashes.iter();
        let mut xml = xml.text;
        match take_content(&mut xml) {
            Ok(content) => fields
                .texts
                .extend(content.map(|content| ("content".to_owned(), content))),
            Err(reason) => fields.problem = Some(reason.to_owned()),
        }
        let mut reader = Reader::from_str(&xml);
        let config = reader.config_mut();
        (
            config.allow_dangling_amp,
            config.allow_unmatched_ends,
            config.check_end_names,
        ) = (true, true, false);
        let (mut path, mut text) = (Vec::<String>::new(), String::new());
        loop {
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    let name = tag.local_name();
                    path.push(AsRef::<str>::as_ref(&name).to_owned());
                    text.clear();
                    match path.last().map(String::as_str) {
                        Some("resource") => fields.files.push(EnexFile::default()),
                        Some("task") => fields.tasks.push(EnexTask::default()),
                        _ => {}
                    }
                }
                Ok(Event::End(_)) => {
                    let name = path.pop().unwrap_or_default();
                    let parent = path
                        .iter()
                        .rev()
                        .find(|name| ["resource", "task", "note"].contains(&name.as_str()));
                    fields.set(
                        parent.map_or("", String::as_str),
                        &name,
                        std::mem::take(&mut text),
                        &mut hashes,
                    );
                }
                Ok(Event::Text(part)) => text.push_str(&part),
                Ok(Event::CData(part)) => text.push_str(&part),
                Ok(Event::GeneralRef(name)) => {
                    let character = name
                        .resolve_char_ref()
                        .ok()
                        .flatten()
                        .filter(|character| *character != '\0');
                    let known = character
                        .map(String::from)
                        .or_else(|| resolve_html5_entity(&name).map(str::to_owned));
                    text.push_str(&known.unwrap_or_else(|| format!("&{};", &*name)));
                }
                Ok(Event::Eof) => return fields,
                Ok(_) => {}
                Err(error) => {
                    fields
                        .warnings
                        .push(format!("a part of it is not valid XML: {error}"));
                    return fields;
                }
            }
        }
    }

    fn set(
        &mut self,
        parent: &str,
        name: &str,
        text: String,
        hashes: &mut std::slice::Iter<'_, String>,
    ) {
        let value = text.trim();
        match (parent, name) {
            ("resource", _) => {
                let Some(file) = self.files.last_mut() else {
                    return;
                };
                match name {
                    "data" => file.hash = hashes.next().cloned(),
                    "mime" => file.kind = Some(value.to_owned()),
                    "file-name" => file.name = Some(value.to_owned()),
                    _ => {}
                }
            }
            ("task", _) => {
                let Some(task) = self.tasks.last_mut() else {
                    return;
                };
                match name {
                    "title" => value.clone_into(&mut task.title),
                    "taskStatus" => task.is_done = value == "completed",
                    "dueDate" => task.due = Some(value.to_owned()),
                    _ => {}
                }
            }
            ("note", "tag") if !value.is_empty() => self.tags.push(one_line(value)),
            ("note", "content") => drop(self.texts.entry(name.to_owned()).or_insert(text)),
            ("note", _) if !value.is_empty() => drop(
                self.texts
                    .entry(name.to_owned())
                    .or_insert_with(|| value.to_owned()),
            ),
            _ => {}
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    fn title(&self) -> Option<String> {
        self.text("title")
            .map(one_line)
            .filter(|title| !title.is_empty() && title != NO_TITLE)
    }

    /// Returns the note, or the reason why it is skipped.
    fn into_note(
        self,
        position: &NotePosition,
        titles: &HashSet<String>,
    ) -> Result<RecordNote, String> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let names: HashMap<_, _> = self
            .files
            .iter()
            .filter_map(|file| Some((file.hash.clone()?, file.label())))
            .collect();
        let text = self
            .text("content")
            .map(|content| enml::note_to_markdown(content, &names, titles))
            .unwrap_or_default();
        let ConvertedText {
            markdown,
            links,
            shown_files,
            warnings,
        } = text;
        let is_hidden = |file: &&EnexFile| {
            file.hash
                .as_ref()
                .is_none_or(|hash| !shown_files.contains(hash))
        };
        let files: Vec<_> = self
            .files
            .iter()
            .filter(is_hidden)
            .map(|file| format!("[file: {}]", file.label()))
            .collect();
        let tasks: Vec<_> = self.tasks.iter().map(EnexTask::line).collect();
        let content = join_paragraphs([markdown, tasks.join("\n"), files.join("\n")]);
        let title = self.title();
        let content = if content.is_empty() {
            title.clone().ok_or("is empty")?
        } else {
            content
        };
        let mut note = RecordNote::new("evernote", ROOT, &position.path, &content);
        note.former_paths.clone_from(&position.former_paths);
        note.draft.title = title;
        note.draft.created_at = self.text("created").and_then(parse_time);
        note.updated_at = self.text("updated").and_then(parse_time);
        let times = ["created", "updated"].into_iter();
        note.local_times = times
            .filter_map(|key| self.text(key).and_then(note::day_of))
            .collect();
        note.draft.tags = self.tags.iter().cloned().collect();
        note.links = links;
        note.warnings = self
            .warnings
            .iter()
            .cloned()
            .chain(warnings)
            .map(|warning| format!("{}: {warning}", position.path))
            .collect();
        note.add_property("notebook", Some(&Value::from(stem(&position.file_path))));
        for name in PROPERTIES {
            let is_time = name.ends_with("-time") || name.ends_with("-date");
            let time = |value: &str| {
                parse_time(value).map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
            };
            let value = self.text(name).map(|value| {
                time(value)
                    .filter(|_| is_time)
                    .unwrap_or_else(|| value.to_owned())
            });
            note.add_property(&name.replace('-', "_"), value.map(Value::from).as_ref());
        }
        Ok(note)
    }
}

/// Takes the text of a note out of its XML, if the text is markup without escapes: a block, or elements.
///
/// The text ends at the end of its element: it may contain further blocks, which some programs do not escape.
///
/// # Errors
/// The reason why there is no text.
fn take_content(xml: &mut String) -> Result<Option<String>, &'static str> {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"<content(?:\s[^>]*)?>(\s*)(<!\[CDATA\[)?").expect("the pattern is right")
    });
    static BLOCK_END: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\]\]>(\s*)</content\s*>").expect("the pattern is right"));
    static END: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\s*)</content\s*>").expect("the pattern is right"));
    if xml.contains("<content/>") {
        return Ok(None);
    }
    let start = START.captures(xml).ok_or("has no text")?;
    let head = start.get_match().range();
    let is_block = start.get(2).is_some();
    let is_markup = xml[head.end..].starts_with('<') && !xml[head.end..].starts_with("</content");
    if !is_block && !is_markup {
        return Ok(None);
    }
    let end = if is_block { &BLOCK_END } else { &END };
    let end = end
        .captures_at(xml, head.end)
        .ok_or("has a text without an end")?;
    let tail = end.get_match().range();
    let text = &xml[head.end..tail.start];
    // A text with the end of a block is in two blocks.
    let content = format!(
        "{}{}{}",
        &start[1],
        text.replace("]]><![CDATA[", ""),
        &end[1]
    );
    xml.replace_range(head.start..tail.end, "");
    Ok(Some(content))
}

impl EnexFile {
    fn label(&self) -> String {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        one_line(name.or(self.kind.as_deref()).unwrap_or("without a name"))
    }
}

impl EnexTask {
    fn line(&self) -> String {
        let due = self
            .due
            .as_deref()
            .and_then(parse_time)
            .map(|due| due.format(" (due %Y-%m-%d %H:%M UTC)").to_string());
        format!(
            "- [{}] {}{}",
            if self.is_done { "x" } else { " " },
            enml::escape(&one_line(&self.title)),
            due.unwrap_or_default()
        )
    }
}

/// Parses a time such as `20240102T030405Z`.
fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let compact = NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%SZ")
        .ok()
        .map(|time| time.and_utc());
    compact.and_then(valid_time).or_else(|| note::parse(text))
}
