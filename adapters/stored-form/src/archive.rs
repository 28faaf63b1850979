//! Answers that are merged from the payments and the archive.

/// Sorts the results from both collections, and returns the first ones. A payment found in both appears once, as it was
/// found first.
pub fn merged<T, P: Ord>(mut found: Vec<T>, place: impl Fn(&T) -> P, limit: usize) -> Vec<T> {
    found.sort_by_key(&place);
    // The sort is stable and `dedup_by` keeps the first, so an answer from the payments wins over an archived copy.
    found.dedup_by(|later, first| place(later) == place(first));
    found.truncate(limit);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_in_both_comes_once_as_it_was_found_first() {
        let found = vec![(1, "here"), (4, "here"), (1, "archived"), (3, "archived")];
        assert_eq!(merged(found.clone(), |one| one.0, 9), [(1, "here"), (3, "archived"), (4, "here")]);
        assert_eq!(merged(found, |one| one.0, 2), [(1, "here"), (3, "archived")]);
    }
}
