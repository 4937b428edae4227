//! One page for a browser, without scripts and without files of its own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use memory_core::html::{HiddenCharacterStyle, HtmlRenderer, HtmlStyle, push_visible};
use memory_core::{Category, Scope, wikilink};

use super::catalog::ExportCatalog;
use super::link_text::linked_memory;
use super::{ExportFormat, ExportPart, ExportRecord, time};

/// The start of the page. The policy forbids scripts and all content from elsewhere.
const HEAD: &str = include_str!("page_head.html");

/// The start of the links to memories, which are on the same page.
const ANCHOR: &str = "#m-";

static RENDERER: LazyLock<HtmlRenderer> = LazyLock::new(|| {
    HtmlRenderer::new(HtmlStyle {
        own_links: ANCHOR,
        top_heading: 4,
        hidden_characters: HiddenCharacterStyle::Text,
        // Programs for notes show every line break.
        keeps_line_breaks: true,
    })
});

/// An export as a page.
#[derive(Debug)]
pub(super) struct HtmlExport {
    catalog: ExportCatalog,
    /// The category of the section that is open.
    section: Option<Category>,
}

impl HtmlExport {
    pub(super) fn new(catalog: ExportCatalog) -> Self {
        Self {
            catalog,
            section: None,
        }
    }
}

impl ExportFormat for HtmlExport {
    fn start(&mut self) -> Vec<ExportPart> {
        let mut contents: BTreeMap<Category, (usize, String)> = BTreeMap::new();
        for (id, entry) in self.catalog.iter() {
            let (count, list) = contents.entry(entry.category).or_default();
            *count += 1;
            writeln!(
                list,
                "<li><a href=\"{ANCHOR}{id}\"><bdi>{}</bdi></a></li>",
                escape(headline(entry))
            )
            .expect("a text grows");
        }
        let count = self.catalog.len();
        let mut page = format!(
            "{HEAD}<h1>Memories</h1>\n<p>{count} {}</p>\n",
            if count == 1 { "memory" } else { "memories" }
        );
        page.push_str("<nav aria-label=\"Contents\">\n");
        for (category, (count, list)) in contents {
            writeln!(page, "<details open>\n<summary>{category} ({count})</summary>\n<ul>\n{list}</ul>\n</details>")
                .expect("a text grows");
        }
        page.push_str("</nav>\n<main>\n");
        vec![ExportPart::next(page)]
    }

    fn memory(&mut self, record: &ExportRecord<'_>) -> Vec<ExportPart> {
        let memory = record.memory;
        let Some(entry) = self.catalog.get(&memory.id) else {
            return Vec::new();
        };
        let mut html = String::new();
        if self.section != Some(memory.category) {
            self.section = Some(memory.category);
            writeln!(html, "<h2 id=\"c-{0}\">{0}</h2>", memory.category).expect("a text grows");
        }
        let anchor = |address: &str, is_wikilink: bool| {
            let wikilinks = wikilink::parse_prose_wikilinks(address);
            let id = match wikilinks.first() {
                Some(link) => (record.resolve)(&link.target)?,
                None if is_wikilink => (record.resolve)(address)?,
                None => linked_memory(record, &self.catalog, address)?,
            };
            self.catalog.get(&id).map(|_| format!("{ANCHOR}{id}"))
        };
        writeln!(
            html,
            "<article id=\"m-{}\">\n<h3 dir=\"auto\">{}</h3>",
            memory.id,
            escape(headline(entry))
        )
        .expect("a text grows");
        html.push_str(&render(&memory.content, &anchor));
        html.push_str("<dl>\n");
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() {
                writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>").expect("a text grows");
            }
        };
        let text = |text: &str| format!("<bdi>{}</bdi>", escape(text));
        let moment = |at: memory_core::chrono::DateTime<memory_core::chrono::Utc>| {
            format!(
                "<time datetime=\"{}\">{} UTC</time>",
                time(at),
                at.format("%Y-%m-%d %H:%M")
            )
        };
        let link = |id: &memory_core::MemoryId| {
            let other = self.catalog.get(id)?;
            Some(format!(
                "<a href=\"{ANCHOR}{id}\"><bdi>{}</bdi></a>",
                escape(headline(other))
            ))
        };
        field(
            "tags",
            &memory
                .tags
                .iter()
                .map(|tag| text(tag))
                .collect::<Vec<_>>()
                .join(", "),
        );
        field(
            "aliases",
            &memory
                .aliases
                .iter()
                .map(|alias| text(alias))
                .collect::<Vec<_>>()
                .join(", "),
        );
        if memory.scope != Scope::Global {
            field("scope", &text(&memory.scope.to_string()));
        }
        if !memory.source.is_empty() {
            field("source", &text(&memory.source));
        }
        field("created", &moment(memory.created_at));
        if memory.updated_at != memory.created_at {
            field("changed", &moment(memory.updated_at));
        }
        for (name, at) in [
            ("expires", memory.expires_at),
            ("valid from", memory.valid_from),
            ("valid until", memory.valid_until),
            ("due", memory.reminder.as_ref().map(|reminder| reminder.due)),
            (
                "done",
                memory
                    .reminder
                    .as_ref()
                    .and_then(|reminder| reminder.done_at),
            ),
        ] {
            field(name, &at.map(moment).unwrap_or_default());
        }
        let repeats = memory.recurrence();
        field(
            "repeats",
            &repeats.map_or_else(String::new, |repeats| text(&repeats.expression)),
        );
        field("pinned", if memory.pinned { "yes" } else { "" });
        if let Some(id) = &memory.superseded_by {
            field("superseded by", &link(id).unwrap_or_else(|| id.to_string()));
        }
        field(
            "related",
            &memory
                .links
                .iter()
                .filter_map(link)
                .collect::<Vec<_>>()
                .join(", "),
        );
        html.push_str("</dl>\n</article>\n");
        vec![ExportPart::next(html)]
    }

    fn finish(&mut self) -> Vec<ExportPart> {
        vec![ExportPart::next("</main>\n</body>\n</html>\n".into())]
    }
}

/// Renders the Markdown of a memory. A text that exceeds its budget of work is displayed as it is.
fn render(text: &str, find_anchor: &dyn Fn(&str, bool) -> Option<String>) -> String {
    RENDERER.render(text, find_anchor).unwrap_or_else(|| {
        format!(
            "<p>The markup of this text is too long or nested too deep to be rendered.</p>\n<pre tabindex=\"0\">{}</pre>\n",
            escape(text)
        )
    })
}

/// Returns a text as HTML, with hidden and control characters as code points.
fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    push_visible(&mut html, text, HiddenCharacterStyle::Text);
    html
}

fn headline(entry: &super::catalog::CatalogEntry) -> &str {
    if entry.headline.is_empty() {
        &entry.name
    } else {
        &entry.headline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_exceeds_its_budget_is_displayed_as_it_is() {
        for text in [
            ">".repeat(200_000),
            "- ".repeat(100_000),
            "*a ".repeat(1_000) + &"a* ".repeat(1_000),
            "[a](b \"".repeat(10_000),
            "a & b ".repeat(10_000),
        ] {
            let html = render(&text, &|_, _| None);
            assert!(
                html.starts_with("<p>The markup of this text"),
                "{}",
                &text[..40]
            );
            assert!(
                html.ends_with(&format!("{}</pre>\n", escape(&text))),
                "{}",
                &text[..40]
            );
        }
        let code = "a & b £\n".repeat(20_000);
        let shown = code.replace('&', "&amp;");
        assert!(render(&format!("```\n{code}```"), &|_, _| None).contains(&shown));
    }
}
