//! Identities: ids of payments, links, operations, merchants, applications and acquirers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Declares an id that is a UUID.
macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

uuid_id!(
    /// Id of a payment: UUIDv8 derived from an `Idempotency-Key`, otherwise UUIDv7.
    TransactionId
);
uuid_id!(
    /// Id of a payment link: a UUID. It opens nothing: the address of the page has a token.
    LinkId
);
uuid_id!(
    /// Id of an operation: the idempotency key at the acquirer, and the `refundId` of a refund.
    OperationId
);

impl TransactionId {
    /// Reads the hyphenated form that the API shows; nothing else is accepted.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == 36).then(|| Uuid::try_parse(text).ok().map(Self)).flatten()
    }
}

impl LinkId {
    /// Reads the hyphenated form that the API shows; nothing else is accepted.
    pub fn parse(text: &str) -> Option<Self> {
        TransactionId::parse(text).map(|id| Self(id.uuid()))
    }
}

/// Declares an id that is a short text, cheap to copy.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A merchant's name, as the operator gave it to `quita keys create --merchant`.
    MerchantId
);
text_id!(
    /// The name of an application, unique within its merchant.
    ApplicationName
);
text_id!(
    /// The name of a configured acquirer, such as `sandbox`.
    AcquirerName
);

/// Test or live: test payments only ever reach sandbox acquirers, live ones never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Pretended money.
    Test,
    /// Real money.
    Live,
}

impl Mode {
    /// Returns `test` or `live`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }

    /// Reads `test` or `live`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Test, Self::Live].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// Owner of a payment. Merchant and mode decide who may see it; the application signs its webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The merchant.
    pub merchant: MerchantId,
    /// The application whose key created the payment.
    pub application: ApplicationName,
    /// Test or live.
    pub mode: Mode,
}

impl Owner {
    /// Returns true if a caller with this merchant and mode may see the payments of `other`.
    pub fn may_see(&self, other: &Self) -> bool {
        self.merchant == other.merchant && self.mode == other.mode
    }
}
