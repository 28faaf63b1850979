//! Boletos through Cielo.

use quita_domain::acquiring::{ChargeAnswer, Fact, Issued, RemovedBy};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_ports::AcquirerFactory;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::bank::Bank;
use crate::payment::*;
use crate::scripted::{Scripted, json};

fn sale(payment: &Value) -> Value {
    let mut whole = json!({"PaymentId": SALE, "Type": "Boleto", "Amount": 25350, "Status": 1});
    for (name, value) in payment.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({"MerchantOrderId": BOLETO_ORDER, "Payment": whole})
}

async fn answered_in(mode: Mode, payment: &Value) -> ChargeAnswer {
    let exchange = Scripted::with([json(201, &sale(payment))]);
    factory(settings(), mode, exchange.factory()).build().charge(&charge(Method::Boleto, 25_350)).await
}

#[tokio::test]
async fn a_boleto_is_sent_in_the_sizes_of_bradesco() {
    let exchange = Scripted::with([]);
    adapter(exchange.factory()).charge(&charge(Method::Boleto, 25_350)).await;
    let expected = json!({
        "MerchantOrderId": BOLETO_ORDER,
        "Customer": {
            "Name": "Fulano de Tal", "Identity": "11144477735", "IdentityType": "CPF",
            "Address": {
                "Street": "Rua da Consolacao", "Number": "10", "Complement": "apto 7", "ZipCode": "01310100",
                "District": "Centro", "City": "Sao Paulo", "State": "SP", "Country": "BRA",
            },
        },
        "Payment": {
            "Type": "Boleto", "Provider": "Bradesco2", "Address": "Rua Um, 10", "Amount": 25350,
            "Assignor": "Loja Exemplo", "ExpirationDate": "2026-12-01", "Identification": "11222333000181",
            "Instructions": "Nao receber apos o vencimento",
        },
    });
    assert_eq!(exchange.body(0), expected);
    assert!(BOLETO_ORDER.len() <= 27);
}

#[tokio::test]
async fn banco_do_brasil_gets_capitals_and_an_address_of_sixty_characters() {
    let exchange = Scripted::with([]);
    let mut settings = settings();
    settings.boleto.as_mut().unwrap().provider = "BancoDoBrasil3".into();
    let mut charge = charge(Method::Boleto, 25_350);
    let order = Arc::make_mut(&mut charge.order);
    order.payer.first_name = "José".into();
    let address = order.payer.address.as_mut().unwrap();
    address.street = "Avenida Doutor Arnaldo de Vasconcelos Pereira Filho".into();
    address.neighborhood = "Jardim das Oliveiras do Norte".into();
    address.city = "São José do Vale do Rio Preto".into();
    factory(settings, Mode::Live, exchange.factory()).build().charge(&charge).await;
    let customer = &exchange.body(0)["Customer"];
    assert_eq!(customer["Name"], "JOSE DE TAL");
    let address = &customer["Address"];
    let part = |name: &str| address[name].as_str().unwrap().to_owned();
    assert_eq!(part("City"), "SAO JOSE DO VALE D");
    assert_eq!(part("Number"), "10");
    assert!(part("Street").starts_with("AVENIDA DOUTOR ARNALDO DE VASCONCELOS"));
    assert!(part("District").starts_with("JARDIM DAS"));
    let together: usize =
        ["Street", "Number", "Complement", "District"].iter().map(|name| part(name).len()).sum();
    assert!(together <= 60, "{address}");
}

#[tokio::test]
async fn a_name_without_latin_letters_is_refused_before_it_is_sent() {
    let exchange = Scripted::with([]);
    let mut charge = charge(Method::Boleto, 25_350);
    let payer = &mut Arc::make_mut(&mut charge.order).payer;
    (payer.first_name, payer.last_name) = ("漢".into(), "字".into());
    let answer = adapter(exchange.factory()).charge(&charge).await;
    assert!(matches!(answer, ChargeAnswer::Refused(_)), "{answer:?}");
    assert!(exchange.urls().is_empty());
}

#[tokio::test]
async fn the_slip_is_made_from_its_bar_code() {
    let barcode = barcode(25_350, "2026-12-01");
    let payment = json!({
        "BarCodeNumber": barcode.as_str(), "DigitableLine": barcode.line().formatted(), "Number": "233",
        "ExpirationDate": "2026-12-01T00:00:00",
    });
    let statement = statement(answered_in(Mode::Live, &payment).await);
    let [Fact::Pending { issued: Issued::Boleto(slip), .. }] = statement.facts.as_slice() else { panic!() };
    assert_eq!(slip.barcode, barcode.as_str());
    assert_eq!(slip.digitable_line, barcode.line().as_str());
    assert_eq!((slip.bank_code.as_str(), slip.bank_name.as_str()), ("237-2", "Bradesco"));
    assert_eq!((slip.portfolio.as_str(), slip.agency_and_account.as_str()), ("09", "1234 / 0012345"));
    assert!(slip.our_number.starts_with("09/00000000233-"), "{}", slip.our_number);
    assert_eq!(slip.due_date, due_date());
    assert_eq!(slip.beneficiary_name, "Loja Exemplo");
    assert_eq!(slip.beneficiary_document, "11.222.333/0001-81");
    assert_eq!(slip.beneficiary_address, "Rua Um, 10");
    let digit = slip.our_number.chars().last().unwrap();
    assert_eq!(statement.reference.get("ourNumber").unwrap(), format!("00000000233{digit}"));
    assert_eq!(statement.reference.get("orderId"), Some(BOLETO_ORDER));
}

#[tokio::test]
async fn a_slip_that_is_not_ours_is_never_shown() {
    let right = barcode(25_350, "2026-12-01");
    let other_amount = barcode(25_351, "2026-12-01");
    let other_day = barcode(25_350, "2026-12-02");
    let open = barcode(0, "2026-12-01");
    let flip = |text: &str, place: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'9' { b'0' } else { bytes[place] + 1 };
        String::from_utf8(bytes).unwrap()
    };
    for payment in [
        json!({}),
        json!({"BarCodeNumber": flip(right.as_str(), 30)}),
        json!({"BarCodeNumber": right.as_str().split_at(1).1}),
        json!({"BarCodeNumber": other_amount.as_str()}),
        json!({"BarCodeNumber": open.as_str()}),
        json!({"BarCodeNumber": other_day.as_str()}),
        json!({"BarCodeNumber": right.as_str(), "DigitableLine": other_amount.line().as_str()}),
        json!({"BarCodeNumber": right.as_str(), "DigitableLine": flip(right.line().as_str(), 9)}),
        json!({"BarCodeNumber": right.as_str(), "ExpirationDate": "2026-12-02"}),
        json!({"BarCodeNumber": right.as_str(), "ExpirationDate": "soon"}),
    ] {
        let answer = answered_in(Mode::Live, &payment).await;
        assert!(matches!(answer, ChargeAnswer::WithoutCode(_)), "{payment}: {answer:?}");
    }
}

#[tokio::test]
async fn a_slip_of_no_bank_is_taken_from_cielos_sandbox_alone() {
    let ours = barcode(25_350, "2026-12-01");
    let mut digits = (0..=9).map(|digit| format!("0009{digit}{}", ours.as_str().split_at(5).1));
    let nobodys = digits.rfind(|code| quita_domain::boleto::Barcode::parse(code).is_ok()).unwrap();
    let payment = json!({ "BarCodeNumber": nobodys });
    assert!(matches!(answered_in(Mode::Live, &payment).await, ChargeAnswer::WithoutCode(_)));
    assert!(matches!(answered_in(Mode::Test, &payment).await, ChargeAnswer::Known(_)));
}

#[tokio::test]
async fn a_paid_boleto_states_what_came_in_and_when() {
    let payment = json!({"Status": 2, "CapturedAmount": 25_860, "CapturedDate": "2026-12-03 10:00:00"});
    let [Fact::Settled(settlement)] = &facts(answered_in(Mode::Live, &payment).await)[..] else { panic!() };
    assert_eq!(settlement.amount, Money::from_cents(25_860));
    assert_eq!(settlement.paid_on, "2026-12-03".parse().ok());
}

#[tokio::test]
async fn one_that_is_withdrawn_at_cielo_is_removed() {
    let bank = Bank::default();
    let cielo = adapter(bank.factory());
    let issued = facts(cielo.charge(&charge(Method::Boleto, 25_350)).await);
    let [Fact::Pending { issued, .. }] = &issued[..] else { panic!("{issued:?}") };
    bank.books(|books| books.sales[0].status = 10);
    let mut shown = named(query(Method::Boleto, 25_350), &bank.only_sale().payment_id);
    shown.issued = Some(Arc::new(issued.clone()));
    tokio::time::pause();
    assert_eq!(facts(cielo.inquire(&shown).await), [Fact::Removed { by: RemovedBy::Receiver }]);
}
