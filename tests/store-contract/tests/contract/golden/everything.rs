//! One value of every kind that a store keeps, with every field set, always the same.

use std::sync::Arc;

use quita_domain::access::{ApiKey, Application, KeyKind};
use quita_domain::acquiring::OperationAnswer;
use quita_domain::audit::chain::ChainHead;
use quita_domain::audit::{AuditErasure, AuditScope};
use quita_domain::control::RouteDirective;
use quita_domain::identity::{LinkId, MerchantId, Mode, OperationId, TransactionId};
use quita_domain::link::{KeyedClosing, Link, TakenUse};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_domain::people::{MerchantPolicy, MerchantProfile, Operator, OperatorRole, User};
use quita_domain::reconciliation::{LineFinding, LineSubject, StatementLine, StoredLine};
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, WholeStore, Write};
use uuid::Uuid;

use crate::access::{application, key};
use crate::audit::{account, chain_key, entry, new};
use crate::erasure::{erased, of_somebody_under};
use crate::exceptions::exception;
use crate::numbers::range;
use crate::operator::{control, node, resolution};
use crate::people::{full_credentials, full_mailing, full_webhook, operator, session, user};
use crate::reconciliation::{claim, different, judged, line};
use crate::secret_keys::{record, sealed};
use crate::{complete, links};
use quita_store_contract::samples::{
    Sample, answered, charged_back, dispute_won, insert, notice, paid, pending, refunded,
};

/// A time so late that no server deletes sessions and nodes for their age: 2100-01-01.
const LATER: Timestamp = Timestamp::from_millis(4_102_444_800_000);

/// Number of the refund of a refunded payment.
const REFUND: OperationId = OperationId::new(Uuid::from_u128(71));

fn id(number: u128) -> TransactionId {
    TransactionId::new(Uuid::from_u128(number))
}

/// Returns the payment with a deterministic id of its last write.
fn settled(mut payment: Payment) -> Payment {
    payment.last_op = Uuid::from_u128(payment.id.uuid().as_u128() << 32);
    payment
}

/// Returns the payment with a refund whose id is deterministic.
fn given_back(paid: &Payment) -> Payment {
    let mut payment = refunded(paid, 2_500, OperationAnswer::Done, 5_000);
    for operation in &mut payment.operations {
        operation.id = REFUND;
    }
    for refund in &mut Arc::make_mut(&mut payment.state).refunds {
        refund.id = REFUND.to_string();
    }
    for event in &mut payment.history {
        if let Some(refund) = &mut event.refund {
            refund.refund_id = REFUND.to_string();
        }
        for refund in event.snapshot.iter_mut().flat_map(|state| &mut Arc::make_mut(state).refunds) {
            refund.id = REFUND.to_string();
        }
    }
    payment
}

/// Returns payments of each method in several states, some with every field set.
pub fn payments() -> Vec<Payment> {
    let opened = |number, method, mode| Sample { id: id(number), method, mode, ..Sample::default() }.open();
    let pix = |number| opened(number, Method::Pix, Mode::Test);
    let waiting = |number| pending(&pix(number), 2_000);
    let paid = |number| paid(&waiting(number), 3_000);
    let confirmed = |number| answered(&paid(number), 0, 200, 4_000);
    let mut all = vec![
        pix(1),
        waiting(2),
        paid(3),
        confirmed(4),
        given_back(&confirmed(5)),
        dispute_won(&charged_back(&confirmed(6), "c-1", 6_000), "c-1", 7_000),
        opened(7, Method::Boleto, Mode::Live),
        opened(8, Method::CreditCard, Mode::Live),
        erased(&of_somebody_under(id(9), 8_000), 9_000),
    ];
    all.extend(complete::payments_under([10, 11, 12, 13].map(id)));
    all.into_iter().map(settled).collect()
}

fn whole_application() -> Application {
    let mut whole = application("whsec_test");
    whole.title = Some(String::from("A loja"));
    whole.endpoints.set(Mode::Live, Some(String::from("https://loja.example/eventos")));
    whole
}

fn keys() -> [ApiKey; 2] {
    let at = |millis| Some(Timestamp::from_millis(millis));
    let whole = ApiKey {
        kind: KeyKind::Publishable,
        expires_at: at(9_000),
        revoked_at: at(8_000),
        exposed_at: at(7_000),
        last_used_at: at(6_000),
        ..key("1123456789abcdef", 2)
    };
    [key("0123456789abcdef", 1), whole]
}

fn users() -> [User; 2] {
    let bare = user("ana@loja.example", "loja");
    let whole = User {
        credentials: full_credentials(),
        mailing: full_mailing(),
        message_webhook: Some(full_webhook()),
        ..user("bia@loja.example", "loja")
    };
    [bare, whole]
}

fn operators() -> [Operator; 2] {
    let bare = operator("olga@ops.example", OperatorRole::Operator);
    let whole = Operator {
        credentials: full_credentials(),
        mailing: full_mailing(),
        message_webhook: Some(full_webhook()),
        ..operator("pia@ops.example", OperatorRole::Auditor)
    };
    [bare, whole]
}

fn lines() -> Vec<StoredLine> {
    let transaction_id = Some(id(1));
    let end_to_end_id = "E".repeat(32);
    let refund_id = String::from("r-1");
    let refund = LineSubject::Refund { transaction_id, end_to_end_id, refund_id, is_chargeback: true };
    let boleto = LineSubject::Boleto {
        bank: String::from("341"),
        our_number: Some(String::from("7")),
        document_number: Some(String::from("42")),
        interest: Money::from_cents(11),
        credited_on: Some(Timestamp::from_millis(4_000).sao_paulo_date()),
    };
    let with = |number: &str, subject| {
        let stored = line(number, 2, 300);
        let line = StatementLine { subject, other_key: Some(String::from("k")), ..stored.line };
        StoredLine { line, ..stored }
    };
    vec![
        line("1", 1, 100),
        judged(line("2", 1, 200), different()),
        judged(with("3", refund), LineFinding::Matched),
        judged(with("4", boleto), LineFinding::UnknownHere),
    ]
}

fn link() -> Link {
    let until = Timestamp::from_millis(5_000);
    Link {
        id: LinkId::new(Uuid::from_u128(77)),
        closed_at: Some(Timestamp::from_millis(6_000)),
        closings: vec![KeyedClosing { key: "fechar-1".to_owned(), cancel_pending: true }],
        taken: vec![TakenUse { payment: id(1), method: Some(Method::Pix), until }],
        ..links::whole(1_000)
    }
}

fn policy() -> MerchantPolicy {
    MerchantPolicy { second_factor_required: true, confirm_refunds_above: Some(Money::from_cents(5)) }
}

fn profile() -> MerchantProfile {
    let named = MerchantProfile::default().with_display_name("Padaria Estrela").unwrap();
    named.with_contact("ajuda@loja.example").unwrap()
}

/// Stores one value of every kind in an empty store.
pub async fn put_into(store: Arc<dyn WholeStore>) {
    for payment in payments() {
        let before = if payment.is_erased() && payment.revision > 1 { payment.revision - 1 } else { 0 };
        if before > 0 {
            // The store records an erasure with the write that makes it.
            let known = Payment { revision: before, erased_at: None, ..payment.clone() };
            assert_eq!(store.commit(&[insert(&known)]).await, [Ok(())]);
        }
        let write = Write { payment: Arc::new(payment), expected_revision: before };
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
    }
    store.put_notices(&[notice("bank:1", 1_000), notice("bank:2", 2_000)]).await.unwrap();
    store.postpone_notice("bank:1", 0, Timestamp::from_millis(3_000)).await.unwrap();
    store.finish_notices(&[String::from("bank:2")], LATER).await.unwrap();
    for (name, at) in [("e-1", 1), ("e-2", 2)] {
        store.put_exception(&exception(name, at)).await.unwrap();
    }
    assert_eq!(store.resolve_exception("e-2", &resolution(3)).await, Ok(true));
    assert_eq!(store.insert_application(&whole_application()).await, Ok(true));
    for key in keys() {
        store.insert_key(&key).await.unwrap();
    }
    for user in users() {
        assert_eq!(store.insert_user(&user).await, Ok(true));
    }
    for operator in operators() {
        assert_eq!(store.insert_operator(&operator).await, Ok(true));
    }
    let merchant = MerchantId::new("loja");
    store.put_policy(&merchant, &policy()).await.unwrap();
    store.put_profile(&merchant, &profile()).await.unwrap();
    store.insert_session(&session("token", LATER)).await.unwrap();
    store.begin_audit(&ChainHead::beginning(&chain_key())).await.unwrap();
    for (number, merchant) in [(1, None), (2, Some("loja"))] {
        store.append_audit(&new(&entry(number, 1, merchant)), &chain_key()).await.unwrap();
    }
    let erasure = AuditErasure::ContentAt(vec![1]);
    assert_eq!(store.erase_audit(&erasure, 10, &account(3), &chain_key()).await, Ok(1));
    store.put_route_control(&control("bank", Method::Pix, RouteDirective::Drained)).await.unwrap();
    store.put_node(&node(2, 1, LATER)).await.unwrap();
    store.put_lines(&lines()).await.unwrap();
    assert_eq!(store.claim_run(&claim(1, 0, 100)).await, Ok(true));
    store.finish_run(&claim(1, 50, 50)).await.unwrap();
    assert_eq!(store.insert_link(&link()).await, Ok(true));
    let limit = EventLimit { name: String::from("pages"), most: 2, within_ms: 1_000 };
    assert_eq!(store.count_event(&limit, LATER).await, Ok(None));
    assert_eq!(store.replace_key_record(None, &record("key")).await, Ok(true));
    assert_eq!(store.replace_audit_key(None, &sealed("audit")).await, Ok(true));
    assert!(store.take_numbers(&range("1-1-7", 7, 12), 4).await.unwrap().is_some());
}

/// Checks that everything that [`put_into`] stored can be read.
pub async fn check_is_in(store: Arc<dyn WholeStore>) {
    let expected = payments();
    let ids: Vec<_> = expected.iter().map(|payment| payment.id).collect();
    let mut found = store.load(&ids).await.unwrap();
    found.sort_by_key(|payment| payment.id.uuid());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.id, found.status()), (expected.id, expected.status()));
    }
    assert_eq!(store.waiting_notices(&["bank:1", "bank:2"].map(String::from)).await.unwrap(), ["bank:1"]);
    assert_eq!(store.exceptions(10).await.unwrap().len(), 1);
    assert_eq!(store.resolved_exceptions(10).await.unwrap().len(), 1);
    let merchant = MerchantId::new("loja");
    assert_eq!(store.applications(&merchant).await.unwrap().len(), 1);
    assert_eq!(store.keys().await.unwrap().len(), 2);
    assert_eq!(store.users(&merchant).await.unwrap().len(), 2);
    assert_eq!(store.operators().await.unwrap().len(), 2);
    assert_eq!(store.policy(&merchant).await, Ok(policy()));
    assert_eq!(store.profile(&merchant).await.unwrap().display_name(), Some("Padaria Estrela"));
    assert!(store.session(&session("token", LATER).id).await.unwrap().is_some());
    assert_eq!(store.audit(&AuditScope::Everything, None, 10).await.unwrap().len(), 3);
    assert_eq!(store.chained_audit(0, 10).await.unwrap().len(), 3);
    assert_eq!(store.route_controls().await.unwrap().len(), 1);
    assert_eq!(store.nodes(LATER).await.unwrap().len(), 1);
    let names: Vec<_> = lines().into_iter().map(|stored| stored.line.id).collect();
    assert_eq!(store.lines_with_ids(&names).await.unwrap().len(), names.len());
    assert_eq!(store.claim_run(&claim(2, 1_000, 2_000)).await, Ok(false), "it is done");
    assert!(store.link(link().id).await.unwrap().is_some());
    assert!(store.key_record().await.unwrap().is_some());
    assert!(store.audit_key().await.unwrap().is_some());
    let next = store.take_numbers(&range("1-1-7", 7, 12), 4).await.unwrap().unwrap();
    assert_eq!(next.first, 11, "no number is given out twice");
}
