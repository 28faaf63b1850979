//! Pix that belong to other payments.

use crate::payments::unknown_outcomes::charge_answered;
use crate::*;

const PIX: &str = "E1234567820261121120000000000001";
const OWN: &str = "E1234567820261121120000000000002";

fn other() -> TransactionId {
    TransactionId::new(Uuid::from_u128(99))
}

fn taken(pix: &str) -> Command {
    Command::PixTaken { pix: pix.into(), other: other() }
}

fn came_by(pix: &str) -> Fact {
    let Fact::Settled(settlement) = settled(pix, 10_000) else { panic!("a settlement") };
    Fact::Settled(Settlement { end_to_end_id: Some(pix.into()), ..settlement })
}

fn stated(facts: Vec<Fact>, pix: &str) -> ChargeAnswer {
    let reference = Reference::none().with("txid", "t").with("endToEndId", pix);
    ChargeAnswer::Known(Statement { facts, reference })
}

fn asked(payment: &Payment, answer: ChargeAnswer) -> Command {
    Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: payment.inquired_at,
        inquiring: None,
        answer,
    }
}

fn noted() -> Payment {
    after(&pending(), taken(PIX), 1_000)
}

#[test]
fn a_payment_is_bound_to_the_pix_that_paid_it() {
    let pending = pending();
    let paid = after(&pending, notice(came_by(OWN)), 2_000);
    assert_eq!((paid.status(), paid.pix_bound_since(&pending)), (Status::Paid, &[OWN.to_owned()][..]));
    assert!(paid.pix_bound_since(&paid).is_empty());
    let again = paid.decide(notice(came_by(OWN)), &at(3_000)).unwrap();
    assert!(again.next.is_none(), "once is enough");
    let second = after(&paid, notice(came_by(PIX)), 3_000);
    assert_eq!(
        second.bound_pix,
        [OWN],
        "a second one is no money of the payment's, and is given back by a person"
    );
}

#[test]
fn a_pix_of_another_payment_is_reported_once_and_its_acquirer_asked_again() {
    let decision = pending().decide(taken(PIX), &at(1_000)).unwrap();
    let [known] = decision.discrepancies.as_slice() else { panic!("{:?}", decision.discrepancies) };
    assert_eq!((known.kind, known.about.as_deref()), (DiscrepancyKind::PixTaken, Some(PIX)));
    assert!(known.detail.contains(&other().to_string()), "{}", known.detail);
    let noted = noted();
    assert_eq!((noted.status(), noted.query().foreign_pix), (Status::Pending, vec![PIX.to_owned()]));
    assert!(noted.due_at().is_some_and(|due| due <= START.plus_ms(3_000)), "{:?}", noted.due_at());
    assert!(noted.decide(taken(PIX), &at(2_000)).unwrap().next.is_none());
    let read: Payment = serde_json::from_str(&serde_json::to_string(&noted).unwrap()).unwrap();
    assert_eq!(read, noted);
}

#[test]
fn nothing_that_is_stated_of_such_a_pix_is_believed() {
    let noted = noted();
    let refunded = Fact::Refunded { refund_id: "r".into(), amount: None };
    for facts in [
        vec![pending_fact(), came_by(PIX)],
        vec![pending_fact(), came_by(PIX), refunded.clone()],
        vec![pending_fact(), came_by(PIX), charged_back("c")],
    ] {
        let decision = noted.decide(asked(&noted, stated(facts, PIX)), &at(5_000)).unwrap();
        assert!(decision.discrepancies.is_empty(), "it was reported before: {:?}", decision.discrepancies);
        let next = decision.next.unwrap_or_else(|| noted.clone());
        assert_eq!((next.status(), &next.bound_pix), (Status::Pending, &noted.bound_pix));
        let reference = next.query().reference;
        assert_eq!(reference.get("endToEndId"), None, "a refund would go to the other payment's payer");
    }
    for fact in [came_by(PIX), refunded, charged_back("c"), dispute_won("d")] {
        let decision = noted.decide(notice(fact), &at(5_000)).unwrap();
        assert!(decision.next.is_none() && decision.discrepancies.is_empty());
    }
}

#[test]
fn a_pix_of_its_own_pays_it_all_the_same() {
    let noted = noted();
    let answer = stated(vec![pending_fact(), came_by(OWN), came_by(PIX)], OWN);
    let paid = after(&noted, asked(&noted, answer), 5_000);
    assert_eq!((paid.status(), paid.state.end_to_end_id.as_deref()), (Status::Paid, Some(OWN)));
    assert_eq!(paid.query().reference.get("endToEndId"), Some(OWN));
    let back = after(&paid, notice(Fact::Refunded { refund_id: "r".into(), amount: None }), 6_000);
    assert_eq!(back.status(), Status::Refund);
}

#[test]
fn a_charge_whose_first_answer_states_such_a_pix_is_asked_about() {
    let opened = open(pix_order()).next.unwrap();
    let noted = after(&opened, taken(PIX), 100);
    let answered = after(&noted, charge_answered(stated(vec![came_by(PIX)], PIX)), 200);
    assert_eq!(answered.status(), Status::Initial);
    assert!(answered.due_at().is_some(), "nothing is known of it yet");
    let answered = after(&noted, charge_answered(stated(vec![pending_fact(), came_by(PIX)], PIX)), 200);
    assert_eq!(answered.status(), Status::Pending);
}

#[test]
fn money_of_a_declined_payment_goes_back_once_and_never_that_of_another_payment() {
    let declined = after(&pending(), notice(Fact::Declined(Decline::of("x"))), 100);
    let given_back = declined.decide(notice(came_by(PIX)), &at(2_000)).unwrap();
    let next = given_back.next.unwrap();
    assert_eq!(
        next.pix_bound_since(&declined),
        &[PIX.to_owned()][..],
        "the store refuses this if it is another's"
    );
    assert_eq!(next.operations.len(), 1);
    let noted = after(&declined, taken(PIX), 2_000);
    let again = noted.decide(notice(came_by(PIX)), &at(3_000)).unwrap();
    assert!(again.next.is_none() && again.discrepancies.is_empty());
    assert!(noted.operations.is_empty());
}

#[test]
fn a_bank_that_states_ever_more_of_them_does_not_make_the_payment_grow() {
    let mut payment = pending();
    for number in 0..80 {
        let decision = payment.decide(taken(&format!("E{number}")), &at(1_000 + number)).unwrap();
        assert_eq!(decision.discrepancies.len(), 1, "each is reported");
        payment = reported(decision.next.unwrap_or(payment), 1_000 + number);
        let again = payment.decide(notice(came_by(&format!("E{number}"))), &at(1_000 + number)).unwrap();
        assert!(again.next.is_none(), "it is believed no more, however many there were before");
    }
    assert_eq!(payment.foreign_pix.len(), 64);
}
