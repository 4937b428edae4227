//! Parses objects and destructuring patterns.

use jaq_core::load::parse::{Pattern, Term};

use super::{JqParser, ParseResult};
use crate::jq::error::{JqSyntaxError, describe};
use crate::jq::lex::JqTokenKind;
use crate::jq::term;
use crate::jq::value::{Map, Val};

impl<'s> JqParser<'s> {
    pub(super) fn object(&mut self) -> ParseResult<Term<&'s str>> {
        let mut fields = Vec::new();
        if self.take("}") {
            return Ok(Term::Obj(fields));
        }
        loop {
            fields.push(self.field()?);
            if self.take("}") {
                return Ok(Term::Obj(fields));
            }
            self.expect(",")?;
        }
    }

    fn field(&mut self) -> ParseResult<(Term<&'s str>, Option<Term<&'s str>>)> {
        let token = self.peek();
        match token.kind {
            JqTokenKind::Variable if token.text == "$__loc__" => {
                self.next();
                Ok((term::text("__loc__"), Some(self.location(token.text))))
            }
            JqTokenKind::Variable => {
                self.next();
                if self.take(":") {
                    return Ok((Term::Var(token.text), Some(self.field_value()?)));
                }
                Ok((term::text(&token.text[1..]), Some(Term::Var(token.text))))
            }
            JqTokenKind::Name => {
                self.next();
                let key = term::text(token.text);
                let value = if self.take(":") {
                    Some(self.field_value()?)
                } else {
                    None
                };
                Ok((key, value))
            }
            JqTokenKind::Number => {
                Err(self.error_here("May need parentheses around object key expression"))
            }
            JqTokenKind::Quote | JqTokenKind::Format => {
                let key = self.string_term()?;
                let value = if self.take(":") {
                    Some(self.field_value()?)
                } else {
                    None
                };
                Ok((key, value))
            }
            JqTokenKind::Symbol if token.text == "(" => {
                self.next();
                let key = self.key()?;
                self.expect(":")?;
                Ok((key, Some(self.field_value()?)))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Parses a key in parentheses, and the closing one.
    ///
    /// A constant that cannot be a key is an error.
    fn key(&mut self) -> ParseResult<Term<&'s str>> {
        let start = self.at;
        let key = self.query()?;
        let constant = match &key {
            Term::Num(text) => Val::parse_number(text.trim_end()),
            Term::Call("true", args) if args.is_empty() => Some(Val::Bool(true)),
            Term::Call("false", args) if args.is_empty() => Some(Val::Bool(false)),
            Term::Call("null", args) if args.is_empty() => Some(Val::Null),
            Term::Arr(None) => Some(Val::array(Vec::new())),
            Term::Obj(fields) if fields.is_empty() => Some(Val::object(Map::default())),
            _ => None,
        };
        if let Some(constant) = constant {
            let place =
                self.range_of(self.tokens[start].text).start..self.range_of(self.peek().text).start;
            let message = format!("Cannot use {} as object key", describe(&constant));
            return Err(JqSyntaxError::at(self.program, place, &message));
        }
        self.expect(")")?;
        Ok(key)
    }

    /// Parses a value in an object, which may contain a pipe but no top-level comma.
    fn field_value(&mut self) -> ParseResult<Term<&'s str>> {
        let left = self.expression(0)?;
        if self.take("|") {
            return Ok(term::pipe(left, self.with_depth(Self::field_value)?));
        }
        Ok(left)
    }

    pub(super) fn patterns(&mut self) -> ParseResult<Vec<Pattern<&'s str>>> {
        let mut patterns = vec![self.pattern()?];
        while self.take("?//") {
            patterns.push(self.pattern()?);
        }
        Ok(patterns)
    }

    fn pattern(&mut self) -> ParseResult<Pattern<&'s str>> {
        self.with_depth(Self::pattern_within)
    }

    fn pattern_within(&mut self) -> ParseResult<Pattern<&'s str>> {
        if self.take("[") {
            let mut items = vec![self.pattern()?];
            while self.take(",") {
                items.push(self.pattern()?);
            }
            self.expect("]")?;
            return Ok(Pattern::Arr(items));
        }
        if self.take("{") {
            let mut fields = Vec::new();
            loop {
                self.pattern_field(&mut fields)?;
                if !self.take(",") {
                    break;
                }
            }
            self.expect("}")?;
            return Ok(Pattern::Obj(fields));
        }
        self.variable().map(Pattern::Var)
    }

    fn pattern_field(
        &mut self,
        fields: &mut Vec<(Term<&'s str>, Pattern<&'s str>)>,
    ) -> ParseResult<()> {
        let token = self.peek();
        let key = match token.kind {
            JqTokenKind::Variable => {
                let name = self.variable()?;
                let key = term::text(&name[1..]);
                fields.push((key.clone(), Pattern::Var(name)));
                if self.take(":") {
                    fields.push((key, self.pattern()?));
                }
                return Ok(());
            }
            JqTokenKind::Name => {
                self.next();
                term::text(token.text)
            }
            JqTokenKind::Quote | JqTokenKind::Format => self.string_term()?,
            JqTokenKind::Symbol if token.text == "(" => {
                self.next();
                self.key()?
            }
            _ => return Err(self.unexpected()),
        };
        self.expect(":")?;
        fields.push((key, self.pattern()?));
        Ok(())
    }
}
