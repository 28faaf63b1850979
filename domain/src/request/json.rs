//! JSON for requests: no repeated names, numbers in their original spelling, bounded depth.
//!
//! `serde_json` reads every part, but its own `Value` keeps the last of two members with one name and turns `12.10`
//! into a float. Texts without escapes are borrowed from the body, so that a card number is not copied.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::violation::{Rejection, code};
use super::wordings;
use crate::card::holds_card_number;
use crate::wording::Wording;

/// Maximum nesting of objects and arrays; the requests need 3.
const MAX_DEPTH: usize = 16;

/// A JSON value. Has no `Debug`: it may contain a card.
pub(super) enum JsonNode<'a> {
    Null,
    Bool(bool),
    /// As written, a valid JSON number: `-0.5e3`.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<JsonNode<'a>>),
    Object(Object<'a>),
}

/// The members of a JSON object by name.
pub(super) type Object<'a> = BTreeMap<Cow<'a, str>, JsonNode<'a>>;

/// Returns true if this is a number or contains one.
pub(super) fn holds_number(node: &JsonNode<'_>) -> bool {
    match node {
        JsonNode::Number(_) => true,
        JsonNode::List(entries) => entries.iter().any(holds_number),
        JsonNode::Object(members) => members.values().any(holds_number),
        JsonNode::Null | JsonNode::Bool(_) | JsonNode::Text(_) => false,
    }
}

/// Reads a body that must be one JSON object.
pub(super) fn read(body: &[u8]) -> Result<Object<'_>, Rejection> {
    let syntax = |message| Rejection::unreadable(String::new(), code::SYNTAX, message);
    let text = std::str::from_utf8(body).map_err(|_| syntax(wordings::no_utf8()))?;
    // Some editors add an invisible byte order mark, which JSON does not allow (RFC 8259 section 8.1).
    if text.starts_with('\u{feff}') {
        return Err(syntax(wordings::byte_order_mark()));
    }
    if text.trim_ascii().is_empty() {
        return Err(syntax(wordings::body_is_empty()));
    }
    let members = serde_json::from_str::<Members<'_>>(text).map_err(|_| why_no_object(text))?;
    Ok(object_of(members, 1)?)
}

/// Returns the refusal of a body that was not read as an object.
fn why_no_object(text: &str) -> Rejection {
    let (code, message) = match serde_json::from_str::<&RawValue>(text) {
        Err(error) => (code::SYNTAX, wordings::no_json(error.line(), error.column())),
        // An object is refused only for a name that is no text: half a surrogate pair.
        Ok(raw) if raw.get().starts_with('{') => (code::SYNTAX, wordings::no_character()),
        Ok(_) => (code::TYPE, wordings::no_json_object()),
    };
    Rejection::unreadable(String::new(), code, message)
}

/// Returns a name for use in a path, if it is plain; otherwise `…`.
pub(super) fn shown(name: &str) -> &str {
    let is_plain = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let begins_well = name.starts_with(char::is_alphabetic);
    let is_path = begins_well && name.chars().count() <= 40 && name.chars().all(is_plain);
    if is_path && !holds_card_number(name) { name } else { "…" }
}

/// Reason why a value could not be read, and its path from the inside out.
struct Unreadable {
    code: &'static str,
    message: Wording,
    steps: Vec<String>,
}

impl Unreadable {
    const fn new(code: &'static str, message: Wording) -> Self {
        Self { code, message, steps: Vec::new() }
    }

    fn within(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}

impl From<Unreadable> for Rejection {
    fn from(unreadable: Unreadable) -> Self {
        let path: String = unreadable.steps.iter().rev().map(String::as_str).collect();
        let field = path.strip_prefix('.').unwrap_or(&path).to_owned();
        Self::unreadable(field, unreadable.code, unreadable.message)
    }
}

fn node(raw: &RawValue, depth: usize) -> Result<JsonNode<'_>, Unreadable> {
    // A `RawValue` begins at its first character, and its syntax was checked with the whole body.
    let text = raw.get();
    match text.bytes().next() {
        Some(b'n') => Ok(JsonNode::Null),
        Some(b't') => Ok(JsonNode::Bool(true)),
        Some(b'f') => Ok(JsonNode::Bool(false)),
        Some(b'"') => self::text(text).map(JsonNode::Text),
        Some(b'[') => list(text, depth),
        Some(b'{') => object(text, depth),
        Some(_) | None => Ok(JsonNode::Number(text)),
    }
}

/// Reads a text with its quotation marks.
fn text(quoted: &str) -> Result<Cow<'_, str>, Unreadable> {
    let bare = quoted.get(1..quoted.len() - 1).filter(|bare| !bare.contains('\\'));
    bare.map_or_else(|| part::<Text<'_>>(quoted).map(|text| text.0), |bare| Ok(Cow::Borrowed(bare)))
}

fn list(text: &str, depth: usize) -> Result<JsonNode<'_>, Unreadable> {
    check_depth(depth)?;
    let entries = part::<Vec<&RawValue>>(text)?.into_iter().enumerate();
    let read = |(index, raw)| node(raw, depth + 1).map_err(|found| found.within(format!("[{index}]")));
    entries.map(read).collect::<Result<_, _>>().map(JsonNode::List)
}

fn object(text: &str, depth: usize) -> Result<JsonNode<'_>, Unreadable> {
    check_depth(depth)?;
    object_of(part(text)?, depth).map(JsonNode::Object)
}

fn object_of(read: Members<'_>, depth: usize) -> Result<Object<'_>, Unreadable> {
    let mut members = Object::new();
    for (Text(name), raw) in read.0 {
        let step = || format!(".{}", shown(&name));
        if members.contains_key(&name) {
            return Err(Unreadable::new(code::DUPLICATE, wordings::name_stands_twice()).within(step()));
        }
        let value = node(raw, depth + 1).map_err(|found| found.within(step()))?;
        members.insert(name, value);
    }
    Ok(members)
}

fn check_depth(depth: usize) -> Result<(), Unreadable> {
    if depth > MAX_DEPTH {
        return Err(Unreadable::new(code::SYNTAX, wordings::nested_too_deeply()));
    }
    Ok(())
}

/// Reads a part whose structure is known to be valid; only escapes in its texts can still be wrong.
fn part<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|_| Unreadable::new(code::SYNTAX, wordings::no_character()))
}

/// A text, borrowed if it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// Members of an object in their order, including repeated names.
struct Members<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RejectionKind;

    /// Expects the body to be refused as malformed, at this field with this code.
    fn check_refused(body: &[u8], field: &str, code: &str) {
        let shown = String::from_utf8_lossy(body.get(..40).unwrap_or(body)).into_owned();
        let rejection = read(body).err().unwrap_or_else(|| panic!("{shown} was read"));
        assert_eq!(rejection.kind, RejectionKind::Malformed, "{shown}");
        let found: Vec<_> =
            rejection.violations.iter().map(|found| (found.field.as_str(), found.code)).collect();
        assert_eq!(found, [(field, code)], "{shown}");
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for body in
            ["", " ", "{", "{}}", "{,}", "{'a':1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":NaN}"]
        {
            check_refused(body.as_bytes(), "", code::SYNTAX);
        }
        for body in
            ["{\"a\":tru}", "{\"a\":\"\u{1}\"}", "{\"a\":1,}", "\u{feff}{}", "{\"a\":\"\\x\"}", "{a:1}"]
        {
            check_refused(body.as_bytes(), "", code::SYNTAX);
        }
        check_refused(b"{\"a\":\"\xff\"}", "", code::SYNTAX);
    }

    #[test]
    fn half_a_surrogate_pair_is_refused_where_it_stands() {
        check_refused(br#"{"a":[0,{"b":"\ud800"}]}"#, "a[1].b", code::SYNTAX);
        check_refused(br#"{"\udc00":1}"#, "", code::SYNTAX);
    }

    #[test]
    fn a_body_that_is_no_object_is_refused() {
        for body in ["null", "true", "1", "\"{}\"", "[]", "[{}]"] {
            check_refused(body.as_bytes(), "", code::TYPE);
        }
    }

    #[test]
    fn a_byte_order_mark_is_told_because_nobody_sees_it() {
        for body in ["\u{feff}{\"a\":1}", "\u{feff}"] {
            let rejection = read(body.as_bytes()).err().unwrap();
            let told = rejection.violations[0].message.english();
            assert!(told.contains("byte order mark"), "{told}");
        }
    }

    #[test]
    fn a_repeated_name_is_refused_at_every_depth_and_in_every_spelling() {
        check_refused(br#"{"amount":1,"amount":1}"#, "amount", code::DUPLICATE);
        check_refused(br#"{"amount":1,"\u0061mount":2}"#, "amount", code::DUPLICATE);
        check_refused(br#"{"a":[{"b":{"c":1,"d":2,"c":null}}]}"#, "a[0].b.c", code::DUPLICATE);
        assert!(read(br#"{"a":{"a":{"a":1}},"A":1}"#).is_ok());
    }

    #[test]
    fn a_name_that_could_be_a_secret_is_not_shown() {
        check_refused(br#"{"4111111111111111":1,"4111111111111111":1}"#, "…", code::DUPLICATE);
        check_refused(br#"{"a b":1,"a b":1}"#, "…", code::DUPLICATE);
        check_refused("{\"a\u{202e}b\":1,\"a\u{202e}b\":1}".as_bytes(), "…", code::DUPLICATE);
        check_refused("{\"descrição\":1,\"descrição\":1}".as_bytes(), "descrição", code::DUPLICATE);
    }

    #[test]
    fn nesting_has_a_limit_that_does_not_depend_on_the_stack() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(MAX_DEPTH - 1).as_bytes()).is_ok());
        let rejection = read(nested(MAX_DEPTH).as_bytes()).err().unwrap();
        let endless = nested(130_000);
        assert_eq!(rejection.violations[0].code, code::SYNTAX);
        assert_eq!(read(endless.as_bytes()).err().unwrap().violations[0].code, code::SYNTAX);
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        let long = "9".repeat(1000);
        for number in ["0", "-0", "12.10", "1e999", "-1E-2", &long] {
            let body = format!("{{\"a\": {number} }}");
            let object = read(body.as_bytes()).ok().unwrap();
            assert!(matches!(object.get("a"), Some(JsonNode::Number(text)) if *text == number), "{number}");
        }
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        let object = read(br#"{"plain":"4111","escaped":"\u0034111"}"#).ok().unwrap();
        assert!(matches!(object.get("plain"), Some(JsonNode::Text(Cow::Borrowed("4111")))));
        assert!(matches!(object.get("escaped"), Some(JsonNode::Text(Cow::Owned(text))) if text == "4111"));
    }
}
