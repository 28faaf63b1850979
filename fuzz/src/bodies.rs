//! Creation requests, and their mutation by fuzz input.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

/// Returns a request that keeps every rule, in one of four kinds.
pub fn valid(kind: u8) -> Value {
    let mut body = least();
    match kind % 4 {
        0 => {}
        1 => body["paymentMethod"] = json!("boleto"),
        2 => add_card(&mut body),
        _ => {
            add_card(&mut body);
            add_everything(&mut body);
        }
    }
    body
}

fn least() -> Value {
    json!({
        "paymentMethod": "pix", "amount": 10_000, "currency": "BRL",
        "paymentDetails": {
            "firstName": "Maria", "lastName": "da Silva", "document": "52998224725", "documentType": "CPF",
            "email": "maria.silva@example.com", "phoneNumber": "11987654321",
            "address": {
                "street": "Rua Augusta", "number": "100", "neighborhood": "Consolação",
                "city": "São Paulo", "state": "SP", "zipCode": "01304000",
            },
        },
    })
}

fn add_card(body: &mut Value) {
    body["paymentMethod"] = json!("credit_card");
    body["installments"] = json!(3);
    body["creditCard"] = json!({
        "number": "4242424242424242", "holderName": "MARIA DA SILVA",
        "expirationMonth": 12, "expirationYear": 2049, "cvv": "123",
    });
}

fn add_everything(body: &mut Value) {
    body["paymentDetails"]["address"]["complement"] = json!("ap. 7");
    body["shipping"] = json!({ "fee": 500 });
    body["items"] = json!([{ "id": "123e4567-e12b-12d1-a456-426655440000", "name": "Camiseta", "quantity": 2, "price": 5_000 }]);
    body["splits"] =
        json!([{ "recipientId": "r1", "percentage": 12.5 }, { "recipientId": "r2", "percentage": 50 }]);
    body["postbackUrl"] = json!("https://shop.example.com/hooks");
    body["UTMSource"] = json!("newsletter");
    body["capture"] = json!(false);
    body["externalReference"] = json!("order-7");
    body["metadata"] = json!({ "color": "blue", "size": "M" });
}

/// Members that the rules know, but that no request above has in its kind.
const OTHERS: [&str; 9] = [
    "/expiresIn",
    "/dueDate",
    "/capture",
    "/splits",
    "/items",
    "/shipping",
    "/metadata",
    "/UTMTerm",
    "/creditCard",
];

/// Changes the request in a few places.
pub fn bend(body: &mut Value, input: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..input.int_in_range(1..=4_u8)? {
        let mut paths = Vec::new();
        collect(body, String::new(), &mut paths);
        paths.extend(OTHERS.map(String::from));
        let path = input.choose(&paths)?.clone();
        if input.ratio(1, 8)? {
            remove(body, &path);
        } else {
            let current = body.pointer(&path).cloned();
            let fresh = value(input, current.as_ref(), 0)?;
            put(body, &path, fresh);
        }
    }
    Ok(())
}

fn collect(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, format!("{path}/{name}"), paths);
            }
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                collect(entry, format!("{path}/{index}"), paths);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if !path.is_empty() {
        paths.push(path);
    }
}

fn holder<'a, 'p>(body: &'a mut Value, path: &'p str) -> Option<(&'a mut Map<String, Value>, &'p str)> {
    let (parent, name) = path.rsplit_once('/')?;
    Some((body.pointer_mut(parent)?.as_object_mut()?, name))
}

fn put(body: &mut Value, path: &str, fresh: Value) {
    if let Some(place) = body.pointer_mut(path) {
        *place = fresh;
    } else if let Some((members, name)) = holder(body, path) {
        members.insert(name.to_owned(), fresh);
    }
}

fn remove(body: &mut Value, path: &str) {
    if let Some((members, name)) = holder(body, path) {
        members.remove(name);
    }
}

fn value(input: &mut Unstructured<'_>, current: Option<&Value>, depth: u8) -> Result<Value> {
    Ok(match input.int_in_range(0..=9_u8)? {
        0 => Value::Null,
        1 => json!(input.arbitrary::<bool>()?),
        2 => json!(input.arbitrary::<i64>()?),
        3 => json!(input.arbitrary::<u8>()?),
        4 => json!(input.arbitrary::<&str>()?),
        5 => json!(edited(input, current.and_then(Value::as_str).unwrap_or_default())?),
        6 => json!(input.choose(&TEXTS)?),
        7 if depth < 3 => {
            let entries = (0..input.int_in_range(0..=3_u8)?).map(|_| value(input, current, depth + 1));
            Value::Array(entries.collect::<Result<_>>()?)
        }
        8 if depth < 3 => {
            let name = *input.choose(&NAMES)?;
            json!({ name: value(input, None, depth + 1)? })
        }
        _ => current.cloned().unwrap_or(Value::Null),
    })
}

/// Returns the text with its middle replaced.
fn edited(input: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let count = text.chars().count();
    let start = input.int_in_range(0..=count)?;
    let cut = input.int_in_range(0..=3_usize)?;
    let middle: String = input.arbitrary::<&str>()?.chars().take(80).collect();
    let before = text.chars().take(start);
    let after = text.chars().skip(start.saturating_add(cut));
    Ok(before.chain(middle.chars()).chain(after).collect())
}

const NAMES: [&str; 12] = [
    "fee",
    "name",
    "quantity",
    "price",
    "id",
    "recipientId",
    "amount",
    "percentage",
    "number",
    "cvv",
    "color",
    "Ünï",
];

const TEXTS: [&str; 16] = [
    "PIX",
    "BOLETO",
    "Credit_Card",
    "CNPJ",
    "12ABC34501DE35",
    "11222333000181",
    "36490102462661",
    "2026-11-25",
    "4242424242424242",
    "https://127.0.0.1/",
    "https://[::ffff:10.0.0.1]/",
    "http://shop.example.com/",
    "É",
    "\u{200b}",
    "5511987654321",
    "378282246310005",
];

/// Returns the JSON text with the members of every object in reverse order.
pub fn backwards(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let shown = |(name, member): (&String, &Value)| format!("{}: {}", json!(name), backwards(member));
            let members: Vec<_> = members.iter().rev().map(shown).collect();
            format!("{{{}}}", members.join(" ,\n"))
        }
        Value::Array(entries) => {
            let entries: Vec<_> = entries.iter().map(backwards).collect();
            format!("[{}]", entries.join(" , "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
