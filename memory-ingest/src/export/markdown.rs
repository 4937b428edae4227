//! Renders the Markdown of a memory as HTML that is safe to show.
//!
//! Raw HTML is displayed as text, images are replaced by their description, and the result passes a list of allowed elements
//! and links.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use memory_core::text::{deceptive_characters, split_html_texts};
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Tag, TagEnd, html};

use crate::markdown_events::MarkdownEvents;

/// The start of the links to memories, which are on the same page.
pub(super) const ANCHOR: &str = "#m-";

const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Renders `text`. `find_anchor` returns the link to the memory that an address leads to, which begins with [`ANCHOR`]; it gets whether
/// the address is that of a wikilink.
///
/// A text that exceeds its budget of work is displayed as it is.
pub(super) fn render(text: &str, find_anchor: &dyn Fn(&str, bool) -> Option<String>) -> String {
    render_within_budget(text, find_anchor).unwrap_or_else(|| {
        format!(
            "<p>The markup of this text is too long or nested too deep to be rendered.</p>\n<pre tabindex=\"0\">{}</pre>\n",
            escape(text)
        )
    })
}

/// Renders `text`; `None` if it exceeds its budget of work.
fn render_within_budget(
    text: &str,
    find_anchor: &dyn Fn(&str, bool) -> Option<String>,
) -> Option<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    let mut addresses = Vec::new();
    let mut events = Vec::new();
    let mut parsed = MarkdownEvents::new(text, options)?;
    for (event, _) in parsed.by_ref() {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                events.push(Event::Text(visible_text(&text).into()));
            }
            Event::Code(code) => events.push(Event::Code(visible_text(&code).into())),
            Event::TaskListMarker(is_done) => {
                events.push(Event::Text(if is_done { "☑ " } else { "☐ " }.into()));
            }
            Event::Start(Tag::HtmlBlock) => events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => events.push(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Heading { level, .. }) => {
                let level = lower(level);
                events.push(Event::Start(Tag::Heading {
                    level,
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }));
            }
            Event::End(TagEnd::Heading(level)) => {
                events.push(Event::End(TagEnd::Heading(lower(level))));
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let is_wikilink = matches!(link_type, LinkType::WikiLink { .. });
                let is_allowed = has_allowed_scheme(&dest_url) || link_type == LinkType::Email;
                let target = if is_allowed && !is_wikilink {
                    Some(dest_url.to_string())
                } else {
                    find_anchor(&dest_url, is_wikilink)
                };
                match target {
                    Some(target) => {
                        // The rendering of an e-mail link adds its scheme.
                        let link_type = if link_type == LinkType::Email {
                            link_type
                        } else {
                            LinkType::Inline
                        };
                        events.push(Event::Start(Tag::Link {
                            link_type,
                            dest_url: target.into(),
                            title,
                            id,
                        }));
                        addresses.push(None);
                    }
                    None => addresses.push(Some(if is_wikilink {
                        String::new()
                    } else {
                        dest_url.to_string()
                    })),
                }
            }
            Event::Start(Tag::Image { dest_url, .. }) => addresses.push(Some(dest_url.to_string())),
            Event::End(TagEnd::Link | TagEnd::Image) => match addresses.pop() {
                Some(Some(address)) if !address.is_empty() => {
                    events.extend([
                        Event::Text(" ".into()),
                        Event::Code(visible_text(&address).into()),
                    ]);
                }
                Some(None) => events.push(Event::End(TagEnd::Link)),
                _ => {}
            },
            // Programs for notes show every line break.
            Event::SoftBreak => events.push(Event::HardBreak),
            other => events.push(other),
        }
    }
    if parsed.is_exhausted() {
        return None;
    }
    let mut raw = String::with_capacity(text.len() * 2);
    html::push_html(&mut raw, events.into_iter());
    Some(CLEANER.clean(&split_html_texts(&raw)).to_string())
}

/// Returns `text` with hidden and control characters as code points.
pub(super) fn visible_text(text: &str) -> String {
    let mut deceptive = deceptive_characters(text).map(|(at, _)| at).peekable();
    let mut visible = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let is_control = character.is_control() && !matches!(character, '\n' | '\t');
        if deceptive.next_if_eq(&at).is_some() || is_control {
            write!(visible, "[U+{:04X}]", u32::from(character)).expect("a text grows");
        } else {
            visible.push(character);
        }
    }
    visible
}

/// Returns a text as HTML, see [`visible_text`].
pub(super) fn escape(text: &str) -> String {
    let visible = visible_text(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    visible.replace('"', "&quot;").replace('\'', "&#39;")
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
        "h4",
        "h5",
        "h6",
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
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(tags))
        .clean_content_tags(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .url_schemes(HashSet::from(SCHEMES))
        .url_relative(UrlRelative::PassThrough)
        .attribute_filter(|_, name, value| {
            (name != "href" || value.starts_with(ANCHOR) || has_allowed_scheme(value))
                .then(|| value.into())
        })
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true);
    for tag in ["p", "h4", "h5", "h6", "li", "blockquote", "td", "th"] {
        builder.set_tag_attribute_value(tag, "dir", "auto");
    }
    // Long lines scroll, and a scrolling element can be reached by keyboard.
    builder.set_tag_attribute_value("pre", "tabindex", "0");
    builder
});

fn has_allowed_scheme(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        SCHEMES
            .iter()
            .any(|allowed| scheme.eq_ignore_ascii_case(allowed))
    })
}

/// Returns the level of a heading below that of a memory.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rendered(text: &str) -> String {
        render(text, &|target, _| {
            (target == "Tea").then(|| format!("{ANCHOR}1"))
        })
        .trim_end()
        .to_owned()
    }

    #[test]
    fn wikilinks_lead_to_memories_on_the_page() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        assert_eq!(
            rendered("# A\n\n[[Tea|my *tea*]] [[Cup]] [x](https://a.b/?c&d) <me@a.b>"),
            format!(
                "<h4 dir=\"auto\">A</h4>\n<p dir=\"auto\"><a href=\"#m-1\" {rel}>my <em>tea</em></a> Cup \
                 <a href=\"https://a.b/?c&amp;d\" {rel}>x</a> <a href=\"mailto:me@a.b\" {rel}>me@a.b</a></p>"
            )
        );
    }

    #[test]
    fn line_breaks_survive() {
        let html = rendered("milk\nbread\n\ntea");
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
                rendered(text),
                format!("<p dir=\"auto\">{html}</p>"),
                "{text}"
            );
        }
        assert!(rendered("<script>alert(1)</script>").contains("&lt;script&gt;"));
    }

    #[test]
    fn a_text_that_exceeds_its_budget_is_displayed_as_it_is() {
        for text in [
            ">".repeat(200_000),
            "- ".repeat(100_000),
            "*a ".repeat(1_000) + &"a* ".repeat(1_000),
            "[a](b \"".repeat(10_000),
            "a & b ".repeat(10_000),
        ] {
            let html = rendered(&text);
            assert!(
                html.starts_with("<p>The markup of this text"),
                "{}",
                &text[..40]
            );
            assert!(
                html.ends_with(&format!("{}</pre>", escape(&text))),
                "{}",
                &text[..40]
            );
        }
        let code = "a & b £\n".repeat(20_000);
        let shown = code.replace('&', "&amp;");
        assert!(rendered(&format!("```\n{code}```")).contains(&shown));
    }

    proptest! {
        #[test]
        fn no_text_yields_elements_or_links_of_its_own(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<script>", "</script>", "<img src=x onerror=a()>", "](javascript:a())", "[", "]", "[[", "]]", "|", "![", "\n", "> ",
                    "# ", "- ", "`", "```\n", "\"'>", "&#x3c;", "<!--", "-->", "</p>", "<svg>", "\n|a|b|\n|-|-|\n|", "\u{0}", "*", "<", "a",
                    "<style>", "[^1]", "](<//evil.example>)", "</article>",
                ]),
                0..20,
            )
        ) {
            let html = rendered(&parts.concat());
            let lower = html.to_lowercase();
            for start in lower.match_indices('<').map(|(at, _)| &lower[at + 1..]) {
                let name: String = start.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                let is_allowed = ["a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
                    "table", "tbody", "td", "th", "thead", "tr", "ul"].contains(&name.as_str());
                prop_assert!(is_allowed, "{name}: {html}");
                let tag = start.split('>').next().unwrap_or_default();
                prop_assert!(!tag.contains(" on") && !tag.contains("javascript:") && !tag.contains("src="), "{html}");
            }
        }
    }
}
