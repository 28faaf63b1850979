//! Erased parts of entries, and the text of an entry that accounts for them.

use std::collections::BTreeMap;
use std::fmt;

/// Part of an entry that may be erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryPart {
    /// Author of the change, and the address it came from.
    Initiator,
    /// Person that the change concerned.
    Person,
    /// State before and after.
    Content,
}

impl EntryPart {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Initiator, Self::Person, Self::Content];

    /// Returns its word in the text of an entry that accounts for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initiator => "initiator",
            Self::Person => "person",
            Self::Content => "content",
        }
    }
}

/// Parts of entries: a set of indexes for each kind of part, kept as ranges so that a wiped log costs little memory.
///
/// `Display` writes `initiator 3,7-9; content 4`, which [`ErasedParts::parse`] reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasedParts {
    initiators: Places,
    persons: Places,
    contents: Places,
}

impl ErasedParts {
    /// Adds a part of the entry at an index.
    pub fn insert(&mut self, part: EntryPart, place: u64) {
        self.places_mut(part).insert(place);
    }

    /// Removes all parts of the other set.
    pub fn subtract(&mut self, other: &Self) {
        for (part, first, last) in other.ranges() {
            self.places_mut(part).remove(first, last);
        }
    }

    /// Returns true if it has no parts.
    pub fn is_empty(&self) -> bool {
        self.ranges().next().is_none()
    }

    /// Returns the number of parts.
    pub fn count(&self) -> u64 {
        let counts = self.ranges().map(|(_, first, last)| last.saturating_sub(first).saturating_add(1));
        counts.fold(0, u64::saturating_add)
    }

    /// Returns the ranges of indexes by part, each with its first and last index, in order.
    pub fn ranges(&self) -> impl Iterator<Item = (EntryPart, u64, u64)> {
        EntryPart::ALL.into_iter().flat_map(|part| {
            let ranges = self.places(part).0.iter();
            ranges.map(move |(first, last)| (part, *first, *last))
        })
    }

    /// Splits it into sets of at most `ranges` ranges, so that their texts stay short.
    pub fn split(&self, ranges: usize) -> Vec<Self> {
        let all: Vec<_> = self.ranges().collect();
        let chunks = all.chunks(ranges.max(1)).map(|chunk| {
            let mut parts = Self::default();
            for (part, first, last) in chunk {
                parts.places_mut(*part).0.insert(*first, *last);
            }
            parts
        });
        chunks.collect()
    }

    /// Reads the form that `Display` writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Self::default();
        for kind in text.split("; ") {
            let (word, places) = kind.split_once(' ')?;
            let part = EntryPart::ALL.into_iter().find(|part| part.as_str() == word)?;
            for range in places.split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let first = first.parse().ok()?;
                let last = last.parse().ok()?;
                let ranges = &mut parts.places_mut(part).0;
                // Adjacent ranges would have been written as one.
                let is_apart = ranges.values().next_back().is_none_or(|end| end.saturating_add(1) < first);
                if first > last || !is_apart {
                    return None;
                }
                ranges.insert(first, last);
            }
        }
        (parts.to_string() == text).then_some(parts)
    }

    const fn places(&self, part: EntryPart) -> &Places {
        match part {
            EntryPart::Initiator => &self.initiators,
            EntryPart::Person => &self.persons,
            EntryPart::Content => &self.contents,
        }
    }

    const fn places_mut(&mut self, part: EntryPart) -> &mut Places {
        match part {
            EntryPart::Initiator => &mut self.initiators,
            EntryPart::Person => &mut self.persons,
            EntryPart::Content => &mut self.contents,
        }
    }
}

impl fmt::Display for ErasedParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for (part, first, last) in self.ranges() {
            match before.replace(part) {
                Some(same) if same == part => f.write_str(",")?,
                Some(_) => write!(f, "; {} ", part.as_str())?,
                None => write!(f, "{} ", part.as_str())?,
            }
            if first == last {
                write!(f, "{first}")?;
            } else {
                write!(f, "{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// Ranges by their first index, with their last one. They neither overlap nor touch each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Places(BTreeMap<u64, u64>);

impl Places {
    fn insert(&mut self, place: u64) {
        let before = self.0.range(..=place).next_back().map(|(first, last)| (*first, *last));
        let first = match before {
            Some((_, last)) if last >= place => return,
            Some((first, last)) if last.checked_add(1) == Some(place) => first,
            Some(_) | None => place,
        };
        let after = place.checked_add(1).and_then(|next| self.0.remove(&next));
        self.0.insert(first, after.unwrap_or(place));
    }

    fn remove(&mut self, first: u64, last: u64) {
        let touched = self.0.range(..=last).rev().take_while(|(_, end)| **end >= first);
        let touched: Vec<_> = touched.map(|(start, end)| (*start, *end)).collect();
        for (start, end) in touched {
            self.0.remove(&start);
            if start < first {
                self.0.insert(start, first.saturating_sub(1));
            }
            if end > last {
                self.0.insert(last.saturating_add(1), end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn of(places: &[(EntryPart, u64)]) -> ErasedParts {
        let mut parts = ErasedParts::default();
        places.iter().for_each(|(part, place)| parts.insert(*part, *place));
        parts
    }

    #[test]
    fn places_are_written_as_ranges_and_read_back() {
        let initiator = |place| (EntryPart::Initiator, place);
        let parts = of(&[
            initiator(9),
            initiator(3),
            initiator(7),
            initiator(8),
            (EntryPart::Content, 4),
            (EntryPart::Content, u64::MAX),
        ]);
        assert_eq!(parts.to_string(), format!("initiator 3,7-9; content 4,{}", u64::MAX));
        assert_eq!((ErasedParts::parse(&parts.to_string()), parts.count()), (Some(parts), 6));
        assert!(ErasedParts::default().is_empty());
    }

    #[test]
    fn nothing_else_is_read() {
        for text in [
            "",
            "initiator",
            "initiator ",
            "salt 3",
            "initiator 3,3",
            "initiator 9,3",
            "initiator 3,4",
            "initiator 4-3",
            "initiator 3-3",
            "initiator +3",
            "initiator 03",
            "initiator 3;content 4",
            "content 4; initiator 3",
            "initiator 3; initiator 5",
            "initiator 18446744073709551616",
        ] {
            assert_eq!(ErasedParts::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_was_added_and_not_taken_out(
            added in vec(0..40_u64, 0..60), taken in btree_set(0..40_u64, 0..30), ranges in 1..5_usize,
        ) {
            let mut parts = of(&added.iter().map(|place| (EntryPart::Person, *place)).collect::<Vec<_>>());
            let whole = parts.clone();
            let other = of(&taken.iter().map(|place| (EntryPart::Person, *place)).collect::<Vec<_>>());
            parts.subtract(&other);
            let left: std::collections::BTreeSet<_> = added.iter().filter(|place| !taken.contains(place)).collect();
            let found: Vec<_> = parts.ranges().flat_map(|(_, first, last)| first..=last).collect();
            prop_assert_eq!(found, left.iter().map(|place| **place).collect::<Vec<_>>());
            prop_assert_eq!(parts.count(), u64::try_from(left.len()).unwrap());
            if !parts.is_empty() {
                prop_assert_eq!(ErasedParts::parse(&parts.to_string()), Some(parts));
            }
            // The chunks together are the whole.
            let mut rest = whole.clone();
            for chunk in whole.split(ranges) {
                prop_assert!(chunk.ranges().count() <= ranges);
                rest.subtract(&chunk);
            }
            prop_assert!(rest.is_empty());
        }
    }
}
