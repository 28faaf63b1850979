//! Masking in texts of others that may name a payer: a merchant's own reference, a reason in an acquirer's words.

use crate::order::{ERASED, Order};

/// Length of the shortest value that is masked: shorter ones identify nobody, and are parts of many words.
const SHORTEST: usize = 5;

/// Values that identify a person anywhere in a text.
pub(super) struct Traces(Vec<String>);

impl Traces {
    /// Collects the values of an order's payer, and of the holder of its card.
    pub(super) fn of(order: &Order) -> Self {
        let payer = &order.payer;
        let holder = order.card().map(|card| card.holder_name.clone());
        let values = [
            payer.full_name(),
            payer.document.as_str().to_owned(),
            payer.document.formatted(),
            payer.email.clone(),
            payer.email.replace('@', "%40"),
            payer.phone.as_str().to_owned(),
            payer.phone.national().to_owned(),
        ];
        let mut values: Vec<_> = values.into_iter().chain(holder).collect();
        values.retain(|value| value.chars().count() >= SHORTEST);
        // A longer value may contain a shorter one.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// Masks all values in a text, in any letter case.
    pub(super) fn cover(&self, text: &mut String) {
        for value in &self.0 {
            if let Some(covered) = covered(text, value) {
                *text = covered;
            }
        }
    }

    /// Returns a text with all values masked.
    pub(super) fn covered(&self, mut text: String) -> String {
        self.cover(&mut text);
        text
    }

    /// Masks all values in a text that may be absent.
    pub(super) fn cover_if_any(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.cover(text);
        }
    }
}

/// Returns the text with a value masked; `None` if it does not contain it.
fn covered(text: &str, value: &str) -> Option<String> {
    let mut rest = text.chars();
    let mut covered = String::with_capacity(text.len());
    let mut is_found = false;
    loop {
        if let Some(after) = after_prefix(rest.as_str(), value) {
            is_found = true;
            covered.push_str(ERASED);
            rest = after.chars();
        } else if let Some(character) = rest.next() {
            covered.push(character);
        } else {
            return is_found.then_some(covered);
        }
    }
}

/// Returns the rest of a text after a value at its beginning, in any letter case.
fn after_prefix<'a>(text: &'a str, value: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in value.chars() {
        let found = rest.next()?;
        if !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, value: &str, expected: Option<&str>) {
        assert_eq!(covered(text, value).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_value_is_covered_wherever_it_stands_in_any_letter_case() {
        check("pedido de ANA SOUZA, ana souza", "Ana Souza", Some("pedido de ***, ***"));
        check("52998224725", "52998224725", Some("***"));
        check("É de Élio Ávila!", "élio ávila", Some("É de ***!"));
        check("aaab", "aab", Some("a***"));
        check("pedido 7", "Ana Souza", None);
        check("", "Ana Souza", None);
    }
}
