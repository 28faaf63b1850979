//! What must be set and removed to make one document of another.
//!
//! A statement with single fields costs the server less than a whole document: only indexes of what is set are looked at,
//! and the oplog holds what has changed. Order of fields tells nothing here.

use bson::raw::{CString, RawArray, RawBsonRef};
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
        let mut known = before.iter_elements().collect::<Result<Vec<_>, _>>()?;
        for element in after {
            let (name, value) = element?;
            let place = known.iter().position(|known| known.key() == name);
            let old = place.map(|place| known.remove(place).value()).transpose()?;
            self.values(&below(path, name.as_str())?, old, value)?;
        }
        for gone in known {
            self.unset.append(CString::try_from(below(path, gone.key().as_str())?)?, "");
        }
        Ok(())
    }

    fn values(
        &mut self,
        path: &str,
        before: Option<RawBsonRef<'_>>,
        after: RawBsonRef<'_>,
    ) -> Result<(), NotExpressible> {
        match (before, after) {
            (Some(before), after) if before == after => Ok(()),
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
            self.values(&format!("{path}.{place}"), known.get(place).copied(), entry)?;
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
