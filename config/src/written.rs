//! Keys as they were written, so that a later reading can name those that have changed.

use std::collections::BTreeMap;

use quita_domain::secret::Secret;
use toml::Value;

/// Keys with their written values. A value may be an address with a password, so none is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written(BTreeMap<String, Secret<String>>);

impl Written {
    /// Records these keys.
    pub(super) fn of<'a>(entries: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Self {
        let text = |value: &Value| super::settings::scalar(value).unwrap_or_else(|| format!("{value:?}"));
        let keep = |(key, value): (&str, &Value)| (key.to_owned(), Secret::new(text(value)));
        Self(entries.into_iter().map(keep).collect())
    }

    /// Returns the keys whose text differs in another one, or that only one of the two has; in order.
    pub fn changed<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let is_other = |key: &&String| self.0.get(*key) != other.0.get(*key);
        let mut changed: Vec<_> = self.0.keys().chain(other.0.keys()).filter(is_other).collect();
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_were_added_changed_or_left_out_are_named_and_no_value_is_shown() {
        let written = |text: &str| {
            let table: toml::Table = text.parse().unwrap();
            Written::of(table.iter().map(|(key, value)| (key.as_str(), value)))
        };
        let before = written("a = 1\nb = 'x'\nc = ['y']\nd = { e = 1 }");
        let after = written("a = '1'\nb = 'hunter2'\nd = { e = 2 }\nf = true");
        assert_eq!(before.changed(&after), ["b", "c", "d", "f"]);
        assert_eq!(after.changed(&after), Vec::<&str>::new());
        assert!(!format!("{after:?}").contains("hunter2"));
    }
}
