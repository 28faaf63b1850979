//! The interface as it was released, which later versions keep: nothing that a client sends or reads breaks.
//!
//! `tests/golden/openapi-V.json` is the document of the released version V. Additions are no break.
//! `tests/golden/RELEASED` has the checksums of what was released, so that nobody changes it unnoticed.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::OPENAPI;

const FIRST_RELEASE: &str = include_str!("../../../tests/golden/openapi-1.0.json");

/// Direction in which a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Direction {
    /// From clients: what was taken must be taken.
    In,
    /// To clients: what was promised must be kept.
    Out,
}

/// Comparison of two documents.
struct DocumentComparison<'a> {
    old: &'a Value,
    new: &'a Value,
    found: Vec<String>,
    /// Pairs of named schemas that were compared, or are being compared.
    seen: HashSet<(String, String, Direction)>,
}

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "patch", "head", "options"];
/// Bounds that grow stricter when they grow, and when they shrink.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut comparison = DocumentComparison { old, new, found: Vec::new(), seen: HashSet::new() };
    for group in ["paths", "webhooks"] {
        for (path, item) in members(&old[group]) {
            for (method, operation) in members(item).filter(|(name, _)| METHODS.contains(&name.as_str())) {
                let place = format!("{} {path}", method.to_uppercase());
                let now = &new[group][path][method];
                if now.is_null() {
                    comparison.found.push(format!("{place} is gone"));
                } else {
                    comparison.operation(&place, operation, now, group == "webhooks");
                }
            }
        }
    }
    comparison.found
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn texts(value: &Value) -> HashSet<&str> {
    elements(value).filter_map(Value::as_str).collect()
}

/// Follows references, and returns the name of the last one.
fn resolved<'a>(document: &'a Value, mut value: &'a Value) -> (&'a Value, Option<&'a str>) {
    let mut name = None;
    while let Some(reference) = value["$ref"].as_str() {
        name = Some(reference);
        value = document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
    }
    (value, name)
}

fn types(schema: &Value) -> HashSet<&str> {
    let kinds = &schema["type"];
    kinds.as_str().map_or_else(|| texts(kinds), |only| HashSet::from([only]))
}

/// Values that a schema allows, if it lists them.
fn listed(schema: &Value) -> Option<Vec<&Value>> {
    match (&schema["enum"], &schema["const"]) {
        (Value::Array(values), _) => Some(values.iter().collect()),
        (_, Value::Null) => None,
        (_, only) => Some(vec![only]),
    }
}

impl<'a> DocumentComparison<'a> {
    fn breaks(&mut self, place: &str, what: impl std::fmt::Display) {
        self.found.push(format!("{place}: {what}"));
    }

    /// Compares an operation. In a webhook, the service sends what a client answers.
    fn operation(&mut self, place: &str, old: &'a Value, new: &'a Value, is_webhook: bool) {
        let (sent, answered) =
            if is_webhook { (Direction::Out, Direction::In) } else { (Direction::In, Direction::Out) };
        self.parameters(place, old, new, sent);
        let (body, _) = resolved(self.old, &old["requestBody"]);
        let (body_now, _) = resolved(self.new, &new["requestBody"]);
        if body.is_null() && body_now["required"] == true {
            self.breaks(place, "a body is required");
        }
        self.content(&format!("{place} body"), &body["content"], &body_now["content"], sent);
        for (status, response) in members(&old["responses"]) {
            let place = format!("{place} {status}");
            let (response, _) = resolved(self.old, response);
            let (now, _) = resolved(self.new, &new["responses"][status]);
            if now.is_null() {
                if status.starts_with('2') {
                    self.breaks(&place, "the answer is gone");
                }
                continue;
            }
            for (header, _) in members(&response["headers"]) {
                if now["headers"][header].is_null() {
                    self.breaks(&place, format!("the header {header} is gone"));
                }
            }
            self.content(&place, &response["content"], &now["content"], answered);
        }
    }

    /// Compares the parameters of an operation. Those of a webhook are what the service sends: one that is new breaks
    /// nobody, and one that may be absent now does.
    fn parameters(&mut self, place: &str, old: &'a Value, new: &'a Value, sent: Direction) {
        let named = |document: &'a Value, operation: &'a Value| -> Vec<(&'a str, &'a str, &'a Value)> {
            let all = elements(&operation["parameters"]).map(|parameter| resolved(document, parameter).0);
            all.filter_map(|one| Some((one["name"].as_str()?, one["in"].as_str()?, one))).collect()
        };
        let before = named(self.old, old);
        let now = named(self.new, new);
        for (name, where_to, parameter) in &before {
            match now.iter().find(|(other, to, _)| (other, to) == (name, where_to)) {
                None => self.breaks(place, format!("the parameter {name} is gone")),
                Some((_, _, next)) => {
                    let place = format!("{place} ?{name}");
                    match (sent, parameter["required"] == true, next["required"] == true) {
                        (Direction::In, false, true) => self.breaks(&place, "it is required"),
                        (Direction::Out, true, false) => self.breaks(&place, "it may be absent"),
                        (Direction::In | Direction::Out, _, _) => {}
                    }
                    self.schema(&place, &parameter["schema"], &next["schema"], sent);
                }
            }
        }
        for (name, where_to, parameter) in &now {
            let is_new = !before.iter().any(|(other, to, _)| (other, to) == (name, where_to));
            if is_new && parameter["required"] == true && sent == Direction::In {
                self.breaks(place, format!("the parameter {name} is new and required"));
            }
        }
    }

    fn content(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        for (kind, content) in members(old) {
            if new[kind].is_null() {
                self.breaks(place, format!("{kind} is gone"));
            } else {
                self.schema(place, &content["schema"], &new[kind]["schema"], direction);
            }
        }
    }

    fn schema(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        let ((old, old_name), (new, new_name)) = (resolved(self.old, old), resolved(self.new, new));
        if let (Some(old_name), Some(new_name)) = (old_name, new_name)
            && !self.seen.insert((old_name.to_owned(), new_name.to_owned(), direction))
        {
            return;
        }
        if old.is_null() {
            return;
        }
        if new.is_null() {
            self.breaks(place, "its description is gone");
            return;
        }
        self.kinds(place, old, new, direction);
        self.values(place, old, new, direction);
        self.object(place, old, new, direction);
        self.bounds(place, old, new, direction);
        if old["items"].is_object() {
            self.schema(&format!("{place}[]"), &old["items"], &new["items"], direction);
        }
        self.variants(place, old, new, direction);
    }

    fn kinds(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        let old = types(old);
        let new = types(new);
        // No type is every type.
        let holds = |wide: &HashSet<&str>, kind: &str| {
            wide.is_empty() || wide.contains(kind) || (kind == "integer" && wide.contains("number"))
        };
        let (narrow, wide) = if direction == Direction::In { (&old, &new) } else { (&new, &old) };
        let is_lost =
            if narrow.is_empty() { !wide.is_empty() } else { narrow.iter().any(|kind| !holds(wide, kind)) };
        if is_lost {
            self.breaks(place, format!("the type was {old:?} and is {new:?}"));
        }
    }

    fn values(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        match (listed(old), listed(new), direction) {
            (Some(before), Some(now), Direction::In) => {
                for gone in before.iter().filter(|value| !now.contains(value)) {
                    self.breaks(place, format!("the value {gone} is gone"));
                }
            }
            (None, Some(_), Direction::In) => self.breaks(place, "only some values are taken"),
            (Some(_), None, Direction::Out) => self.breaks(place, "its values are not listed any more"),
            // A new value in an answer is an addition: clients are told to expect it.
            (Some(_), Some(_), Direction::Out)
            | (Some(_), None, Direction::In)
            | (None, Some(_), Direction::Out)
            | (None, None, _) => {}
        }
    }

    fn object(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        for (name, property) in members(&old["properties"]) {
            let place = format!("{place}.{name}");
            if new["properties"][name].is_null() {
                self.breaks(&place, "the field is gone");
            } else {
                self.schema(&place, property, &new["properties"][name], direction);
            }
        }
        let before = texts(&old["required"]);
        let now = texts(&new["required"]);
        match direction {
            Direction::In => {
                for name in now.difference(&before) {
                    self.breaks(place, format!("the field {name} is required"));
                }
            }
            Direction::Out => {
                for name in before.difference(&now) {
                    self.breaks(place, format!("the field {name} may be absent"));
                }
            }
        }
        let before = &old["additionalProperties"];
        let now = &new["additionalProperties"];
        if direction == Direction::In && *before != false && *now == false {
            self.breaks(place, "other fields are refused");
        }
        if before.is_object() && now.is_object() {
            self.schema(&format!("{place}.*"), before, now, direction);
        }
    }

    fn bounds(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        if direction == Direction::In {
            let bound = |schema: &Value, name: &str| schema[name].as_f64();
            for name in LOWER {
                if bound(new, name).is_some_and(|now| bound(old, name).is_none_or(|before| now > before)) {
                    self.breaks(place, format!("{name} has grown"));
                }
            }
            for name in UPPER {
                if bound(new, name).is_some_and(|now| bound(old, name).is_none_or(|before| now < before)) {
                    self.breaks(place, format!("{name} has shrunk"));
                }
            }
        }
        for name in ["pattern", "format"] {
            let is_added = direction == Direction::In && old[name].is_null() && !new[name].is_null();
            let is_changed = !old[name].is_null() && old[name] != new[name];
            let is_wider = direction == Direction::In && new[name].is_null();
            if is_added || (is_changed && !is_wider) {
                self.breaks(place, format!("{name} was {} and is {}", old[name], new[name]));
            }
        }
    }

    /// Each variant that goes must have one on the other side that it fits.
    fn variants(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        for group in ["oneOf", "anyOf"] {
            let (before, now): (Vec<_>, Vec<_>) =
                (elements(&old[group]).collect(), elements(&new[group]).collect());
            if before.is_empty() {
                continue;
            }
            let (all, others) = if direction == Direction::In { (&before, &now) } else { (&now, &before) };
            for (number, variant) in all.iter().enumerate() {
                let fits = |other: &&&'a Value| {
                    let (old, new) =
                        if direction == Direction::In { (*variant, **other) } else { (**other, *variant) };
                    let mut inner = DocumentComparison {
                        old: self.old,
                        new: self.new,
                        found: Vec::new(),
                        seen: self.seen.clone(),
                    };
                    inner.schema(place, old, new, direction);
                    inner.found.is_empty()
                };
                if !others.iter().any(|other| fits(&other)) {
                    self.breaks(place, format!("variant {} of {group} fits no other one", number + 1));
                }
            }
        }
        for (place_in, (before, now)) in elements(&old["allOf"]).zip(elements(&new["allOf"])).enumerate() {
            self.schema(&format!("{place}&{place_in}"), before, now, direction);
        }
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Directory of what later versions have to keep.
fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn nothing_breaks_that_a_client_of_a_released_interface_does() {
    let files = std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path());
    let documents: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    assert!(!documents.is_empty());
    for path in documents {
        let found = breaks(&read(&std::fs::read_to_string(&path).unwrap()), &read(OPENAPI));
        assert!(found.is_empty(), "clients of {} break:\n{}", path.display(), found.join("\n"));
    }
}

#[test]
fn what_was_released_is_kept_byte_for_byte() {
    let sums = std::fs::read_to_string(golden().join("RELEASED")).unwrap();
    let mut form = 0;
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let content = std::fs::read(golden().join(name)).unwrap();
        let mut hash = String::new();
        for byte in Sha256::digest(content) {
            write!(hash, "{byte:02x}").unwrap();
        }
        assert_eq!(hash, sum, "{name} was released: a new form or version gets a file of its own");
        form += usize::from(name.starts_with("form-1/"));
    }
    assert_eq!(form, 4, "both stores of form 1, and what is in them");
    assert!(sums.contains("  openapi-1.0.json"));
}

/// The released document with one change.
fn changed(pointer: &str, change: impl FnOnce(&mut Map<String, Value>)) -> Vec<String> {
    let released = read(FIRST_RELEASE);
    let mut next = released.clone();
    change(next.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")).as_object_mut().unwrap());
    assert_ne!(next, released, "{pointer} was not changed");
    breaks(&released, &next)
}

const RECORD: &str = "/components/schemas/PaymentRecord";
const EVENT: &str = "/webhooks/paymentEvent/post";
const CREATION: &str = "/paths/~1pay~1payments/post";

#[test]
fn what_breaks_a_client_is_found() {
    let remove = |pointer: &str, name: &str| {
        changed(pointer, |object| assert!(object.remove(name).is_some(), "no {name} in {pointer}"))
    };
    let set = |pointer: &str, name: &str, value: Value| {
        changed(pointer, |object| drop(object.insert(name.into(), value)))
    };
    let shrunk = |pointer: &str, list: &str, index: usize| {
        changed(pointer, |object| drop(object[list].as_array_mut().unwrap().remove(index)))
    };
    let grown = |pointer: &str, list: &str, value: &str| {
        changed(pointer, |object| object[list].as_array_mut().unwrap().push(value.into()))
    };
    for (what, found) in [
        ("a path", remove("/paths", "/pay/payments/{transactionId}")),
        ("a method", remove("/paths/~1pay~1payments", "get")),
        ("an answer", remove(&format!("{CREATION}/responses"), "201")),
        ("a field of an answer", remove(&format!("{RECORD}/properties"), "transactionId")),
        ("a promise", shrunk(RECORD, "required", 0)),
        ("a value of a query", shrunk("/components/schemas/Status", "enum", 0)),
        ("a required field", grown("/components/schemas/Item", "required", "colour")),
        ("a type of a query", set("/components/schemas/Item/properties/name", "type", "integer".into())),
        ("a bound", set("/components/schemas/Item/properties/name", "maxLength", 1.into())),
        ("a pattern", set("/components/schemas/Item/properties/name", "pattern", "^a$".into())),
        ("a header of a webhook", set(&format!("{EVENT}/parameters/0"), "required", false.into())),
        ("a type of an answer", set(&format!("{RECORD}/properties/transactionId"), "type", "integer".into())),
    ] {
        assert!(!found.is_empty(), "{what} is not found");
    }
}

#[test]
fn what_is_added_breaks_nobody() {
    let text = serde_json::json!({"type": "string"});
    for (what, found) in [
        (
            "a path",
            changed("/paths", |paths| drop(paths.insert("/pay/new".into(), serde_json::json!({"get": {}})))),
        ),
        (
            "a field of an answer",
            changed(&format!("{RECORD}/properties"), |fields| {
                drop(fields.insert("new".into(), text.clone()))
            }),
        ),
        (
            "a field of a query",
            changed("/components/schemas/Item/properties", |fields| {
                drop(fields.insert("new".into(), text.clone()))
            }),
        ),
        (
            "a code",
            changed("/components/schemas/Error/properties/code", |code| {
                code["enum"].as_array_mut().unwrap().push("new".into());
            }),
        ),
        (
            "a header of a webhook",
            changed(EVENT, |event| {
                let header = serde_json::json!({"name": "quita-new", "in": "header", "required": true, "schema": text});
                event["parameters"].as_array_mut().unwrap().push(header);
            }),
        ),
        (
            "an answer",
            changed(&format!("{CREATION}/responses"), |answers| {
                drop(answers.insert("418".into(), serde_json::json!({"description": "new"})));
            }),
        ),
    ] {
        assert_eq!(found, [""; 0], "{what}");
    }
}
