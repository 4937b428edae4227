//! The Markdown of memories on the pages.

use std::sync::LazyLock;

use memory_core::html::{HiddenCharacterStyle, HtmlRenderer, HtmlStyle, push_visible};

use super::html::SafeHtml;

/// Maximum size of a text that is rendered, in bytes. The rest of a longer text is left out.
const MAX_RENDERED: usize = 256 << 10;

static RENDERER: LazyLock<HtmlRenderer> = LazyLock::new(|| {
    HtmlRenderer::new(HtmlStyle {
        // The path of the pages of memories.
        own_links: "/memories/",
        top_heading: 2,
        hidden_characters: HiddenCharacterStyle::Element,
        keeps_line_breaks: false,
    })
});

/// Renders `text`. `find_path` returns the path of the page that a wikilink leads to, which begins with `/memories/`.
///
/// A text that exceeds its budget of work is displayed as it is.
pub(crate) fn render_markdown(text: &str, find_path: &dyn Fn(&str) -> Option<String>) -> SafeHtml {
    let shown = &text[..text.floor_char_boundary(MAX_RENDERED)];
    let find_link =
        |address: &str, is_wikilink: bool| is_wikilink.then(|| find_path(address)).flatten();
    let mut safe = RENDERER
        .render(shown, &find_link)
        .unwrap_or_else(|| plain_html(shown));
    if shown.len() < text.len() {
        safe.push_str("<p class=\"notice\">The text is longer than this page shows. The source contains all of it.</p>");
    }
    SafeHtml::from_escaped(safe)
}

/// Returns a text without its markup rendered.
fn plain_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 256);
    html.push_str("<p class=\"notice\">The markup of this text is too long or nested too deep to be rendered.</p>\n<pre tabindex=\"0\">");
    push_visible(&mut html, text, HiddenCharacterStyle::Element);
    html.push_str("</pre>");
    html
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
