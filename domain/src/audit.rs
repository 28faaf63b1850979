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
    /// The merchant concerned; the operators when absent.
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
    /// State before, in words, if there was any. Never a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// State after.
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
    /// Was refused a sign-in. One entry may cover several attempts, and then states their number.
    SignInRefused = "session.refused",
    /// Was signed in, but failed to prove the identity when that was required. One entry may cover several attempts.
    ProofRefused = "proof.refused",
    /// Signed out.
    SignedOut = "session.ended",
    /// Made a user.
    UserCreated = "user.created",
    /// Gave a user another role.
    UserRoleChanged = "user.role_changed",
    /// Gave a user a new password, or changed the own one.
    PasswordChanged = "user.password_changed",
    /// Disabled an account that nobody used for 90 days.
    AccountDisabled = "account.disabled",
    /// Set up a second factor, in place of another if there was one.
    SecondFactorSetUp = "second_factor.set_up",
    /// Removed a second factor: the own one, or that of a person who lost it.
    SecondFactorRemoved = "second_factor.removed",
    /// Made new recovery codes, in place of those before.
    RecoveryCodesMade = "recovery_codes.made",
    /// Proved with a recovery code who it is.
    RecoveryCodeUsed = "recovery_code.used",
    /// Ended sessions of the own from another.
    SessionsEnded = "sessions.ended",
    /// Turned messages to a person on or off, or changed their language.
    MailingChanged = "mailing.changed",
    /// Changed to which host messages to a person go by webhook, or turned them off.
    MessageWebhookChanged = "message_webhook.changed",
    /// Changed the rules for a merchant's users.
    PolicyChanged = "policy.changed",
    /// Changed what a merchant's payers read of it.
    ProfileChanged = "profile.changed",
    /// Made an operator.
    OperatorCreated = "operator.created",
    /// Gave an operator another role.
    OperatorRoleChanged = "operator.role_changed",
    /// Removed an operator.
    OperatorRemoved = "operator.removed",
    /// Removed a user.
    UserRemoved = "user.removed",
    /// Made an application.
    ApplicationCreated = "application.created",
    /// Gave an application another title.
    ApplicationRenamed = "application.renamed",
    /// Changed where the events of an application's payments go that name no receiver.
    EndpointChanged = "endpoint.changed",
    /// Changed from which pages tokens of cards may be asked for.
    OriginsChanged = "origins.changed",
    /// Made an API key.
    KeyCreated = "key.created",
    /// Made the successor of a key, which itself ends soon.
    KeyRotated = "key.rotated",
    /// Sent a secret key from a page in a browser, which has lost it.
    KeyExposed = "key.exposed",
    /// Revoked a key.
    KeyRevoked = "key.revoked",
    /// Had a webhook secret shown.
    SecretShown = "secret.shown",
    /// Made a new webhook secret.
    SecretRotated = "secret.rotated",
    /// Sent a test event.
    TestEventSent = "test_event.sent",
    /// Cancelled a payment.
    PaymentCancelled = "payment.cancelled",
    /// Made a payment to try things out with, in test mode.
    TestPaymentCreated = "test_payment.created",
    /// Made a payment link.
    LinkCreated = "link.created",
    /// Closed a payment link, and perhaps cancelled the payments that waited.
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
    /// Had the document, e-mail address and phone of a payment's payer shown, which the role sees masked.
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
    /// Had an acquirer asked again for the outcome of a payment.
    AcquirerAsked = "acquirer.asked",
    /// Erased parts of earlier entries, which the subject names: [`chain::ErasedParts`].
    LogErased = "audit.erased",
    /// Accepted that parts of earlier entries are gone without an entry about it. The subject names them in the same
    /// way.
    ErasureAccepted = "audit.accepted",
    /// Found that the log ends before an index that was seen, or continues differently after it. The subject is that
    /// position: [`chain::ChainPlace`].
    LogCutFound = "audit.cut",
}

/// Selection of parts to be erased from the log. Their hashes remain, so the chain stays intact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditErasure {
    /// Before and after, of all entries about these subjects: payments' ids, …
    ContentOf(Vec<String>),
    /// Before and after, of the entries at these indexes.
    ContentAt(Vec<u64>),
    /// Person and origin, of this person's own actions; and the subject, of actions on this person.
    Person(String),
}

/// Part of the log that is read.
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
