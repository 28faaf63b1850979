//! Tests of the bank through its calls, as a client sees it.

use super::*;

const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";
const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";
const NOW_MS: i64 = 1_795_000_000_000;

/// A bank, and a client with a token that never expires; tests set the time.
struct Bank {
    bank: PixBank,
    now_ms: i64,
}

impl Bank {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config =
            Config { fixed_tokens: vec!["t".to_owned()], keys: vec![KEY.to_owned()], ..Config::default() };
        change(&mut config);
        Self { bank: PixBank::new(config), now_ms: NOW_MS }
    }

    fn reply(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        let request = with_token(request(method, path, body), "t");
        self.bank.handle(&request, self.now_ms)
    }

    fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        answered(self.reply(method, path, body))
    }

    fn get(&mut self, path: &str) -> (u16, Value) {
        self.call("GET", path, &Value::Null)
    }

    /// Returns a bank with a charge of 100.00 under [`TXID`].
    fn charged() -> Self {
        let mut bank = Self::new();
        assert_eq!(bank.call("PUT", &cob(), &charge("100.00")).0, 201);
        bank
    }

    /// Returns a bank with such a charge after payment, and the endToEndId.
    fn paid() -> (Self, String) {
        let mut bank = Self::charged();
        let id = bank.bank.pay(TXID, NOW_MS).unwrap();
        (bank, id)
    }

    fn account(&mut self) -> Account {
        self.bank.books(self.now_ms)[TXID].clone()
    }

    fn bodies(&mut self) -> Vec<Value> {
        let notices = self.bank.notices(self.now_ms);
        notices.iter().map(|notice| serde_json::from_slice(&notice.body).unwrap()).collect()
    }
}

fn request(method: &str, path: &str, body: &Value) -> Request {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        certificate: None,
    }
}

fn with_token(mut request: Request, token: &str) -> Request {
    request.headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    request
}

fn answered(reply: Reply) -> (u16, Value) {
    match reply {
        Reply::Answer { response, .. } => {
            (response.status, serde_json::from_slice(&response.body).unwrap_or(Value::Null))
        }
        Reply::Reset | Reply::Silence => panic!("no answer"),
    }
}

fn cob() -> String {
    format!("/v2/cob/{TXID}")
}

fn charge(amount: &str) -> Value {
    json!({"calendario": {"expiracao": 3600}, "valor": {"original": amount}, "chave": KEY})
}

fn ask_for_token(bank: &mut PixBank, certificate: Option<&str>, now_ms: i64) -> String {
    let mut request = request("POST", "/oauth/token", &Value::Null);
    request.headers = vec![("authorization".to_owned(), "Basic aWQ6c2VjcmV0".to_owned())];
    request.body = b"grant_type=client_credentials".to_vec();
    request.certificate = certificate.map(str::to_owned);
    let (status, told) = answered(bank.handle(&request, now_ms));
    assert_eq!(status, 200);
    told["access_token"].as_str().unwrap().to_owned()
}

#[test]
fn every_way_to_show_the_secret_gives_a_token_and_a_wrong_secret_none() {
    let basic = ("authorization", "Basic aWQ6c2VjcmV0");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let json = ("content-type", "application/json");
    let grant = "grant_type=client_credentials";
    for (path, headers, body, status) in [
        ("/oauth/token", vec![basic, form], format!("{grant}&scope=cob.read+cob.write"), 200),
        ("/oauth/token", vec![basic, json], r#"{"grant_type":"client_credentials"}"#.to_owned(), 200),
        ("/oauth/v2/token", vec![form], format!("client_id=id&client_secret=secret&{grant}"), 200),
        ("/as/token.oauth2", vec![form], format!("client_id=id&{grant}"), 200),
        (
            "/oauth/token?grant_type=client_credentials",
            vec![form],
            "client_id=id&client_secret=secret".to_owned(),
            200,
        ),
        ("/oauth/token", vec![form], format!("client_id=id&client_secret=wrong&{grant}"), 401),
        ("/oauth/token", vec![form], "client_id=id&client_secret=secret".to_owned(), 400),
        ("/oauth/token", vec![json], "{".to_owned(), 400),
    ] {
        let mut asked = request("POST", path, &Value::Null);
        asked.headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        asked.body = body.clone().into_bytes();
        let (answered, _) = answered(PixBank::new(Config::default()).handle(&asked, NOW_MS));
        assert_eq!(answered, status, "{path} {body}");
    }
}

#[test]
fn a_bank_that_wants_the_secret_in_one_way_takes_no_other() {
    let config = Config { token_forms: vec![TokenForm::BasicJson], ..Config::default() };
    let mut asked = request("POST", "/oauth/token", &json!({"grant_type": "client_credentials"}));
    asked.headers.push(("authorization".to_owned(), "Basic aWQ6c2VjcmV0".to_owned()));
    let mut bank = PixBank::new(config);
    assert_eq!(answered(bank.handle(&asked, NOW_MS)).0, 200);
    asked.headers.remove(0);
    asked.body = b"grant_type=client_credentials".to_vec();
    assert_eq!(answered(bank.handle(&asked, NOW_MS)).0, 401);
}

#[test]
fn a_token_is_good_until_its_end_and_only_with_the_certificate_that_asked_for_it() {
    let mut bank = PixBank::new(Config::default());
    let token = ask_for_token(&mut bank, Some("aa"), NOW_MS);
    let mut with = |certificate: Option<&str>, now_ms| {
        let mut request = with_token(request("GET", &cob(), &Value::Null), &token);
        request.certificate = certificate.map(str::to_owned);
        answered(bank.handle(&request, now_ms)).0
    };
    assert_eq!(with(Some("aa"), NOW_MS + 3_599_999), 404, "let in, and there is no such charge");
    assert_eq!(with(Some("bb"), NOW_MS), 401);
    assert_eq!(with(None, NOW_MS), 401);
    assert_eq!(with(Some("aa"), NOW_MS + 3_600_000), 401);
}

#[test]
fn a_token_without_the_scope_of_a_call_is_forbidden_it() {
    let mut bank = PixBank::new(Config::default());
    let mut asked = request("POST", "/token", &Value::Null);
    asked.headers.clear();
    asked.body = b"client_id=id&client_secret=secret&grant_type=client_credentials&scope=cob.read".to_vec();
    let token = answered(bank.handle(&asked, NOW_MS)).1["access_token"].as_str().unwrap().to_owned();
    let mut status = |method, body: &Value| {
        answered(bank.handle(&with_token(request(method, &cob(), body), &token), NOW_MS)).0
    };
    assert_eq!(status("PUT", &charge("1.00")), 403);
    assert_eq!(status("GET", &Value::Null), 404);
}

#[test]
fn a_charge_is_created_with_a_code_of_its_own_location() {
    let mut bank = Bank::new();
    let (status, told) = bank.call("PUT", &cob(), &charge("100.00"));
    assert_eq!(status, 201);
    assert_eq!(
        (&told["txid"], &told["status"], &told["revisao"]),
        (&json!(TXID), &json!("ATIVA"), &json!(0))
    );
    let location = told["location"].as_str().unwrap();
    assert!(told["pixCopiaECola"].as_str().unwrap().contains(location));
    assert_eq!(bank.get(&cob()).1, told);
}

#[test]
fn a_charge_that_does_not_say_how_long_can_be_paid_for_a_day() {
    let mut bank = Bank::new();
    let body = json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": KEY});
    assert_eq!(bank.call("PUT", &cob(), &body).1["calendario"]["expiracao"], 86_400);
    assert!(bank.bank.pay(TXID, NOW_MS + 86_400_000).is_ok());
}

#[test]
fn what_the_document_forbids_creates_no_charge() {
    let mut bank = Bank::new();
    let bodies = [
        json!({"valor": {"original": "1.00"}, "chave": KEY}),
        json!({"calendario": {"expiracao": 0}, "valor": {"original": "1.00"}, "chave": KEY}),
        json!({"calendario": {}, "valor": {"original": 1.0}, "chave": KEY}),
        json!({"calendario": {}, "valor": {"original": "0.00"}, "chave": KEY}),
        json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": "another"}),
        json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": KEY, "devedor": {"cpf": "11144477735"}}),
        json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": KEY,
               "devedor": {"cpf": "11144477735", "cnpj": "11222333000181", "nome": "Fulano"}}),
        json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": KEY, "solicitacaoPagador": "a".repeat(141)}),
        json!({"calendario": {}, "valor": {"original": "1.00"}, "chave": KEY, "loc": {"id": 1, "tipoCob": "cob"}}),
        json!([]),
    ];
    for body in bodies {
        let (status, told) = bank.call("PUT", &cob(), &body);
        assert_eq!((status, &told["status"]), (400, &json!(400)), "{body}");
        assert!(told["type"].as_str().unwrap().starts_with("https://pix.bcb.gov.br/api/v2/error/"));
    }
    for txid in ["a".repeat(25), "a".repeat(36), "a".repeat(25) + "-"] {
        assert_eq!(bank.call("PUT", &format!("/cob/{txid}"), &charge("1.00")).0, 400, "{txid}");
    }
    assert!(bank.bank.books(NOW_MS).is_empty());
}

#[test]
fn putting_an_active_charge_again_makes_a_revision_only_if_something_changes() {
    let mut bank = Bank::charged();
    assert_eq!(bank.call("PUT", &cob(), &charge("100.00")).1["revisao"], 0);
    let (status, told) = bank.call("PUT", &cob(), &charge("90.00"));
    assert_eq!((status, &told["revisao"], &told["valor"]["original"]), (201, &json!(1), &json!("90.00")));
    assert_eq!(bank.get(&format!("{}?revisao=0", cob())).1["valor"]["original"], "100.00");
    assert_eq!(bank.get(&format!("{}?revisao=2", cob())).0, 404);
}

#[test]
fn a_charge_that_is_paid_or_removed_is_changed_no_more() {
    let (mut bank, _) = Bank::paid();
    assert_eq!(bank.call("PUT", &cob(), &charge("100.00")).0, 400);
    let mut bank = Bank::charged();
    let removal = json!({"status": "REMOVIDA_PELO_USUARIO_RECEBEDOR"});
    let with_more = json!({"status": "REMOVIDA_PELO_USUARIO_RECEBEDOR", "valor": {"original": "1.00"}});
    assert_eq!(bank.call("PATCH", &cob(), &with_more).0, 400);
    assert_eq!(bank.call("PATCH", &cob(), &removal).1["status"], "REMOVIDA_PELO_USUARIO_RECEBEDOR");
    assert_eq!(bank.call("PATCH", &cob(), &removal).0, 400);
    assert!(bank.bank.pay(TXID, NOW_MS).is_err());
}

#[test]
fn an_expired_charge_stays_active_and_takes_money_only_that_was_under_way() {
    let mut bank = Bank::charged();
    bank.now_ms += 3_600_001;
    assert_eq!(bank.get(&cob()).1["status"], "ATIVA");
    assert!(bank.bank.pay(TXID, bank.now_ms).is_err());
    bank.bank.pay_late(TXID, bank.now_ms).unwrap();
    assert_eq!(bank.get(&cob()).1["status"], "CONCLUIDA");
    assert_eq!(bank.account().received_cents(), 10_000);
}

#[test]
fn a_paid_charge_tells_its_pix_and_so_does_the_pix_itself() {
    let (mut bank, id) = Bank::paid();
    let (_, told) = bank.get(&cob());
    assert_eq!((&told["status"], &told["pix"][0]["endToEndId"]), (&json!("CONCLUIDA"), &json!(id)));
    assert_eq!(bank.get(&format!("/pix/{id}")).1, told["pix"][0]);
    assert_eq!((id.len(), &told["pix"][0]["valor"]), (32, &json!("100.00")));
    assert!(bank.bank.pay(TXID, NOW_MS).is_err(), "one charge, one payment");
    assert_eq!(bank.bank.pay_twice(TXID, NOW_MS).unwrap().len(), 1);
    assert_eq!(bank.account().received_cents(), 20_000);
}

#[test]
fn a_refund_is_under_way_first_and_done_when_its_time_has_come() {
    let (mut bank, id) = Bank::paid();
    let path = format!("/pix/{id}/devolucao/R1");
    let (status, told) = bank.call("PUT", &path, &json!({"valor": "40.00"}));
    assert_eq!((status, &told["status"]), (201, &json!("EM_PROCESSAMENTO")));
    assert_eq!((bank.account().processing_cents, bank.account().refunded_cents()), (4000, 0));
    bank.now_ms += 2000;
    let (_, told) = bank.get(&path);
    assert_eq!(told["status"], "DEVOLVIDO");
    assert!(told["horario"]["liquidacao"].is_string() && told["rtrId"].as_str().unwrap().len() == 32);
    assert_eq!((bank.account().processing_cents, bank.account().refunded_cents()), (0, 4000));
}

#[test]
fn a_refund_that_is_not_done_gives_its_amount_free_again() {
    let (mut bank, id) = Bank::paid();
    bank.bank.config_mut().refund_outcome = RefundOutcome::NotDone;
    bank.call("PUT", &format!("/pix/{id}/devolucao/R1"), &json!({"valor": "100.00"}));
    assert_eq!(bank.call("PUT", &format!("/pix/{id}/devolucao/R2"), &json!({"valor": "0.01"})).0, 400);
    bank.now_ms += 2000;
    let (_, told) = bank.get(&format!("/pix/{id}/devolucao/R1"));
    assert_eq!((&told["status"], told["motivo"].is_string()), (&json!("NAO_REALIZADO"), true));
    assert_eq!(bank.call("PUT", &format!("/pix/{id}/devolucao/R2"), &json!({"valor": "100.00"})).0, 201);
    assert_eq!(bank.account().refunded_cents(), 0);
}

#[test]
fn refunds_are_never_more_than_the_pix() {
    let (mut bank, id) = Bank::paid();
    let mut put = |refund: &str, amount: &str| {
        bank.call("PUT", &format!("/pix/{id}/devolucao/{refund}"), &json!({"valor": amount})).0
    };
    assert_eq!(
        [put("R1", "60.00"), put("R2", "40.01"), put("R3", "40.00"), put("R4", "0.01")],
        [201, 400, 201, 400]
    );
}

#[test]
fn a_used_refund_id_answers_what_it_was_and_another_body_is_refused() {
    let (mut bank, id) = Bank::paid();
    let path = format!("/pix/{id}/devolucao/R1");
    let (_, first) = bank.call("PUT", &path, &json!({"valor": "40.00"}));
    assert_eq!(bank.call("PUT", &path, &json!({"valor": "40.00"})), (201, first));
    assert_eq!(bank.call("PUT", &path, &json!({"valor": "40.01"})).0, 400);
    bank.now_ms += 2000;
    assert_eq!(bank.call("PUT", &path, &json!({"valor": "40.00"})).1["status"], "DEVOLVIDO");
    assert_eq!(bank.account().refunded_cents(), 4000);
}

#[test]
fn no_refund_is_taken_after_90_days() {
    let (mut bank, id) = Bank::paid();
    bank.now_ms += 90 * 86_400_000 + 1;
    assert_eq!(bank.call("PUT", &format!("/pix/{id}/devolucao/R1"), &json!({"valor": "1.00"})).0, 400);
}

#[test]
fn what_the_desk_and_the_banks_give_back_is_in_the_pix_with_its_nature() {
    let (mut bank, _) = Bank::paid();
    bank.bank.desk_refund(TXID, 1000, NOW_MS).unwrap();
    bank.bank.med_refund(TXID, 2000, NOW_MS).unwrap();
    bank.now_ms += 2000;
    let (_, told) = bank.get(&cob());
    let natures: Vec<_> =
        told["pix"][0]["devolucoes"].as_array().unwrap().iter().map(|one| &one["natureza"]).collect();
    assert_eq!(natures, [&json!("ORIGINAL"), &json!("MED_FRAUDE")]);
    assert_eq!(bank.account().refunded_cents(), 3000);
}

#[test]
fn lists_of_charges_and_pix_are_read_page_by_page() {
    let mut bank = Bank::new();
    for number in 0..5 {
        let txid = format!("{number:032}");
        bank.call("PUT", &format!("/cob/{txid}"), &charge("1.00"));
        bank.now_ms += 1000;
        bank.bank.pay(&txid, bank.now_ms).unwrap();
    }
    for (list, items) in [("cob", "cobs"), ("pix", "pix")] {
        let page = |bank: &mut Bank, number: u32| {
            let period = "inicio=2026-11-01T00:00:00Z&fim=2026-12-01T00:00:00-03:00";
            let pages = format!("paginacao.paginaAtual={number}&paginacao.itensPorPagina=2");
            bank.get(&format!("/{list}?{period}&{pages}")).1
        };
        let first = page(&mut bank, 0);
        assert_eq!(
            first["parametros"]["paginacao"],
            json!({"paginaAtual": 0, "itensPorPagina": 2, "quantidadeDePaginas": 3, "quantidadeTotalDeItens": 5})
        );
        let txids: Vec<_> = (0..4)
            .flat_map(|number| page(&mut bank, number)[items].as_array().unwrap().clone())
            .map(|item| item["txid"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(txids, (0..5).map(|number| format!("{number:032}")).collect::<Vec<_>>());
        assert_eq!(bank.get(&format!("/{list}")).0, 400, "a period is wanted");
    }
}

#[test]
fn a_pix_that_is_left_out_of_lists_stays_with_its_charge_and_comes_back() {
    let (mut bank, id) = Bank::paid();
    let listed = |bank: &mut Bank| {
        let list = bank.get("/pix?inicio=2026-11-01T00:00:00Z&fim=2026-12-01T00:00:00Z").1;
        list["pix"].as_array().unwrap().len()
    };
    assert_eq!(listed(&mut bank), 1);
    bank.bank.unlist(&id).unwrap();
    assert_eq!((listed(&mut bank), bank.get(&format!("/pix/{id}")).0), (0, 200));
    assert_eq!(bank.get(&cob()).1["pix"][0]["endToEndId"], json!(id));
    bank.bank.relist(&id).unwrap();
    assert_eq!(listed(&mut bank), 1);
    assert!(bank.bank.relist(&id).is_err() && bank.bank.unlist("E1").is_err());
}

#[test]
fn a_callback_goes_to_where_the_key_is_registered_and_says_what_came() {
    let mut bank = Bank::charged();
    let url = json!({"webhookUrl": "https://shop.example/hook"});
    assert_eq!(bank.call("PUT", &format!("/webhook/{KEY}"), &url).0, 200);
    assert_eq!(bank.get(&format!("/webhook/{KEY}")).1["webhookUrl"], url["webhookUrl"]);
    assert_eq!(bank.get("/webhook").1["webhooks"].as_array().unwrap().len(), 1);
    let id = bank.bank.pay(TXID, NOW_MS).unwrap();
    let notices = bank.bank.notices(NOW_MS);
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].url.as_deref(), Some("https://shop.example/hook/pix"));
    let body: Value = serde_json::from_slice(&notices[0].body).unwrap();
    assert_eq!(body["pix"][0], bank.get(&format!("/pix/{id}")).1);
    assert!(bank.bank.notices(NOW_MS).is_empty(), "each is taken once");
    assert_eq!(bank.call("DELETE", &format!("/webhook/{KEY}"), &Value::Null).0, 204);
    assert_eq!(bank.get(&format!("/webhook/{KEY}")).0, 404);
}

#[test]
fn a_refund_that_ended_is_called_back_too() {
    let (mut bank, id) = Bank::paid();
    bank.bodies();
    bank.call("PUT", &format!("/pix/{id}/devolucao/R1"), &json!({"valor": "1.00"}));
    assert!(bank.bodies().is_empty());
    bank.now_ms += 2000;
    assert_eq!(bank.bodies()[0]["pix"][0]["devolucoes"][0]["status"], "DEVOLVIDO");
}

#[test]
fn callbacks_are_lost_repeated_forged_and_bare_as_the_knobs_say() {
    let paid = |change: fn(&mut Callbacks)| {
        let mut bank = Bank::with(|config| change(&mut config.callbacks));
        bank.call("PUT", &cob(), &charge("1.00"));
        bank.bank.pay(TXID, NOW_MS).unwrap();
        bank.bodies()
    };
    assert_eq!(paid(|callbacks| callbacks.lost_permille = 1000).len(), 0);
    assert_eq!(paid(|callbacks| callbacks.repeated_permille = 1000).len(), 2);
    assert!(paid(|callbacks| callbacks.shape = Shape::Array)[0].is_array());
    let forged = paid(|callbacks| callbacks.forged_permille = 1000);
    let ids: Vec<_> = forged.iter().map(|body| body["pix"][0]["endToEndId"].as_str().unwrap()).collect();
    let mut bank = Bank::new();
    assert_eq!((ids.len(), bank.get(&format!("/pix/{}", ids[0])).0), (2, 404));
}

#[test]
fn a_charge_may_be_paid_and_called_back_before_its_creation_is_answered() {
    let mut bank = Bank::with(|config| config.paid_before_answer_permille = 1000);
    let Reply::Answer { response, after_ms } = bank.reply("PUT", &cob(), &charge("1.00")) else { panic!() };
    assert_eq!((response.status, after_ms), (201, 300));
    assert_eq!(bank.bodies().len(), 1);
}

#[test]
fn faults_before_do_nothing_and_faults_after_leave_the_charge() {
    for (fault, is_there) in [
        (json!({"fault": "reset-before"}), false),
        (json!({"fault": "reset-after"}), true),
        (json!({"fault": "error-before", "status": 503}), false),
        (json!({"fault": "error-after", "status": 500}), true),
        (json!({"fault": "silence-before"}), false),
        (json!({"fault": "silence-after"}), true),
        (json!({"fault": "throttled", "retryAfter": 7}), false),
        (json!({"fault": "unreadable"}), true),
        (json!({"fault": "slow", "ms": 50}), true),
        (json!({"fault": "token-refused"}), false),
    ] {
        let mut bank = Bank::new();
        bank.bank.control(&json!({"do": "faults", "next": [fault]}), NOW_MS);
        let reply = bank.reply("PUT", &cob(), &charge("1.00"));
        match (fault["fault"].as_str().unwrap(), reply) {
            ("reset-before" | "reset-after", reply) => assert_eq!(reply, Reply::Reset),
            ("silence-before" | "silence-after", reply) => assert_eq!(reply, Reply::Silence),
            ("slow", Reply::Answer { after_ms, .. }) => assert_eq!(after_ms, 50),
            ("throttled", Reply::Answer { response, .. }) => {
                assert_eq!(response.status, 429);
                assert!(response.headers.contains(&("retry-after".to_owned(), "7".to_owned())));
            }
            ("unreadable", Reply::Answer { response, .. }) => {
                assert!(serde_json::from_slice::<Value>(&response.body).is_err());
            }
            ("token-refused", Reply::Answer { response, .. }) => assert_eq!(response.status, 401),
            (_, Reply::Answer { response, .. }) => assert_eq!(json!(response.status), fault["status"]),
            (name, reply) => panic!("{name}: {reply:?}"),
        }
        assert_eq!(bank.bank.books(NOW_MS).contains_key(TXID), is_there, "{fault}");
    }
}

#[test]
fn another_merchants_charge_under_the_same_txid_tells_his_key() {
    let mut bank = Bank::new();
    bank.bank.foreign_key(TXID, "his@shop.example", NOW_MS);
    assert_eq!(bank.get(&cob()).1["chave"], "his@shop.example");
}

#[test]
fn errors_have_the_shape_that_the_bank_has() {
    for (shape, pointer) in [
        (ErrorShape::Problem, "/detail"),
        (ErrorShape::Erros, "/erros/0/mensagem"),
        (ErrorShape::Nome, "/mensagem"),
        (ErrorShape::Wrapped, "/error/detail"),
        (ErrorShape::Fault, "/fault/faultstring"),
    ] {
        let mut bank = Bank::with(|config| config.errors = shape);
        let (status, told) = bank.get(&cob());
        assert_eq!(status, 404);
        assert_eq!(told.pointer(pointer).unwrap(), "Cobrança não encontrada para o txid informado.");
    }
}

#[test]
fn calls_are_found_under_any_base_and_keys_are_decoded() {
    for base in ["", "/v2", "/pix/v2", "/pix_recebimentos/v2", "/pix/api/v2"] {
        let mut bank = Bank::with(|config| config.keys = vec!["+5511987654321".to_owned()]);
        let url = json!({"webhookUrl": "https://shop.example/"});
        assert_eq!(bank.call("PUT", &format!("{base}/webhook/%2B5511987654321"), &url).0, 200);
        assert_eq!(bank.get(&format!("{base}/cob/{TXID}")).1["title"], "CobNaoEncontrado");
        assert_eq!(bank.get(&format!("{base}/pix/{TXID}")).1["title"], "PixNaoEncontrado");
    }
}

#[test]
fn commands_of_the_control_path_do_what_the_methods_do() {
    let mut bank = Bank::charged();
    let mut command = |command: Value| bank.bank.control(&command, NOW_MS);
    assert!(command(json!({"do": "pay", "txid": TXID}))["endToEndId"].is_string());
    assert!(command(json!({"do": "pay", "txid": TXID}))["error"].is_string());
    assert!(command(json!({"do": "dance"}))["error"].is_string());
    assert_eq!(command(json!({"do": "set", "config": {"refundAfterMs": 0}})), json!({"ok": true}));
    assert!(command(json!({"do": "set", "config": {"refundAfter": 0}}))["error"].is_string());
    command(json!({"do": "desk_refund", "txid": TXID, "amount": "25.00"}));
    let books = command(json!({"do": "books"}));
    let account = &books[TXID];
    assert_eq!((&account["received"], &account["refunded"]), (&json!("100.00"), &json!("25.00")));
    assert_eq!(command(json!({"do": "calls"})), json!({"PUT /cob/{txid}": 1}));
}
