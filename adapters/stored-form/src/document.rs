//! Values as BSON documents.
//!
//! A payment is a large tree of tagged enums, and each crate that encodes it through serde's generics compiles all of
//! that again. So it is compiled once, here, behind functions that are not generic.

mod reader;

use bson::{RawDocument, RawDocumentBuf};
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::Exception;
use quita_domain::link::Link;
use quita_domain::payment::Payment;
use quita_domain::people::{MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::reconciliation::StoredLine;
use quita_domain::routing::PastPayment;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_ports::StoreError;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::form::downgraded;
use reader::read;

/// A value that a store can contain.
pub trait ToDocument {
    /// Returns the value as a document.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] if it contains a number that does not fit into BSON.
    fn to_document(&self) -> Result<RawDocumentBuf, StoreError>;
}

/// A value that a store returns.
pub trait FromDocument: Sized {
    /// Reads a document. The error names `what` and never shows stored values.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] if the document is not such a value.
    fn from_document(bytes: &[u8], what: &str) -> Result<Self, StoreError>;
}

macro_rules! to_document {
    ($($value:ty),* $(,)?) => { $(
        impl ToDocument for $value {
            fn to_document(&self) -> Result<RawDocumentBuf, StoreError> {
                bson::serialize_to_raw_document_buf(self)
                    .map_err(|error| StoreError::Unreadable(format!("can't be encoded: {error}")))
            }
        }
    )* };
}

macro_rules! from_document {
    ($($value:ty),* $(,)?) => { $(
        impl FromDocument for $value {
            fn from_document(bytes: &[u8], what: &str) -> Result<Self, StoreError> {
                RawDocument::from_bytes(bytes)
                    .map_err(|_| StoreError::Unreadable(format!("{what} is no document")))
                    .and_then(|document| from_document(document, what))
            }
        }
    )* };
}

to_document!(
    ApiKey,
    Application,
    Exception,
    KeyRecord,
    Link,
    MerchantPolicy,
    MerchantProfile,
    Node,
    Notice,
    Operator,
    Payment,
    RouteControl,
    SealedSecret,
    Session,
    StoredLine,
    User,
);
from_document!(
    ApiKey,
    Application,
    Exception,
    KeyRecord,
    Link,
    MerchantPolicy,
    MerchantProfile,
    Node,
    Notice,
    Operator,
    PastPayment,
    RouteControl,
    SealedSecret,
    Session,
    StoredLine,
    User,
);

/// A payment may be stored in any form that this program knows.
impl FromDocument for Payment {
    fn from_document(bytes: &[u8], what: &str) -> Result<Self, StoreError> {
        let document = RawDocument::from_bytes(bytes);
        let document = document.map_err(|_| StoreError::Unreadable(format!("{what} is no document")))?;
        match downgraded(document)? {
            Some(first) => from_document(&first, what),
            None => from_document(document, what),
        }
    }
}

/// Reads a document of a store's own type, as [`FromDocument::from_document`] does. This is generic: each type is
/// compiled in the crate that needs it.
///
/// # Errors
/// [`StoreError::Unreadable`] if the document is not such a value.
pub fn from_document<'de, T: Deserialize<'de>>(
    document: &'de RawDocument,
    what: &str,
) -> Result<T, StoreError> {
    read(document).map_err(|error| StoreError::Unreadable(format!("{what} can't be decoded{error}")))
}

/// A value as one field of a larger document.
#[derive(Debug, Clone, Copy)]
pub struct AsDocument<'a, T>(pub &'a T);

impl<T: ToDocument> Serialize for AsDocument<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_document().map_err(S::Error::custom)?.serialize(serializer)
    }
}
