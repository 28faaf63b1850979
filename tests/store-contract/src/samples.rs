//! Payments as the service creates them, with `open` and `decide`.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_domain::acquiring::{ChargeAnswer, Fact, Issued, Notice, OperationAnswer, Settlement};
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{
    AcquirerName, ApplicationName, MerchantId, Mode, OperationId, Owner, TransactionId,
};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::{AttemptNumber, DeliveryIndex};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::order::{Address, Item, Order, Payer, Terms, Utm};
use quita_domain::payment::{Command, Context, NewPayment, Payment};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::{Considered, Routed};
use quita_domain::time::Timestamp;
use quita_ports::Write;
use uuid::Uuid;

pub const CPF: &str = "52998224725";
pub const OTHER_CPF: &str = "11144477735";

/// Properties in which sample payments may differ.
#[derive(Clone)]
pub struct Sample {
    pub id: TransactionId,
    pub at: i64,
    pub merchant: &'static str,
    pub mode: Mode,
    pub method: Method,
    pub amount: u64,
    pub document: &'static str,
    pub email: &'static str,
    pub reference: Option<&'static str>,
    pub postback: bool,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            id: TransactionId::new(Uuid::now_v7()),
            at: 1_000,
            merchant: "loja",
            mode: Mode::Test,
            method: Method::Pix,
            amount: 10_000,
            document: CPF,
            email: "ana@example.com",
            reference: None,
            postback: true,
        }
    }
}

impl Sample {
    pub fn open(self) -> Payment {
        let owner = self.owner();
        let order = Arc::new(self.order());
        let considered =
            Considered { acquirer: AcquirerName::new("sandbox"), eligible: true, reason: "preferred".into() };
        let new = NewPayment {
            id: self.id,
            owner,
            order,
            fingerprint: Some("f".repeat(64)),
            card_fingerprint: None,
            used_token: None,
            page_token: String::from("token"),
            link: None,
            considered: vec![considered],
            routed: Routed::default(),
        };
        Payment::open(new, &context(self.at)).next.unwrap()
    }

    fn owner(&self) -> Owner {
        Owner {
            merchant: MerchantId::new(self.merchant),
            application: ApplicationName::new("default"),
            mode: self.mode,
        }
    }

    fn order(&self) -> Order {
        let terms = match self.method {
            Method::Pix | Method::CreditCard => Terms::Pix { expires_in_s: 3_600 },
            Method::Boleto => {
                Terms::Boleto(DueTerms::plain(Timestamp::from_millis(self.at).sao_paulo_date()))
            }
        };
        let item = Item {
            id: Some(Uuid::from_u128(5)),
            name: String::from("Café"),
            quantity: 2,
            price: Money::from_cents(5_000),
        };
        Order {
            method: self.method,
            amount: Money::from_cents(self.amount),
            payer: self.payer(),
            items: vec![item],
            shipping_fee: None,
            splits: Vec::new(),
            utm: Utm::default(),
            postback_url: self.postback.then(|| String::from("https://loja.example/quita")),
            external_reference: self.reference.map(String::from),
            metadata: BTreeMap::from([(String::from("pedido"), String::from("42"))]),
            terms,
        }
    }

    fn payer(&self) -> Payer {
        Payer {
            first_name: String::from("Ana"),
            last_name: String::from("Ávila"),
            document: Document::parse(self.document, DocumentType::Cpf).unwrap(),
            email: self.email.into(),
            phone: Phone::parse("11987654321").unwrap(),
            address: Some(Address {
                street: String::from("Rua A"),
                number: String::from("S/N"),
                complement: None,
                neighborhood: String::from("Centro"),
                city: String::from("São Paulo"),
                state: Uf::parse("SP").unwrap(),
                zip_code: Cep::parse("01001000").unwrap(),
            }),
        }
    }
}

/// Returns a payment that was created at this time.
pub fn created_at(at: i64) -> Payment {
    Sample { at, ..Sample::default() }.open()
}

pub fn context(at: i64) -> Context {
    let now = Timestamp::from_millis(at);
    Context { card_at_hand: true, ..Context::plain(now, Uuid::now_v7()) }
}

fn told(payment: &Payment, command: Command, at: i64) -> Payment {
    payment.decide(command, &context(at)).unwrap().next.unwrap()
}

/// Returns the payment after its acquirer issued a code to pay it with.
pub fn pending(payment: &Payment, at: i64) -> Payment {
    let issued = Issued::Pix {
        txid: "t".repeat(26),
        code: "00020101021226".repeat(12),
        expires_at: Timestamp::from_millis(at + 3_600_000),
    };
    let answer = ChargeAnswer::known(Fact::Pending { issued, news_at: None });
    told(payment, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, at)
}

/// Returns a waiting payment after the money came in.
pub fn paid(payment: &Payment, at: i64) -> Payment {
    notified(payment, settled(payment), at)
}

fn notified(payment: &Payment, fact: Fact, at: i64) -> Payment {
    let acquirer = payment.acquirer().unwrap().clone();
    told(payment, Command::Notified { acquirer, fact }, at)
}

/// Returns a paid payment after this partial chargeback came in.
pub fn charged_back(payment: &Payment, id: &str, at: i64) -> Payment {
    notified(payment, Fact::ChargedBack { id: id.into(), amount: Some(Money::from_cents(1_000)) }, at)
}

/// Returns a payment after the dispute about this chargeback was won.
pub fn dispute_won(payment: &Payment, chargeback: &str, at: i64) -> Payment {
    let fact = Fact::DisputeWon { id: format!("won-{chargeback}"), chargeback_id: Some(chargeback.into()) };
    notified(payment, fact, at)
}

fn settled(payment: &Payment) -> Fact {
    settled_by(payment.id, payment.order.amount)
}

fn settled_by(id: TransactionId, amount: Money) -> Fact {
    Fact::Settled(Settlement {
        id: String::from("s-1"),
        amount,
        paid_on: None,
        // A Pix pays only one payment.
        end_to_end_id: Some(id.uuid().simple().to_string()),
        approval: None,
    })
}

/// Returns a paid payment after a refund of this amount was requested.
pub fn refund_asked(payment: &Payment, cents: u64, at: i64) -> Payment {
    let requested = RequestedOperation::Refund(Some(Money::from_cents(cents)));
    told(
        payment,
        Command::Operate(OperationRequest { id: OperationId::new(Uuid::now_v7()), requested, key: None }),
        at,
    )
}

/// Returns a paid payment after its acquirer ended a refund of this amount: done, or refused.
pub fn refunded(payment: &Payment, cents: u64, answer: OperationAnswer, at: i64) -> Payment {
    let asked = refund_asked(payment, cents, at);
    operation_answered(&asked, asked.operations.last().unwrap().id, answer, at)
}

/// Returns the payment after its acquirer answered the first request of an operation.
pub fn operation_answered(
    payment: &Payment,
    operation: OperationId,
    answer: OperationAnswer,
    at: i64,
) -> Payment {
    told(payment, Command::OperationAnswered { operation, sending: 1, answer }, at)
}

/// Returns the payment after its receiver gave this answer to a delivery.
pub fn answered(payment: &Payment, delivery: u32, status: u16, at: i64) -> Payment {
    let attempt = DeliveryAttempt {
        at: Timestamp::from_millis(at),
        duration_ms: 12,
        status: Some(status),
        error: None,
        answer: Some(String::from("ok")),
        retry_after_ms: None,
    };
    told(payment, Command::DeliveryAnswered { delivery: DeliveryIndex::new(delivery), attempt }, at)
}

/// Returns the write that inserts a new payment.
pub fn insert(payment: &Payment) -> Write {
    Write { payment: Arc::new(payment.clone()), expected_revision: 0 }
}

/// Returns the write that replaces the previous revision.
pub fn replace(payment: &Payment) -> Write {
    Write { payment: Arc::new(payment.clone()), expected_revision: payment.revision - 1 }
}

/// Returns a notice about a payment that does not exist.
pub fn notice(id: &str, at: i64) -> Notice {
    let nobody = TransactionId::new(Uuid::from_u128(9));
    Notice {
        id: id.into(),
        acquirer: AcquirerName::new("sandbox"),
        transaction_id: nobody,
        fact: settled_by(nobody, Money::from_cents(10_000)),
        received_at: Timestamp::from_millis(at),
    }
}
