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

use super::error::Mistake;
use super::lex::{Kind, Token, tokens};
use super::term;

/// A parsed program or definition.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    pub(crate) term: T,
    /// The name and arity of each call.
    pub(crate) calls: Vec<(String, usize)>,
}

/// The maximum nesting of a program, because nested terms are evaluated recursively and need stack.
const MOST_NESTED: usize = 500;
/// The maximum number of operators in a row, for the same reason.
const MOST_IN_A_ROW: usize = 1200;

type Parse<T> = Result<T, Mistake>;
type Step<'s> = (Part<Term<&'s str>>, Opt);

const KEYWORDS: [&str; 19] = [
    "def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label", "import", "include",
    "module", "and", "or", "break", "__loc__",
];

/// Parses a whole program.
pub(crate) fn program<'s>(text: &'s str, arena: &'s Arena) -> Parse<Parsed<Term<&'s str>>> {
    let mut parser = Parser::new(text, arena)?;
    if let Some(word @ ("import" | "include" | "module")) = parser.keyword() {
        let message = format!("modules are not supported: '{word}' is not allowed");
        return Err(parser.mistake_here(&message));
    }
    let term = if parser.at_end() { Term::Id } else { parser.query()? };
    parser.end()?;
    Ok(Parsed { term, calls: parser.calls })
}

/// Parses a list of definitions.
pub(crate) fn definitions<'s>(text: &'s str, arena: &'s Arena) -> Parse<Vec<Parsed<Def<&'s str>>>> {
    let mut parser = Parser::new(text, arena)?;
    let mut definitions = Vec::new();
    while parser.take_keyword("def") {
        let term = parser.definition()?;
        definitions.push(Parsed { term, calls: std::mem::take(&mut parser.calls) });
    }
    parser.end()?;
    Ok(definitions)
}

struct Parser<'s> {
    program: &'s str,
    arena: &'s Arena,
    tokens: Vec<Token<'s>>,
    at: usize,
    depth: usize,
    calls: Vec<(String, usize)>,
}

impl<'s> Parser<'s> {
    fn new(program: &'s str, arena: &'s Arena) -> Parse<Self> {
        Ok(Self { program, arena, tokens: tokens(program)?, at: 0, depth: 0, calls: Vec::new() })
    }

    fn peek(&self) -> Token<'s> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Symbol && token.text == symbol
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
        (token.kind == Kind::Name && KEYWORDS.contains(&token.text)).then_some(token.text)
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parse<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_keyword(&mut self, word: &str) -> Parse<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn end(&mut self) -> Parse<()> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected()) }
    }

    fn place(&self, text: &str) -> Range<usize> {
        let start = text.as_ptr() as usize - self.program.as_ptr() as usize;
        start..start + text.len()
    }

    fn mistake_here(&self, message: &str) -> Mistake {
        let mut place = self.place(self.peek().text);
        if place.is_empty() {
            // At the end of the program jq points at the last token.
            let last = self.at.checked_sub(1).map_or("", |at| self.tokens[at].text);
            if !last.is_empty() {
                place = self.place(last);
            }
        }
        Mistake::at(self.program, place, message)
    }

    fn unexpected(&self) -> Mistake {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "end of file".to_owned(),
            Kind::Invalid => "INVALID_CHARACTER".to_owned(),
            Kind::Symbol if token.text.len() == 1 => format!("'{}'", token.text),
            Kind::Name if self.keyword().is_none() => "IDENT".to_owned(),
            Kind::Variable if token.text != "$__loc__" => "BINDING".to_owned(),
            Kind::Field => "FIELD".to_owned(),
            Kind::Format => "FORMAT".to_owned(),
            Kind::Number => "LITERAL".to_owned(),
            Kind::Quote => "QQSTRING_START".to_owned(),
            Kind::Text | Kind::Char(_) => "QQSTRING_TEXT".to_owned(),
            Kind::Insert => "QQSTRING_INTERP_START".to_owned(),
            Kind::InsertEnd => "QQSTRING_INTERP_END".to_owned(),
            Kind::QuoteEnd => "QQSTRING_END".to_owned(),
            Kind::Symbol | Kind::Name | Kind::Variable => token.text.to_owned(),
        };
        self.mistake_here(&format!("syntax error, unexpected {found}"))
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if MOST_NESTED < self.depth {
            return Err(self.mistake_here("the filter is nested too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn in_a_row(&self, count: &mut usize) -> Parse<()> {
        *count += 1;
        if MOST_IN_A_ROW < *count { Err(self.mistake_here("the filter has too many operators in a row")) } else { Ok(()) }
    }

    /// Parses `a | b`, and all operators that bind more tightly.
    fn query(&mut self) -> Parse<Term<&'s str>> {
        self.nested(|parser| {
            let mut terms = vec![parser.comma()?];
            let mut count = 0;
            while parser.take("|") {
                parser.in_a_row(&mut count)?;
                terms.push(parser.comma()?);
            }
            let last = terms.pop().expect("there is one");
            Ok(terms.into_iter().rev().fold(last, |right, left| term::pipe(left, right)))
        })
    }

    fn comma(&mut self) -> Parse<Term<&'s str>> {
        let mut left = self.clause()?;
        let mut count = 0;
        while self.take(",") {
            self.in_a_row(&mut count)?;
            left = term::binary(left, BinaryOp::Comma, self.clause()?);
        }
        Ok(left)
    }

    /// Parses a definition, label, binding or expression.
    ///
    /// All but expressions extend as far to the right as possible.
    fn clause(&mut self) -> Parse<Term<&'s str>> {
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
            return Ok(term::bind(left, patterns, self.query()?));
        }
        Ok(left)
    }

    fn variable(&mut self) -> Parse<&'s str> {
        let token = self.peek();
        if token.kind == Kind::Variable && token.text != "$__loc__" {
            self.next();
            Ok(token.text)
        } else {
            Err(self.unexpected())
        }
    }

    /// Parses the part of a definition after `def`.
    fn definition(&mut self) -> Parse<Def<&'s str>> {
        let token = self.next();
        let keyword = KEYWORDS.contains(&token.text);
        if keyword || !matches!(token.kind, Kind::Name | Kind::Format) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        let mut args = Vec::new();
        if self.take("(") {
            loop {
                let Token { kind: Kind::Name | Kind::Variable, text } = self.peek() else {
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
        Ok(Def { name: token.text, args, body })
    }

    /// Parses operators of at least the precedence `least`.
    fn expression(&mut self, least: u8) -> Parse<Term<&'s str>> {
        let mut left = self.postfix()?;
        let mut count = 0;
        loop {
            let Some((operator, level)) = self.operator() else { return Ok(left) };
            if level < least {
                return Ok(left);
            }
            self.in_a_row(&mut count)?;
            self.next();
            // `//` is right-associative, comparisons and assignments are non-associative, and the others are left-associative.
            let right = self.nested(|parser| parser.expression(if level == 1 { 1 } else { level + 1 }))?;
            left = term::operation(left, operator, right);
            let unassociated = matches!(level, 2 | 5);
            if unassociated && self.operator().is_some_and(|(_, next)| next == level) {
                return Err(self.unexpected());
            }
        }
    }

    fn operator(&self) -> Option<(BinaryOp<&'s str>, u8)> {
        let token = self.peek();
        if !matches!(token.kind, Kind::Symbol | Kind::Name) {
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
    fn postfix(&mut self) -> Parse<Term<&'s str>> {
        self.nested(Self::postfix_within)
    }

    fn postfix_within(&mut self) -> Parse<Term<&'s str>> {
        if self.take("-") {
            return Ok(Term::Neg(Box::new(self.postfix()?)));
        }
        let mut term = self.primary()?;
        let mut count = 0;
        loop {
            self.in_a_row(&mut count)?;
            let token = self.peek();
            let part = match token.kind {
                Kind::Field => {
                    self.next();
                    Part::Index(term::text(&token.text[1..]))
                }
                Kind::Symbol if token.text == "[" => {
                    self.next();
                    self.subscript()?
                }
                Kind::Symbol if token.text == "." => {
                    self.next();
                    if self.take("[") {
                        self.subscript()?
                    } else if matches!(self.peek().kind, Kind::Quote | Kind::Format) {
                        Part::Index(self.string_term()?)
                    } else {
                        return Err(self.unexpected());
                    }
                }
                Kind::Symbol if token.text == "?" => {
                    self.next();
                    term = Term::TryCatch(Box::new(term), None);
                    continue;
                }
                _ => return Ok(term),
            };
            term = term::step(term, self.optional(part));
        }
    }

    fn optional(&mut self, part: Part<Term<&'s str>>) -> Step<'s> {
        let mut opt = Opt::Essential;
        while self.take("?") {
            opt = Opt::Optional;
        }
        (part, opt)
    }

    /// Parses the content of brackets after a term, and the closing bracket.
    fn subscript(&mut self) -> Parse<Part<Term<&'s str>>> {
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
