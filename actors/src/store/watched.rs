//! The store as used by services outside the actors: each call reports its outcome to the store's state.
//!
//! Calls of the actors themselves are watched by `time_limited.rs`.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_domain::card::CardFingerprint;
use quita_domain::control::{Node, RouteControl};
use quita_domain::document::Document;
use quita_domain::exception::{Exception, Resolution};
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::identity::{ApplicationName, LinkId, MerchantId, Mode, TransactionId};
use quita_domain::link::{Link, LinkFilter, LinkUses};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::reconciliation::{LineCursor, LineFilter, LineSum, SlipNumber, Source, StoredLine};
use quita_domain::routing::CardTries;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{
    AccessStore, ApplicationPlace, ArchiveStore, AuditRead, AuditStore, Backlog, DueDelivery, ErasureStore,
    EventLimit, ExceptionStore, FiguresStore, HistoryStore, InboxStore, KeyringStore, LinkStore, Listed,
    NumberBlock, NumberRange, NumberStore, OperatorStore, OutboxPlace, PaidPlace, PastFilter, PastPage,
    PaymentStore, PeopleStore, Period, ReconciliationStore, RestingPlace, Run, RunClaim, SecretKeyStore,
    Store, StoreError, StoreForm, WholeStore, Write, WriteError,
};
use uuid::Uuid;

use crate::store::queries::{explained, shared_queries};
use crate::store::state::{StoreCall, StoreState};

/// A store whose calls report their results to the store's state.
pub struct WatchedStore {
    store: Arc<dyn WholeStore>,
    state: Arc<StoreState>,
}

impl WatchedStore {
    /// Watches the calls of this store.
    pub fn new(store: Arc<dyn WholeStore>, state: Arc<StoreState>) -> Self {
        Self { store, state }
    }
}

/// Implements a trait of the store with watched calls: each query is given as its kind and signature. Items written
/// separately are passed through unchanged.
macro_rules! watched {
    (
        $trait:ident {
            $($kind:ident fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($apart:item)?
    ) => {
        #[async_trait]
        impl $trait for WatchedStore {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                    let call = async { explained(&*self.store, self.store.$name($($argument),*).await).await };
                    self.state.watch(StoreCall::$kind, call).await
                }
            )*
            $($apart)?
        }
    };
}

shared_queries! {
    watched,
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.state.watch_batch(self.store.commit(batch)).await
    }
}

watched! {
    PeopleStore {
        Write fn insert_user(user: &User) -> bool;
        Read fn user(login: &Login) -> Option<User>;
        Read fn users(merchant: &MerchantId) -> Vec<User>;
        Read fn has_users() -> bool;
        Write fn replace_user(before: &User, after: &User) -> bool;
        Write fn remove_user(user: &User) -> bool;
        Read fn users_after(after: Option<&Login>, limit: usize) -> Vec<User>;
        Read fn policy(merchant: &MerchantId) -> MerchantPolicy;
        Write fn put_policy(merchant: &MerchantId, policy: &MerchantPolicy) -> ();
        Read fn profile(merchant: &MerchantId) -> MerchantProfile;
        Write fn put_profile(merchant: &MerchantId, profile: &MerchantProfile) -> ();
        Write fn insert_operator(operator: &Operator) -> bool;
        Read fn operator(login: &Login) -> Option<Operator>;
        Read fn operators() -> Vec<Operator>;
        Write fn replace_operator(before: &Operator, after: &Operator) -> bool;
        Write fn remove_operator(operator: &Operator) -> bool;
        Write fn insert_session(session: &Session) -> ();
        Read fn session(id: &str) -> Option<Session>;
        Read fn sessions_of(person: &str) -> Vec<Session>;
        Write fn replace_session(before: &Session, after: &Session) -> bool;
        Write fn remove_session(id: &str) -> ();
    }
}

watched! {
    AuditStore {
        Write fn begin_audit(head: &ChainHead) -> ();
        Write fn append_audit(new: &NewAuditEntry, key: &ChainKey) -> ChainPlace;
        Read fn audit_head() -> Option<ChainHead>;
        Read fn chained_audit(after: u64, limit: usize) -> Vec<AuditRead>;
        Read fn audit(scope: &AuditScope, after: Option<AuditCursor>, limit: usize) -> Vec<ChainedEntry>;
        Write fn erase_audit(what: &AuditErasure, limit: usize, account: &NewAuditEntry, key: &ChainKey) -> u64;
    }
}

watched! {
    KeyringStore {
        Read fn applications(merchant: &MerchantId) -> Vec<Application>;
        Read fn keys_of(merchant: &MerchantId) -> Vec<ApiKey>;
        Write fn limit_key(id: &str, until: Timestamp) -> bool;
        Write fn expose_key(id: &str, at: Timestamp) -> bool;
        Write fn note_key_uses(uses: &[(String, Timestamp)]) -> ();
    }
}

watched! {
    SecretKeyStore {
        Read fn key_record() -> Option<KeyRecord>;
        Write fn replace_key_record(before: Option<&KeyRecord>, after: &KeyRecord) -> bool;
        Read fn audit_key() -> Option<SealedSecret>;
        Write fn replace_audit_key(before: Option<&SealedSecret>, after: &SealedSecret) -> bool;
        Read fn applications_after(after: Option<&ApplicationPlace>, limit: usize) -> Vec<Application>;
        Write fn forget_replaced() -> ();
    }
}

watched! {
    FiguresStore {
        Read fn figures(filter: &FiguresFilter) -> Vec<Figure>;
    }
}

watched! {
    ReconciliationStore {
        Write fn put_lines(lines: &[StoredLine]) -> ();
        Read fn lines_with_ids(ids: &[String]) -> Vec<StoredLine>;
        Read fn lines_beginning(beginning: &str, limit: usize) -> Vec<StoredLine>;
        Read fn lines(filter: &LineFilter, after: Option<&LineCursor>, limit: usize) -> Vec<StoredLine>;
        Read fn line_sums(from: NaiveDate, until: NaiveDate) -> Vec<LineSum>;
        Write fn claim_run(claim: &RunClaim) -> bool;
        Write fn finish_run(claim: &RunClaim) -> ();
        Read fn runs(source: &Source, from: NaiveDate, until: NaiveDate) -> Vec<Run>;
        Read fn payments_numbered(mode: Mode, number: &SlipNumber, limit: usize) -> Vec<TransactionId>;
        Read fn paid_between(
            mode: Mode, period: Period, after: Option<PaidPlace>, limit: usize
        ) -> Vec<PaidPlace>;
    }
}

watched! {
    HistoryStore {
        Read fn next_payee(after: Option<&(MerchantId, Mode)>) -> Option<(MerchantId, Mode)>;
        Read fn past_payments(filter: &PastFilter, after: Option<Cursor>, limit: usize) -> PastPage;
    }
}

watched! {
    LinkStore {
        Write fn insert_link(link: &Link) -> bool;
        Read fn link(id: LinkId) -> Option<Link>;
        Write fn replace_link(link: &Link) -> bool;
        Read fn links(filter: &LinkFilter, after: Option<Cursor>, limit: usize) -> Vec<Link>;
        Read fn links_with_customer(
            document: Option<&Document>, until: Timestamp, limit: usize
        ) -> Vec<Link>;
        Read fn link_uses(link: &Link) -> LinkUses;
        Write fn count_event(limit: &EventLimit, now: Timestamp) -> Option<Timestamp>;
        Read fn counted_events(name: &str, since: Timestamp) -> u64;
        Write fn uncount_event(name: &str, at: Timestamp) -> ();
    }
}

watched! {
    ErasureStore {
        Read fn resting(
            status: Status, until: Timestamp, after: Option<RestingPlace>, limit: usize
        ) -> Vec<RestingPlace>;
        Read fn erased_after(number: u64, limit: usize) -> Vec<(u64, TransactionId)>;
        Read fn last_erasure() -> u64;
    }
}

watched! {
    ArchiveStore {
        Read fn unarchived(
            payee: &(MerchantId, Mode), until: Timestamp, after: Option<Cursor>, limit: usize
        ) -> Vec<Listed>;
        Write fn archive(payments: &[Payment]) -> u64;
        Write fn complete_archiving() -> ();
        Read fn count_archived() -> u64;
    }
}
