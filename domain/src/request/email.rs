//! E-mail addresses as shops use them.

use super::violation::{Broken, code};
use super::wordings;

/// Checks an address: a dot-atom, one `@`, a domain of at least two labels; ASCII, at most 254 characters.
///
/// Source: RFC 5321 sections 4.1.2 and 4.5.3.1 without quoted local parts and address literals, which no
/// mail provider gives to a person.
pub(super) fn check(text: &str) -> Result<(), Broken> {
    if text.len() > 254 {
        return Err(Broken::new(code::LENGTH, wordings::too_long(254)));
    }
    if is_email(text) { Ok(()) } else { Err(Broken::new(code::FORMAT, wordings::no_email())) }
}

/// Returns true if it is an address of any length.
pub(crate) fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(local, domain)| is_local(local) && is_domain(domain))
}

fn is_local(local: &str) -> bool {
    let is_atom_text = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    local.len() <= 64 && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom_text))
}

fn is_domain(domain: &str) -> bool {
    let top_has_a_letter = |(_, top): (&str, &str)| !top.bytes().all(|byte| byte.is_ascii_digit());
    domain.rsplit_once('.').is_some_and(top_has_a_letter) && domain.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_people_have_are_accepted() {
        let longest_local = format!("{}@example.com", "a".repeat(64));
        let longest_label = format!("a@{}.br", "b".repeat(63));
        let longest =
            format!("a@{}.{}.{}.{}.com.br", "b".repeat(63), "b".repeat(63), "b".repeat(63), "b".repeat(53));
        assert_eq!(longest.len(), 254);
        for text in [
            "a@b.co",
            "maria.silva+loja@exemplo.com.br",
            "o'neil_1@sub-domain.example.com",
            "x@xn--exmplo-9ta.com.br",
            &longest_local,
            &longest_label,
            &longest,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long_local = format!("{}@example.com", "a".repeat(65));
        let long_label = format!("a@{}.br", "b".repeat(64));
        for text in [
            "",
            "@",
            "a",
            "a@",
            "@b.co",
            "a@b",
            "a@b@c.co",
            "a b@c.co",
            " a@b.co",
            "a@b.co ",
            "a@b.co\n",
            "a\0@b.co",
            ".a@b.co",
            "a.@b.co",
            "a..b@c.co",
            "a@.co",
            "a@b.",
            "a@b..co",
            "a@-b.co",
            "a@b-.co",
            "a@b_c.co",
            "\"a\"@b.co",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "josé@b.co",
            "a@é.co",
            "Maria <a@b.co>",
            "a,b@c.co",
            &long_local,
            &long_label,
        ] {
            assert_eq!(check(text).unwrap_err().code, code::FORMAT, "{text:?}");
        }
    }

    #[test]
    fn an_address_has_at_most_254_characters() {
        assert_eq!(check(&format!("a@{}co", "b.".repeat(126))).unwrap_err().code, code::LENGTH);
    }
}
