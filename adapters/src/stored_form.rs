//! How values are written into a store: as BSON, the same bytes in either.

use quita_ports::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The BSON document of a value.
///
/// # Errors
/// [`StoreError::Unreadable`] if it holds a number that BSON has no room for.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    bson::serialize_to_vec(value)
        .map_err(|error| StoreError::Unreadable(format!("can't be encoded: {error}")))
}

/// Reads what [`encode`] wrote. The error names `what` and never shows stored values.
///
/// # Errors
/// [`StoreError::Unreadable`] if another version, or somebody else, wrote something different.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, StoreError> {
    bson::deserialize_from_slice(bytes).map_err(|error: bson::error::Error| {
        let place = error.key.map(|key| format!(" at `{key}`")).unwrap_or_default();
        StoreError::Unreadable(format!("{what} can't be decoded{place}"))
    })
}

/// A count as the signed number that both stores keep.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A limit as the signed number that both stores want.
pub(crate) fn signed_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A count as a store gives it back; a negative one, which no store makes, is none.
pub(crate) fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
