//! A Markdown note with front matter, the format of most sources, and its dates.

use std::path::PathBuf;
use std::sync::LazyLock;

use chrono::{DateTime, NaiveDateTime, Utc};
use memory_core::datetime::StatedTime;
use memory_core::text::to_one_line;
use memory_core::{
    Draft, NoteItem, Origin, Phase, SourceItem, parse_day_as, parse_rfc3339, valid_time, wikilink,
};
use regex::Regex;

use crate::folder::FolderEntry;
use crate::front_matter::{self, SplitText};
use crate::markdown_links::file_links;
use crate::own_fields;
use crate::source_text::{self, SourceText};
use crate::unquoted_values::quote_values;
use crate::yaml::Yaml;

/// The source whose tags in one text may contain spaces.
const SOURCE_WITH_SPACES: &str = "basic-memory";

/// The property of an export that lists links which the text does not contain.
pub(crate) const RELATED_KEY: &str = "related";

/// The source whose exports have this list as a property.
pub(crate) const OBSIDIAN: &str = "obsidian";

/// A note as a draft, with the values that a draft does not have.
#[derive(Debug)]
pub(crate) struct SourceNote {
    pub(crate) draft: Draft,
    pub(crate) fields: Vec<(String, Yaml)>,
    /// The targets of the links in the body and the properties.
    pub(crate) links: Vec<String>,
    /// The targets of links without quotes in a property, in front matter that becomes text, or of Markdown links in a vault.
    pub(crate) uncounted_links: Vec<String>,
    /// The tags in the body.
    pub(crate) inline_tags: Vec<String>,
    /// The time of the last change, if the source records it.
    pub(crate) updated_at: Option<DateTime<Utc>>,
    /// The time of the last change of the file.
    file_modified_at: Option<DateTime<Utc>>,
    /// The times that the note states without a zone, see [`NoteItem::local_times`].
    pub(crate) local_times: Vec<DateTime<Utc>>,
    /// The front matter, if it could not be parsed.
    pub(crate) not_understood: String,
    front_matter: String,
    warnings: Vec<String>,
}

/// Reads the file at `entry`, or returns the finding that it is skipped.
pub(crate) fn read_text(entry: &FolderEntry) -> Result<SourceText, SourceItem> {
    let skipped = |reason: String| SourceItem::Skipped {
        path: entry.path.clone(),
        reason,
    };
    let place = entry
        .place
        .as_ref()
        .map_err(|reason| skipped(reason.clone()))?;
    source_text::read_file(place).map_err(skipped)
}

impl SourceNote {
    /// Returns the note with the text of the file at `path` below `root`.
    pub(crate) fn new(source: &str, root: &str, path: &str, text: &SourceText) -> Self {
        let quoted = quote_values(&text.text);
        let parted = front_matter::split_front_matter(&quoted);
        let mut warnings: Vec<_> = text
            .warning
            .iter()
            .map(|(line, what)| format!("{path}:{line}: {what}"))
            .collect();
        if let Err(error) = &parted.fields {
            // The first line is the fence.
            let line = error.line.map_or(1, |line| line + 1);
            warnings.push(format!(
                "{path}:{line}: {}; it was imported as text",
                error.what
            ));
        }
        let names = NoteNames::of(&parted, stem(path), source);
        let own = parted
            .fields
            .as_ref()
            .ok()
            .and_then(|fields| fields.iter().find(|(key, _)| key == own_fields::KEY));
        let mut consumed = names.consumed.clone();
        consumed.extend(own.iter().map(|(key, _)| key.clone()));
        consumed.extend(
            own.iter()
                .flat_map(|(_, own)| own_fields::written_keys(own))
                .map(str::to_owned),
        );
        let is_consumed = |key: &str| consumed.iter().any(|consumed| consumed == key);
        let foreign = parted.foreign_lines(&is_consumed, source);
        // Front matter that cannot be preserved as such becomes part of the text.
        let content = if foreign.is_some() {
            parted.body
        } else {
            text.text.as_str()
        };
        let prose = wikilink::blank_code(parted.body);
        let mut links: Vec<_> = link_targets(&prose).collect();
        let not_understood = if parted.fields.is_err() {
            parted.source
        } else {
            ""
        }
        .to_owned();
        let fields = parted.fields.unwrap_or_default();
        let day = date_of_path(path);
        let mut local_times = Vec::from_iter(day);
        let mut uncounted_links = Vec::new();
        for (_, value) in fields.iter().filter(|(key, _)| key != own_fields::KEY) {
            value.for_each_text(&mut |text| links.extend(link_targets(text)));
            collect_unquoted_links(value, &mut uncounted_links);
            local_times.extend(local_times_in(value));
        }
        // A moment that the note also states with its zone is that moment.
        local_times.retain(|time| {
            !fields
                .iter()
                .any(|(_, value)| zoned_time(value) == Some(*time))
        });
        if foreign.is_none() {
            // Links in this part of the text are parsed like others from then on.
            uncounted_links.extend(link_targets(&wikilink::blank_code(parted.source)));
        }
        let origin = Origin {
            source: source.into(),
            root: root.into(),
            path: path.into(),
            hash: None,
        };
        if source == OBSIDIAN {
            // The program counts wikilinks alone.
            uncounted_links.extend(file_links(content));
        } else {
            links.extend(file_links(content));
        }
        let draft = Draft {
            title: Some(names.title),
            aliases: names.aliases,
            phase: Some(Phase::Inbox),
            tags: names.tags.into_iter().collect(),
            source: source.into(),
            created_at: time_at(&fields, &CREATION_KEYS, &mut warnings).or(day),
            origin: Some(origin),
            ..Draft::new(trim_newline(content))
        };
        let (inline_tags, front_matter) =
            (wikilink::prose_tags(&prose), foreign.unwrap_or_default());
        let updated_at = time_at(&fields, &CHANGE_KEYS, &mut warnings);
        Self {
            draft,
            fields,
            links,
            uncounted_links,
            inline_tags,
            updated_at,
            file_modified_at: text.modified_at,
            local_times,
            not_understood,
            front_matter,
            warnings,
        }
    }

    /// Returns the value of `key` in the front matter.
    pub(crate) fn field(&self, key: &str) -> Option<&Yaml> {
        self.fields
            .iter()
            .find(|(own, _)| own == key)
            .map(|(_, value)| value)
    }

    /// Returns the note as a finding.
    ///
    /// The fields of a memory in an export of this program override all others.
    pub(crate) fn into_finding(mut self) -> SourceItem {
        let own = self
            .fields
            .iter()
            .position(|(key, _)| key == own_fields::KEY)
            .map(|at| self.fields.swap_remove(at).1);
        let mut listed = Vec::new();
        if let Some(Yaml::List(items)) = self.field(RELATED_KEY)
            && own.is_some()
            && self.draft.source == OBSIDIAN
        {
            listed.extend(items.iter().filter_map(Yaml::scalar).map(str::to_owned));
        }
        let mut note = NoteItem {
            updated_at: self.updated_at,
            file_modified_at: self.file_modified_at,
            front_matter: self.front_matter,
            links: self.links,
            uncounted_links: self.uncounted_links,
            warning: (!self.warnings.is_empty()).then(|| self.warnings.join("; ")),
            ..NoteItem::new(self.draft)
        };
        if let Some(own) = own {
            if own_fields::apply_yaml(&own, &listed, &mut note) {
                return SourceItem::Note(Box::new(note));
            }
            // The export may have added tags to the text.
            self.inline_tags = wikilink::prose_tags(&wikilink::blank_code(&note.draft.content));
        }
        note.local_times = self.local_times;
        note.draft.tags = note.draft.tags.iter().chain(&self.inline_tags).collect();
        SourceItem::Note(Box::new(note))
    }
}

/// Sets the folder of the project of a note.
pub(crate) fn in_project(mut item: SourceItem, folder: Option<PathBuf>) -> SourceItem {
    if let SourceItem::Note(note) = &mut item {
        note.project_folder = folder;
    }
    item
}

/// Returns the file name of a path without its extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns a name with spaces in place of control characters, which no name may contain.
pub(crate) fn one_line(name: &str) -> String {
    name.replace(char::is_control, " ").trim().to_owned()
}

/// Returns a text without the newline at its end.
pub(crate) fn trim_newline(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The title, aliases and tags in the front matter, and the keys that contain them.
struct NoteNames {
    title: String,
    aliases: Vec<String>,
    tags: Vec<String>,
    consumed: Vec<String>,
}

impl NoteNames {
    fn of(parted: &SplitText<'_>, stem: &str, source: &str) -> Self {
        let mut names = Self {
            title: stem.to_owned(),
            aliases: Vec::new(),
            tags: Vec::new(),
            consumed: Vec::new(),
        };
        let Ok(fields) = &parted.fields else {
            return names;
        };
        let ends_tag = |character: char| {
            character == ',' || character.is_whitespace() && source != SOURCE_WITH_SPACES
        };
        for (key, value) in fields {
            let is_whole = match key.to_lowercase().as_str() {
                "tags" | "tag" => collect_names(value, &ends_tag, &mut names.tags),
                "aliases" | "alias" => collect_names(
                    value,
                    &|character| matches!(character, ',' | '\n'),
                    &mut names.aliases,
                ),
                _ => false,
            };
            if is_whole && key.to_lowercase().starts_with("tag") && matches!(value, Yaml::Text(_)) {
                // In `tags: a #b` YAML parses the second tag as a comment, but the author means a tag.
                let comment = parted.comment(key).unwrap_or_default();
                names.tags.extend(
                    comment
                        .split_whitespace()
                        .filter(|word| is_hashtag(word))
                        .map(str::to_owned),
                );
            }
            if is_whole {
                names.consumed.push(key.clone());
            }
        }
        names.aliases = remove_duplicates(names.aliases);
        for key in ["title", "name"] {
            let field = fields.iter().find(|(own, _)| own == key);
            let title = field.and_then(|(_, value)| value.scalar());
            let title = title.map(one_line).unwrap_or_default();
            if !title.is_empty() {
                names.title = title;
                names.consumed.push(key.into());
                break;
            }
        }
        names
    }
}

/// Adds the items of a list, or the parts of a text, to `found`; returns whether nothing is left out.
fn collect_names(value: &Yaml, parts: &dyn Fn(char) -> bool, found: &mut Vec<String>) -> bool {
    let mut add = |text: &str| {
        let text = one_line(text);
        if !text.is_empty() {
            found.push(text);
        }
    };
    match value {
        Yaml::Null => true,
        Yaml::Text(text) | Yaml::Plain(text) => {
            text.split(parts).for_each(add);
            true
        }
        Yaml::List(items) => {
            items.iter().filter_map(Yaml::scalar).for_each(&mut add);
            items
                .iter()
                .all(|item| item.scalar().is_some() || *item == Yaml::Null)
        }
        Yaml::Map(_) => false,
    }
}

fn is_hashtag(word: &str) -> bool {
    word.strip_prefix('#')
        .is_some_and(|tag| !tag.starts_with('#') && wikilink::is_tag_name(tag))
}

fn remove_duplicates(names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// The properties that state when a note was written.
const CREATION_KEYS: [&str; 8] = [
    "created",
    "created_at",
    "createdat",
    "date",
    "date_created",
    "creation_date",
    "create_time",
    "ctime",
];

/// The properties that state when a note was last changed.
const CHANGE_KEYS: [&str; 9] = [
    "updated",
    "updated_at",
    "updatedat",
    "modified",
    "modified_at",
    "last_modified",
    "date_modified",
    "lastmod",
    "mtime",
];

/// Maximum number of characters of a value in a warning.
const MAX_SHOWN: usize = 60;

/// Returns the time that one of the properties `keys` states, or adds a warning if their values are no times.
fn time_at(
    fields: &[(String, Yaml)],
    keys: &[&str],
    warnings: &mut Vec<String>,
) -> Option<DateTime<Utc>> {
    let is_wanted = |key: &str| keys.contains(&&*key.to_lowercase().replace(['-', ' '], "_"));
    let own = || fields.iter().filter(|(key, _)| is_wanted(key));
    let time = own().find_map(|(_, value)| time_of(value));
    let has_digits = |text: &&str| text.contains(char::is_numeric);
    let unread = own().find_map(|(key, value)| Some((key, value.scalar().filter(has_digits)?)));
    if let Some((key, text)) = unread.filter(|_| time.is_none()) {
        warnings.push(format!(
            "the property {key:?} is not read as a time: {:?}",
            to_one_line(text, MAX_SHOWN)
        ));
    }
    time
}

/// Returns the time that a property states, possibly by a link to the note of a day.
pub(crate) fn time_of(value: &Yaml) -> Option<DateTime<Utc>> {
    let mut links: Vec<_> = value.scalar().into_iter().flat_map(link_targets).collect();
    collect_unquoted_links(value, &mut links);
    value
        .scalar()
        .and_then(parse)
        .or_else(|| parse(links.first()?.rsplit('/').next()?))
}

/// Returns the times that a property states without a zone.
pub(crate) fn local_times_in(value: &Yaml) -> Vec<DateTime<Utc>> {
    match value {
        Yaml::Null => Vec::new(),
        Yaml::List(items) => items.iter().flat_map(local_times_in).collect(),
        Yaml::Map(fields) => fields
            .iter()
            .flat_map(|(_, value)| local_times_in(value))
            .collect(),
        Yaml::Text(text) | Yaml::Plain(text) => {
            let texts = link_targets(text).chain([text.clone()]);
            let time = |text: String| {
                local_time_of(&text).or_else(|| local_time_of(text.rsplit('/').next()?))
            };
            texts.filter_map(time).collect()
        }
    }
}

fn link_targets(prose: &str) -> impl Iterator<Item = String> {
    wikilink::parse_prose_wikilinks(prose)
        .into_iter()
        .map(|link| link.target)
}

/// Adds the links `[[x]]` without quotes, which YAML parses as a list in a list.
fn collect_unquoted_links(value: &Yaml, links: &mut Vec<String>) {
    match value {
        Yaml::List(items) => match items.as_slice() {
            [Yaml::List(inner)] if matches!(inner.as_slice(), [Yaml::Text(_) | Yaml::Plain(_)]) => {
                let text = inner[0].scalar().unwrap_or_default();
                links.extend(link_targets(&format!("[[{text}]]")));
            }
            _ => items
                .iter()
                .for_each(|item| collect_unquoted_links(item, links)),
        },
        Yaml::Map(fields) => fields
            .iter()
            .for_each(|(_, value)| collect_unquoted_links(value, links)),
        Yaml::Null | Yaml::Text(_) | Yaml::Plain(_) => {}
    }
}

/// Parses a date, or a date and a time of day, of the years 0 to 9999, which RFC 3339 can express.
///
/// A time without an offset is in UTC, and a date without a time is midnight.
pub(crate) fn parse(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    parse_with_zone(text)
        .or_else(|| parse_local(text))
        .and_then(valid_time)
}

/// Returns the time, as if in UTC, of a text that names no zone: a date, or a date and a time of day.
pub(crate) fn local_time_of(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let is_local = parse_with_zone(text).is_none();
    parse_local(text).filter(|_| is_local).and_then(valid_time)
}

/// Returns the time of a text that names its zone.
pub(crate) fn zoned_time_of(text: &str) -> Option<DateTime<Utc>> {
    parse_with_zone(text.trim()).and_then(valid_time)
}

fn zoned_time(value: &Yaml) -> Option<DateTime<Utc>> {
    match value {
        Yaml::Text(text) | Yaml::Plain(text) => zoned_time_of(text),
        Yaml::Null | Yaml::List(_) | Yaml::Map(_) => None,
    }
}

fn parse_with_zone(text: &str) -> Option<DateTime<Utc>> {
    if let Some(moment) = parse_rfc3339(text) {
        return Some(moment);
    }
    let with_offset = [
        "%Y-%m-%d %H:%M:%S %z",
        "%Y-%m-%dT%H:%M:%S%z",
        "%Y-%m-%d %H:%M %z",
        "%Y-%m-%dT%H:%M%z",
    ];
    with_offset
        .iter()
        .find_map(|format| DateTime::parse_from_str(text, format).ok())
        .map(|moment| moment.to_utc())
        .or_else(|| parse_count(text))
        .or_else(|| stated_at(text, true))
}

fn stated_at(text: &str, has_zone: bool) -> Option<DateTime<Utc>> {
    let stated = StatedTime::parse(text).filter(|stated| stated.has_zone == has_zone);
    Some(stated?.at)
}

fn parse_local(text: &str) -> Option<DateTime<Utc>> {
    let with_time = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
        "%Y/%m/%d %H:%M:%S",
        "%Y/%m/%d %H:%M",
    ];
    let compact = match text.len() {
        12 => &["%Y%m%d%H%M"][..],
        14 => &["%Y%m%d%H%M%S"],
        _ => &[],
    };
    with_time
        .iter()
        .chain(compact)
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .map(|moment| moment.and_utc())
        .or_else(|| parse_day(text))
        .or_else(|| stated_at(text, false))
}

/// Returns the midnight in UTC of a text that is a day without a time.
pub(crate) fn day_of(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let stated = || StatedTime::parse(text).filter(|stated| stated.is_day);
    parse_day(text)
        .or_else(|| Some(stated()?.at))
        .and_then(valid_time)
}

/// Parses a date without a time of day, also as it occurs in the file names of journals.
pub(crate) fn parse_day(text: &str) -> Option<DateTime<Utc>> {
    let formats = ["%Y-%m-%d", "%Y_%m_%d", "%Y/%m/%d", "%Y.%m.%d"];
    let has_year = text.len() <= 10 && 4 <= text.bytes().take_while(u8::is_ascii_digit).count();
    let date = || formats.iter().find_map(|format| parse_day_as(text, format));
    let date = has_year.then(date).flatten()?;
    Some(date.and_hms_opt(0, 0, 0)?.and_utc())
}

/// Returns the date in the name of a note, as of a journal, a meeting or a slip: at its start or at its end, or in the names of its folders.
fn date_of_path(path: &str) -> Option<DateTime<Utc>> {
    static DATE: LazyLock<Regex> = LazyLock::new(|| {
        let year = r"((?:19|20)\d\d)";
        let date = format!(
            r"{year}(?:-(\d\d)-(\d\d)|_(\d\d)_(\d\d)|\.(\d\d)\.(\d\d)|年(\d\d?)月(\d\d?)日|(\d\d)(\d\d)(?:\d{{4}}(?:\d\d)?)?)"
        );
        Regex::new(&format!(r"^{date}(?:\D|$)|(?:^|[\s_(\[-]){date}[)\]]?$"))
            .expect("the pattern is right")
    });
    let name = stem(path);
    let of_folders = || {
        let folder = path.rsplit_once('/')?.0;
        let mut parts = folder.rsplit('/');
        let (month, year) = (parts.next()?, parts.next()?);
        parse_day(&format!("{year}/{month}/{name}"))
    };
    let of_name = || {
        let found = DATE.captures(name)?;
        let mut parts = found.iter().skip(1).flatten().map(|part| part.as_str());
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        parse_day(&format!("{year}-{month:0>2}-{day:0>2}"))
    };
    let of_day_first = || {
        let mut parts = name.get(..10)?.split('.');
        let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
        parse_day(&format!("{year}-{month}-{day}")).filter(|_| parts.next().is_none())
    };
    of_name()
        .or_else(of_day_first)
        .or_else(of_folders)
        .or_else(|| {
            let has_words = name.contains(char::is_alphabetic);
            let stated = StatedTime::parse(name).filter(|_| has_words)?;
            valid_time(stated.at)
        })
}

/// Parses the seconds of the years 2001 to 2033, or the milliseconds since 1970.
fn parse_count(text: &str) -> Option<DateTime<Utc>> {
    let count: i64 = text.parse().ok()?;
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.len() {
        10 if is_digits && text.starts_with('1') => DateTime::from_timestamp(count, 0),
        13 if is_digits => DateTime::from_timestamp_millis(count),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::{
        CHANGE_KEYS, CREATION_KEYS, SourceNote, SourceText, date_of_path, local_times_in, parse,
        time_at,
    };
    use crate::front_matter::split_front_matter;

    #[test]
    fn a_moment_that_is_also_stated_with_its_zone_is_not_local() {
        for (created, expected) in [("2024-05-06T10:00:00Z", 0), ("2024-05-06T11:00:00Z", 1)] {
            let text = format!("---\ncreated: {created}\nmeeting: 2024-05-06 10:00\n---\ntea");
            let text = SourceText {
                text,
                warning: None,
                modified_at: None,
            };
            let note = SourceNote::new("markdown", "", "a.md", &text);
            assert_eq!(note.local_times.len(), expected, "{created}");
        }
    }

    #[test]
    fn times_have_the_names_and_forms_of_plugins() {
        for (line, created, updated) in [
            (
                "created: \"[[2024-05-06]]\"",
                Some("2024-05-06T00:00:00Z"),
                None,
            ),
            (
                "created: [[daily/2024-05-06]]",
                Some("2024-05-06T00:00:00Z"),
                None,
            ),
            (
                "date: \"[[2024-05-06|Monday]]\"",
                Some("2024-05-06T00:00:00Z"),
                None,
            ),
            ("created: \"[[Someday]]\"", None, None),
            (
                "date modified: Monday, March 1st 2021, 10:11:12 am",
                None,
                Some("2021-03-01T10:11:12Z"),
            ),
            (
                "ctime: 2021-03-01\nmtime: 2021-03-02",
                Some("2021-03-01T00:00:00Z"),
                Some("2021-03-02T00:00:00Z"),
            ),
        ] {
            let text = format!("---\n{line}\n---\n");
            let fields = split_front_matter(&text).fields.expect("it is YAML");
            let moment = |text: Option<&str>| text.map(|text| text.parse().expect("a moment"));
            let mut warnings = Vec::new();
            let mut time = |keys: &[&str]| time_at(&fields, keys, &mut warnings);
            assert_eq!(
                (time(&CREATION_KEYS), time(&CHANGE_KEYS)),
                (moment(created), moment(updated)),
                "{line}"
            );
        }
    }

    #[test]
    fn a_property_that_is_no_time_is_named() {
        for (line, warning) in [
            (
                "created: 03/05/2024",
                Some("\"created\" is not read as a time: \"03/05/2024\""),
            ),
            (
                "modified: 5. März 2024",
                Some("\"modified\" is not read as a time"),
            ),
            ("created: 03/05/2024\ndate: 2024-05-03", None),
            ("date: someday", None),
        ] {
            let text = SourceText {
                text: format!("---\n{line}\n---\ntea"),
                warning: None,
                modified_at: None,
            };
            let note = SourceNote::new("markdown", "", "a.md", &text);
            assert_eq!(
                note.warnings.len(),
                usize::from(warning.is_some()),
                "{line}"
            );
            let named = warning.is_none_or(|warning| note.warnings[0].contains(warning));
            assert!(named, "{:?}", note.warnings);
        }
    }

    #[test]
    fn local_times_are_the_values_without_a_zone() {
        let text = "---\na: 2024-05-06\nb: '2024-05-07'\nc: {d: [[daily/2024-05-08]]}\ne: '[[2024-05-09]]'\n\
            f: May 10th, 2024\ng: 2024-05-11T00:00:00Z\nh: 2024-05-12 10:00\ni: May 13, 2024, 10:00\nj: 5\n\
            k: 2024-05-14 10:00 +0200\nl: '1715680000000'\nm: 2024-05-15T10:00:30\n---\n";
        let fields = split_front_matter(text).fields.expect("it is YAML");
        let times: Vec<_> = fields
            .iter()
            .flat_map(|(_, value)| local_times_in(value))
            .collect();
        let days = (6..=10).map(|day| format!("2024-05-{day:02}T00:00:00Z"));
        let hours = ["12T10:00:00", "13T10:00:00", "15T10:00:30"];
        let expected: Vec<_> = days
            .chain(hours.map(|hour| format!("2024-05-{hour}Z")))
            .map(|time| time.parse::<DateTime<Utc>>().expect("a moment"))
            .collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn the_name_of_a_note_may_have_its_date() {
        for (path, date) in [
            ("2024-05-06.md", Some("2024-05-06")),
            ("daily/2024-05-06 Monday.md", Some("2024-05-06")),
            ("posts/2024-05-06-a-title.md", Some("2024-05-06")),
            ("Meeting 2024-05-06.md", Some("2024-05-06")),
            ("Standup (2024-05-06).md", Some("2024-05-06")),
            ("journals/2024_05_06.md", Some("2024-05-06")),
            ("2024.05.06.md", Some("2024-05-06")),
            ("20240506.md", Some("2024-05-06")),
            ("202405061230 A slip.md", Some("2024-05-06")),
            ("2024年5月6日.md", Some("2024-05-06")),
            ("06.05.2024.md", Some("2024-05-06")),
            ("daily/2024/05/06.md", Some("2024-05-06")),
            ("May 6th, 2024.md", Some("2024-05-06")),
            ("Monday, May 6, 2024.md", Some("2024-05-06")),
            ("2024-13-06.md", None),
            ("2024-05-061.md", None),
            ("Plan 2024.md", None),
            ("Christmas 2026.md", None),
            ("10.4.2019.md", None),
            ("2024-05.md", None),
            ("12345678.md", None),
            ("20245.md", None),
            ("a/b/06.md", None),
            ("1.2.3.md", None),
            ("", None),
        ] {
            let expected = date.map(|date| format!("{date}T00:00:00Z").parse().expect("a moment"));
            assert_eq!(date_of_path(path), expected, "{path}");
        }
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, moment) in [
            ("2024-01-02", "2024-01-02T00:00:00Z"),
            ("2024_01_02", "2024-01-02T00:00:00Z"),
            ("2024-01-02 03:04", "2024-01-02T03:04:00Z"),
            ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"),
            ("2024-01-02 03:04:05 +0800", "2024-01-01T19:04:05Z"),
            ("1609459200000", "2021-01-01T00:00:00Z"),
            (
                "Monday, March 1st 2021, 10:11:12 am",
                "2021-03-01T10:11:12Z",
            ),
            (
                "Tuesday, August 22nd 2023, 1:05:00 pm",
                "2023-08-22T13:05:00Z",
            ),
            ("March 3rd 2021, 15:00", "2021-03-03T15:00:00Z"),
            ("May 2, 2021", "2021-05-02T00:00:00Z"),
            ("05.03.2024", "2024-03-05T00:00:00Z"),
            ("25/12/2023", "2023-12-25T00:00:00Z"),
            ("5 March 2024, 10:11", "2024-03-05T10:11:00Z"),
            ("2024年3月5日", "2024-03-05T00:00:00Z"),
            ("2024-03-05 1:05", "2024-03-05T01:05:00Z"),
            ("January 2, 2024 3:04", "2024-01-02T03:04:00Z"),
            ("March 5, 2024 12:30", "2024-03-05T12:30:00Z"),
            ("2024-03-05 10:11 -0500", "2024-03-05T15:11:00Z"),
            ("2024-03-05 5:11 +0100", "2024-03-05T04:11:00Z"),
            ("20240305", "2024-03-05T00:00:00Z"),
            ("20240305101112", "2024-03-05T10:11:12Z"),
            ("1709629872", "2024-03-05T09:11:12Z"),
            ("2024-03-05 10:11:12 PM", "2024-03-05T22:11:12Z"),
            (
                "Tue Mar 05 2024 10:11:12 GMT+0100 (Central European Standard Time)",
                "2024-03-05T09:11:12Z",
            ),
        ] {
            assert_eq!(
                parse(text),
                Some(moment.parse().expect("a moment")),
                "{text}"
            );
        }
        for text in [
            "",
            "yesterday",
            "{{date}}",
            "March 2021",
            "March 41st 2021",
            "March 1st 2021, 13:00 pm",
            "24-01-02",
            "2024-13-01",
            "03/05/2024",
            "12 January",
            "every 5 March 2024",
            "2024030510",
            "Christmas 2026",
            "3 days after 2024-03-05",
            "2024-03-05 5",
            "-0026-05-07T10:00:00",
            "+12026-05-07T10:00:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
