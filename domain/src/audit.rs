//! The audit log: every change that a person made, one line each, never changed afterwards.

pub mod chain;

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::identity::MerchantId;
use crate::time::Timestamp;

/// One change that a person made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// A UUIDv7.
    pub id: Uuid,
    /// Time of the change.
    pub at: Timestamp,
    /// The merchant concerned. If absent, the operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant: Option<MerchantId>,
    /// The person: the e-mail address of a user or an operator, or `command line`.
    pub who: String,
    /// Origin: an IP address, or the name of the machine's user for the command line.
    pub from: String,
    /// The action.
    pub action: AuditAction,
    /// Object of the action: a key's id, a payment's id, an application's name, the e-mail address of a user, …
    pub subject: String,
    /// Previous state, in words, if there was any. Never a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// New state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Declares the actions with their spelling in the store.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Action of a person.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum AuditAction {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl AuditAction {
            /// Every action.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the store's spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns the action with this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|action| action.as_str() == text)
            }
        }
    };
}

actions! {
    /// Signed in.
    SignedIn = "session.began",
    /// Failed to sign in. One entry may cover several attempts, and then states their number.
    SignInRefused = "session.refused",
    /// Was signed in, but failed to prove their identity when required. One entry may cover several attempts.
    ProofRefused = "proof.refused",
    /// Signed out.
    SignedOut = "session.ended",
    /// Created a user.
    UserCreated = "user.created",
    /// Gave a user another role.
    UserRoleChanged = "user.role_changed",
    /// Gave a user a new password, or changed their own.
    PasswordChanged = "user.password_changed",
    /// Disabled an account that had not been used for 90 days.
    AccountDisabled = "account.disabled",
    /// Set up a second factor, replacing any previous one.
    SecondFactorSetUp = "second_factor.set_up",
    /// Removed a second factor: their own, or that of a person who lost it.
    SecondFactorRemoved = "second_factor.removed",
    /// Created new recovery codes, replacing the previous ones.
    RecoveryCodesMade = "recovery_codes.made",
    /// Proved their identity with a recovery code.
    RecoveryCodeUsed = "recovery_code.used",
    /// Ended other sessions of their own.
    SessionsEnded = "sessions.ended",
    /// Turned messages to a person on or off, or changed their language.
    MailingChanged = "mailing.changed",
    /// Changed the host that receives messages to a person by webhook, or turned them off.
    MessageWebhookChanged = "message_webhook.changed",
    /// Changed the rules for a merchant's users.
    PolicyChanged = "policy.changed",
    /// Changed the profile that a merchant's payers see.
    ProfileChanged = "profile.changed",
    /// Created an operator.
    OperatorCreated = "operator.created",
    /// Gave an operator another role.
    OperatorRoleChanged = "operator.role_changed",
    /// Removed an operator.
    OperatorRemoved = "operator.removed",
    /// Removed a user.
    UserRemoved = "user.removed",
    /// Created an application.
    ApplicationCreated = "application.created",
    /// Gave an application another title.
    ApplicationRenamed = "application.renamed",
    /// Changed the receiver of events of those payments of an application that name none.
    EndpointChanged = "endpoint.changed",
    /// Changed the pages that may request card tokens.
    OriginsChanged = "origins.changed",
    /// Created an API key.
    KeyCreated = "key.created",
    /// Created the successor of a key, which itself expires soon.
    KeyRotated = "key.rotated",
    /// Sent a secret key from a page in a browser, which compromises it.
    KeyExposed = "key.exposed",
    /// Revoked a key.
    KeyRevoked = "key.revoked",
    /// Had a webhook secret shown.
    SecretShown = "secret.shown",
    /// Created a new webhook secret.
    SecretRotated = "secret.rotated",
    /// Sent a test event.
    TestEventSent = "test_event.sent",
    /// Cancelled a payment.
    PaymentCancelled = "payment.cancelled",
    /// Created a payment for trying things out, in test mode.
    TestPaymentCreated = "test_payment.created",
    /// Created a payment link.
    LinkCreated = "link.created",
    /// Closed a payment link, and perhaps cancelled its waiting payments.
    LinkClosed = "link.closed",
    /// Moved a sandbox payment by hand: paid it, let it expire, charged it back.
    SandboxMoved = "sandbox.moved",
    /// Captured an authorised card.
    PaymentCaptured = "payment.captured",
    /// Refunded a payment, in part or whole.
    PaymentRefunded = "payment.refunded",
    /// Had an event delivered again.
    EventRedelivered = "event.redelivered",
    /// Had many events delivered again.
    EventsRedelivered = "events.redelivered",
    /// Exported payments.
    PaymentsExported = "payments.exported",
    /// Exported compared lines of reconciliation.
    ReconciliationExported = "reconciliation.exported",
    /// Revealed the document, e-mail address and phone of a payment's payer, which the role sees masked.
    PayerShown = "payer.shown",
    /// Had the payer of one payment, or of all payments of one person, erased.
    PayerErased = "payer.erased",
    /// Had a person who once signed in erased from this log.
    StaffErased = "staff.erased",
    /// Paused, drained or resumed an acquirer.
    RouteDirected = "acquirer.directed",
    /// Removed a lost node from the list of nodes.
    NodeTakenOff = "node.taken_off",
    /// Had a background job of a node run at once.
    JobRun = "job.run",
    /// Resolved an exception.
    ExceptionResolved = "exception.resolved",
    /// Stated the outcome of an operation that was stuck.
    OperationResolved = "operation.resolved",
    /// Ended a payment whose acquirer takes no more money, but has another amount than requested.
    PaymentEnded = "payment.ended",
    /// Requested another inquiry to an acquirer about the outcome of a payment.
    AcquirerAsked = "acquirer.asked",
    /// Erased parts of earlier entries, which the subject names: [`chain::ErasedParts`].
    LogErased = "audit.erased",
    /// Accepted that parts of earlier entries are gone without an entry that accounts for them. The subject names them
    /// in the same way.
    ErasureAccepted = "audit.accepted",
    /// Found that the log ends before an index that was seen, or continues differently after it. The subject is that
    /// position: [`chain::ChainPlace`].
    LogCutFound = "audit.cut",
}

/// Selection of parts to be erased from the log. Their hashes remain, so the chain stays intact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditErasure {
    /// Previous and new state, of all entries about these subjects: payments' ids, …
    ContentOf(Vec<String>),
    /// Previous and new state, of the entries at these indexes.
    ContentAt(Vec<u64>),
    /// Person and origin, of this person's own actions; and the subject, of actions on this person.
    Person(String),
}

/// Part of the log to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditScope {
    /// Entries of this merchant.
    Merchant(MerchantId),
    /// Everything: for operators.
    Everything,
}

/// Position in the log, newest first: everything after this entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor {
    /// Time of the last entry shown.
    pub at: Timestamp,
    /// Its id.
    pub id: Uuid,
}

impl AuditCursor {
    /// Reads the form that `Display` writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (at, id) = plain.split_once('.')?;
        let cursor = Self { at: Timestamp::from_millis(at.parse().ok()?), id: Uuid::try_parse(id).ok()? };
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl fmt::Display for AuditCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(format!("{}.{}", self.at.millis(), self.id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        let cursor = AuditCursor { at: Timestamp::from_millis(-7), id: Uuid::from_u128(7) };
        assert_eq!(AuditCursor::parse(&cursor.to_string()), Some(cursor));
        for text in ["", "x", "NS4", &format!("{cursor}A")] {
            assert_eq!(AuditCursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_action_is_spelt_once() {
        let mut spelt: Vec<_> = AuditAction::ALL.iter().map(|action| action.as_str()).collect();
        spelt.sort_unstable();
        spelt.dedup();
        assert_eq!(spelt.len(), AuditAction::ALL.len());
    }
}
