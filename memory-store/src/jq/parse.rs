//! The parser, which creates terms for jaq's evaluator.
//!
//! The grammar is that of jq. Constructs that jaq evaluates differently are rewritten; see [`super::term`].

mod object;
mod primary;

use std::ops::Range;

use jaq_core::load::Arena;
use jaq_core::load::parse::{BinaryOp, Def, Term};
use jaq_core::ops::{Cmp, Math};
use jaq_core::path::{Opt, Part};

use super::error::JqSyntaxError;
use super::lex::{JqToken, JqTokenKind, tokenize};
use super::term;

/// A parsed program or definition.
#[derive(Debug)]
pub(crate) struct ParsedTerm<T> {
    pub(crate) term: T,
    /// The name and arity of each call.
    pub(crate) calls: Vec<(String, usize)>,
}

/// The maximum nesting of a program, because nested terms are evaluated recursively and need stack.
const MAX_NESTING: usize = 500;
/// The maximum number of operators in a row, for the same reason.
const MAX_OPERATORS: usize = 1200;

type ParseResult<T> = Result<T, JqSyntaxError>;
type JqPathStep<'s> = (Part<Term<&'s str>>, Opt);

const KEYWORDS: [&str; 19] = [
    "def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label",
    "import", "include", "module", "and", "or", "break", "__loc__",
];

/// Parses a whole program.
pub(crate) fn program<'s>(
    text: &'s str,
    arena: &'s Arena,
) -> ParseResult<ParsedTerm<Term<&'s str>>> {
    let mut parser = JqParser::new(text, arena)?;
    if let Some(word @ ("import" | "include" | "module")) = parser.keyword() {
        let message = format!("modules are not supported: '{word}' is not allowed");
        return Err(parser.error_here(&message));
    }
    let term = if parser.at_end() {
        Term::Id
    } else {
        parser.query()?
    };
    parser.end()?;
    Ok(ParsedTerm {
        term,
        calls: parser.calls,
    })
}

/// Parses a list of definitions.
pub(crate) fn definitions<'s>(
    text: &'s str,
    arena: &'s Arena,
) -> ParseResult<Vec<ParsedTerm<Def<&'s str>>>> {
    let mut parser = JqParser::new(text, arena)?;
    let mut definitions = Vec::new();
    while parser.take_keyword("def") {
        let term = parser.definition()?;
        definitions.push(ParsedTerm {
            term,
            calls: std::mem::take(&mut parser.calls),
        });
    }
    parser.end()?;
    Ok(definitions)
}

struct JqParser<'s> {
    program: &'s str,
    arena: &'s Arena,
    tokens: Vec<JqToken<'s>>,
    at: usize,
    depth: usize,
    calls: Vec<(String, usize)>,
}

impl<'s> JqParser<'s> {
    fn new(program: &'s str, arena: &'s Arena) -> ParseResult<Self> {
        Ok(Self {
            program,
            arena,
            tokens: tokenize(program)?,
            at: 0,
            depth: 0,
            calls: Vec::new(),
        })
    }

    fn peek(&self) -> JqToken<'s> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> JqToken<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn at_end(&self) -> bool {
        self.peek().kind == JqTokenKind::End
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == JqTokenKind::Symbol && token.text == symbol
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    fn keyword(&self) -> Option<&'s str> {
        let token = self.peek();
        (token.kind == JqTokenKind::Name && KEYWORDS.contains(&token.text)).then_some(token.text)
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> ParseResult<()> {
        if self.take(symbol) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn expect_keyword(&mut self, word: &str) -> ParseResult<()> {
        if self.take_keyword(word) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn end(&mut self) -> ParseResult<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn range_of(&self, text: &str) -> Range<usize> {
        let start = text.as_ptr() as usize - self.program.as_ptr() as usize;
        start..start + text.len()
    }

    fn error_here(&self, message: &str) -> JqSyntaxError {
        let mut place = self.range_of(self.peek().text);
        if place.is_empty() {
            // At the end of the program jq points at the last token.
            let last = self.at.checked_sub(1).map_or("", |at| self.tokens[at].text);
            if !last.is_empty() {
                place = self.range_of(last);
            }
        }
        JqSyntaxError::at(self.program, place, message)
    }

    fn unexpected(&self) -> JqSyntaxError {
        let token = self.peek();
        let found = match token.kind {
            JqTokenKind::End => "end of file".to_owned(),
            JqTokenKind::Invalid => "INVALID_CHARACTER".to_owned(),
            JqTokenKind::Symbol if token.text.len() == 1 => format!("'{}'", token.text),
            JqTokenKind::Name if self.keyword().is_none() => "IDENT".to_owned(),
            JqTokenKind::Variable if token.text != "$__loc__" => "BINDING".to_owned(),
            JqTokenKind::Field => "FIELD".to_owned(),
            JqTokenKind::Format => "FORMAT".to_owned(),
            JqTokenKind::Number => "LITERAL".to_owned(),
            JqTokenKind::Quote => "QQSTRING_START".to_owned(),
            JqTokenKind::Text | JqTokenKind::Char(_) => "QQSTRING_TEXT".to_owned(),
            JqTokenKind::Insert => "QQSTRING_INTERP_START".to_owned(),
            JqTokenKind::InsertEnd => "QQSTRING_INTERP_END".to_owned(),
            JqTokenKind::QuoteEnd => "QQSTRING_END".to_owned(),
            JqTokenKind::Symbol | JqTokenKind::Name | JqTokenKind::Variable => {
                token.text.to_owned()
            }
        };
        self.error_here(&format!("syntax error, unexpected {found}"))
    }

    fn with_depth<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if MAX_NESTING < self.depth {
            return Err(self.error_here("the filter is nested too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn count_operator(&self, count: &mut usize) -> ParseResult<()> {
        *count += 1;
        if MAX_OPERATORS < *count {
            Err(self.error_here("the filter has too many operators in a row"))
        } else {
            Ok(())
        }
    }

    /// Parses `a | b`, and all operators that bind more tightly.
    fn query(&mut self) -> ParseResult<Term<&'s str>> {
        self.with_depth(|parser| {
            let mut terms = vec![parser.comma()?];
            let mut count = 0;
            while parser.take("|") {
                parser.count_operator(&mut count)?;
                terms.push(parser.comma()?);
            }
            let last = terms.pop().expect("there is one");
            Ok(terms
                .into_iter()
                .rev()
                .fold(last, |right, left| term::pipe(left, right)))
        })
    }

    fn comma(&mut self) -> ParseResult<Term<&'s str>> {
        let mut left = self.clause()?;
        let mut count = 0;
        while self.take(",") {
            self.count_operator(&mut count)?;
            left = term::binary(left, BinaryOp::Comma, self.clause()?);
        }
        Ok(left)
    }

    /// Parses a definition, label, binding or expression.
    ///
    /// All but expressions extend as far to the right as possible.
    fn clause(&mut self) -> ParseResult<Term<&'s str>> {
        if self.take_keyword("def") {
            let definition = self.definition()?;
            return Ok(Term::Def(vec![definition], Box::new(self.query()?)));
        }
        if self.take_keyword("label") {
            let name = self.variable()?;
            self.expect("|")?;
            return Ok(Term::Label(name, Box::new(self.query()?)));
        }
        let left = self.expression(0)?;
        if self.take_keyword("as") {
            let patterns = self.patterns()?;
            self.expect("|")?;
            return Ok(term::bind_patterns(left, patterns, self.query()?));
        }
        Ok(left)
    }

    fn variable(&mut self) -> ParseResult<&'s str> {
        let token = self.peek();
        if token.kind == JqTokenKind::Variable && token.text != "$__loc__" {
            self.next();
            Ok(token.text)
        } else {
            Err(self.unexpected())
        }
    }

    /// Parses the part of a definition after `def`.
    fn definition(&mut self) -> ParseResult<Def<&'s str>> {
        let token = self.next();
        let keyword = KEYWORDS.contains(&token.text);
        if keyword || !matches!(token.kind, JqTokenKind::Name | JqTokenKind::Format) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        let mut args = Vec::new();
        if self.take("(") {
            loop {
                let JqToken {
                    kind: JqTokenKind::Name | JqTokenKind::Variable,
                    text,
                } = self.peek()
                else {
                    return Err(self.unexpected());
                };
                self.next();
                args.push(text);
                if !self.take(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.query()?;
        self.expect(";")?;
        let body = term::with_values_as_filters(&args, body, &self.calls);
        Ok(Def {
            name: token.text,
            args,
            body,
        })
    }

    /// Parses operators of at least the precedence `least`.
    fn expression(&mut self, least: u8) -> ParseResult<Term<&'s str>> {
        let mut left = self.postfix()?;
        let mut count = 0;
        loop {
            let Some((operator, level)) = self.operator() else {
                return Ok(left);
            };
            if level < least {
                return Ok(left);
            }
            self.count_operator(&mut count)?;
            self.next();
            // `//` is right-associative, comparisons and assignments are non-associative, and the others are left-associative.
            let right = self
                .with_depth(|parser| parser.expression(if level == 1 { 1 } else { level + 1 }))?;
            left = term::operation(left, operator, right);
            let unassociated = matches!(level, 2 | 5);
            if unassociated && self.operator().is_some_and(|(_, next)| next == level) {
                return Err(self.unexpected());
            }
        }
    }

    fn operator(&self) -> Option<(BinaryOp<&'s str>, u8)> {
        let token = self.peek();
        if !matches!(token.kind, JqTokenKind::Symbol | JqTokenKind::Name) {
            return None;
        }
        Some(match token.text {
            "//" => (BinaryOp::Alt, 1),
            "=" => (BinaryOp::Assign, 2),
            "|=" => (BinaryOp::Update, 2),
            "+=" => (BinaryOp::UpdateMath(Math::Add), 2),
            "-=" => (BinaryOp::UpdateMath(Math::Sub), 2),
            "*=" => (BinaryOp::UpdateMath(Math::Mul), 2),
            "/=" => (BinaryOp::UpdateMath(Math::Div), 2),
            "%=" => (BinaryOp::UpdateMath(Math::Rem), 2),
            "//=" => (BinaryOp::UpdateAlt, 2),
            "or" => (BinaryOp::Or, 3),
            "and" => (BinaryOp::And, 4),
            "==" => (BinaryOp::Cmp(Cmp::Eq), 5),
            "!=" => (BinaryOp::Cmp(Cmp::Ne), 5),
            "<" => (BinaryOp::Cmp(Cmp::Lt), 5),
            ">" => (BinaryOp::Cmp(Cmp::Gt), 5),
            "<=" => (BinaryOp::Cmp(Cmp::Le), 5),
            ">=" => (BinaryOp::Cmp(Cmp::Ge), 5),
            "+" => (BinaryOp::Math(Math::Add), 6),
            "-" => (BinaryOp::Math(Math::Sub), 6),
            "*" => (BinaryOp::Math(Math::Mul), 7),
            "/" => (BinaryOp::Math(Math::Div), 7),
            "%" => (BinaryOp::Math(Math::Rem), 7),
            _ => return None,
        })
    }

    /// Parses a term with its suffixes: fields, indices, slices, question marks.
    fn postfix(&mut self) -> ParseResult<Term<&'s str>> {
        self.with_depth(Self::postfix_within)
    }

    fn postfix_within(&mut self) -> ParseResult<Term<&'s str>> {
        if self.take("-") {
            return Ok(Term::Neg(Box::new(self.postfix()?)));
        }
        let mut term = self.primary()?;
        let mut count = 0;
        loop {
            self.count_operator(&mut count)?;
            let token = self.peek();
            let part = match token.kind {
                JqTokenKind::Field => {
                    self.next();
                    Part::Index(term::text(&token.text[1..]))
                }
                JqTokenKind::Symbol if token.text == "[" => {
                    self.next();
                    self.subscript()?
                }
                JqTokenKind::Symbol if token.text == "." => {
                    self.next();
                    if self.take("[") {
                        self.subscript()?
                    } else if matches!(self.peek().kind, JqTokenKind::Quote | JqTokenKind::Format) {
                        Part::Index(self.string_term()?)
                    } else {
                        return Err(self.unexpected());
                    }
                }
                JqTokenKind::Symbol if token.text == "?" => {
                    self.next();
                    term = Term::TryCatch(Box::new(term), None);
                    continue;
                }
                _ => return Ok(term),
            };
            term = term::step(term, self.optional(part));
        }
    }

    fn optional(&mut self, part: Part<Term<&'s str>>) -> JqPathStep<'s> {
        let mut opt = Opt::Essential;
        while self.take("?") {
            opt = Opt::Optional;
        }
        (part, opt)
    }

    /// Parses the content of brackets after a term, and the closing bracket.
    fn subscript(&mut self) -> ParseResult<Part<Term<&'s str>>> {
        if self.take("]") {
            return Ok(Part::Range(None, None));
        }
        if self.take(":") {
            let end = self.query()?;
            self.expect("]")?;
            return Ok(Part::Range(None, Some(end)));
        }
        let start = self.query()?;
        if self.take("]") {
            return Ok(Part::Index(start));
        }
        self.expect(":")?;
        if self.take("]") {
            return Ok(Part::Range(Some(start), None));
        }
        let end = self.query()?;
        self.expect("]")?;
        Ok(Part::Range(Some(start), Some(end)))
    }
}
