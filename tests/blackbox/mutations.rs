//! Requests that are right but for one or two places: thousands of them, always an answer, never a 5xx.

use serde_json::{Value, json};

use crate::support::{Edit, TestApp, boleto, card, pix};

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }
}

fn odd_values() -> Vec<Value> {
    let numbers = [
        json!(0),
        json!(-1),
        json!(1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!(1e300),
        json!(27),
    ];
    let texts = [
        "",
        " ",
        "0",
        "\u{0}",
        "é",
        "🎁🎁",
        "true",
        "null",
        "-1",
        "1e9",
        "2026-02-29",
        "pix",
        "CPF",
        "BRL",
        "[]",
    ];
    let long = ["x".repeat(100), "9".repeat(300), "é".repeat(5_000)];
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!([null]),
        json!([[]]),
        json!({"a": {}}),
    ];
    let texts = texts.iter().map(|text| json!(text)).chain(long.iter().map(|text| json!(text)));
    numbers.into_iter().chain(texts).chain(others).collect()
}

/// Every object in a request, by its pointer.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            found.push(at.to_owned());
            members.iter().map(|(name, member)| (name.clone(), member)).collect()
        }
        Value::Array(entries) => {
            entries.iter().enumerate().map(|(n, entry)| (n.to_string(), entry)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (name, member) in members {
        objects(member, &format!("{at}/{name}"), found);
    }
}

/// Changes one member of one object: another value, gone, or under another name.
fn mutate(request: &mut Value, dice: &mut Dice, odd: &[Value]) {
    let mut found = Vec::new();
    objects(request, "", &mut found);
    let object = request.pointer_mut(&found[dice.roll(found.len())]).unwrap().as_object_mut().unwrap();
    let names: Vec<_> = object.keys().cloned().collect();
    if names.is_empty() {
        return;
    }
    let name = &names[dice.roll(names.len())];
    match dice.roll(8) {
        0 => drop(object.remove(name)),
        1 => {
            let value = object.remove(name).unwrap();
            object.insert(name.to_uppercase(), value);
        }
        _ => drop(object.insert(name.clone(), odd[dice.roll(odd.len())].clone())),
    }
}

fn whole_requests() -> [Value; 3] {
    [pix(10_027), boleto(10_027), card("4242424242424242", 10_000)].map(|request| {
        request
            .with("items", json!([{"id": "7f3c1f0e-0a51-4c5c-9d0c-3d3f7a1f2b11", "name": "a", "quantity": 2, "price": 5}]))
            .with("shipping", json!({"fee": 5}))
            .with("splits", json!([{"recipientId": "a", "amount": 1}, {"recipientId": "b", "amount": 2}]))
            .with("postbackUrl", json!("http://127.0.0.1:1/"))
            .with("UTMSource", json!("a"))
            .with("externalReference", json!("b"))
            .with("metadata", json!({"c": "d"}))
    })
}

#[test]
fn a_request_with_odd_values_is_created_or_refused_and_never_a_defect() {
    let app = TestApp::new();
    let client = app.client();
    let mut dice = Dice(20_261_121);
    let odd = odd_values();
    let requests = whole_requests();
    let mut created = 0;
    for _ in 0..2_000 {
        let mut request = requests[dice.roll(requests.len())].clone();
        for _ in 0..=dice.roll(2) {
            mutate(&mut request, &mut dice, &odd);
        }
        let answer = client.post("/pay/payments", &request);
        assert!([201, 400, 422].contains(&answer.status), "{request}: {answer}");
        if answer.status == 201 {
            created += 1;
            continue;
        }
        let fields = answer.violations();
        assert!(!fields.is_empty(), "{request}: {answer}");
    }
    assert!((50..1_500).contains(&created), "{created} were created");
}

#[test]
fn a_query_with_odd_values_is_answered() {
    let app = TestApp::new();
    let client = app.client();
    client.create(&pix(10_027));
    let names = [
        "limit",
        "cursor",
        "status",
        "paymentMethod",
        "document",
        "email",
        "createdFrom",
        "createdTo",
        "state",
    ];
    let odd = [
        "",
        "0",
        "-1",
        "%",
        "%zz",
        "%ff%fe",
        "%00",
        "a=b",
        "1&limit=2",
        "%F0%9F%8E%81",
        "2026-11-21",
        "null",
        "[]",
        "+",
    ];
    for path in ["/pay/payments", "/pay/webhooks/deliveries"] {
        for name in names {
            for value in odd {
                let answer = client.get(&format!("{path}?{name}={value}"));
                assert!([200, 400].contains(&answer.status), "{answer}");
                if answer.status == 400 {
                    answer.expect_error_shape();
                }
            }
        }
    }
}
