//! Registering a title: one for each number, whatever the answer was.

use quita_domain::acquiring::{Charge, ChargeQuery, Fact, Issued};
use quita_domain::boleto::NumberDigit;
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_ports::AcquirerFactory as _;
use serde_json::json;

use crate::world::{NUMBER, World, charge, charge_with, due_date, known, statement, told};

#[tokio::test]
async fn a_title_is_registered_under_our_number_with_everything_the_bank_wants() {
    let world = World::open();
    let answer = statement(world.adapter().charge(&charge()).await);
    let [Fact::Pending { issued: Issued::Boleto(slip), .. }] = &answer.facts[..] else {
        panic!("{answer:?}")
    };
    assert_eq!((slip.our_number.as_str(), slip.bank_code.as_str()), ("4242", "756-0"));
    assert_eq!((slip.barcode.len(), slip.digitable_line.len()), (44, 47));
    assert!(slip.pix_code.as_ref().unwrap().contains("pix.sicoob.example"));
    let your_number = answer.reference.get("yourNumber").unwrap();
    assert_eq!((answer.reference.get("ourNumber"), your_number.len()), (Some("4242"), 18));
    let body = world.last_body();
    let expected = [
        ("numeroCliente", json!(25_546_454)),
        ("numeroContaCorrente", json!(123_456)),
        ("codigoModalidade", json!(1)),
        ("codigoEspecieDocumento", json!("DM")),
        ("dataEmissao", json!("2026-11-23")),
        ("dataVencimento", json!("2026-12-01")),
        ("dataLimitePagamento", json!("2026-12-01")),
        ("nossoNumero", json!(4_242)),
        ("seuNumero", json!(your_number)),
        ("valor", json!(100.10)),
        ("tipoDesconto", json!(0)),
        ("tipoMulta", json!(0)),
        ("tipoJurosMora", json!(3)),
        ("codigoProtesto", json!(3)),
        ("codigoNegativacao", json!(3)),
        ("codigoCadastrarPIX", json!(1)),
    ];
    for (name, value) in expected {
        assert_eq!(body[name], value, "{name}");
    }
    let payer = json!({
        "numeroCpfCnpj": "11144477735", "nome": "Fulano de Tal", "endereco": "Rua da Consolacao 10 apto 7",
        "bairro": "Centro", "cidade": "Sao Paulo", "cep": "01310100", "uf": "SP",
    });
    assert_eq!(body["pagador"], payer);
    assert_eq!(world.sent(), ["POST /boletos"]);
    assert_eq!(world.accounts()[&u64::from(NUMBER)].amount_cents, 10_010);
}

#[tokio::test]
async fn every_term_goes_to_the_bank_in_its_own_words() {
    let due = DueTerms {
        payable_after_due_days: 30,
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::BasisPointsPerMonth(100)),
        discounts: vec![
            Discount { until: "2026-11-27".parse().unwrap(), portion: Portion::BasisPoints(550) },
            Discount { until: "2026-11-30".parse().unwrap(), portion: Portion::BasisPoints(200) },
        ],
        instructions: vec!["Não receber em cheque".into()],
        ..DueTerms::plain(due_date())
    };
    let world = World::open();
    assert_eq!(told(world.adapter().charge(&charge_with(due)).await), ["pending"]);
    let body = world.last_body();
    for (name, value) in [
        ("dataLimitePagamento", json!("2027-01-04")),
        ("tipoMulta", json!(2)),
        ("dataMulta", json!("2026-12-02")),
        ("valorMulta", json!(2.0)),
        ("tipoJurosMora", json!(2)),
        ("dataJurosMora", json!("2026-12-02")),
        ("valorJurosMora", json!(1.0)),
        ("tipoDesconto", json!(2)),
        ("dataPrimeiroDesconto", json!("2026-11-27")),
        ("valorPrimeiroDesconto", json!(5.5)),
        ("dataSegundoDesconto", json!("2026-11-30")),
        ("valorSegundoDesconto", json!(2.0)),
        ("mensagensInstrucao", json!(["Nao receber em cheque"])),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    let due = DueTerms {
        payable_after_due_days: 5,
        fine: Some(Portion::Amount(Money::from_cents(150))),
        interest: Some(Interest::AmountPerDay(Money::from_cents(7))),
        discounts: vec![Discount { until: due_date(), portion: Portion::Amount(Money::from_cents(500)) }],
        ..DueTerms::plain(due_date())
    };
    let world = World::open();
    assert_eq!(told(world.adapter().charge(&charge_with(due)).await), ["pending"]);
    let body = world.last_body();
    assert_eq!((&body["tipoMulta"], &body["valorMulta"]), (&json!(1), &json!(1.5)));
    assert_eq!((&body["tipoJurosMora"], &body["valorJurosMora"]), (&json!(1), &json!(0.07)));
    assert_eq!((&body["tipoDesconto"], &body["valorPrimeiroDesconto"]), (&json!(1), &json!(5.0)));
}

#[tokio::test]
async fn a_number_with_its_check_digit_is_registered_where_the_bank_wants_one() {
    let world = World::with(json!({ "numbersHaveDigit": true }));
    let factory = world.factory_with(|settings| {
        settings.number_digit = NumberDigit::sicoob(4_027, settings.customer).ok();
    });
    let numbers = factory.numbers().unwrap();
    assert_eq!((numbers.key.as_str(), numbers.first), ("sicoob 25546454 1 1 digit", 1));
    let charge = charge();
    let with_number = |number| Charge {
        query: ChargeQuery { our_number: Some(number), ..charge.query.clone() },
        ..charge.clone()
    };
    let adapter = factory.build();
    assert_eq!(told(adapter.charge(&with_number(NUMBER)).await), ["refused"], "it has no digit");
    let written = numbers.written(NUMBER);
    let answer = adapter.charge(&with_number(written)).await;
    let query = known(&with_number(written).query, answer);
    assert_eq!(query.reference.get("ourNumber"), Some(written.to_string().as_str()));
    assert_eq!(world.accounts().keys().collect::<Vec<_>>(), [&u64::from(written)]);
    assert_eq!(told(adapter.inquire(&query).await), ["pending"]);
}

#[tokio::test]
async fn every_shape_of_the_answer_is_read() {
    for shape in ["object", "array", "boleto"] {
        let world = World::with(json!({ "shape": shape }));
        assert_eq!(told(world.adapter().charge(&charge()).await), ["pending"], "{shape}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_by_the_number_and_leaves_one_title() {
    for fault in [
        json!({ "fault": "reset-after" }),
        json!({ "fault": "error-after", "status": 500 }),
        json!({ "fault": "unreadable" }),
    ] {
        let world = World::open();
        let charge = charge();
        // The first call is for a token.
        world.factory().ranges().await.unwrap();
        let adapter = world.adapter();
        adapter.inquire(&charge.query).await;
        world.strike(json!([fault]));
        assert_eq!(told(adapter.charge(&charge).await), ["unknown"], "{fault}");
        assert_eq!(told(adapter.inquire(&charge.query).await), ["pending"], "{fault}");
        let again = Charge {
            query: ChargeQuery { attempt: AttemptNumber::new(2), ..charge.query.clone() },
            ..charge
        };
        assert_eq!(told(adapter.charge(&again).await), ["pending"], "the bank refuses it: it is asked for");
        assert_eq!(world.accounts().len(), 1);
    }
}

#[tokio::test]
async fn a_refusal_whatever_its_status_is_followed_by_an_inquiry() {
    for status in [400, 406, 404, 409] {
        let world = World::with(json!({ "duplicateStatus": status, "duplicateText": "Erro 17." }));
        let query = world.registered().await;
        let again = Charge { query: ChargeQuery { attempt: AttemptNumber::new(2), ..query }, ..charge() };
        assert_eq!(told(world.adapter().charge(&again).await), ["pending"], "{status}");
        assert_eq!(world.accounts().len(), 1);
    }
}

#[tokio::test]
async fn what_the_bank_does_not_take_is_refused_once_it_has_no_title() {
    let world = World::open();
    let factory = world.factory_with(|settings| settings.document_kind = "ZZZ".into());
    let answer = quita_ports::AcquirerFactory::build(&factory).charge(&charge()).await;
    assert_eq!(told(answer), ["refused"]);
    assert_eq!(world.sent(), ["POST /boletos", "GET /boletos"]);
    let world = World::open();
    let factory = world.factory_with(|settings| settings.document_kind = "ZZZ".into());
    let adapter = quita_ports::AcquirerFactory::build(&factory);
    adapter.inquire(&charge().query).await;
    world.strike(json!([{ "fault": "error-before", "status": 400 }, { "fault": "reset-before" }]));
    assert_eq!(told(adapter.charge(&charge()).await), ["unknown"], "nobody was asked");
}

#[tokio::test]
async fn a_number_of_another_program_is_taken() {
    let world = World::open();
    world.tell(json!({ "do": "take_number", "number": NUMBER }));
    assert_eq!(told(world.adapter().charge(&charge()).await), ["number taken"]);
    assert_eq!(told(world.inquire(&charge().query).await), ["number taken"]);
    let other = ChargeQuery { our_number: Some(NUMBER + 1), ..charge().query };
    let next = Charge { query: other, ..charge() };
    assert_eq!(told(world.adapter().charge(&next).await), ["pending"]);
}

#[tokio::test]
async fn without_a_number_nothing_is_sent() {
    let world = World::open();
    let query = ChargeQuery { our_number: None, ..charge().query };
    let answer = world.adapter().charge(&Charge { query: query.clone(), ..charge() }).await;
    assert_eq!(
        (told(answer), told(world.inquire(&query).await)),
        (vec!["not delivered".to_owned()], vec!["not found".to_owned()])
    );
    assert!(world.sent().is_empty());
}

#[tokio::test]
async fn a_wrong_bar_code_is_handed_out_to_nobody() {
    for (bar_code, why) in [
        ("wrong-digit", "mismatched: the line is not valid"),
        ("other-amount", "mismatched: the bar code has another amount"),
        ("other-day", "mismatched: the bar code has another due date"),
    ] {
        let world = World::with(json!({ "barCode": bar_code }));
        let answer = told(world.adapter().charge(&charge()).await);
        assert!(answer[0].starts_with("mismatched: "), "{bar_code}: {answer:?} {why}");
    }
}

#[tokio::test]
async fn a_boleto_without_its_pix_code_is_issued_and_that_is_stated_once() {
    for code in ["rejected", "bad-crc"] {
        let world = World::with(json!({ "pixCode": code }));
        let answer = world.adapter().charge(&charge()).await;
        assert_eq!(told(answer.clone()), ["pending", "no pix code"], "{code}");
        let query = known(&charge().query, answer);
        assert_eq!(told(world.inquire(&query).await), ["pending"], "{code}");
    }
    let world = World::open();
    let factory = world.factory_with(|settings| settings.has_pix = false);
    let answer = statement(quita_ports::AcquirerFactory::build(&factory).charge(&charge()).await);
    let [Fact::Pending { issued: Issued::Boleto(slip), .. }] = &answer.facts[..] else {
        panic!("{answer:?}")
    };
    assert_eq!((&slip.pix_code, &world.last_body()["codigoCadastrarPIX"]), (&None, &json!(2)));
}
