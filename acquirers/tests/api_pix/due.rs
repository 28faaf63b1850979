//! Charges with a due date: what is sent, and which Pix pays.

use quita_domain::acquiring::{Charge, ChargeAnswer, Fact, Issued};
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use quita_domain::order::Terms;
use serde_json::{Value, json};

use crate::bank::{E2E, KEY, body};
use crate::world::{TXID, World, charge, operation, stated};

fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}

/// Due on a Friday, with 2 % and 1 % a month.
fn terms() -> DueTerms {
    DueTerms {
        payable_after_due_days: 30,
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::BasisPointsPerMonth(100)),
        ..DueTerms::plain("2026-11-27".parse().unwrap())
    }
}

fn due(terms: DueTerms) -> Charge {
    let mut charge = charge(10_000);
    charge.query.terms = Terms::DuePix(terms.clone());
    let mut order = (*charge.order).clone();
    order.terms = Terms::DuePix(terms);
    charge.order = order.into();
    charge
}

/// The body that is sent for these terms.
async fn sent(terms: DueTerms) -> Value {
    let world = World::open();
    world.adapter.charge(&due(terms)).await;
    assert_eq!(world.bank.asked().last().unwrap(), &format!("PUT /cobv/{TXID}"));
    body(&world.bank.last())
}

#[tokio::test(start_paused = true)]
async fn the_request_has_dates_sums_and_the_payers_whole_address() {
    let expected = json!({
        "calendario": {"dataDeVencimento": "2026-11-27", "validadeAposVencimento": 30},
        "devedor": {"cpf": "11144477735", "nome": "Fulano de Tal", "logradouro": "Rua, 1, Centro",
            "cidade": "São Paulo", "uf": "SP", "cep": "01310100"},
        "valor": {"original": "100.00", "multa": {"modalidade": 2, "valorPerc": "2.00"},
            "juros": {"modalidade": 3, "valorPerc": "1.00"}},
        "chave": KEY, "solicitacaoPagador": "pedido 42",
    });
    assert_eq!(sent(terms()).await, expected);
}

#[tokio::test(start_paused = true)]
async fn fixed_sums_and_discounts_have_their_own_kinds() {
    let discount = |until: &str, portion| Discount { until: until.parse().unwrap(), portion };
    let fixed = DueTerms {
        fine: Some(Portion::Amount(cents(150))),
        interest: Some(Interest::AmountPerDay(cents(10))),
        discounts: vec![
            discount("2026-11-22", Portion::Amount(cents(500))),
            discount("2026-11-25", Portion::Amount(cents(200))),
        ],
        ..terms()
    };
    let value = sent(fixed).await["valor"].clone();
    assert_eq!(value["multa"], json!({"modalidade": 1, "valorPerc": "1.50"}));
    assert_eq!(value["juros"], json!({"modalidade": 1, "valorPerc": "0.10"}));
    let dates =
        json!([{"data": "2026-11-22", "valorPerc": "5.00"}, {"data": "2026-11-25", "valorPerc": "2.00"}]);
    assert_eq!(value["desconto"], json!({"modalidade": 1, "descontoDataFixa": dates}));
    let percent = DueTerms {
        discounts: vec![discount("2026-11-22", Portion::BasisPoints(1_250))],
        ..DueTerms::plain("2026-11-27".parse().unwrap())
    };
    let value = sent(percent).await["valor"].clone();
    let dates = json!([{"data": "2026-11-22", "valorPerc": "12.50"}]);
    assert_eq!(value["desconto"], json!({"modalidade": 2, "descontoDataFixa": dates}));
    assert!(value.get("multa").is_none() && value.get("juros").is_none(), "{value}");
}

#[tokio::test(start_paused = true)]
async fn it_can_be_paid_until_the_end_of_its_last_day() {
    let world = World::open();
    let answer = stated(world.adapter.charge(&due(terms())).await);
    let [Fact::Pending { issued: Issued::Pix { expires_at, .. }, .. }] = answer.facts.as_slice() else {
        panic!("{answer:?}")
    };
    // Thirty days after the due date are a Sunday.
    assert_eq!(expires_at.to_string(), "2026-12-29T03:00:00.000Z");
}

/// Returns the settlements of a charge for which this came in on this day.
async fn settled(amount: &str, at: &str) -> Vec<(Money, String)> {
    let world = World::open();
    let charge = due(terms());
    world.adapter.charge(&charge).await;
    let pix = json!([{"endToEndId": E2E, "txid": TXID, "valor": amount, "chave": KEY, "horario": at}]);
    world.bank.change(TXID, |cob| {
        cob["status"] = json!("CONCLUIDA");
        cob["pix"] = pix;
    });
    let answer = stated(world.adapter.inquire(&charge.query).await);
    assert_eq!(world.bank.asked().last().unwrap(), &format!("GET /cobv/{TXID}"));
    let of = |fact: &Fact| match fact {
        Fact::Settled(settlement) => Some((settlement.amount, settlement.paid_on.unwrap().to_string())),
        _ => None,
    };
    let concludes = answer.facts.iter().any(|fact| matches!(fact, Fact::Concluded));
    let settled: Vec<_> = answer.facts.iter().filter_map(of).collect();
    let pays = answer.reference.get("endToEndId").is_some();
    assert_ne!(concludes, pays, "{answer:?}");
    settled
}

#[tokio::test(start_paused = true)]
async fn the_pix_of_a_late_payer_pays_with_fine_and_interest() {
    for (amount, at, day) in [
        ("100.00", "2026-11-27T15:00:00Z", "2026-11-27"),
        ("102.10", "2026-11-30T15:00:00Z", "2026-11-30"),
        ("102.11", "2026-12-01T02:30:00Z", "2026-11-30"),
        ("150.00", "2026-11-30T15:00:00Z", "2026-11-30"),
    ] {
        let reais: Vec<u64> = amount.split('.').map(|part| part.parse().unwrap()).collect();
        let expected = vec![(cents(reais[0] * 100 + reais[1]), day.to_owned())];
        assert_eq!(settled(amount, at).await, expected, "{amount} {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn too_little_is_told_and_does_not_pay() {
    let told = settled("100.00", "2026-12-10T15:00:00Z").await;
    assert_eq!(told, [(cents(10_000), "2026-12-10".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn it_is_withdrawn_and_asked_for_under_its_own_kind() {
    let world = World::open();
    let charge = due(terms());
    world.adapter.charge(&charge).await;
    world.adapter.operate(&charge.query, &operation(OperationKind::Cancel)).await;
    assert_eq!(world.bank.asked().last().unwrap(), &format!("PATCH /cobv/{TXID}"));
    let answer = world.adapter.inquire(&charge.query).await;
    assert!(matches!(answer, ChargeAnswer::Known(_)), "{answer:?}");
}
