//! Tags of the page, parsed as its template writes them: in lower case, with quoted values that contain no `<`.
//!
//! The page is ours, and all texts in it are escaped. Markup that browsers might parse differently is not written like
//! this, so it counts as a difference.

/// Characters that separate attributes (HTML, section 13.1.2.3): only ASCII whitespace.
const BLANKS: [char; 5] = [' ', '\n', '\t', '\r', '\u{c}'];

/// Start of every page.
const DOCTYPE: &str = "<!DOCTYPE html>";

/// Elements that contain only text.
const TEXT_ONLY: [&str; 3] = ["title", "textarea", "script"];

/// Escapes that the template engine writes.
const ESCAPES: [(&str, char); 5] =
    [("&#34;", '"'), ("&#38;", '&'), ("&#39;", '\''), ("&#60;", '<'), ("&#62;", '>')];

/// Number of differences after which the rest is not parsed.
pub(super) const MOST_TOLD: usize = 50;

/// Maximum number of attributes of a tag. The templates write half of it at most.
const MAX_ATTRIBUTES: usize = 32;

/// Number of characters shown of a difference.
const SHOWN: usize = 60;

/// A part of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Start(Tag),
    End(String),
    /// Text as it was received.
    Text(String),
}

/// A start tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    /// Names and values, unescaped. An attribute without a value has an empty one.
    pub(super) attributes: Vec<(String, String)>,
}

impl Tag {
    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Parses a page. Returns its pieces, and the beginnings of parts that the template does not write like this.
pub(super) fn read(html: &str) -> (Vec<Piece>, Vec<String>) {
    let mut pieces = Vec::new();
    let mut unreadable = Vec::new();
    let mut rest = html.strip_prefix(DOCTYPE).unwrap_or_else(|| {
        unreadable.push(beginning_of(html));
        html
    });
    while let Some((text, after)) = rest.split_once('<') {
        push_text(&mut pieces, text);
        if let Some((piece, next)) = tag(after).filter(|(piece, _)| may_follow(&pieces, piece)) {
            pieces.push(piece);
            rest = next;
        } else {
            unreadable.push(format!("<{}", beginning_of(after)));
            rest = after;
            if unreadable.len() == MOST_TOLD {
                break;
            }
        }
    }
    push_text(&mut pieces, rest);
    (pieces, unreadable)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

/// Returns true unless a text-only element is open and this piece does not end it.
fn may_follow(before: &[Piece], piece: &Piece) -> bool {
    let last = before.iter().rev().find(|piece| !matches!(piece, Piece::Text(_)));
    match last {
        Some(Piece::Start(open)) if TEXT_ONLY.contains(&open.name.as_str()) => {
            matches!(piece, Piece::End(name) if *name == open.name)
        }
        Some(Piece::Start(_) | Piece::End(_) | Piece::Text(_)) | None => true,
    }
}

/// Parses what follows a `<`.
fn tag(text: &str) -> Option<(Piece, &str)> {
    if let Some(end) = text.strip_prefix('/') {
        let (name, rest) = name(end, |one| one.is_ascii_lowercase() || one.is_ascii_digit())?;
        return Some((Piece::End(name.to_owned()), rest.strip_prefix('>')?));
    }
    let (element, mut rest) = name(text, |one| one.is_ascii_lowercase() || one.is_ascii_digit())?;
    let mut tag = Tag { name: element.to_owned(), attributes: Vec::new() };
    loop {
        if let Some(rest) = rest.strip_prefix('>') {
            return Some((Piece::Start(tag), rest));
        }
        let trimmed = rest.trim_start_matches(BLANKS);
        if trimmed.len() == rest.len() {
            return None;
        }
        let ((name, value), after) = attribute(trimmed)?;
        // Each attribute is compared with all earlier ones, so many attributes would take long.
        if tag.attributes.len() == MAX_ATTRIBUTES || tag.attribute(&name).is_some() {
            return None;
        }
        tag.attributes.push((name, value));
        rest = after;
    }
}

fn attribute(text: &str) -> Option<((String, String), &str)> {
    let (name, rest) = name(text, |one| one.is_ascii_lowercase() || one == '-')?;
    let Some(quoted) = rest.strip_prefix('=') else { return Some(((name.to_owned(), String::new()), rest)) };
    let (value, rest) = quoted.strip_prefix('"')?.split_once('"')?;
    Some(((name.to_owned(), unescaped(value)?), rest))
}

fn name(text: &str, belongs: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|one: char| !belongs(one))?;
    text.split_at_checked(end).filter(|(name, _)| !name.is_empty())
}

/// Returns a value or text unescaped. `None` if it contains escapes that the template engine does not write.
pub(super) fn unescaped(value: &str) -> Option<String> {
    let mut plain = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        if matches!(first, '<' | '>') {
            return None;
        }
        let after = if first == '&' {
            let (escape, meant) = ESCAPES.iter().find(|(escape, _)| rest.starts_with(*escape))?;
            plain.push(*meant);
            rest.strip_prefix(*escape)
        } else {
            plain.push(first);
            rest.strip_prefix(first)
        };
        rest = after?;
    }
    Some(plain)
}

fn beginning_of(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> (Vec<Piece>, Vec<String>) {
        read(&format!("{DOCTYPE}{body}"))
    }

    #[test]
    fn tags_are_read_as_the_template_writes_them() {
        let (pieces, unreadable) = of("<p>a</p>\n<a href=\"/a?b&#38;c\"\n  hidden data-a=\"\">");
        assert_eq!(unreadable, Vec::<String>::new());
        let [Piece::Start(p), Piece::Text(a), Piece::End(end), Piece::Text(_), Piece::Start(link)] =
            &pieces[..]
        else {
            panic!("{pieces:?}");
        };
        assert_eq!((p.name.as_str(), a.as_str(), end.as_str()), ("p", "a", "p"));
        assert_eq!(link.attribute("href"), Some("/a?b&c"));
        assert_eq!((link.attribute("hidden"), link.attribute("data-a")), (Some(""), Some("")));
        assert_eq!(link.attribute("none"), None);
    }

    #[test]
    fn whatever_is_written_otherwise_is_told() {
        for body in [
            "<!-- a -->",
            "<!-->",
            "<!--->",
            "<!DOCTYPE html>",
            "<?xml?>",
            "<![CDATA[a]]>",
            "1 < 2",
            "<",
            "<a",
            "<a href",
            "<A>",
            "<a/>",
            "<a >",
            "<a\u{a0}x=\"\">",
            "<a x=''>",
            "<a x=b>",
            "<a x = \"\">",
            "<a x=\"\"y=\"\">",
            "</a >",
            "</a x>",
            "<a X=\"\">",
            "<a x x>",
            "<a x=\"<b>\">",
            "<a x=\">\">",
            "<a x=\"&#x61;\">",
            "<a x=\"&quot;\">",
            "<a\u{b}x>",
            "<a\0x>",
            "<title><a></title>",
            "<textarea><b></textarea>",
            "<script><b></script>",
            "<title>a</textarea></title>",
        ] {
            assert!(!of(body).1.is_empty(), "{body}");
        }
        assert_eq!(read("<html>").1.len(), 1);
        assert_eq!(
            read("\u{feff}<!DOCTYPE html>").1.first().map(String::as_str),
            Some("\u{feff}<!DOCTYPE html>")
        );
    }
}
