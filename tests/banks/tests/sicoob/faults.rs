use quita_banks::Reply;
use quita_banks::faults::Fault;
use serde_json::{Value, json};

use crate::customer::{Customer, title};

fn struck(fault: Fault) -> (Customer, Reply) {
    let mut customer = Customer::new();
    customer.bank = customer.bank.with_faults(Box::new(move |_| Some(fault)));
    let reply = customer.reply("POST", "/boletos", &title());
    (customer, reply)
}

#[test]
fn a_fault_before_the_call_leaves_nothing_done() {
    for fault in [
        Fault::ResetBefore,
        Fault::SilenceBefore,
        Fault::ErrorBefore(503),
        Fault::Throttled { retry_after_s: 2 },
        Fault::TokenRefused,
    ] {
        let (mut customer, _) = struck(fault);
        assert!(customer.bank.books(customer.now_ms).is_empty(), "{fault:?}");
    }
}

#[test]
fn a_fault_after_the_call_leaves_a_title_whose_number_is_taken() {
    for fault in [
        Fault::ResetAfter,
        Fault::SilenceAfter,
        Fault::ErrorAfter(500),
        Fault::Unreadable,
        Fault::Slow { ms: 50 },
    ] {
        let (mut customer, _) = struck(fault);
        assert!(customer.bank.account(7, customer.now_ms).is_some(), "{fault:?}");
    }
}

#[test]
fn lost_answers_can_be_planned_for_one_kind_of_call() {
    let mut customer = Customer::new();
    let plan = json!({
        "do": "faults", "method": "POST", "path": "/boletos", "next": [{"fault": "reset-after"}],
    });
    assert_eq!(customer.control(plan), json!({"ok": true}));
    assert_eq!(customer.reply("POST", "/boletos", &title()), Reply::Reset);
    assert_eq!(customer.post("/boletos", &title()).0, 400);
    assert_eq!(customer.read(7)["seuNumero"], "PEDIDO1");
}

#[test]
fn a_title_may_be_registered_although_the_answer_says_not_found() {
    let mut customer = Customer::with(|config| config.registered_status = 404);
    let (status, body) = customer.post("/boletos", &title());
    assert_eq!((status, body["resultado"]["nossoNumero"].clone()), (404, json!(7)));
}

#[test]
fn a_title_may_be_paid_before_its_registration_is_answered() {
    let mut customer = Customer::with(|config| config.paid_before_answer_permille = 1000);
    let Reply::Answer { after_ms, .. } = customer.reply("POST", "/boletos", &title()) else { panic!() };
    assert!(after_ms > 0);
    assert_eq!(customer.read(7)["situacaoBoleto"], "Liquidado");
}

#[test]
fn an_unknown_command_is_told() {
    assert_eq!(Customer::new().control(json!({"do": "rob"})), json!({"error": "rob is not known here"}));
    let _: Value = Customer::new().control(json!({"do": "calls"}));
}
