use quita_banks::sicoob::{BarCode, PixCode, Shape, Status};
use serde_json::{Value, json};

use crate::customer::{Customer, title, title_with};

#[test]
fn a_title_is_registered_under_the_customers_number_with_both_codes() {
    let mut customer = Customer::new();
    let title = customer.registered(&title());
    assert_eq!(title["nossoNumero"], 7);
    assert_eq!(title["situacaoBoleto"], "Em Aberto");
    assert!(title["qrCode"].as_str().unwrap().contains("pix.sicoob.example/qr/payload/v2/cobv/"));
    assert_eq!(title["codigoBarras"], "75696164400000100001300701255464500000007001");
    assert_eq!(title["linhaDigitavel"].as_str().unwrap().len(), 47);
    assert_eq!(customer.read(7), title);
}

#[test]
fn a_number_is_taken_once() {
    let mut customer = Customer::new();
    customer.registered(&title());
    let (status, body) = customer.post("/boletos", &title_with(json!({"seuNumero": "PEDIDO2"})));
    assert_eq!(status, 400);
    assert!(body["mensagens"][0]["mensagem"].as_str().unwrap().contains("Já existe"), "{body}");
    assert_eq!(customer.read(7)["seuNumero"], "PEDIDO1");
}

#[test]
fn without_a_number_the_bank_chooses_one_that_is_free() {
    let mut customer = Customer::new();
    customer.control(json!({"do": "take_number", "number": 9_999_999}));
    let title = customer.registered(&title_with(json!({"nossoNumero": null})));
    assert_eq!(title["nossoNumero"], 9_999_998);
}

#[test]
fn a_number_outside_of_the_range_is_refused() {
    let mut customer = Customer::with(|config| config.numbers = (10, 20));
    for number in [9, 21] {
        assert_eq!(customer.post("/boletos", &title_with(json!({"nossoNumero": number}))).0, 400);
    }
    customer.registered(&title_with(json!({"nossoNumero": 20})));
}

#[test]
fn fields_are_held_against_the_portals_model() {
    let long = |count: usize| "x".repeat(count);
    let payer = |name: &str, value: Value| {
        let mut payer = title()["pagador"].clone();
        payer[name] = value;
        json!({"pagador": payer})
    };
    let after_due = json!({"tipoMulta": 2, "dataMulta": "2026-11-28", "valorMulta": 2.0});
    for (wrong, status) in [
        (json!({"numeroCliente": 1}), 406),
        (json!({"numeroContaCorrente": null}), 406),
        (json!({"codigoEspecieDocumento": 2}), 400),
        (json!({"codigoEspecieDocumento": "XX"}), 406),
        (json!({"dataVencimento": "28/11/2026"}), 406),
        (json!({"dataVencimento": "2026-11-22"}), 400),
        (json!({"dataLimitePagamento": "2026-11-27"}), 400),
        (json!({"seuNumero": long(19)}), 406),
        (json!({"seuNumero": ""}), 406),
        (json!({"nossoNumero": 2_147_483_648_u64}), 406),
        (json!({"identificacaoEmissaoBoleto": null}), 406),
        (json!({"valor": "100.00"}), 406),
        (json!({"valor": 100.001}), 406),
        (json!({"valor": 0}), 406),
        (json!({"numeroParcela": 100}), 406),
        (json!({"tipoDesconto": null}), 406),
        (json!({"tipoMulta": 3}), 406),
        (json!({"tipoJurosMora": 0}), 406),
        (after_due, 400),
        (json!({"tipoJurosMora": 2, "dataJurosMora": "2026-12-31", "valorJurosMora": 1.0}), 400),
        (json!({"tipoDesconto": 1}), 406),
        (json!({"tipoDesconto": 1, "dataPrimeiroDesconto": "2026-11-29", "valorPrimeiroDesconto": 1}), 400),
        (json!({"tipoDesconto": 1, "dataPrimeiroDesconto": "2026-11-27", "valorPrimeiroDesconto": 100}), 400),
        (json!({"mensagensInstrucao": [long(41)]}), 406),
        (json!({"mensagensInstrucao": ["", "", "", "", "", ""]}), 406),
        (payer("nome", json!(long(51))), 406),
        (payer("endereco", json!(long(41))), 406),
        (payer("bairro", json!(long(31))), 406),
        (payer("cidade", json!(long(41))), 406),
        (payer("cep", json!("01310-100")), 406),
        (payer("uf", json!("sp")), 406),
        (payer("numeroCpfCnpj", json!("111.444.777-35")), 406),
    ] {
        let mut customer = Customer::new();
        let (got, body) = customer.post("/boletos", &title_with(wrong.clone()));
        assert_eq!(got, status, "{wrong}: {body}");
        assert!(body["mensagens"][0]["codigo"].is_string(), "{body}");
        assert!(customer.bank.books(customer.now_ms).is_empty());
    }
}

#[test]
fn what_is_just_within_the_model_is_taken() {
    let mut payer = title()["pagador"].clone();
    payer["nome"] = json!("x".repeat(50));
    payer["numeroCpfCnpj"] = json!("12ABC34501DE35");
    for right in [
        json!({"seuNumero": "x".repeat(18)}),
        json!({"valor": 0.01}),
        json!({"numeroParcela": 99}),
        json!({"dataVencimento": "2026-11-23"}),
        json!({"dataLimitePagamento": null}),
        json!({"tipoMulta": 1, "dataMulta": "2026-12-30", "valorMulta": 1.5}),
        json!({"tipoDesconto": 2, "dataPrimeiroDesconto": "2026-11-25", "valorPrimeiroDesconto": 5,
            "dataSegundoDesconto": "2026-11-28", "valorSegundoDesconto": 2.5}),
        json!({"mensagensInstrucao": ["x".repeat(40)]}),
        json!({"pagador": payer}),
    ] {
        let (status, body) = Customer::new().post("/boletos", &title_with(right.clone()));
        assert_eq!(status, 200, "{right}: {body}");
    }
}

#[test]
fn an_answer_has_the_title_in_one_of_three_places() {
    for (shape, at) in
        [(Shape::Object, "/resultado"), (Shape::Array, "/resultado/0"), (Shape::Boleto, "/resultado/boleto")]
    {
        let (_, body) = Customer::with(|config| config.shape = shape).post("/boletos", &title());
        assert_eq!(body.pointer(at).unwrap()["nossoNumero"], 7, "{shape:?}");
    }
}

#[test]
fn a_hybrid_title_may_come_without_its_code_and_says_why() {
    let mut customer = Customer::with(|config| config.pix_code = PixCode::Rejected);
    let title = customer.registered(&title());
    assert!(title.get("qrCode").is_none() && title["descricaoRejeicaoPix"].is_string());
}

#[test]
fn without_pix_there_is_no_code_and_no_complaint() {
    let title = Customer::new().registered(&title_with(json!({"codigoCadastrarPIX": 2})));
    assert!(title.get("qrCode").is_none() && title.get("descricaoRejeicaoPix").is_none());
}

#[test]
fn codes_are_wrong_where_they_are_meant_to_be() {
    let good = Customer::new().registered(&title());
    for bar_code in [BarCode::WrongDigit, BarCode::OtherAmount, BarCode::OtherDay] {
        let title = Customer::with(|config| config.bar_code = bar_code).registered(&title());
        assert_ne!(title["codigoBarras"], good["codigoBarras"], "{bar_code:?}");
    }
    let title = Customer::with(|config| config.pix_code = PixCode::BadCrc).registered(&title());
    assert_ne!(title["qrCode"], good["qrCode"]);
}

#[test]
fn what_is_not_there_has_no_content() {
    let mut customer = Customer::new();
    let target = "/boletos?numeroCliente=25546454&codigoModalidade=1&nossoNumero=8";
    assert_eq!(customer.get(target), (204, Value::Null));
}

#[test]
fn a_new_title_is_found_late() {
    let mut customer = Customer::with(|config| config.read_lag_ms = 1_000);
    customer.registered(&title());
    let target = "/boletos?numeroCliente=25546454&codigoModalidade=1&nossoNumero=7";
    assert_eq!(customer.get(target).0, 204);
    customer.now_ms += 1_000;
    assert_eq!(customer.get(target).0, 200);
}

#[test]
fn a_title_is_found_by_its_codes_and_by_its_payer_too() {
    let mut customer = Customer::new();
    let title = customer.registered(&title());
    for name in ["codigoBarras", "linhaDigitavel"] {
        let code = title[name].as_str().unwrap();
        let target = format!("/boletos?numeroCliente=25546454&codigoModalidade=1&{name}={code}");
        assert_eq!(customer.get(&target).1["resultado"], title, "{name}");
    }
    let target =
        "/pagadores/11144477735/boletos?numeroCliente=25546454&codigoSituacao=1&dataInicio=2026-11-28";
    assert_eq!(customer.get(target).1["resultado"]["boletos"][0], title);
    assert_eq!(customer.get("/pagadores/11144477735/boletos?numeroCliente=25546454&codigoSituacao=3").0, 204);
}

#[test]
fn a_title_is_written_off_once() {
    let mut customer = Customer::new();
    customer.registered(&title());
    let body = json!({"numeroCliente": 25_546_454, "codigoModalidade": 1});
    assert_eq!(customer.post("/boletos/7/baixar", &body), (204, Value::Null));
    assert_eq!(customer.read(7)["situacaoBoleto"], "Baixado");
    assert_eq!(customer.post("/boletos/7/baixar", &body).0, 400);
    assert_eq!(customer.bank.account(7, customer.now_ms).unwrap().status, Status::WrittenOff);
}

#[test]
fn one_thing_is_changed_at_a_time() {
    let mut customer = Customer::new();
    customer.registered(&title());
    let change = |changes: Value| {
        let mut body = json!({"numeroCliente": 25_546_454, "codigoModalidade": 1});
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        body
    };
    let later = json!({"prorrogacaoVencimento": {"dataVencimento": "2026-12-10"}});
    assert_eq!(customer.call("PATCH", "/boletos/7", &change(later.clone())).0, 204);
    assert_eq!(customer.read(7)["dataVencimento"], "2026-12-10");
    let mut two = later;
    two["abatimento"] = json!({"valorAbatimento": 1.0});
    assert_eq!(customer.call("PATCH", "/boletos/7", &change(two)).0, 400);
}

#[test]
fn a_number_is_taken_with_its_check_digit_alone_where_the_range_wants_one() {
    let mut customer = Customer::with(|config| {
        config.numbers_have_digit = true;
        (config.cooperative, config.customer) = (1, 19);
    });
    let with_number = |number: u64| title_with(json!({"numeroCliente": 19, "nossoNumero": number}));
    for number in [21, 210, 217, 219] {
        let (status, body) = customer.post("/boletos", &with_number(number));
        assert_eq!(status, 400, "{number}");
        assert!(body["mensagens"][0]["mensagem"].as_str().unwrap().contains("dígito"), "{body}");
    }
    assert_eq!(customer.registered(&with_number(218))["nossoNumero"], 218);
}

#[test]
fn the_range_of_numbers_is_told_as_a_list() {
    let mut customer = Customer::with(|config| config.numbers_have_digit = true);
    let target = "/boletos/faixas-nosso-numero?numeroCliente=25546454&codigoModalidade=1&quantidade=1";
    let range = &customer.get(target).1["resultado"][0];
    let expected = json!({
        "numeroInicial": 1, "numeroFinal": 9_999_999, "validaDigitoVerificadorNossoNumero": 1,
    });
    assert_eq!(*range, expected);
}
