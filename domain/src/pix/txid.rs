//! Identifiers of charges, payments and refunds.
//!
//! Patterns of the Pix API document 2.9.0. The minimum of 26 characters keeps the identifiers of charges and
//! of static codes apart. Letter case matters in all of them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $min:literal ..= $max:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Reads the identifier.
            ///
            /// # Errors
            /// [`IdentifierError`] if a character or the length is not allowed.
            pub fn parse(value: &str) -> Result<Self, IdentifierError> {
                if !value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                    return Err(IdentifierError::Character);
                }
                if !($min..=$max).contains(&value.len()) {
                    return Err(IdentifierError::Length);
                }
                Ok(Self(value.to_owned()))
            }

            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdentifierError;

            fn try_from(value: String) -> Result<Self, Self::Error> {
                Self::parse(&value)
            }
        }

        impl From<$name> for String {
            fn from(identifier: $name) -> Self {
                identifier.0
            }
        }
    };
}

identifier! {
    /// The receiver's identifier inside a static code: 1 to 25 letters and digits.
    StaticTxid, 1..=25
}

identifier! {
    /// The identifier of a charge at the PSP: 26 to 35 letters and digits, unique for its receiver.
    DynamicTxid, 26..=35
}

identifier! {
    /// The receiver's identifier of a refund, unique inside one Pix: 1 to 35 letters and digits.
    RefundId, 1..=35
}

identifier! {
    /// The identifier of a received Pix, made by the payer's PSP: 32 letters and digits, compared whole.
    EndToEndId, 32..=32
}

impl DynamicTxid {
    /// Makes the 32 hexadecimal digits of a UUID.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid.simple().to_string())
    }
}

impl RefundId {
    /// Makes the 32 hexadecimal digits of a UUID.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid.simple().to_string())
    }
}

/// Reason why an identifier was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IdentifierError {
    /// Something other than ASCII letters and digits.
    #[error("only letters and digits are accepted")]
    Character,
    /// Too short or too long for its kind.
    #[error("the number of characters is wrong")]
    Length,
}

impl IdentifierError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Length => "length",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_a_dynamic_txid_and_a_refund_id() {
        let uuid = Uuid::from_u128(0x7978_c0c9_7ea8_47e7_8e88_4963_4473_c1f1);
        let txid = DynamicTxid::from_uuid(uuid);
        assert_eq!(txid.as_str(), "7978c0c97ea847e78e8849634473c1f1");
        assert_eq!(DynamicTxid::parse(txid.as_str()), Ok(txid));
        assert!(RefundId::parse(RefundId::from_uuid(uuid).as_str()).is_ok());
    }

    #[test]
    fn an_identifier_is_validated_again_when_read() {
        assert!(serde_json::from_str::<StaticTxid>("\"PED1\"").is_ok());
        assert!(serde_json::from_str::<StaticTxid>("\"PED 1\"").is_err());
        assert_eq!(StaticTxid::parse("AÇÃO"), Err(IdentifierError::Character));
        assert_eq!(DynamicTxid::parse("PED1"), Err(IdentifierError::Length));
    }
}
