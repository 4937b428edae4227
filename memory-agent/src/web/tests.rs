//! Checks of generated HTML for tests, with the tokenizer of a browser.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The elements that a page may contain in generated HTML.
const ELEMENTS: [&str; 47] = [
    "a",
    "b",
    "bdi",
    "blockquote",
    "br",
    "button",
    "circle",
    "code",
    "dd",
    "del",
    "desc",
    "div",
    "dl",
    "dt",
    "em",
    "g",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "input",
    "ins",
    "li",
    "line",
    "mark",
    "ol",
    "p",
    "path",
    "polyline",
    "pre",
    "rect",
    "span",
    "strong",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "ul",
    "form",
];

/// The elements without an end tag.
const VOID: [&str; 3] = ["br", "hr", "input"];

/// A tag with its attributes.
type HtmlTag = (String, Vec<(String, String)>);

#[derive(Default)]
struct TagCollector {
    open: RefCell<Vec<String>>,
    tags: RefCell<Vec<HtmlTag>>,
    error: RefCell<Option<String>>,
}

impl TagCollector {
    fn report(&self, error: String) {
        self.error.borrow_mut().get_or_insert(error);
    }
}

impl TokenSink for TagCollector {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                let name = tag.name.to_string();
                if !VOID.contains(&name.as_str()) && !tag.self_closing {
                    self.open.borrow_mut().push(name.clone());
                }
                let attributes = tag
                    .attrs
                    .iter()
                    .map(|own| (own.name.local.to_string(), own.value.to_string()))
                    .collect();
                self.tags.borrow_mut().push((name, attributes));
            }
            Token::TagToken(tag) => {
                let open = self.open.borrow_mut().pop();
                if open.as_deref() != Some(&*tag.name) {
                    self.report(format!("</{}> closes {open:?}", tag.name));
                }
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) => {
                self.report("a comment or document type".to_owned());
            }
            Token::CharacterTokens(_)
            | Token::NullCharacterToken
            | Token::EOFToken
            | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

fn tokenize(html: &str) -> TagCollector {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(TagCollector::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink
}

/// Returns the tags of `html` with their attributes.
pub(crate) fn tags(html: &str) -> Vec<HtmlTag> {
    tokenize(html).tags.into_inner()
}

/// Checks that `html` has only balanced tags of known elements, no event handlers and styles, and no address that a browser
/// loads.
pub(crate) fn check_safe(html: &str) -> Result<(), String> {
    let collected = tokenize(html);
    if let Some(error) = collected.error.into_inner() {
        return Err(error);
    }
    if let Some(open) = collected.open.into_inner().pop() {
        return Err(format!("<{open}> is not closed"));
    }
    for (name, attributes) in collected.tags.into_inner() {
        if !ELEMENTS.contains(&name.as_str()) {
            return Err(format!("the element <{name}>"));
        }
        for (attribute, value) in attributes {
            let is_handler = attribute.starts_with("on")
                || ["style", "src", "srcset", "formaction", "data"].contains(&attribute.as_str());
            let is_address = ["href", "xlink:href", "action"].contains(&attribute.as_str());
            let is_own = value.starts_with('/') && !value[1..].starts_with(['/', '\\']);
            let is_external = ["http://", "https://", "mailto:"]
                .iter()
                .any(|scheme| value.to_lowercase().starts_with(scheme));
            if is_handler || (is_address && !is_own && !(is_external && name == "a")) {
                return Err(format!("<{name} {attribute}={value:?}>"));
            }
        }
    }
    Ok(())
}

#[test]
fn unsafe_html_is_recognised() {
    assert_eq!(
        check_safe("<p>a <a href=\"/memories/1\">b</a><br></p>"),
        Ok(())
    );
    for html in [
        "<p>",
        "</p>",
        "<p><em></p></em>",
        "<script></script>",
        "<p onclick=\"a()\"></p>",
        "<a href=\"javascript:a()\"></a>",
        "<a href=\"//evil.example\"></a>",
        "<!-- -->",
    ] {
        assert!(check_safe(html).is_err(), "{html}");
    }
}
