//! Collections and their indexes. A query names its index, so that the planner can't choose a worse one.

use bson::{Document, RawDocumentBuf, doc};
use mongodb::options::{Hint, IndexOptions};
use mongodb::{Database, IndexModel};
use quita_domain::time::DAY_MS;
use quita_ports::StoreError;
use std::time::Duration;

use super::failure::store_error;
use quita_stored_form::rules::{KEEP_FINISHED_MS, KEEP_UNSEEN_NODE_MS};

pub(super) const PAYMENTS: &str = "payments";
/// Payments of which no further change is expected.
pub(super) const ARCHIVE: &str = "archived_payments";
pub(super) const INBOX: &str = "inbox";
pub(super) const EXCEPTIONS: &str = "exceptions";
pub(super) const APPLICATIONS: &str = "applications";
pub(super) const API_KEYS: &str = "api_keys";
pub(super) const USERS: &str = "users";
pub(super) const OPERATORS: &str = "operators";
pub(super) const MERCHANT_POLICIES: &str = "merchant_policies";
pub(super) const MERCHANT_PROFILES: &str = "merchant_profiles";
pub(super) const SESSIONS: &str = "sessions";
pub(super) const AUDIT: &str = "audit";
pub(super) const AUDIT_HEAD: &str = "audit_head";
pub(super) const ROUTE_CONTROLS: &str = "route_controls";
pub(super) const NODES: &str = "nodes";
pub(super) const LINES: &str = "statement_lines";
pub(super) const RUNS: &str = "reconciliation_runs";
pub(super) const LINKS: &str = "links";
/// Events that payers' pages count.
pub(super) const PAGE_EVENTS: &str = "page_events";
pub(super) const STORED_FORM: &str = "stored_form";
pub(super) const SECRET_KEYS: &str = "secret_keys";
pub(super) const NUMBER_COUNTERS: &str = "number_counters";

/// Every collection of the store except the one that keeps its form.
pub(super) const COLLECTIONS: [&str; 21] = [
    PAYMENTS,
    ARCHIVE,
    INBOX,
    EXCEPTIONS,
    APPLICATIONS,
    API_KEYS,
    USERS,
    OPERATORS,
    MERCHANT_POLICIES,
    MERCHANT_PROFILES,
    SESSIONS,
    AUDIT,
    AUDIT_HEAD,
    ROUTE_CONTROLS,
    NODES,
    LINES,
    RUNS,
    LINKS,
    PAGE_EVENTS,
    SECRET_KEYS,
    NUMBER_COUNTERS,
];

/// A payment's amount, indexed inside the payment itself, so that it is stored once.
pub(super) const AMOUNT: &str = "payment.order.amount";
/// Field of the due date, `YYYY-MM-DD`.
pub(super) const DUE_DATE: &str = "payment.order.terms.dueDate";
/// Time at which a payment was paid first.
pub(super) const PAID_AT: &str = "payment.state.paidAt";
/// Statuses of a payment's refunds.
pub(super) const REFUND_STATUS: &str = "payment.state.refunds.status";
/// Ids of a payment's chargebacks.
pub(super) const CHARGEBACK_ID: &str = "payment.chargebacks.id";
/// Mark of the card token that a payment used, indexed inside the payment itself.
pub(super) const USED_TOKEN: &str = "payment.usedToken";
/// End-to-end ids of the Pix that belong to a payment, indexed inside the payment itself.
pub(super) const BOUND_PIX: &str = "payment.boundPix";
/// The merchant of a key.
pub(super) const KEY_MERCHANT: &str = "apiKey.owner.merchant";
/// Time at which an exception was resolved.
pub(super) const RESOLVED_AT: &str = "exception.resolution.at";

/// Newest first: one merchant's payments in one mode; the audit log.
pub(super) const NEWEST: &str = "newest";
/// Payments by status and method; includes the values that figures add up.
pub(super) const BY_KIND: &str = "by_kind";
/// Payments by amount and method. It has no status, so that a change of status touches one index less.
pub(super) const BY_AMOUNT: &str = "by_amount";
pub(super) const BY_DUE_DATE: &str = "by_due_date";
pub(super) const BY_DOCUMENT: &str = "by_document";
pub(super) const BY_EMAIL: &str = "by_email";
pub(super) const BY_EXTERNAL_REFERENCE: &str = "by_external_reference";
/// Payments by payment link; includes the values that decide about its uses.
pub(super) const BY_LINK: &str = "by_link";
pub(super) const BY_CARD: &str = "by_card";
pub(super) const BY_DELIVERY_STATE: &str = "by_delivery_state";
/// Payments with a refund, by its status; payments with a dispute. Both index fields of the payment itself, so they
/// also find payments that an earlier version wrote.
pub(super) const BY_REFUND_STATUS: &str = "by_refund_status";
pub(super) const WITH_DISPUTE: &str = "with_dispute";
/// Boletos by the bank's number, and by the number that the slip shows as the beneficiary's. Databases created before
/// these two and the next index had the mode keep the indexes without it. A node of an earlier version may still use
/// those.
pub(super) const BY_OUR_NUMBER: &str = "by_our_number_in_mode";
pub(super) const BY_DOCUMENT_NUMBER: &str = "by_document_number_in_mode";
/// Payments by the time at which they were paid.
pub(super) const PAID: &str = "paid_in_mode";
/// Payments by status and the time since which they have been at rest.
pub(super) const RESTING: &str = "resting";
/// Copies in the archive whose payments may not have left their place yet.
pub(super) const MOVING: &str = "moving";
/// Lines of lists and files.
pub(super) const SUMMED: &str = "summed";
pub(super) const OF_SOURCE: &str = "of_source";
pub(super) const BY_VERDICT: &str = "by_verdict";
/// Payments that the timer looks for, and notices that wait.
pub(super) const DUE: &str = "due";
pub(super) const OUTBOX: &str = "outbox";
/// Keys by age.
pub(super) const OLDEST: &str = "oldest";
/// Keys, users, and the audit log.
pub(super) const OF_MERCHANT: &str = "of_merchant";
/// The audit log: in the order of the chain, by subject, by initiator, and by the person concerned.
pub(super) const SEQUENCE: &str = "sequence";
pub(super) const OF_SUBJECT: &str = "of_subject";
pub(super) const DONE_BY: &str = "done_by";
pub(super) const DONE_TO: &str = "done_to";
/// Sessions.
pub(super) const OF_PERSON: &str = "of_person";
/// Exceptions.
pub(super) const OPEN: &str = "open";
pub(super) const RESOLVED: &str = "resolved";
/// Nodes.
pub(super) const SEEN: &str = "seen";
/// The default index of every collection.
pub(super) const BY_ID: &str = "_id_";
/// Payments by the token that they used: each token at one payment.
const OF_TOKEN: &str = "of_token";
/// Payments by the Pix that belong to them: each Pix at one payment of a mode.
pub(super) const OF_PIX: &str = "of_pix";
const FINISHED: &str = "finished";
const ENDING: &str = "ending";

/// Makes the server use this index.
pub(super) fn named(index: &str) -> Hint {
    Hint::Name(index.to_owned())
}

/// Creates missing indexes. This takes long only on a collection that is already large.
pub(super) async fn make(database: &Database) -> Result<(), StoreError> {
    make_in(database, PAYMENTS, of_payments()).await?;
    make_in(database, ARCHIVE, of_archive()).await?;
    let inbox = [
        only_with("dueAt", DUE, doc! { "dueAt": 1, "_id": 1 }),
        // Deletion by age needs a BSON date, while every other time is an integer (decision 3).
        expiring(FINISHED, "finishedAt", KEEP_FINISHED_MS),
    ];
    make_in(database, INBOX, inbox).await?;
    let exceptions = [
        index(OPEN, doc! { RESOLVED_AT: 1, "reportedAt": -1, "_id": -1 }),
        only_with(RESOLVED_AT, RESOLVED, doc! { RESOLVED_AT: -1, "_id": -1 }),
    ];
    make_in(database, EXCEPTIONS, exceptions).await?;
    let keys = [
        index(OLDEST, doc! { "createdAt": 1, "_id": 1 }),
        index(OF_MERCHANT, doc! { KEY_MERCHANT: 1, "createdAt": 1, "_id": 1 }),
    ];
    make_in(database, API_KEYS, keys).await?;
    make_in(database, USERS, [index(OF_MERCHANT, doc! { "merchant": 1, "_id": 1 })]).await?;
    let sessions = [expiring(ENDING, "expiresAt", 0), index(OF_PERSON, doc! { "person": 1 })];
    make_in(database, SESSIONS, sessions).await?;
    let audit = [
        index(NEWEST, doc! { "at": -1, "_id": -1 }),
        only_with("merchant", OF_MERCHANT, doc! { "merchant": 1, "at": -1, "_id": -1 }),
        // This index orders concurrent appends. If two nodes take the same place, one gets a duplicate key error and
        // reads the end again.
        unique(SEQUENCE, doc! { "sequence": 1 }),
        only_with("subject", OF_SUBJECT, doc! { "subject": 1 }),
        only_with("parts.initiator.who", DONE_BY, doc! { "parts.initiator.who": 1 }),
        only_with("parts.person.subject", DONE_TO, doc! { "parts.person.subject": 1 }),
    ];
    make_in(database, AUDIT, audit).await?;
    let lines = [
        index(SUMMED, doc! { "day": 1, "source": 1, "verdict": 1, "gross": 1 }),
        index(OF_SOURCE, doc! { "source": 1, "day": 1, "_id": 1 }),
        index(BY_VERDICT, doc! { "source": 1, "verdict": 1, "day": 1, "_id": 1 }),
    ];
    make_in(database, LINES, lines).await?;
    let links = [
        index(NEWEST, doc! { "merchant": 1, "mode": 1, "createdAt": -1, "_id": -1 }),
        only_with(
            "externalReference",
            BY_EXTERNAL_REFERENCE,
            doc! { "merchant": 1, "mode": 1, "externalReference": 1, "createdAt": -1, "_id": -1 },
        ),
    ];
    make_in(database, LINKS, links).await?;
    let with_customer = [
        only_with("document", BY_DOCUMENT, doc! { "document": 1, "customerUntil": 1 }),
        only_with("customerUntil", RESTING, doc! { "customerUntil": 1 }),
    ];
    make_in(database, LINKS, with_customer).await?;
    make_in(database, PAGE_EVENTS, [expiring(SEEN, "seenAt", DAY_MS)]).await?;
    // MongoDB refuses to create an index whose options differ from those of the existing one of that name.
    keep_nodes_longer(database).await;
    make_in(database, NODES, [expiring(SEEN, "seenAt", KEEP_UNSEEN_NODE_MS)]).await
}

/// Raises the time limit of an existing index, because nodes used to be kept for a day. Otherwise the index could not
/// be created.
async fn keep_nodes_longer(database: &Database) {
    let after_s = i64::try_from(KEEP_UNSEEN_NODE_MS / 1_000).unwrap_or(i64::MAX);
    let index = doc! { "name": SEEN, "expireAfterSeconds": after_s };
    // The server refuses this if the collection is missing. Any other failure shows when the index is created.
    drop(database.run_command(doc! { "collMod": NODES, "index": index }).await);
}

/// Returns the indexes of payments; see [`quita_stored_form::PaymentIndex`].
fn of_payments() -> [IndexModel; 20] {
    let of_merchant = |middle: Document| {
        let mut keys = doc! { "merchant": 1, "mode": 1 };
        keys.extend(middle);
        keys.extend(doc! { "createdAt": -1, "_id": -1 });
        keys
    };
    let mut kind = of_merchant(doc! { "status": 1, "method": 1 });
    kind.extend(doc! { AMOUNT: 1, PAID_AT: 1 });
    let mut due_date = of_merchant(doc! {});
    due_date.extend(doc! { DUE_DATE: 1 });
    let mut dispute = of_merchant(doc! {});
    dispute.extend(doc! { CHARGEBACK_ID: 1 });
    let mut link = of_merchant(doc! { "link": 1 });
    link.extend(doc! { "method": 1, "status": 1, PAID_AT: 1 });
    [
        index(NEWEST, of_merchant(doc! {})),
        only_with("link", BY_LINK, link),
        index(BY_KIND, kind),
        index(BY_AMOUNT, of_merchant(doc! { AMOUNT: 1, "method": 1 })),
        only_with(DUE_DATE, BY_DUE_DATE, due_date),
        only_with("document", BY_DOCUMENT, of_merchant(doc! { "document": 1 })),
        only_with("email", BY_EMAIL, of_merchant(doc! { "email": 1 })),
        only_with("externalReference", BY_EXTERNAL_REFERENCE, of_merchant(doc! { "externalReference": 1 })),
        only_with("deliveryStates", BY_DELIVERY_STATE, of_merchant(doc! { "deliveryStates": 1 })),
        only_with(REFUND_STATUS, BY_REFUND_STATUS, of_merchant(doc! { REFUND_STATUS: 1 })),
        only_with(CHARGEBACK_ID, WITH_DISPUTE, dispute),
        only_with("card", BY_CARD, doc! { "card": 1, "createdAt": -1 }),
        only_with("dueAt", DUE, doc! { "dueAt": 1, "_id": 1 }),
        only_with("outboxAt", OUTBOX, doc! { "outboxAt": 1, "_id": 1 }),
        only_with("ourNumber", BY_OUR_NUMBER, doc! { "ourNumber": 1, "mode": 1 }),
        only_with("documentNumber", BY_DOCUMENT_NUMBER, doc! { "documentNumber": 1, "mode": 1 }),
        only_with(PAID_AT, PAID, doc! { "mode": 1, PAID_AT: 1, "_id": 1 }),
        unique_with(USED_TOKEN, OF_TOKEN, doc! { USED_TOKEN: 1 }),
        unique_with(BOUND_PIX, OF_PIX, doc! { BOUND_PIX: 1, "mode": 1 }),
        only_with("restsSince", RESTING, doc! { "status": 1, "restsSince": 1, "_id": 1 }),
    ]
}

/// Indexes that the archive does not need. The stubs have the values that no other payment may have, and the tries of
/// an archived payment's card no longer count.
const NOT_OF_ARCHIVE: [&str; 3] = [OF_TOKEN, OF_PIX, BY_CARD];

fn of_archive() -> impl Iterator<Item = IndexModel> {
    let is_needed = |index: &IndexModel| {
        let name = index.options.as_ref().and_then(|options| options.name.as_deref());
        name.is_none_or(|name| !NOT_OF_ARCHIVE.contains(&name))
    };
    of_payments().into_iter().filter(is_needed).chain([only_with(MOVING, MOVING, doc! { MOVING: 1 })])
}

async fn make_in(
    database: &Database,
    collection: &str,
    indexes: impl IntoIterator<Item = IndexModel>,
) -> Result<(), StoreError> {
    let made = database.collection::<RawDocumentBuf>(collection).create_indexes(indexes).await;
    made.map(drop).map_err(|error| {
        let StoreError::Unavailable(why) = store_error(&error) else { return store_error(&error) };
        StoreError::Unavailable(format!("the indexes of {collection} can't be made: {why}"))
    })
}

fn index(name: &str, keys: Document) -> IndexModel {
    with_options(keys, IndexOptions::builder().name(name.to_owned()).build())
}

/// Returns an index of a field whose value is different in every document.
fn unique(name: &str, keys: Document) -> IndexModel {
    with_options(keys, IndexOptions::builder().name(name.to_owned()).unique(true).build())
}

/// Returns an index of the documents that have this field, whose value is different in each of them.
fn unique_with(field: &str, name: &str, keys: Document) -> IndexModel {
    let present = doc! { field: { "$exists": true } };
    let options = IndexOptions::builder().name(name.to_owned()).unique(true);
    with_options(keys, options.partial_filter_expression(present).build())
}

/// Returns an index of the documents that have this field, which are few.
fn only_with(field: &str, name: &str, keys: Document) -> IndexModel {
    let present = doc! { field: { "$exists": true } };
    // Documents without the field cost no entry: an index of due work stays as small as the work that is due.
    let options = IndexOptions::builder().name(name.to_owned()).partial_filter_expression(present);
    with_options(keys, options.build())
}

/// Returns an index that deletes a document this long after the date in this field.
fn expiring(name: &str, field: &str, after_ms: u64) -> IndexModel {
    let after = Duration::from_millis(after_ms);
    let options = IndexOptions::builder().name(name.to_owned()).expire_after(after);
    with_options(doc! { field: 1 }, options.build())
}

fn with_options(keys: Document, options: IndexOptions) -> IndexModel {
    IndexModel::builder().keys(keys).options(options).build()
}
