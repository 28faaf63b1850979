//! Tags of a page, read as browsers read them, as far as that decides what a page runs and loads.

/// A start tag, with its attributes in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the names of attributes whose value is a script.
    pub(super) fn handlers(&self) -> impl Iterator<Item = &str> {
        let names = self.attributes.iter().map(|(name, _)| name.as_str());
        names.filter(|name| name.starts_with("on") && name.len() > 2)
    }

    /// Returns true if an attribute leads to a script.
    pub(super) fn has_script_url(&self) -> bool {
        self.attributes.iter().any(|(_, value)| {
            let plain: String = value.chars().filter(|one| !one.is_whitespace()).collect();
            plain.to_ascii_lowercase().starts_with("javascript:")
        })
    }
}

/// Returns every start tag. Comments and the contents of scripts hold none.
pub(super) fn tags(html: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(comment) = after.strip_prefix("!--") {
            rest = after_text(comment, "-->");
            continue;
        }
        let (tag, next) = read_tag(after);
        rest = next;
        let Some(tag) = tag else { continue };
        if tag.name == "script" {
            rest = after_end_of_script(rest);
        }
        found.push(tag);
    }
    found
}

fn after_text<'t>(text: &'t str, end: &str) -> &'t str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

fn after_end_of_script(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let place = lower.find("</script").unwrap_or(text.len());
    text.split_at_checked(place).map_or("", |(_, rest)| rest)
}

/// Reads what follows on `<`: the tag, if it is a start tag, and the text behind it.
fn read_tag(text: &str) -> (Option<Tag>, &str) {
    let is_end = |one: char| one.is_whitespace() || matches!(one, '>' | '/');
    let (name, mut rest) = split_where(text, is_end);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return (None, text);
    }
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|one: char| one.is_whitespace() || one == '/');
        if rest.is_empty() || rest.starts_with('>') {
            return (Some(Tag { name: name.to_ascii_lowercase(), attributes }), rest);
        }
        let (attribute, after) = read_attribute(rest);
        attributes.push(attribute);
        rest = after;
    }
}

fn read_attribute(text: &str) -> ((String, String), &str) {
    // A name may begin with `=`.
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = text.split_at_checked(first).unwrap_or((text, ""));
    let (more, rest) = split_where(tail, |one| one.is_whitespace() || matches!(one, '=' | '>' | '/'));
    let name = format!("{head}{more}").to_ascii_lowercase();
    let Some(value) = rest.trim_start().strip_prefix('=') else { return ((name, String::new()), rest) };
    let value = value.trim_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote).unwrap_or((quoted, ""));
            return ((name, decoded(value)), rest);
        }
    }
    let (value, rest) = split_where(value, |one| one.is_whitespace() || one == '>');
    ((name, decoded(value)), rest)
}

/// Replaces the references that hide a script's address from a plain comparison.
fn decoded(value: &str) -> String {
    let value = value.replace("&colon;", ":").replace("&Tab;", "").replace("&NewLine;", "");
    value.replace("&#58;", ":").replace("&#x3a;", ":").replace("&#38;", "&").replace("&amp;", "&")
}

fn split_where(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    let place = text.find(is_end).unwrap_or(text.len());
    text.split_at_checked(place).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(html: &str) -> Vec<String> {
        tags(html).into_iter().map(|tag| tag.name).collect()
    }

    #[test]
    fn start_tags_are_found_however_they_are_written() {
        assert_eq!(names("<p>a</p><SCRIPT src=x></SCRIPT><br/>"), ["p", "script", "br"]);
        assert_eq!(names("<!-- <script> --><b>"), ["b"]);
        assert_eq!(names("<script>if (a<b) '<i>'</script><u>"), ["script", "u"]);
        assert_eq!(names("1 < 2 <"), Vec::<String>::new());
        assert_eq!(names("<script"), ["script"]);
    }

    #[test]
    fn attributes_are_read_with_and_without_quotes() {
        let html = r#"<script/SRC="/a.js?v=1&#38;b" integrity='sha384-x' defer data-a=b>"#;
        let [tag] = &tags(html)[..] else { panic!("one tag") };
        assert_eq!(tag.attribute("src"), Some("/a.js?v=1&b"));
        assert_eq!(tag.attribute("integrity"), Some("sha384-x"));
        assert_eq!((tag.attribute("defer"), tag.attribute("data-a")), (Some(""), Some("b")));
        assert_eq!(tag.attribute("none"), None);
    }

    #[test]
    fn scripts_in_attributes_are_found() {
        let tags =
            tags(r#"<img src=x ONERROR="a()"><a href=" java&Tab;script&colon;a()"><a href="/on" one=1>"#);
        assert_eq!(tags[0].handlers().collect::<Vec<_>>(), ["onerror"]);
        assert!(tags[1].has_script_url() && !tags[2].has_script_url());
    }
}
