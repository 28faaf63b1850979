//! Flag values that several commands share.

use chrono::NaiveDate;
use quita_domain::access::PresentedKey;

/// Parses a day.
pub(super) fn date(text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| "must be a date, such as 2026-11-22".into())
}

/// Parses a number of seconds.
pub(super) fn seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "must be a number of seconds, such as 3600 for an hour".into())
}

/// Parses the id of an API key, or extracts it from the whole key: a secret is not an id, and must not be printed.
pub(super) fn key_id(text: &str) -> Result<String, String> {
    let text = text.trim();
    if let Some(key) = PresentedKey::parse(text) {
        return Ok(key.id);
    }
    let is_id = !text.is_empty() && text.chars().all(|one| one.is_ascii_hexdigit());
    if is_id { Ok(text.to_owned()) } else { Err("must be an id as `quita keys list` prints it".into()) }
}

#[cfg(test)]
mod tests {
    use quita_domain::access::KeyKind;
    use quita_domain::identity::Mode;

    use super::*;

    #[test]
    fn the_id_of_a_key_is_taken_from_the_whole_key_without_its_secret() {
        for text in ["7f0c12d4a1b2c3d4", " 7f0c12d4a1b2c3d4\n"] {
            assert_eq!(key_id(text).as_deref(), Ok("7f0c12d4a1b2c3d4"), "{text}");
        }
        // In base64url these bytes are underscores, which also stand between the parts of a key.
        for (kind, mode) in [(KeyKind::Secret, Mode::Test), (KeyKind::Publishable, Mode::Live)] {
            let key = PresentedKey::from_random(kind, mode, [9; 8], [0xff; 32]);
            assert_eq!(key_id(&format!("{}\r", key.reveal())), Ok(key.id));
        }
        for text in ["", "qk_test", "shop", "s3cr3t!", "qk_test_7f0c12d4a1b2c3d4_ab_cut"] {
            assert!(key_id(text).is_err_and(|why| text.is_empty() || !why.contains(text)), "{text}");
        }
    }

    #[test]
    fn dates_and_seconds_say_how_they_are_written() {
        assert!(date("2026-11-22").is_ok() && seconds("3600") == Ok(3_600));
        assert!(date("22/11/2026").unwrap_err().contains("2026-11-22"));
        assert!(seconds("1h").unwrap_err().contains("3600"));
    }
}
