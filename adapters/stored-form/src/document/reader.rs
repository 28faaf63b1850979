//! Reading a value from a BSON document through serde.
//!
//! The driver's own deserializer hands each kind of BSON value to a visitor differently. There are twelve kinds, so the
//! compiler generates twelve copies of every type's visitor. Values of the domain only use the few kinds below.

use std::fmt::{self, Display};

use bson::raw::RawArrayIter;
use bson::{RawBsonRef, RawDocument};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// Reads a value.
pub(super) fn read<'de, T: Deserialize<'de>>(document: &'de RawDocument) -> Result<T, DecodeError> {
    T::deserialize(Value(RawBsonRef::Document(document)))
}

/// A document that does not have the requested type. It never shows stored values, although serde's own message may.
#[derive(Debug, Default)]
pub(super) struct DecodeError {
    missing: Option<&'static str>,
}

impl std::error::Error for DecodeError {}

impl Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            Some(field) => write!(formatter, ": `{field}` is missing"),
            None => Ok(()),
        }
    }
}

impl Error for DecodeError {
    // Serde's message may quote the wrong value, which may be a payer's data.
    fn custom<T: Display>(_: T) -> Self {
        Self::default()
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field) }
    }
}

impl From<bson::error::Error> for DecodeError {
    fn from(_: bson::error::Error) -> Self {
        Self::default()
    }
}

/// A value of a document.
struct Value<'de>(RawBsonRef<'de>);

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Document(document) => visitor.visit_map(Fields::of(document)),
            RawBsonRef::Array(array) => visitor.visit_seq(Elements(array.into_iter())),
            RawBsonRef::String(text) => visitor.visit_borrowed_str(text),
            RawBsonRef::Int64(number) => visitor.visit_i64(number),
            RawBsonRef::Int32(number) => visitor.visit_i32(number),
            RawBsonRef::Boolean(is_true) => visitor.visit_bool(is_true),
            RawBsonRef::Double(number) => visitor.visit_f64(number),
            RawBsonRef::Binary(binary) => visitor.visit_borrowed_bytes(binary.bytes),
            RawBsonRef::Null => visitor.visit_unit(),
            RawBsonRef::RegularExpression(_)
            | RawBsonRef::JavaScriptCode(_)
            | RawBsonRef::JavaScriptCodeWithScope(_)
            | RawBsonRef::Timestamp(_)
            | RawBsonRef::ObjectId(_)
            | RawBsonRef::DateTime(_)
            | RawBsonRef::Symbol(_)
            | RawBsonRef::Decimal128(_)
            | RawBsonRef::Undefined
            | RawBsonRef::MaxKey
            | RawBsonRef::MinKey
            | RawBsonRef::DbPointer(_) => Err(DecodeError::default()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if matches!(self.0, RawBsonRef::Null) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads a variant: its name if it has no value; otherwise a document with one field of this name.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if let Some(name) = self.0.as_str() {
            return visitor.visit_enum(BorrowedStrDeserializer::new(name));
        }
        let document = self.0.as_document().ok_or_else(DecodeError::default)?;
        let (name, value) = document.iter().next().ok_or_else(DecodeError::default)??;
        visitor.visit_enum(Variant { name: name.as_str(), value: Value(value) })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        // Compact forms are stored: identifiers as bytes and not as text.
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The fields of a document, in their order.
struct Fields<'de> {
    fields: <&'de RawDocument as IntoIterator>::IntoIter,
    value: Option<RawBsonRef<'de>>,
}

impl<'de> Fields<'de> {
    fn of(document: &'de RawDocument) -> Self {
        Self { fields: document.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((name, value)) = self.fields.next().transpose()? else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(BorrowedStrDeserializer::new(name.as_str())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let value = self.value.take().ok_or_else(DecodeError::default)?;
        seed.deserialize(Value(value))
    }
}

/// The elements of an array, in their order.
struct Elements<'de>(RawArrayIter<'de>);

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(element) = self.0.next().transpose()? else { return Ok(None) };
        seed.deserialize(Value(element)).map(Some)
    }
}

/// A variant with a value.
struct Variant<'de> {
    name: &'de str,
    value: Value<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Value<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Value<'de>), DecodeError> {
        let name = BorrowedStrDeserializer::<DecodeError>::new(self.name);
        Ok((seed.deserialize(name)?, self.value))
    }
}

impl<'de> VariantAccess<'de> for Value<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Err(DecodeError::default())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests {
    use bson::{Document, RawDocumentBuf, doc};
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    #[serde(tag = "kind", rename_all = "camelCase")]
    enum Tagged {
        Plain,
        Held { cents: u64, names: Vec<String> },
    }

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    enum Outside {
        Plain,
        Newtype(i64),
        Struct { is_true: bool },
    }

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    struct Whole {
        tagged: Vec<Tagged>,
        outside: Vec<Outside>,
        #[serde(default)]
        absent: Option<u8>,
        null: Option<u8>,
        some: Option<u8>,
    }

    fn read_as<T: for<'de> Deserialize<'de>>(document: &Document) -> Result<T, String> {
        let raw = RawDocumentBuf::try_from(document.clone()).unwrap();
        read(&raw).map_err(|error| error.to_string())
    }

    fn whole() -> Document {
        doc! {
            "unknown": { "fields": ["are", 1.5, "passed over"] },
            "tagged": [{ "kind": "plain" }, { "cents": 7_i64, "kind": "held", "names": ["a", "é"] }],
            "outside": ["Plain", { "Newtype": -1_i32 }, { "Struct": { "is_true": true } }],
            "null": null,
            "some": 255_i64,
        }
    }

    #[test]
    fn every_form_of_a_value_is_read_as_serde_derives_it() {
        let held = Tagged::Held { cents: 7, names: vec!["a".into(), "é".into()] };
        let expected = Whole {
            tagged: vec![Tagged::Plain, held],
            outside: vec![Outside::Plain, Outside::Newtype(-1), Outside::Struct { is_true: true }],
            absent: None,
            null: None,
            some: Some(255),
        };
        assert_eq!(read_as(&whole()), Ok(expected));
    }

    #[test]
    fn what_does_not_fit_is_an_error_that_shows_no_value() {
        for (field, value) in [
            ("tagged", bson::bson!([{ "kind": "secret" }])),
            ("tagged", bson::bson!({ "kind": "plain" })),
            ("outside", bson::bson!(["Secret"])),
            ("outside", bson::bson!([{}])),
            ("outside", bson::bson!([{ "Plain": 1 }])),
            ("some", bson::bson!(256)),
            ("some", bson::bson!("secret")),
            ("some", bson::Bson::DateTime(bson::DateTime::from_millis(1))),
        ] {
            let mut wrong = whole();
            wrong.insert(field, value);
            assert_eq!(read_as::<Whole>(&wrong), Err(String::new()), "{wrong}");
        }
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        let mut wrong = whole();
        wrong.remove("outside");
        assert_eq!(read_as::<Whole>(&wrong), Err(String::from(": `outside` is missing")));
    }
}
