//! Evernote's markup as Markdown.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesStart, Event};

use crate::note::one_line;

/// Maximum nesting that is shown by indentation. Deeper levels have the same indentation.
const MAX_LEVELS: usize = 24;

/// A text as Markdown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConvertedText {
    /// The text.
    pub(crate) markdown: String,
    /// The texts of links to other notes, which are usually their titles.
    pub(crate) links: Vec<String>,
    /// The hashes of the files that the text shows.
    pub(crate) shown_files: Vec<String>,
    /// The problem, if the markup is not valid.
    pub(crate) warning: Option<String>,
}

/// Converts Evernote's markup. `files` are the names of files by their hashes.
pub(crate) fn to_markdown(enml: &str, files: &HashMap<String, String>) -> ConvertedText {
    let mut reader = Reader::from_str(enml);
    let config = reader.config_mut();
    (config.allow_dangling_amp, config.allow_unmatched_ends, config.check_end_names) = (true, true, false);
    let mut writer = MarkdownWriter::new(files);
    loop {
        let start = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Start(tag)) => writer.start(&tag),
            Ok(Event::Empty(tag)) => {
                writer.start(&tag);
                writer.end();
            }
            Ok(Event::End(_)) => writer.end(),
            Ok(Event::Text(text)) => writer.text(&text),
            Ok(Event::CData(text)) => writer.text(&text),
            Ok(Event::GeneralRef(name)) => {
                let character = name.resolve_char_ref().ok().flatten().filter(|character| *character != '\0');
                match character.map(String::from).or_else(|| resolve_html5_entity(&name).map(str::to_owned)) {
                    Some(text) => writer.text(&text),
                    None => writer.text(&format!("&{};", &*name)),
                }
            }
            Ok(Event::Eof) => break,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(error) => {
                writer.converted.warning = Some(format!("its markup is not valid: {error}; the rest was imported as text"));
                let start = usize::try_from(start).unwrap_or(usize::MAX).min(enml.len());
                writer.text(enml.get(start..).unwrap_or_default());
                break;
            }
        }
    }
    writer.finish()
}

/// The effect of the end of an element.
enum OpenElement {
    /// None.
    Plain,
    /// The end of a line.
    Block,
    /// The end of a line and of a level of indentation.
    Level,
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
    /// The end of a table, of a row of it, or of a cell.
    Table,
    Row,
    Cell,
}

/// A level of indentation: the text before its first line, and before the others.
struct IndentLevel {
    first: Option<String>,
    rest: String,
}

struct ListState {
    number: Option<u64>,
    is_checklist: bool,
}

struct MarkdownWriter<'a> {
    files: &'a HashMap<String, String>,
    converted: ConvertedText,
    open: Vec<OpenElement>,
    line: String,
    levels: Vec<IndentLevel>,
    lists: Vec<ListState>,
    /// Number of elements around the position that are left out.
    hidden: usize,
    /// The language and the text of the block of code around the position, and the number of such elements.
    code: Option<(String, String, usize)>,
    table: Option<Vec<Vec<String>>>,
    is_in_cell: bool,
}

impl<'a> MarkdownWriter<'a> {
    fn new(files: &'a HashMap<String, String>) -> Self {
        Self {
            files,
            converted: ConvertedText::default(),
            open: Vec::new(),
            line: String::new(),
            levels: Vec::new(),
            lists: Vec::new(),
            hidden: 0,
            code: None,
            table: None,
            is_in_cell: false,
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        let name: &str = name.as_ref();
        let attribute = |key: &str| attribute(tag, key);
        let style = attribute("style").unwrap_or_default().replace(' ', "");
        let element = if 0 < self.hidden {
            self.hidden += 1;
            OpenElement::Hidden
        } else if self.code.is_some() {
            self.start_in_code(name)
        } else {
            match name {
                "pre" => self.start_code(&style),
                "div" if style.contains("-en-codeblock:true") => self.start_code(&style),
                "div" | "p" | "section" | "center" => self.block(""),
                "h1" => self.block("# "),
                "h2" => self.block("## "),
                "h3" => self.block("### "),
                "h4" | "h5" | "h6" => self.block("#### "),
                "br" => {
                    self.flush_line(true);
                    OpenElement::Plain
                }
                "hr" => {
                    self.flush_line(false);
                    self.line.push_str("---");
                    OpenElement::Block
                }
                "blockquote" => self.level("> ", "> "),
                "ul" | "ol" => {
                    self.flush_line(false);
                    let first = attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1);
                    let number = (name == "ol").then_some(first);
                    self.lists.push(ListState { number, is_checklist: style.contains("--en-todo:true") });
                    OpenElement::List
                }
                "li" => self.item(&style),
                "b" | "strong" => self.mark("**"),
                "i" | "em" => self.mark("*"),
                "s" | "del" | "strike" => self.mark("~~"),
                "code" | "tt" => self.mark("`"),
                "span" if style.contains("font-weight:bold") || style.contains("font-weight:700") => self.mark("**"),
                "a" => match attribute("href") {
                    Some(address) => {
                        self.line.push('[');
                        OpenElement::Link(address, self.line.len())
                    }
                    None => OpenElement::Plain,
                },
                "en-todo" => {
                    let is_done = attribute("checked").is_some_and(|checked| checked == "true");
                    let mark = if is_done { "[x] " } else { "[ ] " };
                    if self.line.trim().is_empty() && self.lists.is_empty() && !self.is_in_cell {
                        self.line.push_str("- ");
                    }
                    self.line.push_str(mark);
                    OpenElement::Plain
                }
                "en-media" => {
                    let hash = attribute("hash").unwrap_or_default().to_lowercase();
                    let known = self.files.get(&hash).cloned();
                    let name = known.unwrap_or_else(|| attribute("type").unwrap_or_default());
                    self.line.extend(["[file: ", &one_line(&name), "]"]);
                    self.converted.shown_files.push(hash);
                    OpenElement::Plain
                }
                "img" => {
                    let (name, address) = (attribute("alt").unwrap_or_default(), attribute("src").unwrap_or_default());
                    let is_address = !address.is_empty() && !address.starts_with("data:");
                    if is_address {
                        self.line.extend(["![", &one_line(&name), "](<", &address, ">)"]);
                    } else {
                        self.line.push_str("[image]");
                    }
                    OpenElement::Plain
                }
                "en-crypt" => {
                    self.line.push_str("[encrypted text]");
                    self.hide()
                }
                "style" | "script" | "head" | "title" => self.hide(),
                "table" if self.table.is_none() => {
                    self.flush_line(false);
                    self.table = Some(Vec::new());
                    OpenElement::Table
                }
                "tr" if self.table.is_some() && !self.is_in_cell => {
                    self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
                    OpenElement::Row
                }
                "td" | "th" if self.table.is_some() && !self.is_in_cell => {
                    self.line.clear();
                    self.is_in_cell = true;
                    OpenElement::Cell
                }
                _ => OpenElement::Plain,
            }
        };
        self.open.push(element);
    }

    fn end(&mut self) {
        match self.open.pop() {
            None | Some(OpenElement::Plain | OpenElement::Row) => {}
            Some(OpenElement::Hidden) => self.hidden -= 1,
            Some(OpenElement::Block) => self.flush_line(false),
            Some(OpenElement::Level) => {
                self.flush_line(false);
                self.levels.pop();
            }
            Some(OpenElement::List) => {
                self.flush_line(false);
                self.lists.pop();
            }
            Some(OpenElement::Marked(mark, start)) => self.end_mark(mark, start),
            Some(OpenElement::Link(address, start)) => {
                let text = self.line.get(start..).unwrap_or_default().trim().to_owned();
                let is_note = address.starts_with("evernote:") || address.contains("evernote.com/shard/");
                if is_note && !text.is_empty() {
                    self.converted.links.push(one_line(&text));
                }
                let is_plain = !address.contains([' ', '(', ')']);
                self.line.extend(if is_plain { ["](", &address, ")"] } else { ["](<", &address, ">)"] });
            }
            Some(OpenElement::Code) => self.end_code(),
            Some(OpenElement::Cell) => {
                let cell = std::mem::take(&mut self.line).trim().replace('|', "\\|");
                self.is_in_cell = false;
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            Some(OpenElement::Table) => self.end_table(),
        }
    }

    fn text(&mut self, text: &str) {
        if 0 < self.hidden {
            return;
        }
        if let Some((_, code, _)) = &mut self.code {
            code.push_str(&text.replace('\u{a0}', " "));
            return;
        }
        for letter in text.chars() {
            let letter = if letter == '\u{a0}' { ' ' } else { letter };
            // In markup, several spaces and line breaks are equivalent to one space.
            let is_space = matches!(letter, ' ' | '\n' | '\r' | '\t');
            if !is_space {
                self.line.push(letter);
            } else if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
        }
    }

    fn finish(mut self) -> ConvertedText {
        while !self.open.is_empty() {
            self.end();
        }
        self.flush_line(false);
        let text = self.converted.markdown.trim_matches('\n');
        let mut lines = String::with_capacity(text.len());
        let mut blank_lines = 0;
        for line in text.split('\n') {
            blank_lines = if line.is_empty() { blank_lines + 1 } else { 0 };
            if blank_lines < 2 {
                lines.extend([line, "\n"]);
            }
        }
        lines.pop();
        self.converted.markdown = lines;
        self.converted
    }

    fn block(&mut self, prefix: &str) -> OpenElement {
        self.flush_line(false);
        self.line.push_str(prefix);
        OpenElement::Block
    }

    fn level(&mut self, first: &str, rest: &str) -> OpenElement {
        self.flush_line(false);
        if self.levels.len() == MAX_LEVELS {
            self.line.push_str(first);
            return OpenElement::Block;
        }
        self.levels.push(IndentLevel { first: Some(first.to_owned()), rest: rest.to_owned() });
        OpenElement::Level
    }

    fn item(&mut self, style: &str) -> OpenElement {
        let list = self.lists.last_mut();
        let is_checklist = list.as_ref().is_some_and(|list| list.is_checklist);
        let mut mark = match list.and_then(|list| list.number.as_mut()) {
            Some(number) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            None => "- ".to_owned(),
        };
        let rest = " ".repeat(mark.len());
        if is_checklist {
            mark.push_str(if style.contains("--en-checked:true") { "[x] " } else { "[ ] " });
        }
        self.level(&mark, &rest)
    }

    fn mark(&mut self, mark: &'static str) -> OpenElement {
        self.line.push_str(mark);
        OpenElement::Marked(mark, self.line.len())
    }

    fn end_mark(&mut self, mark: &str, start: usize) {
        let Some(text) = self.line.get(start..).filter(|text| !text.trim().is_empty()) else {
            // Without text, also the first mark is left out, unless a line ended between them.
            let first = start.checked_sub(mark.len()).filter(|first| self.line.get(*first..start) == Some(mark));
            match first {
                Some(first) => drop(self.line.drain(first..start)),
                None => self.line.push_str(mark),
            }
            return;
        };
        // A mark after a space does not end the emphasis.
        let spaces = text.len() - text.trim_end().len();
        let at = self.line.len() - spaces;
        self.line.insert_str(at, mark);
    }

    fn hide(&mut self) -> OpenElement {
        self.hidden += 1;
        OpenElement::Hidden
    }

    fn start_code(&mut self, style: &str) -> OpenElement {
        self.flush_line(false);
        let language = style.split("--en-codeblockLanguage:").nth(1).and_then(|rest| rest.split(';').next());
        let is_word = |language: &&str| {
            *language != "plaintext" && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-".contains(&byte))
        };
        let language = language.filter(is_word).unwrap_or_default();
        self.code = Some((language.to_owned(), String::new(), 1));
        OpenElement::Code
    }

    fn start_in_code(&mut self, name: &str) -> OpenElement {
        let Some((_, code, depth)) = &mut self.code else { return OpenElement::Plain };
        let is_line = matches!(name, "div" | "p" | "br") && !code.is_empty();
        if is_line && (name == "br" || !code.ends_with('\n')) {
            code.push('\n');
        }
        *depth += 1;
        OpenElement::Code
    }

    fn end_code(&mut self) {
        let Some((_, _, depth)) = &mut self.code else { return };
        *depth -= 1;
        if *depth != 0 {
            return;
        }
        let Some((language, code, _)) = self.code.take() else { return };
        let longest = code.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        let code = code.trim_matches('\n').replace('\r', "");
        for line in format!("{fence}{language}\n{code}\n{fence}").split('\n') {
            self.line.push_str(line);
            self.flush_line(true);
        }
    }

    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        // A wide row must not widen many others.
        let is_regular = columns * rows.len() <= 2 * rows.iter().map(Vec::len).sum::<usize>() + 1_000;
        for (index, mut row) in rows.into_iter().enumerate().filter(|_| 0 < columns) {
            if is_regular {
                row.resize(columns, String::new());
            }
            self.line = format!("| {} |", row.join(" | "));
            self.flush_line(false);
            if index == 0 {
                self.line = format!("|{}", " --- |".repeat(row.len()));
                self.flush_line(false);
            }
        }
        self.converted.markdown.push('\n');
    }

    /// Ends the line. Without text it becomes an empty line if `is_break`.
    fn flush_line(&mut self, is_break: bool) {
        if self.is_in_cell {
            if !self.line.trim().is_empty() && !self.line.ends_with("<br>") {
                self.line.truncate(self.line.trim_end().len());
                self.line.push_str("<br>");
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        if line.is_empty() && !is_break {
            return;
        }
        let mut whole = String::new();
        for level in &mut self.levels {
            match level.first.take().filter(|_| !line.is_empty()) {
                Some(first) => whole.push_str(&first),
                None => whole.push_str(&level.rest),
            }
        }
        whole.push_str(line);
        self.converted.markdown.extend([whole.trim_end(), "\n"]);
    }
}

/// Returns the value of an attribute.
pub(crate) fn attribute(tag: &BytesStart<'_>, key: &str) -> Option<String> {
    let found =
        tag.html_attributes().with_checks(false).filter_map(Result::ok).find(|attribute| attribute.key.as_ref() == key)?;
    let value = quick_xml::escape::unescape(&found.value).map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned);
    Some(value.replace('\0', "").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::to_markdown;

    fn markdown(enml: &str) -> String {
        let files = HashMap::from([("aa".to_owned(), "plan.pdf".to_owned())]);
        to_markdown(&format!("<?xml version=\"1.0\"?>\n<!DOCTYPE en-note SYSTEM \"x\">\n<en-note>{enml}</en-note>"), &files)
            .markdown
    }

    #[test]
    fn texts_and_marks_become_markdown() {
        assert_eq!(markdown("<div>a&amp;b &lt;c&gt; &nbsp;&eacute;&#128512;</div><div>键 שלום</div>"), "a&b <c> é😀\n键 שלום");
        assert_eq!(
            markdown("<h1>T</h1><p>a <b>bold </b><i>i</i> <b></b><span style=\"font-weight: bold\">x</span></p>"),
            "# T\na **bold** *i* **x**"
        );
        assert_eq!(markdown("a<br/>b<div><br/></div><div><br/></div><div><br/></div>c"), "a\nb\n\nc");
        assert_eq!(markdown("<a href=\"https://x.y/?a=1&amp;b=2\">t</a>"), "[t](https://x.y/?a=1&b=2)");
        assert_eq!(markdown("<blockquote><div>q</div><div>r</div></blockquote>"), "> q\n> r");
    }

    #[test]
    fn lists_keep_their_nesting_and_their_marks() {
        let list = "<ul><li><div>a</div></li><li><div>b</div><ol start=\"3\"><li>c<div>d</div></li><li>e</li></ol></li></ul>f";
        assert_eq!(markdown(list), "- a\n- b\n  3. c\n     d\n  4. e\nf");
        let checks = "<ul style=\"--en-todo:true;\"><li style=\"--en-checked:true;\">x</li><li style=\"--en-checked:false;\">y</li></ul>\
            <ul><li><en-todo checked=\"true\"/>z</li></ul><div><en-todo/>w</div>";
        assert_eq!(markdown(checks), "- [x] x\n- [ ] y\n- [x] z\n- [ ] w");
    }

    #[test]
    fn code_keeps_its_spaces_and_tables_their_cells() {
        let code = "<div style=\"--en-codeblock:true;--en-codeblockLanguage:rust; x:y\"><div>fn a() {</div><div>    b &lt; `c`;</div><div><br/></div><div>}</div></div>";
        assert_eq!(markdown(code), "```rust\nfn a() {\n    b < `c`;\n\n}\n```");
        let table =
            "<table><tbody><tr><td><div>a|b</div></td><td>c</td></tr><tr><td><div>d</div><div>e</div></td></tr></tbody></table>";
        assert_eq!(markdown(table), "| a\\|b<br> | c |\n| --- | --- |\n| d<br>e<br> |  |");
    }

    #[test]
    fn files_are_named_and_encrypted_text_is_left_out() {
        assert_eq!(
            markdown("<en-media hash=\"AA\" type=\"application/pdf\"/> <en-media hash=\"bb\" type=\"image/png\"/>"),
            "[file: plan.pdf] [file: image/png]"
        );
        assert_eq!(markdown("a <en-crypt hint=\"h\">secret</en-crypt> b"), "a [encrypted text] b");
        assert_eq!(markdown("<img src=\"data:image/png;base64,AAAA\"/><style>x</style>"), "[image]");
    }

    #[test]
    fn markup_that_is_not_valid_loses_no_text() {
        let converted = to_markdown("<en-note><div>a & b</span>c<![CDATA[d", &HashMap::new());
        assert!(["a & b", "c", "d"].iter().all(|text| converted.markdown.contains(text)), "{converted:?}");
        assert!(converted.warning.is_some());
    }

    proptest! {
        #[test]
        fn words_survive_any_markup(parts in prop::collection::vec("(<div>|</div>|<ul>|</ul>|<li>|</li>|<b>|</b>|<table>|</table>|<tr>|<td>|</td>|<br/>|<a href=\"x\">|</a>|<pre>|</pre>|&amp;|<blockquote>|键)", 0..40)) {
            let enml = parts.join("word");
            let converted = to_markdown(&enml, &HashMap::new());
            prop_assert!(converted.markdown.matches("word").count() <= enml.matches("word").count());
            if !enml.contains("<t") {
                prop_assert_eq!(converted.markdown.matches("word").count(), enml.matches("word").count());
            }
        }
    }
}
