//! Suggestions for misspelt names.

/// Characters of the longest name that is compared. A longer one is no typing error.
const LONGEST: usize = 64;

/// Finds the known name that is most similar, if any is similar enough: the same but for letter case and separators
/// (`postback_url` for `postbackUrl`), or a few letters away.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if written.is_empty() || written.len() > LONGEST {
        return None;
    }
    let plain = folded(written);
    let distance = |name: &str| strsim::damerau_levenshtein(&plain, &folded(name));
    let (name, distance) =
        known.into_iter().map(|name| (name, distance(name))).min_by_key(|(_, distance)| *distance)?;
    // One letter in three may be wrong. In a short name any change makes a different word.
    let is_like = distance <= plain.chars().count().min(folded(name).len()) / 3;
    is_like.then_some(name)
}

/// Returns true if two names are the same but for letter case and separators.
pub fn is_same(one: &str, other: &str) -> bool {
    one.len() <= LONGEST && other.len() <= LONGEST && folded(one) == folded(other)
}

/// Returns a name without letter case and separators.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|one| !matches!(one, '_' | '-' | '.' | ' ' | '[' | ']'))
        .collect::<String>()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] =
        ["amount", "postbackUrl", "externalReference", "createdFrom", "createdTo", "status"];

    #[test]
    fn another_spelling_of_a_name_is_found() {
        for (written, meant) in [
            ("postback_url", "postbackUrl"),
            ("postbackURL", "postbackUrl"),
            ("external-reference", "externalReference"),
            ("Amount", "amount"),
            ("status[]", "status"),
            ("createdto", "createdTo"),
        ] {
            assert_eq!(nearest(written, KNOWN), Some(meant), "{written}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_found() {
        for (written, meant) in
            [("amout", "amount"), ("amuont", "amount"), ("postbckUrl", "postbackUrl"), ("statuss", "status")]
        {
            assert_eq!(nearest(written, KNOWN), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_is_like_nothing_has_no_suggestion() {
        for written in ["", "_", "x", "page", "total", "aaaaaa", "callback", &"amount".repeat(20)] {
            assert_eq!(nearest(written, KNOWN), None, "{written}");
        }
        assert_eq!(nearest("amount", []), None);
        assert_eq!(nearest("cv", ["cvv", "bin"]), None, "too short to tell");
    }
}
