use super::*;
use crate::request::link::parse;
use crate::request::{PostbackPolicy, RequestLimits, parse_of_link};
use crate::secret::Secret;

const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

pub(super) fn link_of(extra: &str) -> Link {
    let body = format!(r#"{{"amount":5000,"currency":"BRL","title":"Aula"{extra}}}"#);
    let owner = Owner {
        merchant: MerchantId::new("demo"),
        application: crate::identity::ApplicationName::new("default"),
        mode: Mode::Test,
    };
    let parsed = parse(body.as_bytes(), NOW, &limits()).unwrap();
    let id = LinkId::new(uuid::Uuid::from_u128(7));
    parsed.into_link(id, owner, None, &[Method::Pix, Method::Boleto], NOW).unwrap()
}

fn limits() -> RequestLimits {
    RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly }
}

fn payment(number: u128) -> TransactionId {
    TransactionId::new(uuid::Uuid::from_u128(number))
}

fn unstored(all: u64, boletos: u64) -> UnstoredUses {
    UnstoredUses { all, boletos }
}

fn uses(paid: u64, held: u64, held_by_boletos: u64) -> LinkUses {
    LinkUses { paid, held, held_by_boletos }
}

#[test]
fn paid_comes_before_closed_before_expired() {
    let link = link_of("");
    let closed = link.close(&uses(0, 0, 0), NOW).unwrap();
    let late = link.expires_at;
    for (link, paid, now, expected) in [
        (&link, 0, NOW, LinkStatus::Open),
        (&link, 1, NOW, LinkStatus::Paid),
        (&link, 2, late, LinkStatus::Paid),
        (&link, 0, late.minus_ms(60_000), LinkStatus::Open),
        (&link, 0, late.minus_ms(59_999), LinkStatus::Expired),
        (&closed, 0, NOW, LinkStatus::Closed),
        (&closed, 0, late, LinkStatus::Closed),
        (&closed, 1, late, LinkStatus::Paid),
    ] {
        assert_eq!(link.status(&uses(paid, 0, 0), now), expected, "{paid} {now}");
    }
}

#[test]
fn closing_again_or_too_late_changes_nothing() {
    let link = link_of("");
    let closed = link.close(&uses(0, 1, 0), NOW).unwrap();
    assert_eq!((closed.closed_at, closed.revision), (Some(NOW), 2));
    assert_eq!(closed.close(&uses(0, 0, 0), NOW), None);
    assert_eq!(link.close(&uses(1, 0, 0), NOW), None);
    assert_eq!(link.close(&uses(0, 0, 0), link.expires_at), None);
}

#[test]
fn no_more_uses_are_taken_than_there_are() {
    let one = link_of("");
    let three = link_of(r#","uses":3"#);
    let four = link_of(r#","uses":4"#);
    let due = link_of(r#","uses":4,"dueInDays":5"#);
    for (link, counted, not_stored, method, expected) in [
        (&one, uses(0, 0, 0), unstored(0, 0), Method::Pix, Ok(())),
        (&one, uses(0, 0, 0), unstored(0, 0), Method::Boleto, Ok(())),
        (&one, uses(0, 1, 0), unstored(0, 0), Method::Pix, Err(NoUse::AllHeld)),
        (&one, uses(0, 0, 0), unstored(1, 0), Method::Pix, Err(NoUse::AllHeld)),
        (&one, uses(1, 0, 0), unstored(0, 0), Method::Pix, Err(NoUse::Over(LinkStatus::Paid))),
        (&three, uses(1, 1, 0), unstored(0, 0), Method::Pix, Ok(())),
        (&three, uses(1, 1, 0), unstored(1, 0), Method::Pix, Err(NoUse::AllHeld)),
        (&three, uses(2, 1, 0), unstored(0, 0), Method::Pix, Err(NoUse::AllHeld)),
        (&three, uses(0, 1, 1), unstored(0, 0), Method::Boleto, Err(NoUse::BoletosHeld)),
        (&three, uses(0, 1, 1), unstored(0, 0), Method::Pix, Ok(())),
        (&three, uses(4, 0, 0), unstored(0, 0), Method::Pix, Err(NoUse::Over(LinkStatus::Paid))),
        (&four, uses(0, 1, 1), unstored(1, 1), Method::Boleto, Err(NoUse::BoletosHeld)),
        (&four, uses(0, 1, 1), unstored(1, 0), Method::Boleto, Ok(())),
        (&four, uses(0, 0, 0), unstored(2, 2), Method::Pix, Ok(())),
        (&due, uses(0, 1, 0), unstored(0, 0), Method::Pix, Ok(())),
        (&due, uses(0, 1, 0), unstored(1, 0), Method::Pix, Err(NoUse::BoletosHeld)),
        (&due, uses(0, 2, 0), unstored(0, 0), Method::Boleto, Err(NoUse::BoletosHeld)),
        (&due, uses(0, 2, 0), unstored(0, 0), Method::CreditCard, Ok(())),
    ] {
        let taken = link.take(payment(1), method, &counted, not_stored, NOW).map(drop);
        assert_eq!(taken, expected, "{counted:?} {not_stored:?} {method:?}");
    }
}

#[test]
fn a_taken_use_is_free_again_when_its_payment_was_never_stored() {
    let link = link_of("");
    let taken = link.take(payment(1), Method::Pix, &uses(0, 0, 0), unstored(0, 0), NOW).unwrap();
    assert_eq!(taken.taken_at(NOW), BTreeMap::from([(payment(1), false)]));
    assert_eq!(taken.taken_at(NOW.plus_ms(TAKEN_FOR_MS)), BTreeMap::new());
    let settled = taken.settle(payment(1)).unwrap();
    assert_eq!((settled.taken.len(), settled.revision), (0, 3));
    assert_eq!(settled.settle(payment(1)), None);
}

#[test]
fn a_failed_attempt_releases_its_own_note_alone() {
    let unused = uses(0, 0, 0);
    let once = link_of("").take(payment(1), Method::Pix, &unused, unstored(0, 0), NOW).unwrap();
    let twice = once.take(payment(1), Method::Boleto, &unused, unstored(0, 0), NOW).unwrap();
    let released = twice.release(payment(1), Method::Boleto).unwrap();
    assert_eq!((&released.taken, released.revision), (&once.taken, 4));
    assert_eq!(released.release(payment(1), Method::Boleto), None);
    assert_eq!(twice.settle(payment(1)).unwrap().taken, []);
}

#[test]
fn a_taken_use_without_a_method_counts_as_a_boletos() {
    let unused = uses(0, 0, 0);
    let taken = link_of("").take(payment(1), Method::Pix, &unused, unstored(0, 0), NOW).unwrap();
    let mut stored = serde_json::to_value(&taken).unwrap();
    assert_eq!(stored["taken"][0].as_object_mut().unwrap().remove("method").unwrap(), "PIX");
    let read: Link = serde_json::from_value(stored).unwrap();
    assert_eq!(read.taken_at(NOW), BTreeMap::from([(payment(1), true)]));
}

#[test]
fn a_name_is_known_if_it_is_complete() {
    for (customer, expected) in [
        (r#"{"firstName":"Ana"}"#, None),
        (r#"{"lastName":"Lima"}"#, None),
        (r#"{"firstName":"Ana","document":"52998224725"}"#, None),
        (r#"{"firstName":"Ana","lastName":"Lima"}"#, Some(("Ana", Some("Lima")))),
        (r#"{"firstName":"Loja","document":"11222333000181"}"#, Some(("Loja", None))),
    ] {
        let link = link_of(&format!(r#","customer":{customer}"#));
        assert_eq!(link.customer_name(), expected, "{customer}");
        let body = link.creation_body(Method::Pix, &typed(), NOW);
        let payer = parse_of_link(&body, NOW, &limits()).unwrap().purchase.order.payer.clone();
        let (first, last) =
            expected.map_or(("Maria", "de Souza"), |(first, last)| (first, last.unwrap_or(first)));
        assert_eq!((payer.first_name.as_str(), payer.last_name.as_str()), (first, last), "{customer}");
    }
}

#[test]
fn payments_hold_their_use_until_they_are_declined_cancelled_or_expired() {
    for (status, was_paid, expected) in [
        (Status::Initial, false, uses(0, 1, 1)),
        (Status::Pending, false, uses(0, 1, 1)),
        (Status::Approved, false, uses(0, 1, 1)),
        (Status::Paid, true, uses(1, 0, 0)),
        (Status::Refund, true, uses(1, 0, 0)),
        (Status::Refund, false, uses(0, 1, 1)),
        (Status::Chargeback, true, uses(1, 0, 0)),
        (Status::Declined, false, uses(0, 0, 0)),
        (Status::Expired, false, uses(0, 0, 0)),
        (Status::Cancelled, false, uses(0, 0, 0)),
    ] {
        let mut counted = LinkUses::default();
        counted.count(Method::Boleto, status, was_paid, 1);
        assert_eq!(counted, expected, "{status:?} {was_paid}");
    }
}

fn typed() -> PayerInput {
    let text = String::from;
    PayerInput {
        name: text("Maria de Souza"),
        document: text("529.982.247-25"),
        email: text("maria@example.com"),
        phone: text("(11) 98765-4321"),
        street: text("Rua Um"),
        number: text("10"),
        complement: String::new(),
        neighborhood: text("Centro"),
        city: text("São Paulo"),
        state: text("sp"),
        zip_code: text("01304-000"),
        card: None,
    }
}

#[test]
fn a_links_payment_is_a_request_that_breaks_no_rule() {
    let link = link_of(concat!(
        r#","items":[{"name":"Aula","quantity":2,"price":2500}],"shipping":{"fee":100},"dueInDays":5"#,
        r#","splits":[{"recipientId":"r","percentage":12.5}],"UTMSource":"x","metadata":{"turma":"a"}"#,
        r#","fine":{"percentage":2},"interest":{"amountPerDay":10},"instructions":["oi"]"#,
        r#","externalReference":"p-1","postbackUrl":"https://loja.example.com/q""#
    ));
    for method in [Method::Pix, Method::Boleto] {
        let body = link.creation_body(method, &typed(), NOW);
        let order = parse_of_link(&body, NOW, &limits()).unwrap().purchase.order;
        assert_eq!((order.method, order.amount), (method, Money::from_cents(5_000)));
        assert_eq!((&order.items, order.shipping_fee), (&link.offer.items, link.offer.shipping_fee));
        assert_eq!((&order.splits, &order.utm), (&link.offer.splits, &link.offer.utm));
        assert_eq!((&order.metadata, &order.postback_url), (&link.offer.metadata, &link.offer.postback_url));
        let due = order.terms.due().unwrap();
        assert_eq!((due.fine, due.interest), (link.offer.terms.fine, link.offer.terms.interest));
        assert_eq!(due.due_date, LinkDue::InDays(5).date(NOW.sao_paulo_date()));
        assert_eq!(order.payer.address.as_ref().unwrap().zip_code.as_str(), "01304000");
        assert_eq!((order.payer.first_name.as_str(), order.payer.last_name.as_str()), ("Maria", "de Souza"));
    }
}

fn typed_card(number: &str) -> PayerInput {
    let text = |text: &str| Secret::new(text.to_owned());
    let card = CardInput {
        number: text(number),
        holder_name: text("MARIA DE SOUZA"),
        expiry: text("12/30"),
        code: text("123"),
        installments: 2,
    };
    PayerInput { card: Some(card), ..typed() }
}

#[test]
fn a_typed_card_is_part_of_the_request_for_its_method_alone() {
    let link = link_of(r#","maxInstallments":3,"dueInDays":5,"fine":{"percentage":2}"#);
    let body = link.creation_body(Method::CreditCard, &typed_card("4242 4242 4242 4242"), NOW);
    let purchase = parse_of_link(&body, NOW, &limits()).unwrap().purchase;
    let card = purchase.card.unwrap();
    assert_eq!(card.number.expose(), "4242424242424242");
    assert_eq!((card.expiry.to_string().as_str(), card.holder_name.as_str()), ("12/2030", "MARIA DE SOUZA"));
    assert_eq!((purchase.order.installments(), purchase.order.terms.due()), (Some(2), None));
    assert!(purchase.order.payer.address.is_some());
    let pix = link.creation_body(Method::Pix, &typed_card("4242424242424242"), NOW);
    assert!(!String::from_utf8(pix).unwrap().contains("4242"));
}

#[test]
fn every_mistake_in_a_card_is_told_at_its_field_and_its_number_has_one_place() {
    let link = link_of("");
    let fields = |typed: &PayerInput| {
        let read = parse_of_link(&link.creation_body(Method::CreditCard, typed, NOW), NOW, &limits());
        let violations = read.err().map(|rejection| rejection.violations).unwrap_or_default();
        violations.into_iter().map(|one| (one.field, one.code)).collect::<Vec<_>>()
    };
    let expected = |field: &str, code| vec![(field.to_owned(), code)];
    assert_eq!(fields(&typed_card("4242424242424241")), expected("creditCard.number", "check_digit"));
    let elsewhere = PayerInput { street: "4242 4242 4242 4242".into(), ..typed_card("4242424242424242") };
    assert_eq!(fields(&elsewhere), expected("paymentDetails.address.street", "card_number"));
}

#[test]
fn a_pix_needs_no_address_and_ends_with_its_link() {
    for (extra, ahead_ms, expires_in_s) in [
        ("", 0, 3_600),
        (r#","uses":2"#, 0, 1_800),
        ("", 30 * 24 * 3_600_000 - 300_000, 300),
        ("", 30 * 24 * 3_600_000 - 60_000, 60),
    ] {
        let link = link_of(extra);
        let now = NOW.plus_ms(ahead_ms);
        let body = link.creation_body(Method::Pix, &typed(), now);
        let order = parse_of_link(&body, now, &limits()).unwrap().purchase.order;
        assert_eq!(order.payer.address, None);
        assert_eq!(order.terms, crate::order::Terms::Pix { expires_in_s });
    }
}

#[test]
fn what_the_merchant_knows_replaces_what_was_typed() {
    let link = link_of(
        r#","customer":{"firstName":"Ana","lastName":"Lima","document":"11144477735","email":"ana@example.com"}"#,
    );
    let body = link.creation_body(Method::Pix, &typed(), NOW);
    let payer = parse_of_link(&body, NOW, &limits()).unwrap().purchase.order.payer.clone();
    assert_eq!((payer.full_name().as_str(), payer.email.as_str()), ("Ana Lima", "ana@example.com"));
    assert_eq!((payer.document.as_str(), payer.phone.as_str()), ("11144477735", "11987654321"));
}

#[test]
fn one_word_is_a_name_for_a_company_alone() {
    let fields = |name: &str, document: &str| {
        let typed = PayerInput { name: name.into(), document: document.into(), ..typed() };
        let read = parse_of_link(&link_of("").creation_body(Method::Pix, &typed, NOW), NOW, &limits());
        read.err()
            .map(|rejection| rejection.violations.iter().map(|one| one.field.clone()).collect::<Vec<_>>())
    };
    assert_eq!(fields("Maria", "529.982.247-25"), Some(vec!["paymentDetails.lastName".to_owned()]));
    assert_eq!(fields("Padaria", "11.222.333/0001-81"), None);
}

#[test]
fn what_is_missing_is_told_together_with_what_is_wrong() {
    let typed = PayerInput { document: "52998224726".into(), ..PayerInput::default() };
    let read = parse_of_link(&link_of("").creation_body(Method::Boleto, &typed, NOW), NOW, &limits());
    let fields: Vec<_> = read.unwrap_err().violations.into_iter().map(|one| one.field).collect();
    let expected = [
        "firstName",
        "lastName",
        "document",
        "email",
        "phoneNumber",
        "address.street",
        "address.number",
        "address.neighborhood",
        "address.city",
        "address.state",
        "address.zipCode",
    ];
    assert_eq!(fields, expected.map(|name| format!("paymentDetails.{name}")));
}

fn refused(extra: &str) -> Vec<(String, &'static str)> {
    refused_with("Aula", extra)
}

fn refused_with(title: &str, extra: &str) -> Vec<(String, &'static str)> {
    let body = format!(r#"{{"amount":5000,"currency":"BRL","title":"{title}"{extra}}}"#);
    let parsed = parse(body.as_bytes(), NOW, &limits()).and_then(|parsed| {
        let owner = link_of("").owner;
        parsed.into_link(LinkId::new(uuid::Uuid::from_u128(7)), owner, None, &[Method::Pix], NOW)
    });
    let violations = parsed.err().map(|rejection| rejection.violations).unwrap_or_default();
    violations.into_iter().map(|one| (one.field, one.code)).collect()
}

#[test]
fn every_bound_of_a_link_is_checked() {
    let long = |count: usize| "x".repeat(count);
    for (extra, expected) in [
        (r#","uses":0"#.to_owned(), vec![("uses", "range")]),
        (r#","uses":10001"#.to_owned(), vec![("uses", "range")]),
        (r#","uses":10000"#.to_owned(), vec![]),
        (r#","maxInstallments":13"#.to_owned(), vec![("maxInstallments", "range")]),
        (format!(r#","description":"{}""#, long(501)), vec![("description", "length")]),
        (r#","methods":[]"#.to_owned(), vec![("methods", "too_few")]),
        (r#","methods":["PIX","pix"]"#.to_owned(), vec![("methods[1]", "duplicate")]),
        (r#","methods":["cash"]"#.to_owned(), vec![("methods[0]", "unknown_value")]),
        (r#","expiresAt":"2026-11-20T00:00:00Z""#.to_owned(), vec![("expiresAt", "range")]),
        (r#","expiresAt":"2036-11-20T00:00:00Z""#.to_owned(), vec![("expiresAt", "range")]),
        (r#","expiresAt":"tomorrow""#.to_owned(), vec![("expiresAt", "format")]),
        (r#","dueDate":"2026-12-01","dueInDays":3"#.to_owned(), vec![("dueInDays", "not_applicable")]),
        (
            r#","dueDate":"2026-12-01","expiresAt":"2026-12-05T00:00:00Z""#.to_owned(),
            vec![("expiresAt", "range")],
        ),
        (r#","dueInDays":366"#.to_owned(), vec![("dueInDays", "range")]),
        (r#","fine":{"percentage":2}"#.to_owned(), vec![("fine", "not_applicable")]),
        (r#","successUrl":"http://loja.example.com/""#.to_owned(), vec![("successUrl", "not_public")]),
        (r#","successUrl":"https://a:b@loja.example.com/""#.to_owned(), vec![("successUrl", "format")]),
        (r#","successUrl":"https://loja.example.com/?a=1#ok""#.to_owned(), vec![]),
        (r#","successUrl":"https://loja.example.com/@ana?to=a@b#@""#.to_owned(), vec![]),
        (r#","successUrl":"https://@loja.example.com/""#.to_owned(), vec![("successUrl", "format")]),
        (r#","successUrl":"https://:@loja.example.com/""#.to_owned(), vec![("successUrl", "format")]),
        (r#","successUrl":"https:\\\\@loja.example.com/""#.to_owned(), vec![("successUrl", "format")]),
        (r#","successUrl":"https:@loja.example.com""#.to_owned(), vec![("successUrl", "format")]),
        (r#","successUrl":"javascript:alert(1)""#.to_owned(), vec![("successUrl", "format")]),
        (
            r#","customer":{"document":"11111111111","email":"x"}"#.to_owned(),
            vec![("customer.document", "repeated"), ("customer.email", "format")],
        ),
        (r#","description":"4242424242424242""#.to_owned(), vec![("description", "card_number")]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
        assert_eq!(refused(&extra), expected, "{extra}");
    }
}

#[test]
fn a_title_that_nobody_sees_or_that_reads_otherwise_than_it_is_written_is_refused() {
    for title in
        ["\u{200b}", "Aula\u{202e}oirát", "\u{feff}Aula", "\u{3164}", "\u{61c}Aula", "\u{2066}Aula\u{2069}"]
    {
        assert_eq!(refused_with(title, ""), [("title".to_owned(), "character")], "{title:?}");
    }
    for title in ["Aula de violão", "Ação – 50% «já»", "شيء", "🎸️ Aula"] {
        assert_eq!(refused_with(title, ""), [], "{title:?}");
    }
    assert_eq!(refused_with("\u{a0}", ""), [("title".to_owned(), "length")]);
}

#[test]
fn the_last_day_of_a_link_with_a_due_date_is_that_day() {
    let link = link_of(r#","dueDate":"2026-12-01""#);
    assert_eq!(link.expires_at.to_string(), "2026-12-02T02:59:59.999Z");
    assert_eq!(link_of("").expires_at, NOW.plus_ms(30 * 24 * 3_600_000));
}
