//! Reading of requests. Names are compared without case, as Cielo's own server does.

use serde_json::{Map, Value};

/// A JSON object whose fields are found by name, ignoring case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(Option<&'a Map<String, Value>>);

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self(value.as_object())
    }

    /// Returns the value of this field; `null` counts as absent.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        let mut fields = self.0?.iter();
        fields
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .filter(|v| !v.is_null())
    }

    /// Returns the object in this field; an empty one if it is absent.
    pub(crate) fn object(self, name: &str) -> Self {
        Self(self.get(name).and_then(Value::as_object))
    }

    pub(crate) fn is_absent(self) -> bool {
        self.0.is_none()
    }

    /// Returns the text in this field, if it is not empty.
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    pub(crate) fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Returns the number in this field, which must be a JSON number and not a fraction.
    pub(crate) fn number(self, name: &str) -> Option<u64> {
        self.get(name).and_then(Value::as_u64)
    }

    pub(crate) fn truth(self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the present ones of these fields under their correct names.
    pub(crate) fn canonical(self, names: &[&str]) -> Map<String, Value> {
        names.iter().filter_map(|name| Some(((*name).to_owned(), self.get(name)?.clone()))).collect()
    }
}
