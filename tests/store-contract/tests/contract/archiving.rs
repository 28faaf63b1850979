//! The contract, for a store that archives every payment as soon as it is written. Every query and every write has to
//! find the payment in the archive.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

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

/// A store that archives the payments written to it.
pub struct Archiving {
    store: Arc<dyn WholeStore>,
    is_archived: fn(TransactionId) -> bool,
    archived: Mutex<BTreeSet<TransactionId>>,
}

impl Archiving {
    /// Archives every payment.
    pub fn all(store: Arc<dyn WholeStore>) -> Arc<Self> {
        Arc::new(Self { store, is_archived: |_| true, archived: Mutex::default() })
    }

    /// Archives every other payment.
    pub fn half(store: Arc<dyn WholeStore>) -> Arc<Self> {
        let is_archived = |id: TransactionId| id.uuid().as_u128().is_multiple_of(2);
        Arc::new(Self { store, is_archived, archived: Mutex::default() })
    }

    async fn commit_and_archive(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let outcomes = self.store.commit(batch).await;
        let made = batch.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
        let made: Vec<_> = made
            .map(|(write, _)| Payment::clone(&write.payment))
            .filter(|payment| (self.is_archived)(payment.id))
            .collect();
        self.store.archive(&made).await.unwrap();
        self.archived.lock().unwrap().extend(made.iter().map(|payment| payment.id));
        // A writer that lost a race in between leaves the move to the winner.
        outcomes
    }
}

/// Forwards every query.
macro_rules! passed_on {
    (
        $trait:ident {
            $(fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($apart:item)?
    ) => {
        #[async_trait]
        impl $trait for Archiving {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                    self.store.$name($($argument),*).await
                }
            )*
            $($apart)?
        }
    };
}

passed_on! {
    PaymentStore {
        fn load(ids: &[TransactionId]) -> Vec<Payment>;
        fn load_missing(ids: &[TransactionId]) -> Vec<Payment>;
        fn list(filter: &PaymentFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn list_with_deliveries(filter: &DeliveryFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn list_with_movements(filter: &MovementFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn due(now: Timestamp, limit: usize) -> Vec<TransactionId>;
        fn outbox_due(after: Option<OutboxPlace>, now: Timestamp, limit: usize) -> Vec<DueDelivery>;
        fn card_tries(card: &CardFingerprint, now: Timestamp) -> CardTries;
        fn payment_of_pix(mode: Mode, pix: &str) -> Option<TransactionId>;
    }
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
            self.commit_and_archive(batch).await
        }
}

passed_on! {
    InboxStore {
        fn put_notices(notices: &[Notice]) -> Vec<bool>;
        fn due_notices(now: Timestamp, limit: usize) -> Vec<(Notice, u32)>;
        fn waiting_notices(ids: &[String]) -> Vec<String>;
        fn finish_notices(ids: &[String], now: Timestamp) -> ();
        fn postpone_notice(id: &str, tried: u32, until: Timestamp) -> ();
    }
}

passed_on! {
    ExceptionStore {
        fn put_exception(exception: &Exception) -> bool;
        fn exceptions(limit: usize) -> Vec<Exception>;
    }
}

passed_on! {
    AccessStore {
        fn application(merchant: &MerchantId, name: &ApplicationName) -> Option<Application>;
        fn insert_application(application: &Application) -> bool;
        fn replace_application(before: &Application, after: &Application) -> bool;
        fn insert_key(key: &ApiKey) -> ();
        fn key(id: &str) -> Option<ApiKey>;
        fn keys() -> Vec<ApiKey>;
        fn revoke_key(id: &str, now: Timestamp) -> bool;
    }
}

passed_on! {
    OperatorStore {
        fn put_route_control(control: &RouteControl) -> ();
        fn route_controls() -> Vec<RouteControl>;
        fn exception(id: &str) -> Option<Exception>;
        fn resolve_exception(id: &str, resolution: &Resolution) -> bool;
        fn resolved_exceptions(limit: usize) -> Vec<Exception>;
        fn put_node(node: &Node) -> ();
        fn remove_node(id: Uuid) -> bool;
        fn nodes(seen_since: Timestamp) -> Vec<Node>;
        fn server_now() -> Option<Timestamp>;
        fn follow_form() -> StoreForm;
    }
    fn form(&self) -> StoreForm {
            self.store.form()
        }
}

passed_on! {
    NumberStore {
        fn take_numbers(range: &NumberRange, count: u32) -> Option<NumberBlock>;
    }
}

passed_on! {
    Store {
        fn ping() -> ();
        fn backlog(now: Timestamp, limit: u32) -> Backlog;
    }
    fn is_sole_writer(&self) -> bool {
            self.store.is_sole_writer()
        }
}

passed_on! {
    PeopleStore {
        fn insert_user(user: &User) -> bool;
        fn user(login: &Login) -> Option<User>;
        fn users(merchant: &MerchantId) -> Vec<User>;
        fn has_users() -> bool;
        fn replace_user(before: &User, after: &User) -> bool;
        fn remove_user(user: &User) -> bool;
        fn users_after(after: Option<&Login>, limit: usize) -> Vec<User>;
        fn policy(merchant: &MerchantId) -> MerchantPolicy;
        fn put_policy(merchant: &MerchantId, policy: &MerchantPolicy) -> ();
        fn profile(merchant: &MerchantId) -> MerchantProfile;
        fn put_profile(merchant: &MerchantId, profile: &MerchantProfile) -> ();
        fn insert_operator(operator: &Operator) -> bool;
        fn operator(login: &Login) -> Option<Operator>;
        fn operators() -> Vec<Operator>;
        fn replace_operator(before: &Operator, after: &Operator) -> bool;
        fn remove_operator(operator: &Operator) -> bool;
        fn insert_session(session: &Session) -> ();
        fn session(id: &str) -> Option<Session>;
        fn sessions_of(person: &str) -> Vec<Session>;
        fn replace_session(before: &Session, after: &Session) -> bool;
        fn remove_session(id: &str) -> ();
    }
}

passed_on! {
    AuditStore {
        fn begin_audit(head: &ChainHead) -> ();
        fn append_audit(new: &NewAuditEntry, key: &ChainKey) -> ChainPlace;
        fn audit_head() -> Option<ChainHead>;
        fn chained_audit(after: u64, limit: usize) -> Vec<AuditRead>;
        fn audit(scope: &AuditScope, after: Option<AuditCursor>, limit: usize) -> Vec<ChainedEntry>;
        fn erase_audit(what: &AuditErasure, limit: usize, account: &NewAuditEntry, key: &ChainKey) -> u64;
    }
}

passed_on! {
    KeyringStore {
        fn applications(merchant: &MerchantId) -> Vec<Application>;
        fn keys_of(merchant: &MerchantId) -> Vec<ApiKey>;
        fn limit_key(id: &str, until: Timestamp) -> bool;
        fn expose_key(id: &str, at: Timestamp) -> bool;
        fn note_key_uses(uses: &[(String, Timestamp)]) -> ();
    }
}

passed_on! {
    SecretKeyStore {
        fn key_record() -> Option<KeyRecord>;
        fn replace_key_record(before: Option<&KeyRecord>, after: &KeyRecord) -> bool;
        fn audit_key() -> Option<SealedSecret>;
        fn replace_audit_key(before: Option<&SealedSecret>, after: &SealedSecret) -> bool;
        fn applications_after(after: Option<&ApplicationPlace>, limit: usize) -> Vec<Application>;
        fn forget_replaced() -> ();
    }
}

passed_on! {
    FiguresStore {
        fn figures(filter: &FiguresFilter) -> Vec<Figure>;
    }
}

passed_on! {
    ReconciliationStore {
        fn put_lines(lines: &[StoredLine]) -> ();
        fn lines_with_ids(ids: &[String]) -> Vec<StoredLine>;
        fn lines_beginning(beginning: &str, limit: usize) -> Vec<StoredLine>;
        fn lines(filter: &LineFilter, after: Option<&LineCursor>, limit: usize) -> Vec<StoredLine>;
        fn line_sums(from: NaiveDate, until: NaiveDate) -> Vec<LineSum>;
        fn claim_run(claim: &RunClaim) -> bool;
        fn finish_run(claim: &RunClaim) -> ();
        fn runs(source: &Source, from: NaiveDate, until: NaiveDate) -> Vec<Run>;
        fn payments_numbered(mode: Mode, number: &SlipNumber, limit: usize) -> Vec<TransactionId>;
        fn paid_between(mode: Mode, period: Period, after: Option<PaidPlace>, limit: usize) -> Vec<PaidPlace>;
    }
}

passed_on! {
    HistoryStore {
        fn next_payee(after: Option<&(MerchantId, Mode)>) -> Option<(MerchantId, Mode)>;
        fn past_payments(filter: &PastFilter, after: Option<Cursor>, limit: usize) -> PastPage;
    }
}

passed_on! {
    LinkStore {
        fn insert_link(link: &Link) -> bool;
        fn link(id: LinkId) -> Option<Link>;
        fn replace_link(link: &Link) -> bool;
        fn links(filter: &LinkFilter, after: Option<Cursor>, limit: usize) -> Vec<Link>;
        fn links_with_customer(document: Option<&Document>, until: Timestamp, limit: usize) -> Vec<Link>;
        fn link_uses(link: &Link) -> LinkUses;
        fn count_event(limit: &EventLimit, now: Timestamp) -> Option<Timestamp>;
        fn counted_events(name: &str, since: Timestamp) -> u64;
        fn uncount_event(name: &str, at: Timestamp) -> ();
    }
}

passed_on! {
    ErasureStore {
        fn resting(status: Status, until: Timestamp, after: Option<RestingPlace>, limit: usize) -> Vec<RestingPlace>;
        fn erased_after(number: u64, limit: usize) -> Vec<(u64, TransactionId)>;
        fn last_erasure() -> u64;
    }
}

passed_on! {
    ArchiveStore {
        fn unarchived(payee: &(MerchantId, Mode), until: Timestamp, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn archive(payments: &[Payment]) -> u64;
        fn complete_archiving() -> ();
        fn count_archived() -> u64;
    }
}

macro_rules! run {
    ($($module:ident::$case:ident),* $(,)?) => {
        mod of_the_embedded_store {
            $(
                #[tokio::test]
                async fn $case() {
                    if super::is_of_what_is_recent(stringify!($case)) {
                        return;
                    }
                    for archiving in [super::Archiving::all, super::Archiving::half] {
                        let folder = tempfile::tempdir().unwrap();
                        let path = folder.path().join("quita.db");
                        let store = quita_embedded::EmbeddedStore::open_sole_writer(path).unwrap();
                        crate::$module::$case(archiving(std::sync::Arc::new(store))).await;
                    }
                }
            )*
        }

        mod of_mongodb {
            $(
                #[tokio::test]
                async fn $case() {
                    if super::is_of_what_is_recent(stringify!($case)) {
                        return;
                    }
                    for archiving in [super::Archiving::all, super::Archiving::half] {
                        let Some(server) = crate::mongo::Server::connect().await else { return };
                        server.run(move |store, _| crate::$module::$case(archiving(store))).await;
                    }
                }
            )*
        }
    };
}
crate::for_each_case_of_payments!(run);

/// Returns true for cases about recent payments. Tries of a card count for thirty days, and nothing is archived that
/// early.
fn is_of_what_is_recent(case: &str) -> bool {
    case.contains("tries") || case.contains("try") || case.contains("card_that")
}
