//! Sample of a paid payment for test events. It passes the same steps as a real one, but is never stored.

use quita_domain::acquiring::{ChargeAnswer, Fact, Issued, Settlement};
use quita_domain::identity::{AcquirerName, ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::{Command, Context, NewPayment, Payment};
use quita_domain::request::{self, RequestLimits};
use quita_domain::routing::{Considered, Routed};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::sample_request;

/// Acquirer of the sample payment.
const ACQUIRER: &str = "sandbox";

/// Returns a payment in this mode that was created and paid just now. `None` if the domain refused a step, which is a
/// bug.
pub(super) fn paid_payment(
    merchant: &MerchantId,
    application: &ApplicationName,
    mode: Mode,
    limits: &RequestLimits,
    now: Timestamp,
) -> Option<Payment> {
    let purchase =
        request::parse(sample_request::body(None).as_bytes(), now, limits).ok()?.into_purchase().ok()?;
    let owner = Owner { merchant: merchant.clone(), application: application.clone(), mode };
    let id = TransactionId::new(Uuid::now_v7());
    let amount = purchase.order.amount;
    let context = Context::plain(now, Uuid::now_v7());
    let acquirer = AcquirerName::new(ACQUIRER);
    let considered = Considered { acquirer, eligible: true, reason: "eligible".into() };
    let new = NewPayment {
        id,
        owner,
        order: purchase.order,
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: "example".into(),
        link: None,
        considered: vec![considered],
        routed: Routed::default(),
    };
    let opened = Payment::open(new, &context).next?;
    let issued = Issued::Pix {
        txid: id.uuid().simple().to_string(),
        code: "00020101021226580014br.gov.bcb.pix".into(),
        expires_at: now.plus_ms(3_600_000),
    };
    let answer = ChargeAnswer::known(Fact::Pending { issued, news_at: None });
    let pending = opened
        .decide(Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, &context)
        .ok()?
        .next?;
    let settlement =
        Settlement { id: "example".into(), amount, paid_on: None, end_to_end_id: None, approval: None };
    let acquirer = AcquirerName::new(ACQUIRER);
    let fact = Fact::Settled(settlement);
    pending.decide(Command::Notified { acquirer, fact }, &context).ok()?.next
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::request::PostbackPolicy;
    use quita_domain::status::Status;

    #[test]
    fn the_made_up_payment_is_paid_by_the_rules() {
        let limits = RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let merchant = MerchantId::new("demo");
        let application = ApplicationName::new("shop");
        let payment = paid_payment(&merchant, &application, Mode::Live, &limits, now).unwrap();
        assert_eq!((payment.status(), payment.owner.mode), (Status::Paid, Mode::Live));
        let told: Vec<_> = payment.history.iter().map(|event| event.status).collect();
        assert_eq!(told, [Status::Pending, Status::Paid]);
        assert!(payment.outbox.is_empty(), "nothing of it is ever delivered");
    }
}
