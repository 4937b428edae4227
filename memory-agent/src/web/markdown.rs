//! Renders the Markdown of a memory as HTML that is safe to show.
//!
//! Raw HTML is displayed as text, images are replaced by their description, and the result passes a list of allowed elements and
//! links. Wikilinks lead to the page of the memory.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use memory_core::text::{MarkdownBudget, MarkdownEvent, split_html_texts};
use pulldown_cmark::{
    CowStr, Event, HeadingLevel, LinkType, OffsetIter, Options, Parser, Tag, TagEnd, html,
};

use super::html::{SafeHtml, push_visible};

/// Maximum size of a text that is rendered, in bytes. The rest of a longer text is left out.
const MAX_RENDERED: usize = 256 << 10;

/// The path of the pages of memories, the only relative links.
const MEMORIES: &str = "/memories/";

/// The schemes of links to other servers.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Renders `text`. `find_path` returns the path of the page that a wikilink leads to, which begins with `/memories/`.
///
/// A text that exceeds its [`MarkdownBudget`] is displayed as it is.
pub(crate) fn render_markdown(text: &str, find_path: &dyn Fn(&str) -> Option<String>) -> SafeHtml {
    let shown = &text[..text.floor_char_boundary(MAX_RENDERED)];
    let mut safe = render_within_budget(shown, find_path).unwrap_or_else(|| plain_html(shown));
    if shown.len() < text.len() {
        safe.push_str("<p class=\"notice\">The text is longer than this page shows. The source contains all of it.</p>");
    }
    SafeHtml::from_escaped(safe)
}

/// Renders `text`; `None` if it exceeds its budget.
fn render_within_budget(text: &str, find_path: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut renderer = EventRenderer {
        find_path,
        open: Vec::new(),
    };
    let mut events = BoundedEvents::new(text)?;
    let mut raw = String::with_capacity(text.len() * 2);
    html::push_html(
        &mut raw,
        events.by_ref().flat_map(|event| renderer.render(event)),
    );
    (!events.is_exhausted).then(|| CLEANER.clean(&split_html_texts(&raw)).to_string())
}

/// Returns a text without its markup rendered.
fn plain_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 256);
    html.push_str("<p class=\"notice\">The markup of this text is too long or nested too deep to be rendered.</p>\n<pre tabindex=\"0\">");
    push_visible(&mut html, text);
    html.push_str("</pre>");
    html
}

/// The events of a text, as far as its budget allows.
struct BoundedEvents<'t> {
    events: OffsetIter<'t>,
    budget: MarkdownBudget,
    /// Whether the text exceeds the budget; there are no more events then.
    is_exhausted: bool,
}

impl<'t> BoundedEvents<'t> {
    fn new(text: &'t str) -> Option<Self> {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_WIKILINKS;
        Some(Self {
            budget: MarkdownBudget::new(text)?,
            events: Parser::new_ext(text, options).into_offset_iter(),
            is_exhausted: false,
        })
    }
}

impl<'t> Iterator for BoundedEvents<'t> {
    type Item = Event<'t>;

    fn next(&mut self) -> Option<Event<'t>> {
        let (event, span) = self.events.next().filter(|_| !self.is_exhausted)?;
        let step = match &event {
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::TableCell | Tag::Item) => {
                MarkdownEvent::TextStart(span)
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                MarkdownEvent::LinkStart(dest_url)
            }
            Event::Start(_) => MarkdownEvent::Start,
            Event::End(_) => MarkdownEvent::End,
            _ => MarkdownEvent::Other,
        };
        self.is_exhausted = !self.budget.allows(&step);
        (!self.is_exhausted).then_some(event)
    }
}

/// Returns the start of `text` without its markup, as one line of at most about `longest` bytes.
pub(crate) fn plain_text(text: &str, longest: usize) -> String {
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

/// The elements, attributes and links that rendered Markdown may contain.
static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(tags))
        .clean_content_tags(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .allowed_classes(HashMap::from([
            (
                "span",
                HashSet::from([
                    "hidden-character",
                    "image-text",
                    "unresolved-link",
                    "blocked-link",
                ]),
            ),
            ("a", HashSet::from(["wikilink"])),
        ]))
        .url_schemes(HashSet::from(SCHEMES))
        .url_relative(UrlRelative::PassThrough)
        .attribute_filter(|_, name, value| {
            (name != "href" || is_allowed(value)).then(|| value.into())
        })
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true);
    for tag in [
        "p",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "li",
        "blockquote",
        "td",
        "th",
    ] {
        builder.set_tag_attribute_value(tag, "dir", "auto");
    }
    // Long lines scroll, and a scrolling element can be reached by keyboard.
    builder.set_tag_attribute_value("pre", "tabindex", "0");
    builder
});

/// Returns whether a link may lead to `address`.
fn is_allowed(address: &str) -> bool {
    address.starts_with(MEMORIES) || has_allowed_scheme(address)
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
    find_path: &'a dyn Fn(&str) -> Option<String>,
    open: Vec<OpenLink>,
}

impl EventRenderer<'_> {
    fn render<'t>(&mut self, event: Event<'t>) -> Vec<Event<'t>> {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => vec![visible(&text)],
            Event::Code(code) => {
                let Event::InlineHtml(code) = visible(&code) else {
                    return Vec::new();
                };
                vec![Event::InlineHtml(format!("<code>{code}</code>").into())]
            }
            Event::TaskListMarker(is_done) => {
                vec![Event::Text(if is_done { "☑ " } else { "☐ " }.into())]
            }
            Event::Start(Tag::HtmlBlock) => vec![Event::Start(Tag::Paragraph)],
            Event::End(TagEnd::HtmlBlock) => vec![Event::End(TagEnd::Paragraph)],
            Event::Start(Tag::Heading { level, .. }) => {
                vec![Event::Start(Tag::Heading {
                    level: lower(level),
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                })]
            }
            Event::End(TagEnd::Heading(level)) => vec![Event::End(TagEnd::Heading(lower(level)))],
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) => self.start_link(link_type, &dest_url),
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.open.push(OpenLink::Text(Some(dest_url.into_string())));
                vec![Event::InlineHtml("<span class=\"image-text\">".into())]
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(),
            other => vec![other],
        }
    }

    fn start_link<'t>(&mut self, link_type: LinkType, address: &str) -> Vec<Event<'t>> {
        if let LinkType::WikiLink { .. } = link_type {
            if let Some(path) = (self.find_path)(address).filter(|path| path.starts_with(MEMORIES))
            {
                self.open.push(OpenLink::Link);
                return vec![open_link(&path, " class=\"wikilink\"")];
            }
            self.open.push(OpenLink::Text(None));
            return vec![Event::InlineHtml("<span class=\"unresolved-link\">".into())];
        }
        if has_allowed_scheme(address) || link_type == LinkType::Email {
            self.open.push(OpenLink::Link);
            let prefix = if link_type == LinkType::Email {
                "mailto:"
            } else {
                ""
            };
            return vec![open_link(&format!("{prefix}{address}"), "")];
        }
        self.open.push(OpenLink::Text(Some(address.to_owned())));
        vec![Event::InlineHtml("<span class=\"blocked-link\">".into())]
    }

    fn end_link<'t>(&mut self) -> Vec<Event<'t>> {
        match self.open.pop() {
            Some(OpenLink::Link) => vec![Event::InlineHtml("</a>".into())],
            Some(OpenLink::Text(address)) => {
                let mut html = "</span>".to_owned();
                if let Some(address) = address.filter(|address| !address.is_empty()) {
                    html.push_str(" <code>");
                    push_visible(&mut html, &address);
                    html.push_str("</code>");
                }
                vec![Event::InlineHtml(html.into())]
            }
            None => Vec::new(),
        }
    }
}

fn open_link<'t>(address: &str, attributes: &str) -> Event<'t> {
    let mut html = String::from("<a href=\"");
    // An address has no elements: a hidden character in it is escaped by the browser.
    push_attribute(&mut html, address);
    html.push('"');
    html.push_str(attributes);
    html.push('>');
    Event::InlineHtml(html.into())
}

/// Appends the value of an attribute.
fn push_attribute(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            other => html.push(other),
        }
    }
}

/// Returns text as HTML, with hidden and control characters as code points.
fn visible<'t>(text: &CowStr<'_>) -> Event<'t> {
    let mut html = String::with_capacity(text.len() + 16);
    push_visible(&mut html, text);
    Event::InlineHtml(html.into())
}

/// Returns the level of a heading below the heading of the page.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    fn render(text: &str) -> String {
        let path = |target: &str| (target == "Tea").then(|| "/memories/1".to_owned());
        render_markdown(text, &path).as_str().trim_end().to_owned()
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
    fn markdown_is_rendered_below_the_heading_of_the_page() {
        assert_eq!(
            render("# Tea\n*green* and **black**\n\n- [x] one\n- two"),
            "<h2 dir=\"auto\">Tea</h2>\n<p dir=\"auto\"><em>green</em> and <strong>black</strong></p>\n\
             <ul>\n<li dir=\"auto\">☑ one</li>\n<li dir=\"auto\">two</li>\n</ul>"
        );
        assert!(
            render("```rust\nlet a = \"<b>\";\n```")
                .contains("<code>let a = \"&lt;b&gt;\";\n</code>")
        );
    }

    #[test]
    fn wikilinks_lead_to_memories_and_unresolved_ones_are_text() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            render("[[Tea]] [[Tea|my *tea*]] [[Coffee]] `[[Tea]]`"),
            format!(
                "<p dir=\"auto\"><a href=\"/memories/1\" class=\"wikilink\" {rel}>Tea</a> \
                 <a href=\"/memories/1\" class=\"wikilink\" {rel}>my <em>tea</em></a> \
                 <span class=\"unresolved-link\">Coffee</span> <code>[[Tea]]</code></p>"
            )
        );
    }

    #[test]
    fn attacks_are_displayed_and_not_executed() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onmouseover=\"alert(1)\">b</b>",
            "[click](javascript:alert(1))",
            "[click](JaVaScRiPt:alert(1))",
            "[click](data:text/html;base64,PHNjcmlwdD4=)",
            "[click](//evil.example/x)",
            "[click](/undo?operation=1)",
            "![pixel](https://evil.example/pixel.png)",
            "[a](vbscript:x \"title onmouseover=alert(1)\")",
            "<svg/onload=alert(1)>",
            "<iframe src=\"https://evil.example\"></iframe>",
            "[[javascript:alert(1)]]",
            "<javascript:alert(1)>",
            "<style>*{display:none}</style>",
            "[x]: javascript:alert(1)\n\n[x]",
            "|a|b|\n|-|-|\n|<script>|</td></table><script>alert(1)</script>|",
            "<!-- --><script>alert(1)</script>",
            "&lt;script&gt; &#60;script&#62;",
        ] {
            let html = render(text);
            check_safe(&html).unwrap_or_else(|error| panic!("{text}: {error}\n{html}"));
            assert!(!tags(&html).iter().any(|(name, _)| {
                ["script", "img", "iframe", "svg", "style"].contains(&name.as_str())
            }));
        }
        let html = render("[click](javascript:alert(1))");
        assert_eq!(
            html,
            "<p dir=\"auto\"><span class=\"blocked-link\">click</span> <code>javascript:alert(1)</code></p>"
        );
        let html = render("![a photo](https://evil.example/pixel.png)");
        assert!(html.contains("<span class=\"image-text\">a photo</span> <code>https://evil.example/pixel.png</code>"), "{html}");
    }

    #[test]
    fn hidden_characters_are_displayed() {
        let html = render("pay \u{202e}100\u{202c} `a\u{200b}b`");
        assert_eq!(
            html.matches("class=\"hidden-character\"").count(),
            3,
            "{html}"
        );
        assert!(html.contains("U+202E") && html.contains("U+200B"));
    }

    #[test]
    fn links_to_other_servers_do_not_reveal_the_page() {
        let html = render("[a](https://example.org/?a=1&b=2) <user@example.org>");
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            html,
            format!(
                "<p dir=\"auto\"><a href=\"https://example.org/?a=1&amp;b=2\" {rel}>a</a> \
                 <a href=\"mailto:user@example.org\" {rel}>user@example.org</a></p>"
            )
        );
    }

    /// Returns the number of steps to read `text`, and the size of its HTML.
    fn work(text: &str) -> (usize, usize) {
        let steps = BoundedEvents::new(text).map_or(0, |mut events| {
            events.by_ref().for_each(drop);
            events.budget.steps()
        });
        (steps, render(text).len())
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
            "```\n",
            "```\na\n```\n",
            "~~~ a\n",
            "    a\n",
            "\ta\n",
            "a\n",
            "a\n\n",
            "\r",
            "[^a]: ",
            "👨\u{200d}",
        ];
        let (small, large) = (1 << 9, 1 << 12);
        for construct in constructs {
            for end in ["", "\n", &construct.chars().rev().collect::<String>()] {
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
    fn a_text_that_exceeds_its_budget_is_displayed_as_it_is() {
        let row = |cell: &str, count: usize| format!("{}|\n", cell.repeat(count));
        for text in [
            ">".repeat(200_000),
            "- ".repeat(100_000),
            "1. ".repeat(50_000),
            "> - ".repeat(50_000),
            ">".repeat(100_000) + &"\na".repeat(50_000),
            (0..300).map(|level| "  ".repeat(level) + "- a\n").collect(),
            "*a ".repeat(1_000) + &"a* ".repeat(1_000),
            "[a](b \"".repeat(10_000) + &"\n[a]:".repeat(10_000),
            format!("- {}", "&".repeat(100_000)),
            format!("[a]: {}\n\n[a]", "&".repeat(100_000)),
            row("|a", 500) + &row("|-", 500) + &row("|a", 1).repeat(500),
        ] {
            assert!(render(&text) == plain_html(&text), "{}", &text[..40]);
        }
        for text in [
            "- tea\n".repeat(20_000),
            "tea ".repeat(4_000) + "\n\n" + &"tea ".repeat(4_000),
            format!("```\n{}```\n", "make & run\n".repeat(10_000)),
            (0..20)
                .map(|level| "    ".repeat(level) + "- a\n")
                .collect(),
        ] {
            assert!(
                !render(&text).contains("too long or nested"),
                "{}",
                &text[..40]
            );
        }
    }

    #[test]
    fn a_long_code_block_is_displayed_whole() {
        let code = "a & b £ \"c\"\n".repeat(5_000);
        let html = render(&format!("```\n{code}```"));
        let shown = code.replace('&', "&amp;");
        assert!(html.contains(&shown), "{}", &html[..100]);
    }

    #[test]
    fn a_very_long_text_is_cut() {
        let html = render(&"ä".repeat(MAX_RENDERED));
        assert!(html.len() < 2 * MAX_RENDERED && html.contains("longer than this page shows"));
    }

    proptest! {
        #[test]
        fn no_text_yields_unsafe_html(text in any_markdown()) {
            let html = render(&text);
            if let Err(error) = check_safe(&html) {
                prop_assert!(false, "{}: {:?}\n{}", error, text, html);
            }
        }
    }

    /// Returns texts of fragments that are special in Markdown or HTML.
    fn any_markdown() -> impl Strategy<Value = String> {
        let fragment = prop_oneof![
            3 => "[ -~]{0,12}",
            1 => "\\PC{0,6}",
            6 => proptest::sample::select(vec![
                "<script>", "</script>", "<img src=x onerror=a()>", "<a href=\"javascript:a()\">", "](javascript:a())", "[", "]",
                "[[", "]]", "|", "![", "](https://evil.example/)", "\n", "\n\n", "> ", "# ", "- ", "`", "```\n", "<b ", "\"'>", "&#x3c;",
                "<!--", "-->", "</p>", "</div>", "<svg><script>", "\n|a|b|\n|-|-|\n|", "\u{202e}", "\u{0}", "*", "_", "~~", "<",
                "\t", "    ", "<textarea>", "<math><mtext></p><style><img src onerror=a()>", "1. ", "[Tea", "[^1]", "](<//evil.example>)",
            ]).prop_map(str::to_owned),
        ];
        proptest::collection::vec(fragment, 0..20).prop_map(|fragments| fragments.concat())
    }
}
