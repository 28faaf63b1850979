//! Contents of a store.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

use chrono::NaiveDate;
use quita_domain::access::{ApiKey, Application, Endpoints, Origins, SigningSecrets};
use quita_domain::acquiring::Notice;
use quita_domain::audit::chain::{ChainHead, ChainedEntry};
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::Exception;
use quita_domain::identity::{ApplicationName, LinkId, MerchantId, Mode, Owner, TransactionId};
use quita_domain::link::Link;
use quita_domain::payment::Payment;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::reconciliation::{Source, StoredLine};
use quita_domain::secret_key::{KeyRecord, SealedSecret, StoredSecret};
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{RunClaim, StoreError, Write, WriteError};
use uuid::Uuid;

/// All durable data. Nothing is ever deleted, and each map has the same order in every run.
#[derive(Default, Clone)]
pub struct Records {
    /// Payments by their ids.
    pub payments: BTreeMap<TransactionId, Arc<Payment>>,
    /// Payments that are archived.
    pub archived: BTreeSet<TransactionId>,
    /// Payments whose payer was erased, in the order of erasure.
    pub erased: Vec<TransactionId>,
    /// Payments that lists can't read.
    pub unreadable: BTreeSet<TransactionId>,
    /// Notices by their ids, finished ones too.
    pub notices: BTreeMap<String, StoredNotice>,
    /// Exceptions, open and resolved, in the order in which they were stored.
    pub exceptions: Vec<Exception>,
    /// The last directive for each acquirer and method.
    pub controls: Vec<RouteControl>,
    /// Nodes by their ids.
    pub nodes: BTreeMap<Uuid, Node>,
    /// Time of the simulated server's clock, if there is one.
    pub server_now: Option<Timestamp>,
    /// Applications by merchant and name.
    pub applications: BTreeMap<(MerchantId, ApplicationName), Application>,
    /// Record of the secret key that the store works with.
    pub key_record: Option<KeyRecord>,
    /// API keys by their ids.
    pub keys: BTreeMap<String, ApiKey>,
    /// Users by login.
    pub users: BTreeMap<Login, User>,
    /// Policies of merchants for their people.
    pub policies: BTreeMap<MerchantId, MerchantPolicy>,
    /// Profiles of merchants, as payers read them.
    pub profiles: BTreeMap<MerchantId, MerchantProfile>,
    /// Operators by login.
    pub operators: BTreeMap<Login, Operator>,
    /// Sessions by their ids.
    pub sessions: BTreeMap<String, Session>,
    /// The audit log by the places of its entries.
    pub audit: BTreeMap<u64, ChainedEntry>,
    /// End of the audit log.
    pub audit_head: Option<ChainHead>,
    /// Key of the audit log, sealed.
    pub audit_key: Option<SealedSecret>,
    /// Lines of lists and files by their ids.
    pub lines: BTreeMap<String, StoredLine>,
    /// Payment links by their ids.
    pub links: BTreeMap<LinkId, Link>,
    /// Times of the events that payers' pages count, by name.
    pub page_events: BTreeMap<String, Vec<Timestamp>>,
    /// The last claim to each run, and true if the run is done.
    pub runs: BTreeMap<(Source, NaiveDate), (RunClaim, bool)>,
    /// Next number of each range of slips, by the range's key.
    pub counters: BTreeMap<String, u64>,
}

/// A notice, and the state of its processing.
#[derive(Clone)]
pub struct StoredNotice {
    /// The notice as it arrived.
    pub notice: Notice,
    /// Time at which it is due.
    pub due_at: Timestamp,
    /// Number of times that it was postponed.
    pub tried: u32,
    /// True if it is finished.
    pub is_done: bool,
}

impl Records {
    /// Makes one write, if the payment is stored at the expected revision.
    ///
    /// # Errors
    /// [`WriteError::Conflict`] if it is not, [`WriteError::TokenUsed`] if another payment has used its token,
    /// [`WriteError::PixTaken`] if one of its Pix belongs to another payment.
    pub fn write(&mut self, write: &Write) -> Result<(), WriteError> {
        let known = self.payments.get(&write.payment.id);
        if known.map_or(0, |known| known.revision) != write.expected_revision {
            return Err(WriteError::Conflict);
        }
        let uses_its_token = |other: &Arc<Payment>| other.used_token == write.payment.used_token;
        if known.is_none() && write.payment.used_token.is_some() && self.payments.values().any(uses_its_token)
        {
            return Err(WriteError::TokenUsed);
        }
        let mode = write.payment.owner.mode;
        let bound = &write.payment.bound_pix;
        let holders = bound.iter().filter_map(|pix| self.payment_of_pix(mode, pix));
        if holders.into_iter().any(|holder| holder != write.payment.id) {
            return Err(WriteError::PixTaken);
        }
        if write.payment.is_erased() && known.is_some_and(|known| !known.is_erased()) {
            self.erased.push(write.payment.id);
        }
        self.payments.insert(write.payment.id, Arc::clone(&write.payment));
        Ok(())
    }

    /// Returns the payment of this mode to which a Pix belongs.
    pub fn payment_of_pix(&self, mode: Mode, pix: &str) -> Option<TransactionId> {
        let has_it = |payment: &&Arc<Payment>| {
            payment.owner.mode == mode && payment.bound_pix.iter().any(|bound| bound == pix)
        };
        self.payments.values().find(has_it).map(|payment| payment.id)
    }

    /// Returns the payments with these ids; missing ones are left out.
    pub fn load(&self, ids: &[TransactionId]) -> Vec<Payment> {
        ids.iter().filter_map(|id| self.payments.get(id)).map(|payment| payment.as_ref().clone()).collect()
    }

    /// Adds the application of this owner, which signs its webhooks with this secret, in the owner's mode only.
    pub fn add_application(&mut self, owner: &Owner, secret: &WebhookSecret) {
        let merchant = owner.merchant.clone();
        let name = owner.application.clone();
        let none = StoredSecret::clear("");
        let secret = StoredSecret::clear(secret.reveal());
        let secrets = match owner.mode {
            Mode::Test => SigningSecrets::new(secret, none),
            Mode::Live => SigningSecrets::new(none, secret),
        };
        let key = (merchant.clone(), name.clone());
        let created_at = Timestamp::default();
        let application = Application {
            merchant,
            name,
            secrets,
            title: None,
            endpoints: Endpoints::default(),
            origins: Origins::default(),
            created_at,
        };
        self.applications.insert(key, application);
    }
}

/// Inserts a value if its key is free. Returns true if it did.
pub(crate) fn insert_new<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V) -> bool {
    match map.entry(key) {
        Entry::Occupied(_) => false,
        Entry::Vacant(free) => {
            free.insert(value);
            true
        }
    }
}

/// Replaces a value if it still equals `before`. Returns true if it did.
pub(crate) fn replace_same<K: Ord, V: Clone + PartialEq>(
    map: &mut BTreeMap<K, V>,
    key: &K,
    before: &V,
    after: &V,
) -> bool {
    let known = map.get_mut(key).filter(|known| *known == before);
    known.map(|known| known.clone_from(after)).is_some()
}

/// Returns the error for a new id that is already taken.
pub(crate) fn taken(id: impl Display) -> StoreError {
    StoreError::Unavailable(format!("the id {id} is taken"))
}

/// Returns the first values in this order, at most `limit`.
pub(crate) fn first_by<'a, T: Clone + 'a, K: Ord>(
    found: impl Iterator<Item = &'a T>,
    order: impl Fn(&T) -> K,
    limit: usize,
) -> Vec<T> {
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|one| order(one));
    found.into_iter().take(limit).cloned().collect()
}

/// Returns the last values in this order, last one first, at most `limit`.
pub(crate) fn last_by<'a, T: Clone + 'a, K: Ord>(
    found: impl Iterator<Item = &'a T>,
    order: impl Fn(&T) -> K,
    limit: usize,
) -> Vec<T> {
    first_by(found, |one| Reverse(order(one)), limit)
}
