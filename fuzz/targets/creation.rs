//! Bodies of requests: creation, capture and refund.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Order, Share};
use quita_domain::request::operation;
use quita_domain::request::{ParsedRequest, PostbackPolicy, Rejection, RequestLimits, code, parse};
use quita_domain::webhook::address::{is_public, is_public_name};
use quita_fuzz::samples::START;
use quita_fuzz::{bodies, split};
use url::{Host, Url};

const SECRET: &[u8] = b"a secret of this server";
const STRICT: RequestLimits =
    RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };
const LENIENT: RequestLimits =
    RequestLimits { max_installments: 12, postback: PostbackPolicy::AllowAnything };

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    match choice {
        b'{' => raw(data),
        _ => {
            let _ended: Result<()> = bent(choice, &mut Unstructured::new(rest));
        }
    }
});

/// Checks any bytes, as a creation and as a capture or refund.
fn raw(body: &[u8]) {
    match operation::parse(body) {
        Ok(read) => {
            assert!(read.amount.is_none_or(|amount| (Money::from_cents(1)..=Money::MAX).contains(&amount)));
        }
        Err(rejection) => check_rejection(&rejection, body),
    }
    let Some(request) = check(body) else { return };
    let mut longer = br#"{ "a name that nothing knows" : [null] ,"#.to_vec();
    longer.extend(body.iter().skip(1));
    // A body that already has a member of that name is refused.
    if let Ok(same) = parse(&longer, START, &STRICT) {
        assert_eq!(same.fingerprint(SECRET), request.fingerprint(SECRET));
    }
}

/// Checks a valid request that was changed in a few places.
fn bent(kind: u8, input: &mut Unstructured<'_>) -> Result<()> {
    let mut body = bodies::valid(kind);
    bodies::bend(&mut body, input)?;
    let forwards = body.to_string();
    let backwards = bodies::backwards(&body);
    let one = check(forwards.as_bytes());
    let other = check(backwards.as_bytes());
    assert_eq!(one.is_some(), other.is_some(), "the order of names decides: {body:#}");
    if let Some((one, other)) = one.zip(other) {
        assert_eq!(one.fingerprint(SECRET), other.fingerprint(SECRET), "{body:#}");
        assert_eq!(one.purchase.order, other.purchase.order);
    }
    Ok(())
}

fn check(body: &[u8]) -> Option<ParsedRequest> {
    let strict = parse(body, START, &STRICT);
    match strict {
        Err(rejection) => {
            check_rejection(&rejection, body);
            if let Ok(request) = parse(body, START, &LENIENT) {
                check_order(&request.purchase.order, &request);
            }
            None
        }
        Ok(request) => {
            let again = parse(body, START.plus_ms(400 * 86_400_000), &LENIENT).expect("taken by the lenient");
            let moves_with_time = request.purchase.order.method == Method::Boleto;
            assert!(moves_with_time || again.purchase.order == request.purchase.order);
            assert_eq!(again.fingerprint(SECRET), request.fingerprint(SECRET), "the day decides");
            check_order(&request.purchase.order, &request);
            check_postback(&request.purchase.order);
            Some(request)
        }
    }
}

fn check_rejection(rejection: &Rejection, body: &[u8]) {
    assert!(!rejection.violations.is_empty() && !rejection.to_string().is_empty());
    for violation in &rejection.violations {
        assert!(
            code::ALL.contains(&violation.code) && !violation.message.english().is_empty(),
            "{violation:?}"
        );
        assert!(violation.field.len() <= 400, "{violation:?}");
        assert!(!violation.field.chars().any(char::is_control), "{violation:?}");
    }
    let told = format!("{rejection:?}");
    let holds_card = body.windows(16).any(|part| part == b"4242424242424242");
    assert!(!holds_card || !told.contains("4242424242424242"), "a card number is told: {told}");
}

/// Checks the rules of the contract's table that are visible in the parsed request.
fn check_order(order: &Order, request: &ParsedRequest) {
    assert!((1..=Money::MAX.cents()).contains(&order.amount.cents()));
    assert!(order.items.len() <= 100 && order.splits.len() <= 20 && order.metadata.len() <= 20);
    assert!(order.items.iter().all(|item| item.quantity >= 1));
    assert!(order.installments().is_none_or(|count| (1..=12).contains(&count)));
    assert_eq!(order.installments().is_some(), order.method == Method::CreditCard);
    assert_eq!(request.purchase.card.is_some(), order.method == Method::CreditCard);
    let shares: u64 = order.splits.iter().map(|split| split.share.of(order.amount).cents()).sum();
    assert!(shares <= order.amount.cents(), "shares of {shares}");
    let by_amount = order.splits.iter().filter(|split| matches!(split.share, Share::Amount(_))).count();
    assert!(by_amount == 0 || by_amount == order.splits.len(), "mixed shares");
    for name in [&order.payer.first_name, &order.payer.last_name] {
        assert!((1..=60).contains(&name.chars().count()) && name.trim() == name);
    }
    let stored = serde_json::to_string(order).expect("an order has a text");
    assert_eq!(serde_json::from_str::<Order>(&stored).ok().as_ref(), Some(order));
    if let Some(card) = &request.purchase.card {
        assert!(!stored.contains(card.number.expose()), "a card number is kept: {stored}");
        assert!(!format!("{request:?}").contains(card.number.expose()), "a card number is printed");
    }
}

/// Checks that outside development no webhook goes to an address that is not public.
fn check_postback(order: &Order) {
    let Some(text) = &order.postback_url else { return };
    let url = Url::parse(text).expect("a URL that was taken is one");
    assert!(url.scheme() == "https" && url.username().is_empty() && url.password().is_none());
    match url.host().expect("a host") {
        Host::Domain(name) => {
            assert!(is_public_name(name), "{name}");
            assert!(name.trim_end_matches('.').parse::<std::net::IpAddr>().is_err(), "{name}");
        }
        Host::Ipv4(address) => assert!(is_public(address.into()), "{address}"),
        Host::Ipv6(address) => assert!(is_public(address.into()), "{address}"),
    }
}
