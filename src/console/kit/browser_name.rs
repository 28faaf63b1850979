//! Short names for browsers, from their `User-Agent`. A browser may send anything, so the name is only a hint for
//! people.

/// Substrings that identify browsers, with their names, the most specific first: each browser also claims to be some of
/// those after it.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
/// Substrings that identify systems, with their names, the most specific first.
const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
];
/// Number of characters shown of an unknown `User-Agent`.
const MAX_CHARACTERS: usize = 40;

/// Returns a name such as `Firefox, Linux`. An unknown `User-Agent` is truncated, and an empty one gives `None`.
pub(crate) fn browser_name(said: &str) -> Option<String> {
    let named = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| said.contains(mark)).map(|(_, name)| *name)
    };
    match (named(&BROWSERS), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => Some(format!("{browser}, {system}")),
        (Some(browser), None) => Some(browser.to_owned()),
        (None, _) => {
            Some(said.chars().take(MAX_CHARACTERS).collect()).filter(|name: &String| !name.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_that_people_have_are_named_shortly() {
        for (said, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge, Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
                "Chrome, Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
                "Safari, iPhone",
            ),
            ("curl/8.14.1", "curl/8.14.1"),
        ] {
            assert_eq!(browser_name(said).as_deref(), Some(name));
        }
        assert_eq!(browser_name(""), None);
        assert_eq!(browser_name(&"x".repeat(200)).unwrap().len(), MAX_CHARACTERS);
    }
}
