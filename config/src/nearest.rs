//! The known name that was probably meant by an unknown one.

use strsim::osa_distance;

use super::option::VARIABLE_PREFIX;

/// Maximum number of characters of a name that is compared: longer ones are not typing errors.
const MAX_CHARACTERS: usize = 64;

/// Returns the most similar known name, if it differs in at most a third of the letters of its last part. Case, `_` and
/// `-` make no difference.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().count() > MAX_CHARACTERS {
        return None;
    }
    // A prefix that many names share makes none of them more similar.
    let bare = name.strip_prefix(VARIABLE_PREFIX).unwrap_or(name);
    let last_part = bare.rsplit('.').next().unwrap_or(bare);
    let most = (last_part.chars().count() / 3).max(1);
    let name = plain(name);
    let distances = known.into_iter().map(|known| (osa_distance(&name, &plain(known)), known));
    distances
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Suggests the name that was probably meant, or lists all of them.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("known: {}", known.join(", ")),
    }
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] =
        ["listen", "ops-listen", "rate-limit", "store", "boleto.assignor", "QUITA_LOAD_RATE"];

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        for (name, meant) in [
            ("listem", "listen"),
            ("listen-on", "listen"),
            ("opslisten", "ops-listen"),
            ("RATE_LIMT", "rate-limit"),
            ("ratelimit", "rate-limit"),
            ("sotre", "store"),
            ("boleto.asignor", "boleto.assignor"),
            ("QUITA_LOADRATE", "QUITA_LOAD_RATE"),
        ] {
            assert_eq!(nearest(name, KNOWN), Some(meant), "{name}");
        }
    }

    #[test]
    fn what_is_like_nothing_finds_nothing() {
        for name in ["", "colour", "database", "boleto.colour", "QUITA_COLOUR", &"listen".repeat(100)] {
            assert_eq!(nearest(name, KNOWN), None, "{name}");
        }
        assert_eq!(hint("colour", ["a", "b"]), "known: a, b");
        assert_eq!(hint("listem", KNOWN), "did you mean listen?");
    }
}
