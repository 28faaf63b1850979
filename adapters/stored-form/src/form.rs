//! Number of the stored form: schema, indexes and documents, of both stores.
//!
//! A store keeps the number of its form. A program reads and writes the form that it finds, up to [`known`], until
//! `quita store upgrade` brings the store into that newest form. See decision 44.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use bson::raw::CString;
use bson::{RawDocument, RawDocumentBuf};
use quita_domain::order::Order;
use quita_domain::payment::Payment;
use quita_ports::{StoreError, StoreForm};

use crate::ToDocument;

/// Number of the newest form that this program reads and writes. It is raised with every change that an older program
/// can't read, or would undo.
pub const VERSION: i64 = 1;

/// Number of the form that tests of upgrades use while there is no second one.
const MADE_UP: i64 = 2;

// Not a feature of Cargo: scripts/upgrade would build the whole program a second time for it.
static KNOWN: AtomicI64 = AtomicI64::new(VERSION);

/// Returns the number of the newest form that this process reads and writes: [`VERSION`], but for tests of upgrades.
pub fn known() -> i64 {
    KNOWN.load(Ordering::Relaxed)
}

/// Makes this process the next version of the program, with a second form. For tests of upgrades alone, which call it
/// before a store is opened.
pub fn learn_made_up_form() {
    KNOWN.store(MADE_UP, Ordering::Relaxed);
}

/// Version of this program, which a store keeps with the form that the program brought it into.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Form of a store as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Number stored in the store.
    pub number: i64,
    /// Version of the program that brought the store into this form. Stores from before the first release have none.
    pub program: Option<String>,
    /// True while an upgrade rewrites documents of the previous form.
    pub is_upgrading: bool,
}

impl Found {
    /// Returns the form for callers of the store.
    pub fn form(&self) -> StoreForm {
        StoreForm { number: self.number, known: known(), is_upgrading: self.is_upgrading }
    }

    /// Checks that this program reads the form.
    ///
    /// # Errors
    /// The reason why it can't, with the version to install.
    pub fn check(&self) -> Result<StoreForm, StoreError> {
        let Some(program) = self.program.as_deref() else { return Err(unreleased()) };
        if self.number > known() {
            return Err(StoreError::Unreadable(too_new(self.number, program)));
        }
        if self.number < 1 {
            return Err(unreleased());
        }
        Ok(self.form())
    }
}

/// Form of a store when a process last read it.
#[derive(Debug)]
pub struct MetForm {
    number: AtomicI64,
    is_upgrading: AtomicBool,
}

impl MetForm {
    /// Starts with the form that the store had when it was opened.
    pub const fn of(form: StoreForm) -> Self {
        Self { number: AtomicI64::new(form.number), is_upgrading: AtomicBool::new(form.is_upgrading) }
    }

    /// Records the form. Its number can only rise: a reader may be late with the form from before an upgrade.
    pub fn note(&self, form: StoreForm) {
        if self.number.fetch_max(form.number, Ordering::Relaxed) <= form.number {
            self.is_upgrading.store(form.is_upgrading, Ordering::Relaxed);
        }
    }

    /// Returns its number.
    pub fn number(&self) -> i64 {
        self.number.load(Ordering::Relaxed)
    }

    /// Returns the form, and the newest one that this program knows.
    pub fn now(&self) -> StoreForm {
        let is_upgrading = self.is_upgrading.load(Ordering::Relaxed);
        StoreForm { number: self.number(), known: known(), is_upgrading }
    }
}

/// Explains why a store in a newer form is not opened.
pub fn too_new(number: i64, program: &str) -> String {
    format!(
        "its stored form has number {number}, and this version of Quita ({PROGRAM}) reads forms up to number {}: \
         install Quita {program} or newer",
        known()
    )
}

/// Explains why a store in a form that was never released is not opened.
pub fn unreleased() -> StoreError {
    StoreError::Unreadable(String::from(
        "its stored form is of before the first release, and is not read any more: move it away and start with an empty \
         store, or run the version that made it",
    ))
}

/// Returns the document of a payment in a form.
///
/// # Errors
/// [`StoreError::Unreadable`] if it contains a number that does not fit into BSON.
pub fn payment_document(payment: &Payment, form: i64) -> Result<RawDocumentBuf, StoreError> {
    let document = payment.to_document()?;
    if form < MADE_UP {
        return Ok(document);
    }
    Ok(rewritten(&document, made_up_field())?.unwrap_or(document))
}

/// Returns the document of a payment in the form of this program; `None` if it is in this form already.
///
/// # Errors
/// [`StoreError::Unreadable`] if the bytes are not a document.
pub fn upgraded(bytes: &[u8]) -> Result<Option<RawDocumentBuf>, StoreError> {
    rewritten(RawDocument::from_bytes(bytes).map_err(unreadable)?, made_up_field())
}

/// Returns the document of a payment as the domain reads it, from any form that this program knows.
pub(crate) fn downgraded(document: &RawDocument) -> Result<Option<RawDocumentBuf>, StoreError> {
    let Some((old, new)) = made_up_field() else { return Ok(None) };
    rewritten(document, Some((new, old)))
}

/// Returns the number of the form that a payment needs.
pub fn needed_by(order: &Order) -> i64 {
    if known() >= MADE_UP && order.metadata.contains_key("made-up-form") { MADE_UP } else { 1 }
}

/// Returns the old and the new name of the field whose name differs in the made-up form.
fn made_up_field() -> Option<(&'static str, &'static str)> {
    (known() >= MADE_UP).then_some(("pageToken", "madeUpToken"))
}

/// Returns the error for bytes that are not a document. It does not show them.
fn unreadable<E>(_: E) -> StoreError {
    StoreError::Unreadable("a payment is no document".into())
}

/// Returns the document with a field renamed; `None` if it does not have the field.
fn rewritten(
    document: &RawDocument,
    renamed: Option<(&str, &str)>,
) -> Result<Option<RawDocumentBuf>, StoreError> {
    let Some((old, new)) = renamed else { return Ok(None) };
    if document.get(old).map_err(unreadable)?.is_none() {
        return Ok(None);
    }
    let mut next = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(unreadable)?;
        let name = if name.as_str() == old { new } else { name.as_str() };
        next.append(CString::try_from(name).map_err(unreadable)?, value);
    }
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(number: i64, program: Option<&str>) -> Found {
        Found { number, program: program.map(String::from), is_upgrading: false }
    }

    #[test]
    fn a_newer_form_is_refused_with_both_numbers_and_the_version_to_install() {
        let newer = VERSION + 1;
        let Err(StoreError::Unreadable(why)) = found(newer, Some("1.4.0")).check() else {
            panic!("a newer form is read")
        };
        let numbers = [format!("has number {newer}"), format!("up to number {VERSION}:")];
        for part in numbers.iter().map(String::as_str).chain(["install Quita 1.4.0 or newer", PROGRAM]) {
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn every_released_form_is_read_and_none_of_before() {
        for number in 1..=VERSION {
            let form = StoreForm { number, known: VERSION, is_upgrading: false };
            assert_eq!(found(number, Some("1.0.0")).check(), Ok(form));
        }
        assert_eq!(found(0, Some("1.0.0")).check(), Err(unreleased()));
        for number in 0..=6 {
            assert_eq!(found(number, None).check(), Err(unreleased()), "{number}");
        }
    }

    #[test]
    fn a_late_reader_of_the_form_before_an_upgrade_brings_it_back_for_nobody() {
        let form = |number, is_upgrading| StoreForm { number, known: known(), is_upgrading };
        let met = MetForm::of(form(1, false));
        met.note(form(2, true));
        met.note(form(1, false));
        assert_eq!(met.now(), form(2, true));
        met.note(form(2, false));
        assert_eq!(met.now(), form(2, false));
    }
}
