//! Payment links, their uses, and what is counted at their pages.

use std::sync::Arc;

use futures_util::future::join_all;
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{ApplicationName, LinkId, MerchantId, Mode, Owner, TransactionId};
use quita_domain::link::{Link, LinkFilter, LinkUses, UnstoredUses};
use quita_domain::listing::PaymentFilter;
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::request::link::parse;
use quita_domain::request::{PostbackPolicy, RequestLimits};
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, WholeStore};
use uuid::Uuid;

use crate::listing::everything;
use quita_store_contract::samples::{Sample, insert, paid, pending, replace};

/// A link with all possible fields.
const WHOLE: &str = r#"{"amount":5000,"currency":"BRL","title":"Aula","description":"de música","uses":3,
    "items":[{"id":"8b1f6ae4-7d6e-4c39-9f3d-0a7b53d3d0aa","name":"Aula","quantity":2,"price":2500}],
    "shipping":{"fee":100},"methods":["pix"],"maxInstallments":2,"dueInDays":3,"payableAfterDueDays":5,
    "fine":{"percentage":2},"interest":{"amountPerDay":10},"instructions":["uma"],"metadata":{"a":"b"},
    "splits":[{"recipientId":"r","percentage":12.5}],"UTMSource":"s","externalReference":"p-1",
    "postbackUrl":"https://loja.example.com/q","successUrl":"https://loja.example.com/ok?a=1#b",
    "customer":{"firstName":"Ana","lastName":"Lima","document":"52998224725","email":"ana@example.com",
    "phoneNumber":"11987654321","address":{"street":"Rua Um","number":"1","neighborhood":"Centro",
    "city":"São Paulo","state":"SP","zipCode":"01304000"}}}"#;

fn link_of(merchant: &str, mode: Mode, body: &str, at: i64) -> Link {
    let now = Timestamp::from_millis(at);
    let limits = RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };
    let application = ApplicationName::new("default");
    let owner = Owner { merchant: MerchantId::new(merchant), application, mode };
    let parsed = parse(body.as_bytes(), now, &limits).unwrap();
    let fingerprint = Some(parsed.fingerprint(b"key"));
    parsed.into_link(LinkId::new(Uuid::now_v7()), owner, fingerprint, &[Method::Pix], now).unwrap()
}

pub fn whole(at: i64) -> Link {
    link_of("loja", Mode::Test, WHOLE, at)
}

fn of_merchant(external_reference: Option<&str>) -> LinkFilter {
    LinkFilter {
        merchant: MerchantId::new("loja"),
        mode: Mode::Test,
        external_reference: external_reference.map(String::from),
    }
}

pub async fn a_link_reads_back_as_it_was_and_its_id_is_taken_once(store: Arc<dyn WholeStore>) {
    let link = whole(1_000);
    assert_eq!(store.link(link.id).await, Ok(None));
    assert_eq!(store.insert_link(&link).await, Ok(true));
    let other = Link { id: link.id, ..whole(2_000) };
    assert_eq!(store.insert_link(&other).await, Ok(false));
    assert_eq!(store.link(link.id).await, Ok(Some(link)));
}

pub async fn of_many_replacements_of_a_link_one_wins(store: Arc<dyn WholeStore>) {
    let link = whole(1_000);
    store.insert_link(&link).await.unwrap();
    let now = Timestamp::from_millis(1_000);
    let take = |number: u128| {
        let payment = TransactionId::new(Uuid::from_u128(number));
        link.take(payment, Method::Pix, &LinkUses::default(), UnstoredUses::default(), now).unwrap()
    };
    let taken: Vec<_> = (1..=8).map(take).collect();
    let replaced = join_all(taken.iter().map(|link| store.replace_link(link))).await;
    let won: Vec<_> = replaced.iter().zip(&taken).filter(|(won, _)| **won == Ok(true)).collect();
    assert_eq!(won.len(), 1, "{replaced:?}");
    let stored = store.link(link.id).await.unwrap().unwrap();
    assert_eq!(&stored, won[0].1);
    let absent = Link { id: LinkId::new(Uuid::now_v7()), ..stored };
    assert_eq!(store.replace_link(&absent).await, Ok(false));
}

pub async fn the_newest_links_come_first_and_pages_neither_skip_nor_repeat(store: Arc<dyn WholeStore>) {
    let mut mine: Vec<_> = [5, 5, 5, 7, 3].into_iter().map(whole).collect();
    let plain = r#"{"amount":1,"currency":"BRL","title":"x"}"#;
    mine.push(link_of("loja", Mode::Test, plain, 6));
    let others = [link_of("outra", Mode::Test, WHOLE, 5), link_of("loja", Mode::Live, WHOLE, 5)];
    for link in mine.iter().chain(&others) {
        store.insert_link(link).await.unwrap();
    }
    mine.sort_by_key(|link| std::cmp::Reverse((link.created_at, link.id)));
    for (reference, expected) in [
        (None, mine.clone()),
        (Some("p-1"), mine.iter().filter(|link| link.offer.external_reference.is_some()).cloned().collect()),
        (Some("p-2"), Vec::new()),
    ] {
        let mut found: Vec<Link> = Vec::new();
        loop {
            let after = found.last().map(Link::place);
            let page = store.links(&of_merchant(reference), after, 2).await.unwrap();
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found, expected, "{reference:?}");
    }
}

async fn store_payment(store: &Arc<dyn WholeStore>, payment: &Payment) {
    let stored = store.commit(&[insert(payment)]).await;
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
}

pub async fn uses_are_counted_in_the_payments_of_a_link(store: Arc<dyn WholeStore>) {
    let link = whole(1_000);
    let of_link = |method, link: &Link| {
        let opened = Sample { method, ..Sample::default() }.open();
        Payment { link: Some(link.id), ..opened }
    };
    assert_eq!(store.link_uses(&link).await, Ok(LinkUses::default()));
    let first = of_link(Method::Pix, &link);
    let boleto = of_link(Method::Boleto, &link);
    for payment in [&first, &boleto, &of_link(Method::Pix, &whole(2_000)), &Sample::default().open()] {
        store_payment(&store, payment).await;
    }
    let uses = |paid, held, held_by_boletos| LinkUses { paid, held, held_by_boletos };
    assert_eq!(store.link_uses(&link).await, Ok(uses(0, 2, 1)));
    let waiting = pending(&first, 2_000);
    let settled = paid(&waiting, 3_000);
    for payment in [&waiting, &settled] {
        let replaced = store.commit(&[replace(payment)]).await;
        assert!(replaced.iter().all(Result::is_ok), "{replaced:?}");
    }
    assert_eq!(store.link_uses(&link).await, Ok(uses(1, 1, 1)));
    let filter = PaymentFilter { link: Some(link.id), ..everything() };
    let listed = store.list(&filter, None, 10).await.unwrap();
    assert_eq!(listed.iter().flatten().count(), 2);
    assert!(listed.iter().flatten().all(|payment| payment.link == Some(link.id)));
}

pub async fn events_are_counted_up_to_their_limit_in_any_stretch_of_time(store: Arc<dyn WholeStore>) {
    let limit = EventLimit { name: String::from("a"), most: 2, within_ms: 1_000 };
    let at = Timestamp::from_millis;
    let other = EventLimit { name: String::from("b"), ..limit.clone() };
    assert_eq!(store.count_event(&other, at(5_000)).await, Ok(None));
    for (now, expected) in [
        (5_000, None),
        (5_400, None),
        (5_900, Some(at(6_000))),
        (6_001, None),
        (6_300, Some(at(6_400))),
        (6_401, None),
        (6_402, Some(at(7_001))),
    ] {
        assert_eq!(store.count_event(&limit, at(now)).await, Ok(expected), "{now}");
    }
}

pub async fn counted_events_are_those_after_a_time(store: Arc<dyn WholeStore>) {
    let limit = EventLimit { name: String::from("a"), most: u32::MAX, within_ms: 1_000 };
    let at = Timestamp::from_millis;
    assert_eq!(store.counted_events("a", at(0)).await, Ok(0));
    for now in [5_000, 5_400, 5_400, 5_900] {
        assert_eq!(store.count_event(&limit, at(now)).await, Ok(None));
    }
    for (since, expected) in [(4_999, 4), (5_000, 3), (5_399, 3), (5_400, 1), (5_900, 0)] {
        assert_eq!(store.counted_events("a", at(since)).await, Ok(expected), "{since}");
    }
    assert_eq!(store.counted_events("b", at(0)).await, Ok(0));
    assert_eq!(store.uncount_event("a", at(5_900)).await, Ok(()));
    assert_eq!(store.counted_events("a", at(5_000)).await, Ok(2));
}

pub async fn an_event_that_is_taken_back_makes_room_for_one_other(store: Arc<dyn WholeStore>) {
    let limit = EventLimit { name: String::from("a"), most: 2, within_ms: 1_000 };
    let now = Timestamp::from_millis(5_000);
    assert_eq!(store.uncount_event("a", now).await, Ok(()));
    for _ in 0..2 {
        assert_eq!(store.count_event(&limit, now).await, Ok(None));
    }
    for (name, at) in [("b", now), ("a", now.plus_ms(1))] {
        assert_eq!(store.uncount_event(name, at).await, Ok(()));
    }
    let full = Ok(Some(now.plus_ms(1_000)));
    assert_eq!(store.count_event(&limit, now).await, full);
    assert_eq!(store.uncount_event("a", now).await, Ok(()));
    assert_eq!(store.count_event(&limit, now).await, Ok(None));
    assert_eq!(store.count_event(&limit, now).await, full);
}

pub async fn of_many_events_at_once_no_more_than_the_limit_are_counted(store: Arc<dyn WholeStore>) {
    let limit = EventLimit { name: String::from("a"), most: 3, within_ms: 1_000 };
    let now = Timestamp::from_millis(5_000);
    let counted = join_all((0..10).map(|_| store.count_event(&limit, now))).await;
    let allowed = counted.iter().filter(|counted| counted.as_ref().unwrap().is_none()).count();
    assert_eq!(allowed, 3, "{counted:?}");
}

pub async fn payers_of_links_that_are_over_are_found_by_document_and_time(store: Arc<dyn WholeStore>) {
    let plain = r#"{"amount":1,"currency":"BRL","title":"x"}"#;
    let first = whole(1_000);
    let second = whole(2_000);
    for link in [&first, &second, &link_of("loja", Mode::Test, plain, 500)] {
        store.insert_link(link).await.unwrap();
    }
    let closed = second.close(&LinkUses::default(), Timestamp::from_millis(3_000)).unwrap();
    assert_eq!(store.replace_link(&closed).await, Ok(true));
    let document = first.customer_document().unwrap().clone();
    let other = Document::parse("11144477735", DocumentType::Cpf).unwrap();
    let late = first.expires_at;
    for (document, until, expected) in [
        (None, Timestamp::from_millis(2_999), vec![]),
        (None, Timestamp::from_millis(3_000), vec![&closed]),
        (None, late, vec![&closed, &first]),
        (Some(&document), late, vec![&closed, &first]),
        (Some(&document), Timestamp::from_millis(3_000), vec![&closed]),
        (Some(&other), late, vec![]),
    ] {
        let expected: Vec<Link> = expected.into_iter().cloned().collect();
        assert_eq!(store.links_with_customer(document, until, 10).await, Ok(expected), "{until}");
    }
    let erased = closed.without_customer();
    assert_eq!(store.replace_link(&erased).await, Ok(true));
    assert_eq!(store.links_with_customer(None, late, 10).await, Ok(vec![first]));
    assert_eq!(store.link(closed.id).await.unwrap().unwrap().offer.customer, None);
}
