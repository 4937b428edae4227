//! Parses literals, names, brackets and control structures.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::Term;
use jaq_core::path::Part;

use super::{JqParser, KEYWORDS, ParseResult};
use crate::jq::lex::JqTokenKind;
use crate::jq::term;
use crate::jq::value::Val;

impl<'s> JqParser<'s> {
    pub(super) fn primary(&mut self) -> ParseResult<Term<&'s str>> {
        let token = self.peek();
        match token.kind {
            JqTokenKind::Number => {
                self.next();
                Ok(self.number(token.text))
            }
            JqTokenKind::Quote => self.string_term(),
            JqTokenKind::Format => {
                if self.tokens[self.at + 1].kind == JqTokenKind::Quote {
                    return self.string_term();
                }
                self.next();
                Ok(Self::format(token.text))
            }
            JqTokenKind::Variable => {
                self.next();
                Ok(match token.text {
                    "$__loc__" => self.location(token.text),
                    "$ENV" => Term::Obj(Vec::new()),
                    name => Term::Var(name),
                })
            }
            JqTokenKind::Field => {
                self.next();
                let part = Part::Index(term::text(&token.text[1..]));
                Ok(term::step(Term::Id, self.optional(part)))
            }
            JqTokenKind::Name => self.name_term(token.text),
            JqTokenKind::Symbol => self.symbol(token.text),
            _ => Err(self.unexpected()),
        }
    }

    fn symbol(&mut self, symbol: &str) -> ParseResult<Term<&'s str>> {
        self.next();
        match symbol {
            ".." => Ok(Term::Recurse),
            "." => {
                if matches!(self.peek().kind, JqTokenKind::Quote)
                    || self.peek().kind == JqTokenKind::Format
                        && self.tokens[self.at + 1].kind == JqTokenKind::Quote
                {
                    let part = Part::Index(self.string_term()?);
                    return Ok(term::step(Term::Id, self.optional(part)));
                }
                if self.peek().kind == JqTokenKind::Name && self.keyword().is_none() {
                    self.at -= 1;
                    let message = "try .[\"field\"] instead of .field for unusually named fields";
                    return Err(self.error_here(message));
                }
                Ok(Term::Id)
            }
            "(" => {
                let inner = self.query()?;
                self.expect(")")?;
                Ok(inner)
            }
            "[" => {
                if self.take("]") {
                    return Ok(Term::Arr(None));
                }
                let inner = self.query()?;
                self.expect("]")?;
                Ok(Term::Arr(Some(Box::new(inner))))
            }
            "{" => self.object(),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn name_term(&mut self, name: &'s str) -> ParseResult<Term<&'s str>> {
        if KEYWORDS.contains(&name) {
            return self.keyword_term(name);
        }
        self.next();
        let mut args = Vec::new();
        if self.take("(") {
            loop {
                args.push(self.query()?);
                if !self.take(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.calls.push((name.to_owned(), args.len()));
        Ok(Term::Call(name, args))
    }

    fn keyword_term(&mut self, word: &'s str) -> ParseResult<Term<&'s str>> {
        match word {
            "if" => {
                self.next();
                let mut branches = Vec::new();
                loop {
                    let condition = self.query()?;
                    self.expect_keyword("then")?;
                    branches.push((condition, self.query()?));
                    if !self.take_keyword("elif") {
                        break;
                    }
                }
                let otherwise = if self.take_keyword("else") {
                    Some(Box::new(self.query()?))
                } else {
                    None
                };
                self.expect_keyword("end")?;
                Ok(Term::IfThenElse(branches, otherwise))
            }
            "try" => {
                self.next();
                let body = self.postfix()?;
                let catch = if self.take_keyword("catch") {
                    Some(Box::new(self.postfix()?))
                } else {
                    None
                };
                Ok(Term::TryCatch(Box::new(body), catch))
            }
            "reduce" | "foreach" => {
                self.next();
                let source = self.expression(0)?;
                self.expect_keyword("as")?;
                let patterns = self.patterns()?;
                self.expect("(")?;
                let mut args = vec![self.query()?];
                while self.take(";") {
                    args.push(self.query()?);
                }
                let enough = if word == "reduce" {
                    args.len() == 2
                } else {
                    matches!(args.len(), 2 | 3)
                };
                if !enough {
                    return Err(self.unexpected());
                }
                self.expect(")")?;
                Ok(term::fold(word, source, patterns, args))
            }
            "break" => {
                self.next();
                match self.variable() {
                    Ok(name) => Ok(Term::Break(name)),
                    Err(_) => Err(self.error_here("break requires a label to break to")),
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self, text: &'s str) -> Term<&'s str> {
        match Val::parse_number(text) {
            // jaq parses text that looks like a machine integer as one, and would lose digits.
            Some(Val::Lit(_)) => Term::Num(self.arena.alloc(format!("{text} ")).as_str()),
            _ => Term::Num(text),
        }
    }

    pub(super) fn location(&mut self, text: &str) -> Term<&'s str> {
        let line = 1 + self.program[..self.range_of(text).start]
            .matches('\n')
            .count();
        let line = self.arena.alloc(line.to_string()).as_str();
        Term::Obj(vec![
            (term::text("file"), Some(term::text("<top-level>"))),
            (term::text("line"), Some(Term::Num(line))),
        ])
    }

    /// Returns the call for a format such as `@csv`.
    fn format(name: &'s str) -> Term<&'s str> {
        Term::Call("format", vec![term::text(&name[1..])])
    }

    /// Parses a string with an optional format.
    pub(super) fn string_term(&mut self) -> ParseResult<Term<&'s str>> {
        let token = self.peek();
        let format = if token.kind == JqTokenKind::Format {
            self.next();
            if self.peek().kind != JqTokenKind::Quote {
                return Err(self.unexpected());
            }
            Some(token.text)
        } else {
            None
        };
        self.next();
        let mut parts = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                JqTokenKind::Text => parts.push(StrPart::Str(token.text)),
                JqTokenKind::Char(char) => parts.push(StrPart::Char(char)),
                JqTokenKind::Insert => {
                    let inserted = self.query()?;
                    if self.next().kind != JqTokenKind::InsertEnd {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                    parts.push(StrPart::Term(match format {
                        Some(format) => term::pipe(inserted, Self::format(format)),
                        None => inserted,
                    }));
                }
                JqTokenKind::QuoteEnd => break,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
        Ok(term::string(parts, self.arena))
    }
}
