//! Reasons of providers' refusals, in a form for operators and merchants: cut, without personal data and secrets.

use quita_domain::text::fold_ascii;

/// Maximum number of characters of a reason.
const MAX_CHARACTERS: usize = 200;

/// Maximum number of consecutive digits in a reason: a longer code may be a card number, a document or a telephone
/// number.
const MAX_DIGITS: usize = 4;

/// Maximum length of a word: a longer one may be a key.
const MAX_WORD: usize = 24;

/// Prefix of secret keys, which may be shorter.
const SECRET_KEY: &str = "sk_";

/// Mask for a part that must not be shown.
const COVER: &str = "***";

/// Returns a code with its message, or the one that is present.
pub(crate) fn explained(code: &Option<String>, message: &Option<String>) -> Option<String> {
    match (code, message) {
        (Some(code), Some(message)) => Some(format!("{code}: {message}")),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// Removes possible personal data and secrets from a text, converts it to ASCII, and cuts it.
pub(crate) fn clean(text: &str) -> String {
    // Truncated generously first, because a message may be huge. The text removed here is beyond the final cut.
    let folded = fold_ascii(text, MAX_CHARACTERS * 4);
    let words: Vec<&str> =
        folded.split(' ').map(|word| if is_suspect(word) { COVER } else { word }).collect();
    let without_digits = cover_digits(&words.join(" "));
    without_digits.chars().take(MAX_CHARACTERS).collect()
}

fn is_suspect(word: &str) -> bool {
    word.contains('@') || word.len() > MAX_WORD || word.contains(SECRET_KEY)
}

/// Masks groups of digits, even with spaces and punctuation between them.
fn cover_digits(text: &str) -> String {
    let is_joint = |character: char| matches!(character, ' ' | '.' | '-' | '/' | '_' | ',');
    let mut clean = String::with_capacity(text.len());
    // State of the current group since its first digit: its digits, and its length up to the last one.
    let mut group = String::new();
    let mut digits = 0_usize;
    let mut kept = 0_usize;
    let end = |group: &mut String, digits: &mut usize, kept: &mut usize, clean: &mut String| {
        let (inside, behind) = group.split_at_checked(*kept).unwrap_or_default();
        clean.push_str(if *digits > MAX_DIGITS { COVER } else { inside });
        clean.push_str(behind);
        group.clear();
        (*digits, *kept) = (0, 0);
    };
    for character in text.chars() {
        if character.is_ascii_digit() {
            group.push(character);
            digits = digits.saturating_add(1);
            kept = group.len();
        } else if digits > 0 && is_joint(character) {
            group.push(character);
        } else {
            end(&mut group, &mut digits, &mut kept, &mut clean);
            clean.push(character);
        }
    }
    end(&mut group, &mut digits, &mut kept, &mut clean);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_addresses_and_keys_are_covered() {
        for (text, clean_text) in [
            ("card 4111111111111111 is bad", "card *** is bad"),
            ("card 4111 1111 1111 1111, bad", "card ***, bad"),
            ("CPF 111.444.777-35.", "CPF ***."),
            ("mail to fulano@example.com please", "mail to *** please"),
            ("key 0123456789ABCDEFabcdefABCDEFabcdefABCDEF", "key ***"),
            ("código 102: não há", "codigo 102: nao ha"),
            ("the key sk_live_7 is wrong", "the key *** is wrong"),
        ] {
            assert_eq!(clean(text), clean_text);
        }
        assert_eq!(clean(&"word ".repeat(100)).chars().count(), MAX_CHARACTERS);
    }

    proptest! {
        #[test]
        fn no_group_of_digits_passes_whatever_is_between(
            digits in "[0-9]{5,19}", joint in "[ ./-]{0,2}", before in "[a-zA-Zé ]{0,20}", after in "[a-z ]{0,9}"
        ) {
            let number: Vec<String> = digits.chars().map(String::from).collect();
            let text = clean(&format!("{before}{}{after}", number.join(&joint)));
            prop_assert!(!text.bytes().any(|byte| byte.is_ascii_digit()), "{}", text);
            prop_assert!(text.chars().count() <= MAX_CHARACTERS);
        }

        #[test]
        fn nothing_makes_it_panic(text in any::<String>()) {
            prop_assert!(clean(&text).is_ascii());
            prop_assert!(clean(&text).chars().count() <= MAX_CHARACTERS);
        }
    }
}
