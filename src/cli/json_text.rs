//! JSON in its sender's order, indented for people or on one line.
//!
//! Parsing into a map would sort the names, whereas a record keeps the order of its documentation.

use std::fmt::Write as _;

use serde::de::IgnoredAny;

/// Number of spaces per level.
const INDENT: usize = 2;

/// Text that has been validated as JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonText<'a>(&'a str);

impl<'a> JsonText<'a> {
    /// Validates a text; `None` if it is not JSON.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str::<IgnoredAny>(text).is_ok().then_some(Self(text))
    }

    /// Returns the text with each member on its own line. Control characters are escaped so that terminals do not
    /// interpret them.
    pub(super) fn indented(self) -> String {
        self.laid_out(|out, depth| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', depth.saturating_mul(INDENT)));
        })
    }

    /// Returns the text on one line.
    pub(super) fn on_one_line(self) -> String {
        self.laid_out(|_, _| {})
    }

    fn laid_out(self, break_line: impl Fn(&mut String, usize)) -> String {
        let mut out = String::with_capacity(self.0.len().saturating_mul(2));
        let mut depth = 0_usize;
        let mut is_in_string = false;
        let mut is_escaped = false;
        for character in self.0.chars() {
            if is_in_string {
                write_printable(&mut out, character);
                is_in_string = is_escaped || character != '"';
                is_escaped = !is_escaped && character == '\\';
                continue;
            }
            if character.is_ascii_whitespace() {
                continue;
            }
            let closes = matches!(character, '}' | ']');
            depth = depth.saturating_sub(usize::from(closes));
            let is_empty = closes && out.ends_with(['{', '[']);
            if !is_empty && (closes || out.ends_with(['{', '[', ','])) {
                break_line(&mut out, depth);
            }
            out.push(character);
            depth = depth.saturating_add(usize::from(matches!(character, '{' | '[')));
            is_in_string = character == '"';
            if character == ':' {
                out.push(' ');
            }
        }
        out
    }
}

fn write_printable(out: &mut String, character: char) {
    if character.is_control() {
        // Writing to a string can't fail.
        write!(out, "\\u{:04x}", u32::from(character)).ok();
    } else {
        out.push(character);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_order_of_the_sender_is_kept() {
        let text = r#"{"z":1,"a":[true,{"c":null}],"e":{},"f":[ ],"s":"a, \"b\": {c}\\"}"#;
        let json = JsonText::parse(text).unwrap();
        let expected = "{\n  \"z\": 1,\n  \"a\": [\n    true,\n    {\n      \"c\": null\n    }\n  ],\n  \"e\": {},\n  \
                        \"f\": [],\n  \"s\": \"a, \\\"b\\\": {c}\\\\\"\n}";
        assert_eq!(json.indented(), expected);
        let line = json.on_one_line();
        assert_eq!(line.lines().count(), 1, "{line}");
        for laid_out in [expected, &line] {
            let same: [Value; 2] = [text, laid_out].map(|text| serde_json::from_str(text).unwrap());
            assert_eq!(same[0], same[1], "{laid_out}");
        }
    }

    #[test]
    fn white_space_of_the_sender_is_dropped() {
        let json = JsonText::parse("{ \"a\" :\n [ 1 ,\t2 ] }").unwrap();
        assert_eq!(json.on_one_line(), "{\"a\": [1,2]}");
    }

    #[test]
    fn a_terminal_is_told_nothing_by_control_characters() {
        let json = JsonText::parse("{\"a\":\"x\u{9b}2J\"}").unwrap();
        assert_eq!(json.on_one_line(), "{\"a\": \"x\\u009b2J\"}");
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "<html>", "{} {}"] {
            assert!(JsonText::parse(text).is_none(), "{text}");
        }
    }
}
