//! Evernote's markup as Markdown.

mod escape;
mod markdown_writer;

use std::collections::{HashMap, HashSet};

use memory_core::wikilink::fold_link_name;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesStart, Event};

use crate::note::one_line;

pub(crate) use escape::escape;

use markdown_writer::MarkdownWriter;

/// A text as Markdown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConvertedText {
    /// The text.
    pub(crate) markdown: String,
    /// The texts of links to other notes, which are usually their titles.
    pub(crate) links: Vec<String>,
    /// The hashes of the files that the text shows.
    pub(crate) shown_files: Vec<String>,
    /// What is wrong with the markup, and what is lost.
    pub(crate) warnings: Vec<String>,
}

/// Converts Evernote's markup of a text outside of Evernote.
pub(crate) fn to_markdown(enml: &str) -> ConvertedText {
    note_to_markdown(enml, &HashMap::new(), &HashSet::new())
}

/// Converts Evernote's markup. `files` are the names of files by their hashes, and `titles` the folded titles of all notes: a link to one
/// of them becomes a wikilink, because the notes do not have the ids of their addresses.
pub(crate) fn note_to_markdown(
    enml: &str,
    files: &HashMap<String, String>,
    titles: &HashSet<String>,
) -> ConvertedText {
    let mut reader = Reader::from_str(enml);
    let config = reader.config_mut();
    (
        config.allow_dangling_amp,
        config.allow_unmatched_ends,
        config.check_end_names,
    ) = (true, true, false);
    let mut converter = EnmlConverter {
        files,
        titles,
        dead_links: Vec::new(),
        link_text: String::new(),
        converted: ConvertedText::default(),
        open: Vec::new(),
        hidden: 0,
        links: 0,
        codes: 0,
        writer: MarkdownWriter::default(),
    };
    loop {
        let start = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Start(tag)) => converter.start(&tag),
            Ok(Event::Empty(tag)) => {
                converter.start(&tag);
                converter.end();
            }
            Ok(Event::End(_)) => converter.end(),
            Ok(Event::Text(text)) => converter.text(&text),
            Ok(Event::CData(text)) => converter.text(&text),
            Ok(Event::GeneralRef(name)) => {
                let character = name.resolve_char_ref().ok().flatten();
                match character
                    .map(String::from)
                    .or_else(|| resolve_html5_entity(&name).map(str::to_owned))
                {
                    Some(text) => converter.text(&text),
                    None => converter.text(&format!("&{};", &*name)),
                }
            }
            Ok(Event::Eof) => break,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(error) => {
                converter.converted.warnings.push(format!(
                    "its markup is not valid: {error}; the rest was imported as text"
                ));
                let start = usize::try_from(start).unwrap_or(usize::MAX).min(enml.len());
                converter.text(enml.get(start..).unwrap_or_default());
                break;
            }
        }
    }
    converter.finish()
}

/// What is lost of a note with a part that only its password opens.
const ENCRYPTED: &str = "its encrypted text was not imported; decrypt it permanently in Evernote, and export the note again";

/// The effect of the end of an element.
enum OpenElement {
    /// None.
    Plain,
    /// The end of a line.
    Block,
    /// The end of a line and of a level of indentation.
    Level,
    /// The end of a quotation, which is a level of indentation or not.
    Quote(bool),
    /// The end of a list.
    List,
    /// The end of text between two marks, which began at a position of the line.
    Marked(&'static str, usize),
    /// The end of a link, which began at a position of the line.
    Link(String, usize),
    /// The end of a block of code.
    Code,
    /// The end of a part that is left out.
    Hidden,
    /// The end of a table or of a cell.
    Table,
    Cell,
}

struct EnmlConverter<'a> {
    files: &'a HashMap<String, String>,
    titles: &'a HashSet<String>,
    /// The texts of links to notes that are not among the titles.
    dead_links: Vec<String>,
    /// The text of the link around the position, or of the last one.
    link_text: String,
    converted: ConvertedText,
    open: Vec<OpenElement>,
    /// Number of elements around the position that are left out.
    hidden: usize,
    /// Numbers of links and of marks of code around the position.
    links: usize,
    codes: usize,
    writer: MarkdownWriter,
}

impl EnmlConverter<'_> {
    fn start(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        let element = self.start_element(name.as_ref(), tag);
        self.links += usize::from(matches!(element, OpenElement::Link(..)));
        self.codes += usize::from(matches!(element, OpenElement::Marked("`", _)));
        self.open.push(element);
    }

    fn start_element(&mut self, name: &str, tag: &BytesStart<'_>) -> OpenElement {
        let attribute = |key: &str| attribute(tag, key);
        let style = attribute("style").unwrap_or_default().replace(' ', "");
        if 0 < self.hidden {
            return self.hide();
        }
        if self.writer.is_in_code() {
            self.writer.start_in_code(name);
            return OpenElement::Code;
        }
        let is_cell_start = self.writer.is_in_table() && !self.writer.is_in_cell();
        match name {
            "pre" => self.start_code(&style),
            "div" if style.contains("-en-codeblock:true") => self.start_code(&style),
            "div" | "p" | "section" | "center" | "article" | "address" | "dl" | "dt" | "dd" => {
                self.block("")
            }
            "h1" => self.block("# "),
            "h2" => self.block("## "),
            "h3" => self.block("### "),
            "h4" | "h5" | "h6" => self.block("#### "),
            "br" => {
                self.writer.flush_line(true);
                OpenElement::Plain
            }
            "hr" => {
                self.writer.push_rule();
                OpenElement::Plain
            }
            "blockquote" => OpenElement::Quote(self.writer.start_level("> ", "> ")),
            "ul" | "ol" => {
                let first = attribute("start")
                    .and_then(|start| start.parse().ok())
                    .unwrap_or(1);
                self.writer.start_list(
                    (name == "ol").then_some(first),
                    style.contains("--en-todo:true"),
                    matches!(self.open.last(), Some(OpenElement::List)),
                );
                OpenElement::List
            }
            "li" => level(self.writer.start_item(style.contains("--en-checked:true"))),
            "b" | "strong" => self.mark("**"),
            "i" | "em" => self.mark("*"),
            "s" | "del" | "strike" => self.mark("~~"),
            "code" | "tt" => self.mark("`"),
            "span" if style.contains("font-weight:bold") || style.contains("font-weight:700") => {
                self.mark("**")
            }
            "a" => match attribute("href") {
                Some(address) => {
                    self.link_text.clear();
                    self.writer.push_markup(&["["]);
                    OpenElement::Link(address, self.writer.position())
                }
                None => OpenElement::Plain,
            },
            "en-todo" => {
                let is_done = attribute("checked").is_some_and(|checked| checked == "true");
                let bullet = if self.writer.is_at_block_start() {
                    "- "
                } else {
                    ""
                };
                self.writer
                    .push_markup(&[bullet, if is_done { "[x] " } else { "[ ] " }]);
                OpenElement::Plain
            }
            "en-media" => {
                let hash = attribute("hash").unwrap_or_default().to_lowercase();
                let known = self.files.get(&hash).cloned();
                let name = known.unwrap_or_else(|| attribute("type").unwrap_or_default());
                self.writer.push_markup(&["[file: ", &one_line(&name), "]"]);
                self.converted.shown_files.push(hash);
                OpenElement::Plain
            }
            "img" => {
                let (name, address) = (
                    attribute("alt").unwrap_or_default(),
                    attribute("src").unwrap_or_default(),
                );
                if address.is_empty() || address.starts_with("data:") {
                    self.writer.push_markup(&["[image]"]);
                } else {
                    self.writer
                        .push_markup(&["![", &one_line(&name), "]", &link_target(&address)]);
                }
                OpenElement::Plain
            }
            "en-crypt" => {
                let hint = attribute("hint").map(|hint| one_line(&hint));
                match hint.filter(|hint| !hint.is_empty()) {
                    Some(hint) => {
                        let shown = ["[encrypted text, hint: ", &hint, "]"];
                        self.writer.push_markup(&shown);
                    }
                    None => self.writer.push_markup(&["[encrypted text]"]),
                }
                if !self.converted.warnings.iter().any(|own| own == ENCRYPTED) {
                    self.converted.warnings.push(ENCRYPTED.to_owned());
                }
                self.hide()
            }
            "style" | "script" | "head" | "title" => self.hide(),
            "table" if !self.writer.is_in_table() => {
                self.writer.start_table();
                OpenElement::Table
            }
            "tr" if is_cell_start => {
                self.writer.start_row();
                OpenElement::Plain
            }
            "td" | "th" if is_cell_start => {
                self.writer.start_cell();
                OpenElement::Cell
            }
            // A table in a cell is lines of text.
            "td" | "th" => self.block(""),
            _ => OpenElement::Plain,
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            None | Some(OpenElement::Plain) => {}
            Some(OpenElement::Hidden) => self.hidden -= 1,
            Some(OpenElement::Block) => self.writer.flush_line(false),
            Some(OpenElement::Level) => self.writer.end_level(),
            Some(OpenElement::Quote(is_level)) => self.writer.end_quote(is_level),
            Some(OpenElement::List) => self.writer.end_list(),
            Some(OpenElement::Marked(mark, start)) => {
                self.codes -= usize::from(mark == "`");
                self.writer.end_mark(mark, start);
            }
            Some(OpenElement::Link(address, start)) => {
                self.links -= 1;
                self.end_link(address, start);
            }
            Some(OpenElement::Code) => self.writer.end_code(),
            Some(OpenElement::Cell) => self.writer.end_cell(),
            Some(OpenElement::Table) => self.writer.end_table(),
        }
    }

    fn end_link(&mut self, address: String, start: usize) {
        let text = one_line(&std::mem::take(&mut self.link_text));
        let is_in_app = address.starts_with("evernote:");
        if (is_in_app || address.contains("evernote.com/shard/")) && !text.is_empty() {
            self.converted.links.push(text.clone());
        }
        let is_known = self.titles.contains(&fold_link_name(&text));
        if !is_in_app || !is_known {
            self.writer.push_markup(&["]", &link_target(&address)]);
            if is_in_app {
                let shown = if text.is_empty() { address } else { text };
                self.dead_links.push(shown);
            }
            return;
        }
        let is_plain = !text.contains(['[', ']', '|', '#', '^', '`', '\\', '$', '<']);
        if !is_plain || !self.writer.replace_link(start, &format!("[[{text}]]")) {
            // The address is the name of the note.
            let name = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
            self.writer.push_markup(&["]", &link_target(&name)]);
        }
    }

    fn text(&mut self, text: &str) {
        if 0 < self.hidden {
            return;
        }
        if 0 < self.links {
            self.link_text.push_str(text);
        }
        self.writer
            .push_text(&text.replace('\0', ""), 0 < self.links, 0 < self.codes);
    }

    fn finish(mut self) -> ConvertedText {
        while !self.open.is_empty() {
            self.end();
        }
        self.converted.markdown = self.writer.finish();
        if !self.dead_links.is_empty() {
            let shown: Vec<_> = self.dead_links.iter().take(MAX_NAMED_LINKS).collect();
            let more = self.dead_links.len() - shown.len();
            let more = if 0 < more {
                format!(" and {more} more")
            } else {
                String::new()
            };
            self.converted.warnings.push(format!(
                "links that lead to no note of this import: {shown:?}{more}"
            ));
        }
        self.converted
    }

    fn block(&mut self, prefix: &str) -> OpenElement {
        self.writer.start_block(prefix);
        OpenElement::Block
    }

    fn mark(&mut self, mark: &'static str) -> OpenElement {
        self.writer.push_markup(&[mark]);
        OpenElement::Marked(mark, self.writer.position())
    }

    fn hide(&mut self) -> OpenElement {
        self.hidden += 1;
        OpenElement::Hidden
    }

    fn start_code(&mut self, style: &str) -> OpenElement {
        let language = style
            .split("--en-codeblockLanguage:")
            .nth(1)
            .and_then(|rest| rest.split(';').next());
        let is_word = |language: &&str| {
            *language != "plaintext"
                && language
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+#-".contains(&byte))
        };
        self.writer
            .start_code(language.filter(is_word).unwrap_or_default());
        OpenElement::Code
    }
}

/// Returns the effect of the end of a level, or of a block in its place.
fn level(is_level: bool) -> OpenElement {
    if is_level {
        OpenElement::Level
    } else {
        OpenElement::Block
    }
}

/// Maximum number of links without a note that the warning about a note names.
const MAX_NAMED_LINKS: usize = 20;

/// Returns the part of a link after its text.
fn link_target(address: &str) -> String {
    if address.contains([' ', '(', ')', '<', '>']) {
        format!("(<{}>)", address.replace('<', "%3C").replace('>', "%3E"))
    } else {
        format!("({address})")
    }
}

/// Returns the value of an attribute.
fn attribute(tag: &BytesStart<'_>, key: &str) -> Option<String> {
    let found = tag
        .html_attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.as_ref() == key)?;
    let value = quick_xml::escape::unescape(&found.value)
        .map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned);
    Some(value.replace('\0', "").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::{ENCRYPTED, note_to_markdown, to_markdown};

    fn markdown(enml: &str) -> String {
        let files = HashMap::from([("aa".to_owned(), "plan.pdf".to_owned())]);
        let enml = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE en-note SYSTEM \"x\">\n<en-note>{enml}</en-note>"
        );
        note_to_markdown(&enml, &files, &HashSet::new()).markdown
    }

    #[test]
    fn texts_and_marks_become_markdown() {
        assert_eq!(
            markdown("<div>a&amp;b &lt;c&gt; &nbsp;&eacute;&#128512;</div><div>键 שלום</div>"),
            "a&b \\<c> é😀\n键 שלום"
        );
        assert_eq!(
            markdown(
                "<h1>T</h1><p>a <b>bold </b><i>i</i> <b></b><span style=\"font-weight: bold\">x</span></p>"
            ),
            "# T\na **bold** *i* **x**"
        );
        assert_eq!(
            markdown("a<br/>b<div><br/></div><div><br/></div><div><br/></div>c"),
            "a\nb\n\nc"
        );
        assert_eq!(
            markdown("<a href=\"https://x.y/?a=1&amp;b=2\">t</a>"),
            "[t](https://x.y/?a=1&b=2)"
        );
        assert_eq!(
            markdown("<div># no</div><li>1. *x*</li><code>a*b</code><a href=\"x\">[1] y]</a>"),
            "\\# no\n- 1\\. \\*x\\*\n`a*b`[\\[1\\] y\\]](x)"
        );
        assert_eq!(
            markdown("<blockquote><div>q</div><div>r</div></blockquote>"),
            "> q\n> r"
        );
    }

    #[test]
    fn a_link_to_a_note_is_a_wikilink_and_one_without_a_note_is_named() {
        let titles = HashSet::from(["shopping".to_owned(), "c# [1]".to_owned()]);
        let link = |text: &str| format!("<a href=\"evernote:///view/1/s1/a/a/\">{text}</a>");
        let converted = |enml: &str| {
            let enml = format!("<en-note>{enml}</en-note>");
            note_to_markdown(&enml, &HashMap::new(), &titles)
        };
        let known = converted(&format!(
            "see {}, {}.",
            link("<b>Shopping</b>"),
            link("C# [1]")
        ));
        assert_eq!(
            known.markdown,
            "see [[Shopping]], [C# \\[1\\]](C%23%20%5B1%5D)."
        );
        assert_eq!(known.links, ["Shopping", "C# [1]"]);
        assert!(known.warnings.is_empty());
        let dead = converted(&format!("{} {}", link("Tea"), link("")));
        assert_eq!(
            dead.markdown,
            "[Tea](evernote:///view/1/s1/a/a/) [](evernote:///view/1/s1/a/a/)"
        );
        let named =
            "links that lead to no note of this import: [\"Tea\", \"evernote:///view/1/s1/a/a/\"]";
        assert_eq!(dead.warnings, [named]);
        let web = converted("<a href=\"https://www.evernote.com/shard/s1/a\">Tea</a>");
        assert!(web.warnings.is_empty());
    }

    #[test]
    fn lists_keep_their_nesting_and_their_marks() {
        let list = "<ul><li><div>a</div></li><li><div>b</div><ol start=\"3\"><li>c<div>d</div></li><li>e</li></ol></li></ul>f";
        assert_eq!(markdown(list), "- a\n- b\n\n  3. c\n     d\n  4. e\n\nf");
        let checks = "<ul style=\"--en-todo:true;\"><li style=\"--en-checked:true;\">x</li><li style=\"--en-checked:false;\">y</li></ul>\
            <ul><li><en-todo checked=\"true\"/>z</li></ul><div><en-todo/>w</div>";
        assert_eq!(markdown(checks), "- [x] x\n- [ ] y\n- [x] z\n- [ ] w");
    }

    #[test]
    fn an_empty_line_separates_blocks_that_would_be_one() {
        for (enml, expected) in [
            ("<div>para</div><hr/><div>after</div>", "para\n\n---\nafter"),
            ("<hr/>x", "---\nx"),
            ("<blockquote>q</blockquote><div>after</div>", "> q\n\nafter"),
            (
                "<blockquote>q<blockquote>r</blockquote>s</blockquote>",
                "> q\n> > r\n>\n> s",
            ),
            ("<ul><li>a</li></ul>after", "- a\n\nafter"),
            (
                "<ul><li>a</li><ul><li>b</li><ul><li>c</li></ul></ul><li>d</li></ul>",
                "- a\n  - b\n    - c\n- d",
            ),
            (
                "<ol><li>a</li><ul style=\"--en-todo:true\"><li>b</li></ul></ol>c",
                "1. a\n   - [ ] b\n\nc",
            ),
            ("<ul><ul><li>a</li></ul><li>b</li></ul>", "- a\n- b"),
            (
                "<ul><li>a<ul><li>b</li></ul>c</li><li>d</li></ul>",
                "- a\n  - b\n\n  c\n- d",
            ),
            (
                "<ul><li>a</li></ul><div><br/></div><div>b</div>",
                "- a\n\nb",
            ),
            ("<div>a</div><ol start=\"2\"><li>b</li></ol>", "a\n\n2. b"),
            (
                "<ul><li>a</li></ul><table><tr><td>x</td></tr></table>y",
                "- a\n\n| x |\n| --- |\n\ny",
            ),
            (
                "<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td>x</td></tr></table>",
                "| a<br>b | x |\n| --- | --- |",
            ),
            ("<dl><dt>d</dt><dd>e</dd></dl>f", "d\ne\nf"),
        ] {
            assert_eq!(markdown(enml), expected, "{enml}");
        }
    }

    #[test]
    fn code_keeps_its_spaces_and_tables_their_cells() {
        let code = "<div style=\"--en-codeblock:true;--en-codeblockLanguage:rust; x:y\"><div>fn a() {</div><div>    b &lt; `c`;</div><div><br/></div><div>}</div></div>";
        assert_eq!(markdown(code), "```rust\nfn a() {\n    b < `c`;\n\n}\n```");
        let table = "<table><tbody><tr><td><div>a|b</div></td><td>c</td></tr><tr><td><div>d</div><div>e</div></td></tr></tbody></table>";
        assert_eq!(
            markdown(table),
            "| a\\|b | c |\n| --- | --- |\n| d<br>e |  |"
        );
    }

    #[test]
    fn files_are_named_and_encrypted_text_is_left_out() {
        assert_eq!(
            markdown(
                "<en-media hash=\"AA\" type=\"application/pdf\"/> <en-media hash=\"bb\" type=\"image/png\"/>"
            ),
            "[file: plan.pdf] [file: image/png]"
        );
        assert_eq!(
            markdown("a <en-crypt hint=\"h\">secret</en-crypt> b"),
            "a [encrypted text, hint: h] b"
        );
        let text = "<en-crypt>K9</en-crypt><en-crypt hint=''>R</en-crypt>";
        let converted = to_markdown(text);
        assert_eq!(converted.markdown, "[encrypted text][encrypted text]");
        assert_eq!(converted.warnings, [ENCRYPTED]);
        assert_eq!(
            markdown("<img src=\"data:image/png;base64,AAAA\"/><style>x</style>"),
            "[image]"
        );
    }

    #[test]
    fn markup_that_is_not_valid_loses_no_text() {
        let converted = to_markdown("<en-note><div>a & b</span>c<![CDATA[d");
        assert!(
            ["a & b", "c", "d"]
                .iter()
                .all(|text| converted.markdown.contains(text)),
            "{converted:?}"
        );
        assert!(converted.warnings.len() == 1);
    }

    proptest! {
        #[test]
        fn words_survive_any_markup(parts in prop::collection::vec("(<div>|</div>|<ul>|</ul>|<li>|</li>|<b>|</b>|<table>|</table>|<tr>|<td>|</td>|<br/>|<a href=\"x\">|</a>|<pre>|</pre>|&amp;|<blockquote>|键)", 0..40)) {
            let enml = parts.join("word");
            let converted = to_markdown(&enml);
            prop_assert!(converted.markdown.matches("word").count() <= enml.matches("word").count());
            if !enml.contains("<t") {
                prop_assert_eq!(converted.markdown.matches("word").count(), enml.matches("word").count());
            }
        }
    }
}
