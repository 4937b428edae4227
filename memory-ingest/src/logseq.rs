//! Logseq graphs.

mod block_references;
mod journal_format;
mod numbered_blocks;

use std::path::Path;
use std::sync::LazyLock;

use block_references::Blocks;
use journal_format::JournalFormats;
use numbered_blocks::number_blocks;

use memory_core::wikilink::{self, WikilinkRule};
use memory_core::{Source, SourceError, SourceItem};
use regex::Regex;

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote, stem};

/// The folders of a graph that are read.
const PAGES_FOLDER: &str = "pages";
const GRAPH_FOLDERS: [&str; 2] = ["journals", PAGES_FOLDER];

/// The settings of a graph.
const SETTINGS: &str = "logseq/config.edn";

/// A Logseq graph: its pages and journals, in Markdown and Org.
#[derive(Debug)]
pub struct Logseq {
    folder: SourceFolder,
    journals: JournalFormats,
}

impl Logseq {
    /// Opens the graph at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], also if the folder has neither pages nor journals; [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let folder = SourceFolder::open(path)?;
        // The parent folder of a graph, given by mistake, has no pages to import.
        if GRAPH_FOLDERS.iter().all(|part| !folder.join(part).is_dir()) {
            return Err(SourceError::Missing {
                path: folder.join(PAGES_FOLDER).display().to_string(),
            });
        }
        let settings = folder
            .file(SETTINGS)
            .and_then(|entry| note::read_text(&entry).ok());
        let journals = JournalFormats::of(settings.as_ref().map_or("", |text| &text.text));
        Ok(Self { folder, journals })
    }

    /// Returns the pages and journals.
    fn entries(&self) -> impl Iterator<Item = FolderEntry> + '_ {
        let entries = GRAPH_FOLDERS
            .into_iter()
            .flat_map(|part| self.folder.files(part));
        entries.filter(|entry| has_extension(&entry.path, &["md", "org"]) || entry.place.is_err())
    }

    /// Returns the blocks of all pages that have an id.
    fn blocks(&self) -> Blocks {
        let mut blocks = Blocks::default();
        for entry in self.entries() {
            if let Ok(text) = note::read_text(&entry)
                && Blocks::are_in(&text.text)
            {
                let title = LogseqProperties::of(&text.text).title(&entry.path);
                blocks.add_page(&title, &text.text);
            }
        }
        blocks
    }

    fn finding(&self, entry: &FolderEntry, blocks: &Blocks) -> SourceItem {
        let text = match note::read_text(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        let mut page = SourceNote::new(self.name(), self.folder.name(), &entry.path, &text);
        let properties = LogseqProperties::of(&text.text);
        let draft = &mut page.draft;
        let title = properties.title(&entry.path);
        draft.aliases = properties.list("alias");
        let is_journal = entry.path.starts_with("journals/");
        let day = is_journal.then(|| self.journals.day_of(stem(&entry.path)));
        let day = day.flatten();
        // Links to a journal have its title in the format of the graph.
        let name = day.map(|day| self.journals.title_of(day));
        draft.aliases.extend(name.filter(|name| *name != title));
        draft.title = Some(title);
        let (content, block_pages) = blocks.replace_references(&number_blocks(&draft.content));
        draft.content = content;
        draft.tags = draft
            .tags
            .iter()
            .cloned()
            .chain(properties.list("tags"))
            .collect();
        let prose = wikilink::blank_code(&text.text);
        let mut references = find_references(&prose);
        if has_extension(&entry.path, &["org"]) {
            references.extend(find_org_links(&prose));
        }
        let tags = references.iter().filter(|reference| reference.is_tag);
        page.inline_tags = tags.map(|reference| reference.page.clone()).collect();
        let journal = || {
            let midnight = day.and_then(|day| Some(day.and_hms_opt(0, 0, 0)?.and_utc()));
            let other = || note::parse_day(stem(&entry.path)).filter(|_| is_journal);
            midnight.or_else(other)
        };
        let written = || {
            ["created-at", "created_at"]
                .iter()
                .find_map(|key| note::parse(properties.get(key)?))
        };
        page.local_times.extend(journal());
        let keys = ["created-at", "created_at"].into_iter();
        page.local_times
            .extend(keys.filter_map(|key| note::local_time_of(properties.get(key)?)));
        let draft = &mut page.draft;
        draft.created_at = draft.created_at.or_else(journal).or_else(written);
        page.links = references
            .into_iter()
            .map(|reference| reference.page)
            .collect();
        page.uncounted_links.extend(block_pages);
        page.into_finding()
    }
}

impl Source for Logseq {
    fn name(&self) -> &'static str {
        "logseq"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Pages
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let blocks = self.blocks();
        Box::new(
            self.entries()
                .map(move |entry| self.finding(&entry, &blocks)),
        )
    }
}

/// Returns the name of the page with the file name `stem`.
///
/// `___` separates namespaces, and `%XX` is a byte.
fn page_name(stem: &str) -> String {
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits
            .filter(|digits| !digits.starts_with('+'))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    note::one_line(&String::from_utf8_lossy(&bytes).replace("___", "/"))
}

/// The properties of a page: those before its first block, or of its first block.
struct LogseqProperties(Vec<(String, String)>);

impl LogseqProperties {
    fn of(text: &str) -> Self {
        static PROPERTY: LazyLock<Regex> = LazyLock::new(|| {
            // The other lines of a block are indented.
            let markdown = r"(?:-\s+|\s+)?([A-Za-z][\w/-]*):: ?(.*)";
            let org = r"#\+([A-Za-z][\w-]*): ?(.*)";
            let drawer = r":([A-Za-z][\w-]*): +(.*)";
            let front_matter = r"([A-Za-z][\w-]*): +(.*)";
            Regex::new(&format!("^(?:{markdown}|{org}|{drawer}|{front_matter})$"))
                .expect("the pattern is right")
        });
        let is_frame = |line: &str| {
            matches!(line.trim(), "" | "-")
                || [":PROPERTIES:", ":END:", "---"]
                    .iter()
                    .any(|frame| line.starts_with(frame))
        };
        let mut properties = Vec::<(String, String)>::new();
        for line in text.lines() {
            match PROPERTY.captures(line) {
                Some(found) => {
                    let mut groups = found.iter().skip(1).flatten().map(|group| group.as_str());
                    let (key, value) = (
                        groups.next().unwrap_or_default(),
                        groups.next().unwrap_or_default(),
                    );
                    properties.push((key.to_lowercase(), value.trim().to_owned()));
                }
                None if is_frame(line) => {}
                None => break,
            }
        }
        Self(properties)
    }

    /// Returns the last value of `key`, if it is not empty.
    fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(own, _)| own == key)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Returns the title of the page at `path`.
    fn title(&self, path: &str) -> String {
        self.get("title")
            .map_or_else(|| page_name(stem(path)), str::to_owned)
    }

    /// Returns the names in the value of `key`: separated by commas, optionally in brackets.
    fn list(&self, key: &str) -> Vec<String> {
        let names = self
            .get(key)
            .unwrap_or_default()
            .split([',', '，'])
            .map(|name| {
                let name = name.trim().trim_start_matches('#');
                let name = name.strip_prefix("[[").unwrap_or(name);
                name.strip_suffix("]]").unwrap_or(name).to_owned()
            });
        names.filter(|name| !name.is_empty()).collect()
    }
}

struct PageReference {
    page: String,
    is_tag: bool,
}

/// Returns the pages to which a text without code refers: `[[page]]`, `#[[two words]]` and `#tag`.
fn find_references(prose: &str) -> Vec<PageReference> {
    let mut references = Vec::new();
    for link in wikilink::parse_prose_wikilinks(prose) {
        let start = link.span.start + usize::from(link.embed);
        let page = prose[start + 2..link.span.end - 2].trim().to_owned();
        references.push(PageReference {
            page,
            is_tag: prose[..start].ends_with('#'),
        });
    }
    for (at, _) in prose.match_indices('#') {
        let begins_word = |before: char| before.is_whitespace() || before == ',';
        if !prose[..at].chars().next_back().is_none_or(begins_word) {
            continue;
        }
        let rest = &prose[at + 1..];
        let is_end =
            |character: char| character.is_whitespace() || "#[](),.!?'\":;{}|`".contains(character);
        let page = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        // `#+begin_src` and similar words are keywords of Org.
        if !page.is_empty() && !page.starts_with('+') {
            references.push(PageReference {
                page: page.to_owned(),
                is_tag: wikilink::is_tag_name(page),
            });
        }
    }
    references
}

/// Returns the pages of the labelled links of an Org page: `[[page][label]]` and `[[file:../pages/a_b.org][a b]]`.
fn find_org_links(prose: &str) -> impl Iterator<Item = PageReference> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        let code =
            |mark| format!(r#"(?:^|[\s('"{{-]){mark}\S(?:[^\n]*?\S)?{mark}(?:$|[\s)'"}},.;:!?-])"#);
        let link = r"\[\[([^\[\]]+)\]\[([^\[\]]+)\]\]";
        let pattern = format!("(?m){}|{}|{link}", code('~'), code('='));
        Regex::new(&pattern).expect("the pattern is right")
    });
    LINK.captures_iter(prose).filter_map(|link| {
        let (target, label) = (link.get(1)?.as_str(), &link[2]);
        let is_page = target.starts_with("file:") && has_extension(target, &["org", "md"]);
        let page = match target.split_once(':') {
            None if !target.starts_with("((") => target,
            Some(_) if is_page => label,
            _ => return None,
        };
        Some(PageReference {
            page: page.trim().to_owned(),
            is_tag: false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{LogseqProperties, find_org_links, find_references, page_name};

    #[test]
    fn labelled_links_of_org_name_a_page() {
        let text = "[[file:../pages/a_b.org][a b]] [[c][d]] [[id:1][e]] [[https://f.example][g]] \
                    [[((0-1))][h]] (~[[j][k]]~) ~1 [[l][m]] ~2 \
                    x == y [[n][o]] = z [[file:../assets/h.png][i]]";
        let pages: Vec<_> = find_org_links(text).map(|own| own.page).collect();
        assert_eq!(pages, ["a b", "c", "l", "n"]);
    }

    #[test]
    fn file_names_are_page_names_in_disguise() {
        assert_eq!(page_name("a___b%2Fc%3A%E9%94%AE%zz%+1%"), "a/b/c:键%zz%+1%");
    }

    #[test]
    fn properties_end_where_text_begins() {
        let properties = LogseqProperties::of(
            "title:: A B\nalias:: x, [[y z]]，#w\n\n- tags:: t\n- text\ntags:: no",
        );
        assert_eq!(properties.get("title"), Some("A B"));
        assert_eq!(properties.list("alias"), ["x", "y z", "w"]);
        assert_eq!(properties.list("tags"), ["t"]);
        for block in [
            "- alias:: x, [[y z]]\n  tags:: t\n- text",
            "-\talias:: x, [[y z]]\n\ttags:: t\n\t- tags:: no",
            "- \n  tags:: t\n  alias:: x, [[y z]]\n- text\n  alias:: no",
        ] {
            let properties = LogseqProperties::of(block);
            assert_eq!(properties.list("alias"), ["x", "y z"], "{block}");
            assert_eq!(properties.list("tags"), ["t"], "{block}");
        }
        let org = LogseqProperties::of(
            ":PROPERTIES:\n:ID: 1\n:alias: o\n:END:\n#+TITLE: Org page\n* text",
        );
        assert_eq!(
            (org.get("title"), org.get("alias")),
            (Some("Org page"), Some("o"))
        );
    }

    #[test]
    fn tags_and_links_are_references_of_one_kind() {
        let found: Vec<_> = find_references(
            "[[a|b]] #[[two words]] #c, #+d x#e [[file][label]] #f #123 #a1b2c3 #_g_ #[[7]]",
        )
        .into_iter()
        .map(|found| (found.page, found.is_tag))
        .collect();
        let pages: Vec<_> = found.iter().map(|(page, _)| page.as_str()).collect();
        let tags: Vec<_> = found
            .iter()
            .filter(|(_, is_tag)| *is_tag)
            .map(|(page, _)| page.as_str())
            .collect();
        assert_eq!(
            pages,
            ["a|b", "two words", "7", "c", "f", "123", "a1b2c3", "_g_"]
        );
        assert_eq!(tags, ["two words", "7", "c", "f"]);
    }
}
