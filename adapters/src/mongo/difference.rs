//! What must be set and removed to make one document of another.
//!
//! A statement with single fields costs the server less than a whole document: only indexes of what is set are looked at,
//! and the oplog holds what has changed. Order of fields tells nothing here.

use bson::raw::{CString, RawArray, RawBsonRef, RawElement};
use bson::{RawDocument, RawDocumentBuf};

/// The operators of an update.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Difference {
    /// Paths and what they become.
    pub(super) set: RawDocumentBuf,
    /// Paths that are removed.
    pub(super) unset: RawDocumentBuf,
}

/// A path that MongoDB would read otherwise, or bytes that are no BSON: the document has to be replaced as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotExpressible;

impl From<bson::error::Error> for NotExpressible {
    fn from(_: bson::error::Error) -> Self {
        Self
    }
}

impl Difference {
    /// What makes `after` of `before`.
    pub(super) fn between(before: &RawDocument, after: &RawDocument) -> Result<Self, NotExpressible> {
        let mut difference = Self::default();
        difference.documents("", before, after)?;
        Ok(difference)
    }

    fn documents(
        &mut self,
        path: &str,
        before: &RawDocument,
        after: &RawDocument,
    ) -> Result<(), NotExpressible> {
        let known = before.iter_elements().collect::<Result<Vec<_>, _>>()?;
        let mut known: Vec<_> = known.into_iter().map(Some).collect();
        // Both have most of their fields in the same order.
        let mut expected = 0;
        for element in after.iter_elements() {
            let element = element?;
            let (name, value) = (element.key(), element.value()?);
            let mut places = (expected..known.len()).chain(0..expected);
            let is_called = |known: &RawElement<'_>| known.key() == name;
            let place = places
                .find(|place| known.get(*place).is_some_and(|known| known.as_ref().is_some_and(is_called)));
            let old =
                place.and_then(|place| known.get_mut(place)?.take()).map(|old| old.value()).transpose()?;
            if let Some(place) = place {
                expected = place.saturating_add(1);
            }
            if old != Some(value) {
                self.values(&below(path, name.as_str())?, old, value)?;
            }
        }
        for gone in known.into_iter().flatten() {
            self.unset.append(CString::try_from(below(path, gone.key().as_str())?)?, "");
        }
        Ok(())
    }

    /// Of two values that differ.
    fn values(
        &mut self,
        path: &str,
        before: Option<RawBsonRef<'_>>,
        after: RawBsonRef<'_>,
    ) -> Result<(), NotExpressible> {
        match (before, after) {
            (Some(RawBsonRef::Document(before)), RawBsonRef::Document(after))
                if are_names_plain(before, after) =>
            {
                self.documents(path, before, after)
            }
            (Some(RawBsonRef::Array(before)), RawBsonRef::Array(after)) => self.arrays(path, before, after),
            (Some(_) | None, after) => {
                self.set.append(CString::try_from(path.to_owned())?, after);
                Ok(())
            }
        }
    }

    /// Entries one by one, as long as there are not fewer than before.
    fn arrays(&mut self, path: &str, before: &RawArray, after: &RawArray) -> Result<(), NotExpressible> {
        let known = before.into_iter().collect::<Result<Vec<_>, _>>()?;
        let entries = after.into_iter().collect::<Result<Vec<_>, _>>()?;
        if entries.len() < known.len() {
            self.set.append(CString::try_from(path.to_owned())?, after);
            return Ok(());
        }
        for (place, entry) in entries.into_iter().enumerate() {
            let old = known.get(place).copied();
            if old != Some(entry) {
                self.values(&format!("{path}.{place}"), old, entry)?;
            }
        }
        Ok(())
    }
}

/// The path of a field below another one. A merchant's own names are not among them.
fn below(path: &str, name: &str) -> Result<String, NotExpressible> {
    match (is_plain(name), path) {
        (false, _) => Err(NotExpressible),
        (true, "") => Ok(name.to_owned()),
        (true, path) => Ok(format!("{path}.{name}")),
    }
}

/// Whether a name means itself in a path.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('$') && !name.contains('.')
}

fn are_names_plain(before: &RawDocument, after: &RawDocument) -> bool {
    let plain = |document: &RawDocument| {
        document.iter_elements().all(|element| element.is_ok_and(|element| is_plain(element.key().as_str())))
    };
    plain(before) && plain(after)
}

#[cfg(test)]
mod tests {
    use bson::{Document, doc};

    use super::*;

    fn raw(document: &Document) -> RawDocumentBuf {
        RawDocumentBuf::try_from(document).unwrap()
    }

    fn between(before: &Document, after: &Document) -> (Document, Document) {
        let difference = Difference::between(&raw(before), &raw(after)).unwrap();
        let read = |raw: &RawDocumentBuf| Document::try_from(raw.as_ref()).unwrap();
        (read(&difference.set), read(&difference.unset))
    }

    #[test]
    fn only_what_differs_is_set_and_only_what_is_gone_is_removed() {
        let before = doc! { "a": 1, "b": { "c": 2, "d": "x", "e": { "f": 1 } }, "g": 3 };
        let after = doc! { "b": { "d": "y", "c": 2, "e": { "f": 1 }, "h": [1] }, "a": 1 };
        assert_eq!(between(&before, &after), (doc! { "b.d": "y", "b.h": [1] }, doc! { "g": "" }));
        assert_eq!(between(&after, &after), (doc! {}, doc! {}));
    }

    #[test]
    fn an_array_grows_at_its_end_and_is_set_as_a_whole_when_it_shrinks() {
        let before = doc! { "a": [{ "b": 1 }, { "b": 2 }] };
        let grown = doc! { "a": [{ "b": 1 }, { "b": 3, "c": 4 }, { "b": 5 }] };
        assert_eq!(between(&before, &grown).0, doc! { "a.1.b": 3, "a.1.c": 4, "a.2": { "b": 5 } });
        assert_eq!(between(&grown, &before).0, doc! { "a": [{ "b": 1 }, { "b": 2 }] });
    }

    #[test]
    fn a_number_of_another_type_differs() {
        assert_eq!(between(&doc! { "a": 1_i32 }, &doc! { "a": 1_i64 }).0, doc! { "a": 1_i64 });
    }

    #[test]
    fn what_is_no_path_is_set_with_what_holds_it() {
        let (before, after) = (doc! { "m": { "a.b": 1, "c": 2 } }, doc! { "m": { "a.b": 1, "c": 3 } });
        assert_eq!(between(&before, &after).0, after);
        let top = Difference::between(&raw(&doc! { "$a": 1 }), &raw(&doc! { "$a": 2 }));
        assert_eq!(top, Err(NotExpressible));
    }
}
