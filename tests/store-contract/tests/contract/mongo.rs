//! The MongoDB store: the contract, and tests that only apply to a server.

use std::sync::Arc;

use bson::{Document, doc};
use futures_util::TryStreamExt;
use mongodb::{Client, Database, IndexModel};
use quita_domain::audit::chain::{ChainHead, EntryPart, ErasedParts};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_domain::card::{CardFingerprint, CardNumber};
use quita_domain::control::RouteDirective;
use quita_domain::figures::FiguresFilter;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::PaymentFilter;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::people::{
    Login, MerchantPolicy, MerchantProfile, OperatorRole, Session, SessionOf, SessionOrigin, SessionStage,
};
use quita_domain::routing::CardTries;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_mongo::MongoStore;
use quita_ports::{
    AccessStore, AuditStore, ExceptionStore, FiguresStore, HistoryStore, InboxStore, KeyringStore,
    OperatorStore, OutboxPlace, PaymentStore, PeopleStore, Store, StoreError, WriteError,
};
use uuid::Uuid;

use quita_store_contract::lent_database::LentDatabase;
use quita_store_contract::samples::{Sample, answered, created_at, insert, notice, paid, pending, replace};

/// A store in a database of its own, and a client that can tamper with it.
pub struct Server {
    pub store: Arc<MongoStore>,
    pub database: Database,
    lent: LentDatabase,
}

impl Server {
    /// Connects to an empty store. Returns `None` and prints a line if no server is configured.
    pub async fn connect() -> Option<Self> {
        Some(Self::of(LentDatabase::take(&server_uri()?).await).await)
    }

    /// Connects to a store that no other test has used. Returns `None` and prints a line if no server is configured.
    pub async fn connect_alone() -> Option<Self> {
        Some(Self::of(LentDatabase::alone(&server_uri()?)).await)
    }

    async fn of(lent: LentDatabase) -> Self {
        let store = Arc::new(MongoStore::connect(&lent.uri).await.unwrap());
        let database = Client::with_uri_str(&lent.uri).await.unwrap().database(&lent.name);
        Self { store, database, lent }
    }

    /// Runs a test, and gives the database back whatever its outcome.
    pub async fn run<F: Future<Output = ()> + Send + 'static>(
        self,
        test: impl FnOnce(Arc<MongoStore>, Database) -> F,
    ) {
        let result = tokio::spawn(test(self.store, self.database.clone())).await;
        self.lent.give_back().await.unwrap();
        if let Err(failed) = result {
            std::panic::resume_unwind(failed.into_panic());
        }
    }
}

/// Returns the URI of the server for tests. `None`, and a line that says so, if there is none.
pub fn server_uri() -> Option<String> {
    let uri = std::env::var("QUITA_TEST_MONGODB_URI").ok();
    if uri.is_none() {
        println!("skipped: QUITA_TEST_MONGODB_URI is not set");
    }
    uri
}

macro_rules! run {
    ($($module:ident::$case:ident),* $(,)?) => {
        mod contract {
            $(
                #[tokio::test]
                async fn $case() {
                    let Some(server) = super::Server::connect().await else { return };
                    server.run(|store, _| crate::$module::$case(store)).await;
                }
            )*
        }
    };
}
crate::for_each_case!(run);

/// The tests themselves rely on it.
#[test]
fn a_store_that_a_test_has_used_is_empty_for_the_next_and_has_its_own_indexes() {
    // Each has a runtime of its own, with which its connections end: until then the database is not lent again.
    let in_turn = |changes: bool| {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let Server { store, database, lent } = Server::connect().await?;
            let payments = database.collection::<Document>("payments");
            let found = payments.count_documents(doc! {}).await.unwrap();
            let indexes = payments.list_index_names().await.unwrap();
            assert_eq!(store.commit(&[insert(&created_at(1))]).await, [Ok(())]);
            if changes {
                let another = IndexModel::builder().keys(doc! { "left": 1 }).build();
                payments.create_index(another).await.unwrap();
            }
            lent.give_back().await.unwrap();
            Some((found, indexes))
        })
    };
    let Some(first) = in_turn(false) else { return };
    assert_eq!(first.0, 0);
    for changes in [true, false, false] {
        assert_eq!(in_turn(changes), Some(first.clone()));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_password() {
    let uri = "mongodb://ana:segredo@127.0.0.1:9/quita?serverSelectionTimeoutMS=50";
    let refused = MongoStore::connect(uri).await.err().unwrap();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("127.0.0.1:9")), "{refused}");
    assert!(!refused.to_string().contains("segredo"), "{refused}");
}

/// The oplog repeats everything after a new field, so the order of fields matters.
#[tokio::test]
async fn the_oplog_holds_of_a_change_what_differs() {
    // The oplog still has what earlier tests wrote to a lent database.
    let Some(server) = Server::connect_alone().await else { return };
    server
        .run(|store, database| async move {
            let opened = created_at(1);
            let waiting = pending(&opened, 2);
            let paid = paid(&waiting, 3);
            let told = answered(&paid, 0, 200, 4);
            assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
            for next in [&waiting, &paid, &told] {
                assert_eq!(store.commit(&[replace(next)]).await, [Ok(())]);
            }
            let oplog = database.client().database("local").collection::<Document>("oplog.rs");
            let changes = doc! { "ns": format!("{}.payments", database.name()), "op": "u" };
            let changes: Vec<_> = oplog.find(changes).await.unwrap().try_collect().await.unwrap();
            let code = "00020101021226".repeat(12);
            let codes = |change: &Document| change.to_string().matches(&code).count();
            // The code is issued; the first event keeps it when the payment moves on; later changes do not repeat it.
            assert_eq!(changes.iter().map(codes).collect::<Vec<_>>(), [1, 1, 0]);
            let token = &opened.page_token;
            assert!(!changes.iter().any(|change| change.to_string().contains(token)), "{changes:?}");
        })
        .await;
}

#[tokio::test]
async fn finished_notices_bear_the_date_that_expires_them() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let now = Timestamp::from_millis(5_000);
            store.put_notices(&[notice("a:1", 1)]).await.unwrap();
            store.finish_notices(&[String::from("a:1")], now).await.unwrap();
            let inbox = database.collection::<Document>("inbox");
            let stored = inbox.find_one(doc! { "_id": "a:1" }).await.unwrap().unwrap();
            assert_eq!(stored.get_datetime("finishedAt").unwrap().timestamp_millis(), 5_000);
            let indexes = database.run_command(doc! { "listIndexes": "inbox" }).await.unwrap();
            let indexes = indexes.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
            let expiring = indexes.iter().filter_map(|index| index.as_document()?.get("expireAfterSeconds"));
            assert_eq!(expiring.count(), 1, "{indexes:?}");
        })
        .await;
}

#[tokio::test]
async fn sessions_and_nodes_bear_the_dates_that_expire_them() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let now = Timestamp::from_millis(4_102_444_800_000);
            let of =
                SessionOf::Operator { login: Login::parse("olga@ops.example").unwrap(), password_version: 1 };
            let session = Session::begin("token", of, SessionStage::Whole, SessionOrigin::default(), now);
            store.insert_session(&session).await.unwrap();
            store.put_node(&crate::operator::node(1, 1, now)).await.unwrap();
            for (collection, field, at, after_s) in
                [("sessions", "expiresAt", session.expires_at, 0), ("nodes", "seenAt", now, 30 * 86_400)]
            {
                let stored =
                    database.collection::<Document>(collection).find_one(doc! {}).await.unwrap().unwrap();
                assert_eq!(stored.get_datetime(field).unwrap().timestamp_millis(), at.millis());
                let indexes = database.run_command(doc! { "listIndexes": collection }).await.unwrap();
                let indexes = indexes.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
                let expiring = indexes.iter().filter_map(|index| {
                    let index = index.as_document()?;
                    Some((index.get_document("key").ok()?.clone(), index.get_i32("expireAfterSeconds").ok()?))
                });
                assert_eq!(expiring.collect::<Vec<_>>(), [(doc! { field: 1 }, after_s)], "{collection}");
            }
        })
        .await;
}

#[tokio::test]
async fn what_several_nodes_append_at_once_is_one_chain() {
    let Some(server) = Server::connect().await else { return };
    let uri = server.lent.uri.clone();
    server
        .run(|store, _| async move {
            let mut nodes = vec![store];
            for _ in 0..3 {
                nodes.push(Arc::new(MongoStore::connect(&uri).await.unwrap()));
            }
            let begun = nodes.iter().map(|node| async {
                node.begin_audit(&ChainHead::beginning(&crate::audit::chain_key())).await.unwrap();
            });
            futures_util::future::join_all(begun).await;
            crate::audit::check_many_at_once(&nodes).await;
        })
        .await;
}

#[tokio::test]
async fn a_node_that_died_while_it_changed_the_audit_log_holds_up_nobody() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let key = crate::audit::chain_key();
            let entry = |number| crate::audit::entry(number, 1, Some("loja"));
            store.begin_audit(&ChainHead::beginning(&key)).await.unwrap();
            let store: Arc<dyn AuditStore> = store;
            let heads = database.collection::<Document>("audit_head");
            let mut behind = heads.find_one(doc! {}).await.unwrap().unwrap();
            for number in [1, 2] {
                store.append_audit(&crate::audit::new(&entry(number)), &key).await.unwrap();
                // The node died before it moved the head.
                behind = heads.find_one_and_replace(doc! {}, behind).await.unwrap().unwrap();
                assert_eq!(crate::audit::faults(&store).await, []);
            }
            let places = [(EntryPart::Initiator, 1), (EntryPart::Content, 2)];
            let mut parts = ErasedParts::default();
            places.into_iter().for_each(|(part, place)| parts.insert(part, place));
            let account = crate::audit::account(3);
            store.append_audit(&account.accounting_for(&parts), &key).await.unwrap();
            assert_eq!(store.audit_head().await.unwrap().unwrap().sequence, 3);
            // The node died before it erased the parts that it had accounted for, and the same erasure is requested
            // again.
            let erasure = AuditErasure::Person(entry(1).who);
            assert_eq!(store.erase_audit(&erasure, 10, &account, &key).await, Ok(2));
            let chain = store.chained_audit(0, 10).await.unwrap();
            let chain: Vec<_> = chain.into_iter().map(|(_, entry)| entry.unwrap()).collect();
            let erased: Vec<Vec<_>> = chain.iter().map(|entry| entry.erased_parts().collect()).collect();
            assert_eq!(erased, [vec![EntryPart::Initiator], vec![EntryPart::Content], vec![]]);
            assert_eq!(crate::audit::faults(&store).await, []);
        })
        .await;
}

#[tokio::test]
async fn notices_that_cannot_be_decoded_keep_no_others_waiting() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let notices = [1, 2, 3, 4].map(|number| notice(&format!("a:{number}"), number));
            store.put_notices(&notices).await.unwrap();
            let change = doc! { "$set": { "notice.acquirer": 7 } };
            let first = doc! { "_id": { "$in": ["a:1", "a:2"] } };
            database.collection::<Document>("inbox").update_many(first, change).await.unwrap();
            let due = store.due_notices(Timestamp::from_millis(10), 2).await.unwrap();
            assert_eq!(due.iter().map(|(notice, _)| notice.id.as_str()).collect::<Vec<_>>(), ["a:3", "a:4"]);
        })
        .await;
}

#[tokio::test]
async fn a_document_that_cannot_be_decoded_is_named() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = created_at(1);
            store.commit(&[insert(&payment)]).await;
            let change = doc! { "$set": { "payment.revision": "one" } };
            database.collection::<Document>("payments").update_one(doc! {}, change).await.unwrap();
            let seen = store.load(&[payment.id]).await.unwrap_err();
            let id = payment.id.to_string();
            assert!(matches!(&seen, StoreError::Unreadable(why) if why.contains(&id)), "{seen}");
        })
        .await;
}

#[tokio::test]
async fn one_payment_that_cannot_be_decoded_hides_no_other_of_its_list() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let damage = async |id: quita_domain::identity::TransactionId| {
                let id = bson::Uuid::from_bytes(id.uuid().into_bytes());
                let change = doc! { "$set": { "payment.revision": "one" } };
                let payments = database.collection::<Document>("payments");
                let changed = payments.update_one(doc! { "_id": id }, change).await.unwrap();
                assert_eq!(changed.modified_count, 1);
            };
            crate::listing::check_that_one_unreadable_hides_no_other(store, damage).await;
        })
        .await;
}

#[tokio::test]
async fn one_payment_that_cannot_be_decoded_is_counted_by_a_replay() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let damage = async |id: quita_domain::identity::TransactionId| {
                let id = bson::Uuid::from_bytes(id.uuid().into_bytes());
                let change = doc! { "$set": { "payment.dice": "one" } };
                let payments = database.collection::<Document>("payments");
                let changed = payments.update_one(doc! { "_id": id }, change).await.unwrap();
                assert_eq!(changed.modified_count, 1);
            };
            crate::history::check_that_one_unreadable_is_counted(store, damage).await;
        })
        .await;
}

#[tokio::test]
async fn whoever_has_payments_is_found_without_passing_over_them() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let loja = |mode| move |at| insert(&Sample { mode, at, ..Sample::default() }.open());
            let many: Vec<_> = (0..500).map(loja(Mode::Test)).chain((0..500).map(loja(Mode::Live))).collect();
            assert!(store.commit(&many).await.iter().all(Result::is_ok));
            database.run_command(doc! { "profile": 2 }).await.unwrap();
            let merchant = || MerchantId::new("loja");
            for (after, next) in [
                (None, Some((merchant(), Mode::Live))),
                (Some((merchant(), Mode::Live)), Some((merchant(), Mode::Test))),
                (Some((merchant(), Mode::Test)), None),
            ] {
                assert_eq!(store.next_payee(after.as_ref()).await, Ok(next));
            }
            database.run_command(doc! { "profile": 0 }).await.unwrap();
            let profile = database.collection::<Document>("system.profile");
            let mut seen = profile.find(doc! { "planSummary": { "$exists": true } }).await.unwrap();
            while seen.advance().await.unwrap() {
                let query: Document = seen.deserialize_current().unwrap();
                let looked_at = ["keysExamined", "docsExamined"].map(|what| query.get_i32(what).unwrap());
                assert!(looked_at[0] <= 2 && looked_at[1] == 0, "{query}");
            }
        })
        .await;
}

#[tokio::test]
async fn lists_and_figures_are_ended_by_the_server_if_they_take_too_long() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            database.run_command(doc! { "profile": 2 }).await.unwrap();
            every_query(store.as_ref()).await;
            database.run_command(doc! { "profile": 0 }).await.unwrap();
            let profile = database.collection::<Document>("system.profile");
            let of_payments = doc! { "ns": { "$regex": "[.]payments$" }, "planSummary": { "$exists": true } };
            let mut seen = profile.find(of_payments).await.unwrap();
            let mut limited = 0;
            while seen.advance().await.unwrap() {
                let query: Document = seen.deserialize_current().unwrap();
                let command = query.get_document("command").unwrap();
                let is_list = command.contains_key("pipeline") || command.contains_key("sort");
                let is_waiting =
                    ["{ dueAt: ", "{ outboxAt: "].iter().any(|plan| query.to_string().contains(plan));
                if is_list && !is_waiting {
                    assert!(command.contains_key("maxTimeMS"), "{query}");
                    limited += 1;
                }
            }
            assert!(limited >= 10, "{limited}");
        })
        .await;
}

#[tokio::test]
async fn an_oversized_payment_does_not_hold_up_the_others() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, _| async move {
            let first = created_at(1);
            let mut large = created_at(2);
            let last = created_at(3);
            large.page_token = "x".repeat(17_000_000);
            let outcomes = store.commit(&[insert(&first), insert(&large), insert(&last)]).await;
            assert_eq!([&outcomes[0], &outcomes[2]], [&Ok(()), &Ok(())]);
            assert!(matches!(outcomes[1], Err(WriteError::NotWritten(_))), "{:?}", outcomes[1]);
        })
        .await;
}

#[tokio::test]
async fn batches_beyond_one_command_are_split() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, _| async move {
            let large = |at| {
                let mut payment = created_at(at);
                payment.page_token = "x".repeat(6_000_000);
                payment
            };
            let payments = [1, 2, 3, 4, 5].map(large);
            let outcomes = store.commit(&payments.each_ref().map(insert)).await;
            assert_eq!(outcomes, vec![Ok(()); 5]);
            let again = store.commit(&payments.each_ref().map(insert)).await;
            assert_eq!(again, vec![Err(WriteError::Conflict); 5]);
        })
        .await;
}

#[tokio::test]
async fn no_query_reads_a_whole_collection() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            database.run_command(doc! { "profile": 2 }).await.unwrap();
            every_query(store.as_ref()).await;
            database.run_command(doc! { "profile": 0 }).await.unwrap();
            let profile = database.collection::<Document>("system.profile");
            let mut seen = profile.find(doc! { "planSummary": { "$exists": true } }).await.unwrap();
            let mut plans = 0;
            while seen.advance().await.unwrap() {
                let query: Document = seen.deserialize_current().unwrap();
                let plan = query.get_str("planSummary").unwrap();
                assert!(
                    plan.starts_with("IXSCAN") || plan == "IDHACK" || plan.starts_with("COUNT"),
                    "{query}"
                );
                let sorts = query.get_bool("hasSortStage").unwrap_or(false);
                assert!(!sorts || plan == "IXSCAN { _id: 1 }", "{query}");
                let is_figures =
                    query.get_document("command").is_ok_and(|command| command.contains_key("pipeline"))
                        && plan.contains("payment.state.paidAt");
                let is_covered = is_figures || plan.contains("dueAt: 1");
                let is_of_payments = query.get_str("ns").unwrap().ends_with(".payments");
                if is_covered && is_of_payments {
                    assert_eq!(query.get_i32("docsExamined").unwrap_or(0), 0, "{query}");
                }
                plans += 1;
            }
            assert!(plans >= 10, "{plans}");
        })
        .await;
}

async fn every_query(store: &MongoStore) {
    let opened = Sample { reference: Some("pedido-1"), ..Sample::default() }.open();
    let waiting = pending(&opened, 2);
    for write in [insert(&opened), replace(&waiting), replace(&paid(&waiting, 3))] {
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
    }
    let now = Timestamp::from_millis(10);
    let number = CardNumber::parse("4242424242424242").unwrap();
    let card = CardFingerprint::of(&number, Mode::Live, b"key");
    assert_eq!(store.card_tries(&card, now).await, Ok(CardTries::default()));
    for filter in crate::listing::filters() {
        store.list(&filter, Some(crate::listing::place(&opened)), 10).await.unwrap();
    }
    for filter in crate::listing::delivery_filters() {
        store.list_with_deliveries(&filter, None, 10).await.unwrap();
    }
    for filter in crate::movements::filters() {
        store.list_with_movements(&filter, Some(crate::listing::place(&opened)), 10).await.unwrap();
    }
    for after in [None, Some(crate::listing::place(&opened))] {
        store.past_payments(&crate::history::since(0), after, 10).await.unwrap();
    }
    store.load(&[opened.id]).await.unwrap();
    store.due(now, 10).await.unwrap();
    store.outbox_due(None, now, 10).await.unwrap();
    let after = OutboxPlace { at: opened.created_at, id: opened.id };
    store.outbox_due(Some(after), now, 10).await.unwrap();
    store.put_notices(&[notice("a:1", 1)]).await.unwrap();
    store.due_notices(now, 10).await.unwrap();
    store.finish_notices(&[String::from("a:1")], now).await.unwrap();
    store.backlog(now, 10).await.unwrap();
    store.exceptions(10).await.unwrap();
    store.keys().await.unwrap();
    every_query_of_the_consoles(store).await;
}

#[tokio::test]
async fn a_rare_status_among_many_of_an_amount_is_found_without_reading_them() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let many: Vec<_> = (10..2_010).map(|at| insert(&created_at(at))).collect();
            assert!(store.commit(&many).await.iter().all(Result::is_ok));
            let waiting = created_at(1);
            store.commit(&[insert(&waiting)]).await;
            let waiting = pending(&waiting, 2);
            store.commit(&[replace(&waiting)]).await;
            let amount = Some(waiting.order.amount);
            let statuses = vec![Status::Pending];
            let filter = PaymentFilter { amount, statuses, ..crate::listing::everything() };
            database.run_command(doc! { "profile": 2 }).await.unwrap();
            assert_eq!(store.list(&filter, None, 10).await, Ok(vec![Ok(waiting)]));
            let few = PaymentFilter { amount: Some(Money::from_cents(7)), ..filter };
            assert_eq!(store.list(&few, None, 10).await, Ok(Vec::new()));
            database.run_command(doc! { "profile": 0 }).await.unwrap();
            let profile = database.collection::<Document>("system.profile");
            let mut seen = profile.find(doc! { "planSummary": { "$exists": true } }).await.unwrap();
            while seen.advance().await.unwrap() {
                let query: Document = seen.deserialize_current().unwrap();
                assert!(query.get_i32("docsExamined").unwrap() <= 1, "{query}");
            }
        })
        .await;
}

/// Returns the filter for all payments of a merchant in test mode.
pub fn of_all_time(merchant: MerchantId) -> FiguresFilter {
    let from = Timestamp::default();
    let to = Timestamp::from_millis(i64::MAX);
    FiguresFilter { merchant, mode: Mode::Test, from, to }
}

async fn every_query_of_the_consoles(store: &MongoStore) {
    let now = Timestamp::from_millis(10);
    let merchant = MerchantId::new("loja");
    let user = crate::people::user("ana@loja.com.br", "loja");
    assert_eq!(store.insert_user(&user).await, Ok(true));
    assert_eq!(store.replace_user(&user, &user).await, Ok(true));
    store.users(&merchant).await.unwrap();
    assert_eq!(store.has_users().await, Ok(true));
    store.remove_user(&user).await.unwrap();
    store.session("none").await.unwrap();
    store.sessions_of("none").await.unwrap();
    store.remove_session("none").await.unwrap();
    store.users_after(Some(&user.login), 10).await.unwrap();
    store.put_policy(&merchant, &MerchantPolicy::default()).await.unwrap();
    store.policy(&merchant).await.unwrap();
    store.put_profile(&merchant, &MerchantProfile::default()).await.unwrap();
    store.profile(&merchant).await.unwrap();
    let operator = crate::people::operator("ana@quita.example", OperatorRole::Operator);
    store.insert_operator(&operator).await.unwrap();
    store.replace_operator(&operator, &operator).await.unwrap();
    store.operators().await.unwrap();
    store.operator(&operator.login).await.unwrap();
    store.remove_operator(&operator).await.unwrap();
    let entry = crate::audit::entry(1, 1, Some("loja"));
    let key = crate::audit::chain_key();
    store.begin_audit(&ChainHead::beginning(&key)).await.unwrap();
    store.append_audit(&crate::audit::new(&entry), &key).await.unwrap();
    assert_eq!(store.chained_audit(0, 10).await.unwrap().len(), 1);
    for (number, what) in [
        (2, AuditErasure::ContentOf(vec![entry.subject.clone()])),
        (3, AuditErasure::ContentAt(vec![1])),
        (4, AuditErasure::Person(entry.who.clone())),
    ] {
        store.erase_audit(&what, 10, &crate::audit::account(number), &key).await.unwrap();
    }
    for scope in [AuditScope::Merchant(merchant.clone()), AuditScope::Everything] {
        for after in [None, Some(AuditCursor { at: entry.at, id: entry.id })] {
            store.audit(&scope, after, 10).await.unwrap();
        }
    }
    store.insert_application(&crate::access::application("whsec_a")).await.unwrap();
    store.insert_key(&crate::access::key("k1", 1)).await.unwrap();
    assert_eq!(store.applications(&merchant).await.unwrap().len(), 1);
    assert_eq!(store.keys_of(&merchant).await.unwrap().len(), 1);
    store.limit_key("k1", now).await.unwrap();
    store.note_key_uses(&[(String::from("k1"), now)]).await.unwrap();
    store.put_exception(&crate::exceptions::exception("e-1", 1)).await.unwrap();
    store.exception("e-1").await.unwrap();
    assert_eq!(store.resolve_exception("e-1", &crate::operator::resolution(9)).await, Ok(true));
    assert_eq!(store.resolved_exceptions(10).await.unwrap().len(), 1);
    store.exceptions(10).await.unwrap();
    store.put_node(&crate::operator::node(1, 1, now)).await.unwrap();
    store.nodes(now).await.unwrap();
    assert_eq!(store.remove_node(Uuid::from_u128(1)).await, Ok(true));
    let control = crate::operator::control("sandbox", Method::Pix, RouteDirective::Paused);
    store.put_route_control(&control).await.unwrap();
    assert_eq!(store.route_controls().await, Ok(vec![control]));
    assert_eq!(store.figures(&of_all_time(merchant)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_tells_its_time() {
    let Some(server) = Server::connect().await else { return };
    let test = |store: Arc<MongoStore>, _| async move {
        let first = store.server_now().await.unwrap().unwrap();
        let second = store.server_now().await.unwrap().unwrap();
        assert!(first <= second && second.ms_since(first) < 60_000, "{first} {second}");
        let beginning_of_2026 = Timestamp::from_millis(1_767_225_600_000);
        assert!(first > beginning_of_2026, "{first}");
    };
    server.run(test).await;
}
