//! Renders Markdown as HTML that is safe to show.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::{
    Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};

use super::bare_links::bare_links;
use super::markdown_events::MarkdownEvents;
use super::visible_text::{HiddenCharacterStyle, push_visible};

/// The schemes of links to other servers.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// The elements that rendered Markdown may contain on every page.
const ELEMENTS: [&str; 19] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// The elements of headings, by level.
const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// The classes of elements for texts that are not what the Markdown says.
const SPAN_CLASSES: [&str; 4] = [
    "hidden-character",
    "image-text",
    "unresolved-link",
    "blocked-link",
];

/// What differs between the pages that show Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtmlStyle {
    /// The start of the addresses on the same server or page, the only relative ones.
    pub own_links: &'static str,
    /// The level of a heading of the first level, from 1 to 6.
    pub top_heading: usize,
    /// How hidden characters are displayed. The elements of blocked links and images have classes only if theirs have.
    pub hidden_characters: HiddenCharacterStyle,
    /// Whether a line break of the text is one of the page.
    pub keeps_line_breaks: bool,
}

/// Renders Markdown as HTML for one kind of page.
///
/// Raw HTML is displayed as text, addresses of web pages are links, images are replaced by their description, and the result passes the only list of allowed elements
/// and links.
///
/// ```
/// use memory_core::html::{HiddenCharacterStyle, HtmlRenderer, HtmlStyle};
///
/// let renderer = HtmlRenderer::new(HtmlStyle {
///     own_links: "/memories/",
///     top_heading: 2,
///     hidden_characters: HiddenCharacterStyle::Element,
///     keeps_line_breaks: false,
/// });
/// let html = renderer.render("*tea* <script>", &|_, _| None);
/// assert_eq!(html.as_deref(), Some("<p dir=\"auto\"><em>tea</em> &lt;script&gt;</p>\n"));
/// ```
#[derive(Debug)]
pub struct HtmlRenderer {
    style: HtmlStyle,
    cleaner: Builder<'static>,
}

impl HtmlRenderer {
    /// Creates a renderer, which can be used for any number of texts.
    pub fn new(style: HtmlStyle) -> Self {
        let headings = &HEADINGS[style.top_heading - 1..];
        let mut tags: HashSet<&str> = ELEMENTS.iter().chain(headings).copied().collect();
        let mut cleaner = Builder::empty();
        if style.hidden_characters == HiddenCharacterStyle::Element {
            tags.insert("span");
            cleaner.allowed_classes(HashMap::from([
                ("span", HashSet::from(SPAN_CLASSES)),
                ("a", HashSet::from(["wikilink"])),
            ]));
        }
        cleaner
            .tags(tags)
            .clean_content_tags(HashSet::new())
            .tag_attributes(HashMap::from([
                ("a", HashSet::from(["href"])),
                ("ol", HashSet::from(["start"])),
            ]))
            .url_schemes(HashSet::from(SCHEMES))
            .url_relative(UrlRelative::PassThrough)
            .attribute_filter(move |_, name, value| {
                let is_allowed = value.starts_with(style.own_links) || has_allowed_scheme(value);
                (name != "href" || is_allowed).then_some(Cow::Borrowed(value))
            })
            .link_rel(Some("noopener noreferrer nofollow"))
            .strip_comments(true);
        for tag in ["p", "li", "blockquote", "td", "th"].iter().chain(headings) {
            cleaner.set_tag_attribute_value(*tag, "dir", "auto");
        }
        // Long lines scroll, and a scrolling element can be reached by keyboard.
        cleaner.set_tag_attribute_value("pre", "tabindex", "0");
        Self { style, cleaner }
    }

    /// Renders `text`; `None` if it exceeds its budget of work, see [`MarkdownEvents`].
    ///
    /// `find_link` returns the address on the same server or page that a wikilink or another address leads to; it gets whether the address
    /// is that of a wikilink.
    pub fn render(
        &self,
        text: &str,
        find_link: &dyn Fn(&str, bool) -> Option<String>,
    ) -> Option<String> {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_WIKILINKS;
        let mut renderer = EventRenderer {
            style: self.style,
            find_link,
            open: Vec::new(),
            is_in_code: false,
        };
        let mut events = MarkdownEvents::new(text, options)?;
        let mut raw = String::with_capacity(text.len() * 2);
        // The parser splits a text at each character that could be markup; an address may contain some.
        let merged = TextMergeStream::new(events.by_ref().map(|(event, _)| event));
        html::push_html(&mut raw, merged.map(|event| renderer.render(event)));
        (!events.is_exhausted()).then(|| self.cleaner.clean(&split_html_texts(&raw)).to_string())
    }
}

fn has_allowed_scheme(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        SCHEMES
            .iter()
            .any(|allowed| scheme.eq_ignore_ascii_case(allowed))
    })
}

/// What the end of a link or an image closes.
enum OpenLink {
    /// A link.
    Link,
    /// A text in place of a link or an image, and the address to show after it.
    Text(Option<String>),
}

/// Replaces what a page must not contain in the events of a parser.
struct EventRenderer<'a> {
    style: HtmlStyle,
    find_link: &'a dyn Fn(&str, bool) -> Option<String>,
    open: Vec<OpenLink>,
    is_in_code: bool,
}

impl EventRenderer<'_> {
    fn render<'t>(&mut self, event: Event<'t>) -> Event<'t> {
        match event {
            Event::Text(text) if self.open.is_empty() && !self.is_in_code => {
                Event::InlineHtml(self.with_links(&text).into())
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                Event::InlineHtml(self.visible(&text).into())
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                self.is_in_code = true;
                Event::Start(Tag::CodeBlock(kind))
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_in_code = false;
                Event::End(TagEnd::CodeBlock)
            }
            Event::Code(code) => {
                Event::InlineHtml(format!("<code>{}</code>", self.visible(&code)).into())
            }
            Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
                level: self.lower(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(self.lower(level))),
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) => Event::InlineHtml(self.start_link(link_type, &dest_url).into()),
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.open.push(OpenLink::Text(Some(dest_url.into_string())));
                Event::InlineHtml("<span class=\"image-text\">".into())
            }
            Event::End(TagEnd::Link | TagEnd::Image) => Event::InlineHtml(self.end_link().into()),
            Event::SoftBreak if self.style.keeps_line_breaks => Event::HardBreak,
            other => other,
        }
    }

    fn start_link(&mut self, link_type: LinkType, address: &str) -> String {
        let is_wikilink = matches!(link_type, LinkType::WikiLink { .. });
        let is_email = link_type == LinkType::Email;
        let (target, attributes) = if is_email {
            (Some(format!("mailto:{address}")), "")
        } else if has_allowed_scheme(address) && !is_wikilink {
            (Some(address.to_owned()), "")
        } else {
            let own = (self.find_link)(address, is_wikilink)
                .filter(|address| address.starts_with(self.style.own_links));
            (
                own,
                if is_wikilink {
                    " class=\"wikilink\""
                } else {
                    ""
                },
            )
        };
        if let Some(target) = target {
            self.open.push(OpenLink::Link);
            let mut html = String::from("<a href=\"");
            push_address(&mut html, &target);
            return html + "\"" + attributes + ">";
        }
        let address = Some(address.to_owned()).filter(|_| !is_wikilink);
        self.open.push(OpenLink::Text(address));
        let class = if is_wikilink {
            "unresolved-link"
        } else {
            "blocked-link"
        };
        format!("<span class=\"{class}\">")
    }

    fn end_link(&mut self) -> String {
        match self.open.pop() {
            Some(OpenLink::Link) => "</a>".to_owned(),
            Some(OpenLink::Text(Some(address))) if !address.is_empty() => {
                format!("</span> <code>{}</code>", self.visible(&address))
            }
            Some(OpenLink::Text(_)) => "</span>".to_owned(),
            None => String::new(),
        }
    }

    /// Returns text as HTML, in which addresses of web pages are links.
    fn with_links(&self, text: &str) -> String {
        let (mut html, mut end) = (String::with_capacity(text.len() + 16), 0);
        let style = self.style.hidden_characters;
        for link in bare_links(text) {
            push_visible(&mut html, &text[end..link.start], style);
            end = link.end;
            html.push_str("<a href=\"");
            push_address(&mut html, &text[link.clone()]);
            html.push_str("\">");
            push_visible(&mut html, &text[link], style);
            html.push_str("</a>");
        }
        push_visible(&mut html, &text[end..], style);
        html
    }

    /// Returns text as HTML, with hidden and control characters as code points.
    fn visible(&self, text: &str) -> String {
        let mut html = String::with_capacity(text.len() + 16);
        push_visible(&mut html, text, self.style.hidden_characters);
        html
    }

    /// Returns the level of a heading below the heading of the page.
    fn lower(&self, level: HeadingLevel) -> HeadingLevel {
        let level = level as usize + self.style.top_heading - 1;
        HeadingLevel::try_from(level).unwrap_or(HeadingLevel::H6)
    }
}

/// Appends an address as the value of an attribute. Hidden characters, and all others outside ASCII, become the bytes of their UTF-8 form.
fn push_address(html: &mut String, address: &str) {
    for character in address.chars() {
        match character {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '!'..='~' => html.push(character),
            other => {
                let mut bytes = [0; 4];
                for byte in other.encode_utf8(&mut bytes).bytes() {
                    // A string takes every write.
                    let _ = write!(html, "%{byte:02X}");
                }
            }
        }
    }
}

/// Maximum size in bytes of one text in HTML.
const MAX_HTML_TEXT: usize = 4 << 10;

/// Separates long texts in HTML by comments. All texts and attributes of the HTML are escaped.
///
/// The program that writes HTML without comments takes up to the square of the size of each text.
fn split_html_texts(html: &str) -> String {
    let mut split = String::with_capacity(html.len() + html.len() / 256);
    let (mut size, mut is_in_tag, mut is_in_reference) = (0, false, false);
    for character in html.chars() {
        let is_in_text = !is_in_tag && !is_in_reference && character != '<';
        if is_in_text && MAX_HTML_TEXT <= size {
            split.push_str("<!---->");
            size = 0;
        }
        match character {
            '<' => is_in_tag = true,
            '>' => (is_in_tag, size) = (false, 0),
            '&' => is_in_reference = true,
            ';' => is_in_reference = false,
            _ => {}
        }
        size += character.len_utf8();
        split.push(character);
    }
    split
}

/// Returns the start of `text` without its markup, as one line of at most about `longest` bytes.
pub fn plain_text(text: &str, longest: usize) -> String {
    // The markup of a text is at most about as long as its words.
    let start = &text[..text.floor_char_boundary(longest.saturating_mul(2))];
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_WIKILINKS;
    let mut plain = String::new();
    for event in Parser::new_ext(start, options) {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) | Event::InlineHtml(part) => {
                push_words(&mut plain, &part);
            }
            Event::Start(Tag::Item) => push_words(&mut plain, " • "),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell) => {
                push_words(&mut plain, " ");
            }
            _ => {}
        }
        if longest <= plain.len() {
            break;
        }
    }
    plain.truncate(plain.floor_char_boundary(longest));
    plain.trim().to_owned()
}

/// Appends `part` with each run of white space as one blank.
fn push_words(plain: &mut String, part: &str) {
    for character in part.chars() {
        if !character.is_whitespace() {
            plain.push(character);
        } else if !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// A page of a server, and a page in a file.
    static RENDERERS: LazyLock<[HtmlRenderer; 2]> = LazyLock::new(|| {
        [
            HtmlRenderer::new(HtmlStyle {
                own_links: "/memories/",
                top_heading: 2,
                hidden_characters: HiddenCharacterStyle::Element,
                keeps_line_breaks: false,
            }),
            HtmlRenderer::new(HtmlStyle {
                own_links: "#m-",
                top_heading: 4,
                hidden_characters: HiddenCharacterStyle::Text,
                keeps_line_breaks: true,
            }),
        ]
    });

    /// Renders a text for both pages.
    fn rendered(text: &str) -> [Option<String>; 2] {
        RENDERERS.each_ref().map(|renderer| {
            let own_links = renderer.style.own_links;
            let find = |target: &str, _| (target == "Tea").then(|| format!("{own_links}1"));
            renderer.render(text, &find)
        })
    }

    fn in_file(text: &str) -> String {
        let [_, html] = rendered(text);
        html.expect("it is short").trim_end().to_owned()
    }

    #[test]
    fn plain_text_has_no_markup() {
        let text = "**Green** tea, see [[Kettle]] and [a](javascript:b).\n\n- one\n- two `x`\n\n```sh\nmake\n```\n<b>raw</b>";
        assert_eq!(
            plain_text(text, 200),
            "Green tea, see Kettle and a. • one • two xmake <b>raw</b>"
        );
        assert_eq!(plain_text("ääää", 3), "ä");
        assert_eq!(plain_text("", 9), "");
    }

    #[test]
    fn an_address_contains_no_hidden_character() {
        for html in rendered("[a](https://a.b/&#27;]0;x&#7;é&#x202E;)") {
            let html = html.expect("it is short");
            assert!(html.contains("%1B]0;x%07%C3%A9%E2%80%AE"), "{html}");
        }
    }

    #[test]
    fn wikilinks_lead_to_memories_on_the_page() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            in_file("# A\n\n[[Tea|my *tea*]] [[Cup]] [x](https://a.b/?c&d) <me@a.b>"),
            format!(
                "<h4 dir=\"auto\">A</h4>\n<p dir=\"auto\"><a href=\"#m-1\" {rel}>my <em>tea</em></a> Cup \
                 <a href=\"https://a.b/?c&amp;d\" {rel}>x</a> <a href=\"mailto:me@a.b\" {rel}>me@a.b</a></p>"
            )
        );
    }

    #[test]
    fn a_bare_address_is_a_link_outside_of_code_and_links() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            in_file("see https://a.b/c_d?e&f. `https://a.b` [https://x](https://y.z)"),
            format!(
                "<p dir=\"auto\">see <a href=\"https://a.b/c_d?e&amp;f\" {rel}>https://a.b/c_d?e&amp;f</a>. \
                 <code>https://a.b</code> <a href=\"https://y.z\" {rel}>https://x</a></p>"
            )
        );
        assert!(!in_file("```\nhttps://a.b\n```").contains("href"));
        assert!(!in_file("javascript://a.b <img src=https://a.b/x>").contains("href"));
    }

    #[test]
    fn line_breaks_survive() {
        let html = in_file("milk\nbread\n\ntea");
        assert_eq!(
            html,
            "<p dir=\"auto\">milk<br>\nbread</p>\n<p dir=\"auto\">tea</p>"
        );
    }

    #[test]
    fn attacks_are_displayed_and_not_executed() {
        for (text, html) in [
            (
                "a <img src=x onerror=a()>",
                "a &lt;img src=x onerror=a()&gt;",
            ),
            ("[a](javascript:b())", "a <code>javascript:b()</code>"),
            (
                "![a](https://a.b/pixel.png)",
                "a <code>https://a.b/pixel.png</code>",
            ),
            ("[a](#top)", "a <code>#top</code>"),
            ("a \u{202e}b", "a [U+202E]b"),
        ] {
            assert_eq!(
                in_file(text),
                format!("<p dir=\"auto\">{html}</p>"),
                "{text}"
            );
        }
        assert!(in_file("<script>alert(1)</script>").contains("&lt;script&gt;"));
    }

    /// Returns the number of steps to read `text`, and the size of its HTML.
    fn work(text: &str) -> (usize, usize) {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_WIKILINKS;
        let steps = MarkdownEvents::new(text, options).map_or(0, |mut events| {
            events.by_ref().for_each(drop);
            events.steps()
        });
        let [html, _] = rendered(text);
        (steps, html.map_or(text.len(), |html| html.len()))
    }

    #[test]
    fn the_work_of_each_construct_is_proportional_to_its_size() {
        let constructs = [
            ">",
            "> ",
            "- ",
            "* a\n",
            "- a\n  - b\n",
            "1. ",
            "> - ",
            "- [ ] ",
            "# ",
            "# a\n",
            "a\n===\n",
            "---\n",
            "*",
            "**",
            "*a ",
            "*a* ",
            "*a **b ",
            "***a***",
            "_a_",
            "~~",
            "~~a~~ ",
            "`",
            "`a` ",
            "``a",
            "[",
            "]",
            "[a](",
            "[a](b) ",
            "[a](b \"",
            "[a](((",
            "![a](b)",
            "![",
            "[![a](b)](c) ",
            "[[",
            "[[Tea]]",
            "[[Tea|*a",
            "[a][a]",
            "[a]: b\n\n",
            "[a]: b\n[a] ",
            "<http://a.b> ",
            "http://a.b ",
            "http://",
            "http://a)",
            "<a",
            "<b>",
            "</p>",
            "<!--",
            "<?",
            "<![CDATA[",
            "<script>\n",
            "<div>\n\n",
            "&",
            "&amp;",
            "&#",
            "£",
            "\u{200b}",
            "\\",
            "\\\n",
            "a  \n",
            "|",
            "|a|b|\n",
            "|a|b|\n|-|-|\n|c|d|\n\n",
            "|a|b|\n|-|-|\n|c|\n\n",
            "```\n",
            "```\na\n```\n",
            "~~~ a\n",
            "    a\n",
            "\ta\n",
            "a\n",
            "a\n\n",
            "\r",
            "[^a]: ",
            "[^a]: b\n",
            "[^a]",
            "👨\u{200d}",
        ];
        let (small, large) = (1 << 9, 1 << 12);
        for construct in constructs {
            let reversed: String = construct.chars().rev().collect();
            for end in ["", "\n", "\n\n", "\n[a]:", &reversed] {
                let text = |size: usize| {
                    let count = size / construct.len();
                    construct.repeat(count) + &end.repeat(count)
                };
                let (few, many) = (work(&text(small)), work(&text(large)));
                let (shortest, factor) = (text(small).len(), 2 * large / small);
                assert!(
                    many.0 <= factor * few.0.max(shortest)
                        && many.1 <= factor * few.1.max(shortest),
                    "{construct:?} {end:?}: {few:?} {many:?}"
                );
            }
        }
    }

    #[test]
    fn only_long_texts_are_split_and_no_tag_or_reference_is() {
        let tag = format!("<a href=\"{}\">b;</a>", "&amp;".repeat(MAX_HTML_TEXT));
        assert_eq!(split_html_texts(&tag), tag);
        let text = "&amp;".repeat(MAX_HTML_TEXT);
        let split = split_html_texts(&format!("<p>{text}</p>"));
        let parts: Vec<&str> = split.split("<!---->").collect();
        assert_eq!(parts.concat(), format!("<p>{text}</p>"));
        assert!((4..=6).contains(&parts.len()), "{}", parts.len());
        assert!(parts.iter().all(|part| part.ends_with([';', '>'])));
    }

    proptest! {
        #[test]
        fn no_text_yields_elements_or_links_of_its_own(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<script>", "</script>", "<img src=x onerror=a()>", "](javascript:a())", "[", "]", "[[", "]]", "|", "![", "\n", "> ",
                    "# ", "- ", "`", "```\n", "\"'>", "&#x3c;", "<!--", "-->", "</p>", "<svg>", "\n|a|b|\n|-|-|\n|", "\u{0}", "*", "<", "a",
                    "<style>", "[^1]", "](<//evil.example>)", "</article>", "https://a.b/", "://",
                ]),
                0..20,
            )
        ) {
            let [Some(page), Some(html)] = rendered(&parts.concat()) else {
                return Ok(());
            };
            let page = page.replace("<span class=\"", "<").replace("</span>", "");
            let lower = (html + &page).to_lowercase();
            for start in lower.match_indices('<').map(|(at, _)| &lower[at + 1..]) {
                let name: String = start.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                let is_allowed = ["a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
                    "table", "tbody", "td", "th", "thead", "tr", "ul", "hidden", "image", "unresolved", "blocked"].contains(&name.as_str());
                prop_assert!(is_allowed, "{name}: {lower}");
                let tag = start.split('>').next().unwrap_or_default();
                prop_assert!(!tag.contains(" on") && !tag.contains("=\"javascript:") && !tag.contains("src="), "{lower}");
            }
        }
    }
}
