//! Reading fields one by one while all violations are collected.

use std::cell::RefCell;
use std::fmt;
use std::ops::RangeInclusive;

use super::basket::MAX_CENTS;
use super::json::{JsonNode, Object, shown};
use super::violation::{Broken, Rejection, Violation, code};
use super::wordings;
use crate::card::free_text::holds_number;
use crate::card::holds_card_number;
use crate::money::Money;
use crate::text::{is_invisible, turns_direction};
use crate::wording::Wording;

/// Object whose names are chosen by the caller.
pub(super) const METADATA: &str = "metadata";

/// Violations so far, in three groups; shared by all readers of one request.
#[derive(Default)]
pub(super) struct Findings<'n> {
    shape: RefCell<Vec<Violation>>,
    rules: RefCell<Vec<Violation>>,
    clock: RefCell<Vec<Violation>>,
    /// The card number as sent: no field that is stored may contain it.
    card_number: Option<&'n str>,
}

impl<'n> Findings<'n> {
    /// Starts a reading in which no text may contain this card number.
    pub(super) fn with_card_number(card_number: Option<&'n str>) -> Self {
        Self { card_number, ..Self::default() }
    }

    /// Returns the result with its clock-dependent violations, or the refusal. Violations of the shape take precedence
    /// over broken rules.
    pub(super) fn conclude<T>(self, read: Option<T>) -> Result<(T, Vec<Violation>), Rejection> {
        let shape = self.shape.into_inner();
        let rules = self.rules.into_inner();
        let clock = self.clock.into_inner();
        match read {
            // Clock-dependent violations refuse no replay: a request accepted before its due date is still answered
            // after it.
            Some(read) if shape.is_empty() && rules.is_empty() => Ok((read, clock)),
            _ if !shape.is_empty() => Err(Rejection::malformed(shape)),
            _ => Err(Rejection::unprocessable([rules, clock].concat())),
        }
    }
}

/// Path of a value of the body. Written only where a violation is found, which few bodies have.
enum Path<'p> {
    Body,
    Member(&'p Self, &'p str),
    Entry(&'p Self, usize),
}

impl Path<'_> {
    fn is_metadata(&self) -> bool {
        matches!(self, Self::Member(Self::Body, name) if *name == METADATA)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => Ok(()),
            Self::Member(Self::Body, name) => f.write_str(shown(name)),
            Self::Member(object, name) => write!(f, "{object}.{}", shown(name)),
            Self::Entry(list, index) => write!(f, "{list}[{index}]"),
        }
    }
}

/// Returns true if a field is the one at this place, or inside it.
fn is_within(field: &str, place: &str) -> bool {
    field.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The fields of one JSON object.
pub(super) struct Fields<'n> {
    object: &'n Object<'n>,
    /// Path of the object, empty for the whole body.
    path: String,
    findings: &'n Findings<'n>,
}

impl<'n> Fields<'n> {
    /// Returns the fields of the whole body.
    pub(super) const fn of_body(object: &'n Object<'n>, findings: &'n Findings<'n>) -> Self {
        Self { object, path: String::new(), findings }
    }

    /// Returns a required field; its absence is reported.
    pub(super) fn required<'f>(&'f self, name: &'f str) -> Field<'f> {
        let field = self.optional(name);
        if field.node.is_none() {
            self.refuse_without(name, wordings::is_required());
        }
        field
    }

    /// Returns a field that may be absent or `null`.
    pub(super) fn optional<'f>(&'f self, name: &'f str) -> Field<'f> {
        let node = self.object.get(name).filter(|node| !matches!(node, JsonNode::Null));
        Field { fields: self, name, node }
    }

    /// Returns the names of all fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.object.keys().map(AsRef::as_ref)
    }

    /// Reports a violation for each text of the body that contains a card number and has no violation yet, in unknown
    /// fields too. Card data is allowed in `places`.
    pub(super) fn refuse_card_numbers(&self, places: &[&str]) {
        let mut found = Vec::new();
        self.find_in_members(self.object, &Path::Body, &mut found);
        let mut rules = self.findings.rules.borrow_mut();
        let is_known =
            |new: &Violation| rules.iter().any(|old| old.field == new.field && old.code == new.code);
        found.retain(|new| !is_known(new) && !places.iter().any(|place| is_within(&new.field, place)));
        rules.append(&mut found);
    }

    fn find_in_members(&self, object: &Object<'_>, path: &Path<'_>, found: &mut Vec<Violation>) {
        for (name, node) in object.iter().filter(|(_, node)| !matches!(node, JsonNode::Null)) {
            let member = Path::Member(path, name);
            // Metadata names are the caller's own, so a violation in a name is reported for the object.
            let place = if path.is_metadata() { path } else { &member };
            found.extend(self.violation_of(name, place));
            self.find_in(node, &member, found);
        }
    }

    fn find_in(&self, node: &JsonNode<'_>, path: &Path<'_>, found: &mut Vec<Violation>) {
        match node {
            JsonNode::Text(text) => found.extend(self.violation_of(text, path)),
            JsonNode::List(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    self.find_in(entry, &Path::Entry(path, index), found);
                }
            }
            JsonNode::Object(object) => self.find_in_members(object, path, found),
            JsonNode::Null | JsonNode::Bool(_) | JsonNode::Number(_) => {}
        }
    }

    fn violation_of(&self, text: &str, path: &Path<'_>) -> Option<Violation> {
        let Broken { code, message } = self.check_card(text).err()?;
        Some(Violation { field: path.to_string(), code, message })
    }

    /// Reports that a required part is missing, with a message that names it. An empty name is the object itself.
    pub(super) fn refuse_without(&self, name: &str, message: Wording) {
        self.refuse_shape(name, Broken::new(code::REQUIRED, message));
    }

    /// Reports that a field should not be there at all, or not in this shape.
    pub(super) fn refuse_shape(&self, name: &str, broken: Broken) {
        self.note(&self.findings.shape, name, broken);
    }

    /// Reports that a field breaks a rule.
    pub(super) fn refuse(&self, name: &str, broken: Broken) {
        self.note(&self.findings.rules, name, broken);
    }

    /// Reports that a field breaks a rule that depends on the time of the request.
    pub(super) fn refuse_today(&self, name: &str, broken: Broken) {
        self.note(&self.findings.clock, name, broken);
    }

    /// Returns the value, or reports its violation.
    pub(super) fn keep<T>(&self, name: &str, value: Result<T, Broken>) -> Option<T> {
        value.map_err(|broken| self.refuse(name, broken)).ok()
    }

    /// Returns an integer within bounds, or reports a violation.
    pub(super) fn in_range(&self, name: &str, value: i64, bounds: RangeInclusive<i64>) -> Option<u64> {
        let (least, most) = bounds.clone().into_inner();
        self.in_range_or(name, value, bounds, || wordings::out_of_range(least, most))
    }

    /// Returns an integer within bounds, or reports a violation with this message.
    pub(super) fn in_range_or(
        &self,
        name: &str,
        value: i64,
        bounds: RangeInclusive<i64>,
        message: impl FnOnce() -> Wording,
    ) -> Option<u64> {
        let value = if bounds.contains(&value) { u64::try_from(value).ok() } else { None };
        self.keep(name, value.ok_or_else(|| Broken::new(code::RANGE, message())))
    }

    /// Checks that a text contains no card number: neither the card's own nor any other.
    pub(super) fn check_card(&self, text: &str) -> Result<(), Broken> {
        match self.findings.card_number {
            // Checked first, because the card's own number counts even among other digits, and need not pass Luhn.
            Some(number) if holds_number(text, number) => {
                Err(Broken::new(code::CARD_NUMBER, wordings::own_card_number()))
            }
            Some(_) | None if holds_card_number(text) => {
                Err(Broken::new(code::CARD_NUMBER, wordings::card_number()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn note(&self, group: &RefCell<Vec<Violation>>, name: &str, broken: Broken) {
        let violation = Violation { field: self.path_to(name), code: broken.code, message: broken.message };
        group.borrow_mut().push(violation);
    }

    /// Returns the path of a field; an empty name is the object itself.
    fn path_to(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            (path, "") => path.to_owned(),
            ("", name) => shown(name).to_owned(),
            (path, name) => format!("{path}.{}", shown(name)),
        }
    }
}

/// One field, perhaps absent. The readers report a wrong type and return `None` for it.
#[derive(Clone, Copy)]
pub(super) struct Field<'f> {
    fields: &'f Fields<'f>,
    name: &'f str,
    node: Option<&'f JsonNode<'f>>,
}

impl<'f> Field<'f> {
    /// Returns true if there is a value, of any type.
    pub(super) const fn is_present(self) -> bool {
        self.node.is_some()
    }

    /// Reads any text.
    pub(super) fn text(self) -> Option<&'f str> {
        let text = self.secret_text()?;
        self.fields.keep(self.name, self.fields.check_card(text)).map(|()| text)
    }

    /// Reads a text that may be the card's number itself.
    pub(super) fn secret_text(self) -> Option<&'f str> {
        let JsonNode::Text(text) = self.node? else { return self.wrong_type(wordings::no_text()) };
        Some(text)
    }

    /// Reads a text with a parser.
    pub(super) fn parsed<T>(self, parse: impl FnOnce(&str) -> Result<T, Broken>) -> Option<T> {
        self.fields.keep(self.name, parse(self.text()?))
    }

    /// Reads a text with as many characters as `lengths` allows and no control characters. A text of blanks counts as
    /// empty.
    pub(super) fn text_of(self, lengths: RangeInclusive<usize>) -> Option<String> {
        self.parsed(|text| check_text(text, lengths).map(|()| text.to_owned()))
    }

    /// Reads such a text after trimming.
    pub(super) fn trimmed_text_of(self, lengths: RangeInclusive<usize>) -> Option<String> {
        self.parsed(|text| check_text(text.trim(), lengths).map(|()| text.trim().to_owned()))
    }

    /// Reads such a text that is shown to payers: without invisible characters and those that change the writing
    /// direction.
    pub(super) fn shown_text_of(self, lengths: RangeInclusive<usize>) -> Option<String> {
        self.parsed(|text| {
            if text.chars().any(is_invisible) {
                return Err(Broken::new(code::CHARACTER, wordings::invisible_characters()));
            }
            check_text(text.trim(), lengths).map(|()| text.trim().to_owned())
        })
    }

    /// Reads an integer; one out of range becomes the largest or smallest possible value.
    pub(super) fn integer(self) -> Option<i64> {
        let JsonNode::Number(text) = self.node? else { return self.wrong_type(wordings::no_integer()) };
        integer_of(text).or_else(|| self.wrong_type(wordings::no_plain_integer()))
    }

    /// Reads an amount of money, from `least` cents to the maximum.
    pub(super) fn cents_from(self, least: i64) -> Option<Money> {
        let cents = match self.node? {
            JsonNode::Number(text) => integer_of(text),
            JsonNode::Null
            | JsonNode::Bool(_)
            | JsonNode::Text(_)
            | JsonNode::List(_)
            | JsonNode::Object(_) => None,
        };
        let Some(cents) = cents else { return self.wrong_type(wordings::no_cents()) };
        let out_of_range = || wordings::cents_out_of_range(least, MAX_CENTS);
        self.fields.in_range_or(self.name, cents, least..=MAX_CENTS, out_of_range).map(Money::from_cents)
    }

    /// Reads an integer within bounds.
    pub(super) fn integer_in(self, bounds: RangeInclusive<i64>) -> Option<u64> {
        self.fields.in_range(self.name, self.integer()?, bounds)
    }

    /// Reads a number in its original spelling.
    pub(super) fn number(self) -> Option<&'f str> {
        let JsonNode::Number(text) = self.node? else { return self.wrong_type(wordings::no_number()) };
        Some(text)
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(self) -> Option<bool> {
        let JsonNode::Bool(flag) = self.node? else { return self.wrong_type(wordings::no_flag()) };
        Some(*flag)
    }

    /// Reads an integer, or a text of digits in these lengths; other lengths are reported with this message.
    pub(super) fn integer_or_digits(
        self,
        lengths: RangeInclusive<usize>,
        wrong_length: impl FnOnce() -> Wording,
    ) -> Option<i64> {
        if matches!(self.node?, JsonNode::Number(_)) {
            return self.integer();
        }
        let JsonNode::Text(text) = self.node? else {
            return self.wrong_type(wordings::no_integer_or_digits());
        };
        if !crate::text::is_digits(text) {
            self.refuse(Broken::new(code::CHARACTER, wordings::only_digits()));
            return None;
        }
        if !lengths.contains(&text.len()) {
            self.refuse(Broken::new(code::LENGTH, wrong_length()));
            return None;
        }
        text.parse().ok()
    }

    /// Reads an object.
    pub(super) fn object(self) -> Option<Fields<'f>> {
        let JsonNode::Object(object) = self.node? else { return self.wrong_type(wordings::no_object()) };
        Some(Fields { object, path: self.fields.path_to(self.name), findings: self.fields.findings })
    }

    /// Reads the objects of an array. Those beyond `max` are ignored, and their number is reported.
    pub(super) fn objects(self, max: usize) -> Vec<Fields<'f>> {
        let Some(node) = self.node else { return Vec::new() };
        let JsonNode::List(entries) = node else {
            return self.wrong_type(wordings::no_array()).unwrap_or_default();
        };
        if entries.len() > max {
            self.refuse(Broken::new(code::TOO_MANY, wordings::too_many_entries(max)));
        }
        let read = |(index, entry): (usize, &'f JsonNode<'f>)| {
            let path = format!("{}[{index}]", self.fields.path_to(self.name));
            let findings = self.fields.findings;
            if let JsonNode::Object(object) = entry {
                return Some(Fields { object, path, findings });
            }
            let message = wordings::no_object();
            findings.shape.borrow_mut().push(Violation { field: path, code: code::TYPE, message });
            None
        };
        entries.iter().take(max).enumerate().filter_map(read).collect()
    }

    /// Returns true if there is an array without entries.
    pub(super) fn is_empty_list(self) -> bool {
        matches!(self.node, Some(JsonNode::List(entries)) if entries.is_empty())
    }

    /// Reads each text of an array with a parser. Those beyond `max` are ignored, and their number is reported.
    pub(super) fn texts_by<T>(self, max: usize, parse: impl Fn(&str) -> Result<T, Broken>) -> Vec<T> {
        let Some(node) = self.node else { return Vec::new() };
        let JsonNode::List(entries) = node else {
            return self.wrong_type(wordings::no_array()).unwrap_or_default();
        };
        if entries.len() > max {
            self.refuse(Broken::new(code::TOO_MANY, wordings::too_many_entries(max)));
        }
        let findings = self.fields.findings;
        let read = |(index, entry): (usize, &'f JsonNode<'f>)| {
            let field = format!("{}[{index}]", self.fields.path_to(self.name));
            let JsonNode::Text(text) = entry else {
                let message = wordings::no_text();
                findings.shape.borrow_mut().push(Violation { field, code: code::TYPE, message });
                return None;
            };
            let refuse = |Broken { code, message }| {
                findings.rules.borrow_mut().push(Violation { field, code, message });
            };
            self.fields.check_card(text).and_then(|()| parse(text)).map_err(refuse).ok()
        };
        entries.iter().take(max).enumerate().filter_map(read).collect()
    }

    /// Reports that an entry of the list breaks a rule.
    pub(super) fn refuse_entry(self, index: usize, broken: Broken) {
        let field = format!("{}[{index}]", self.fields.path_to(self.name));
        let Broken { code, message } = broken;
        self.fields.findings.rules.borrow_mut().push(Violation { field, code, message });
    }

    /// Reports that the field breaks a rule.
    pub(super) fn refuse(self, broken: Broken) {
        self.fields.refuse(self.name, broken);
    }

    fn wrong_type<T>(self, message: Wording) -> Option<T> {
        self.fields.note(&self.fields.findings.shape, self.name, Broken::new(code::TYPE, message));
        None
    }
}

/// Reads a number without fraction and exponent; one out of range becomes the largest or smallest possible value.
fn integer_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let nearest = if digits == text { i64::MAX } else { i64::MIN };
    // Too many digits are still an integer: out of range, but not of the wrong type.
    crate::text::is_digits(digits).then(|| text.parse().unwrap_or(nearest))
}

/// Checks that a text has an allowed number of characters, no control character, and none that turns its direction.
pub(super) fn check_text(text: &str, lengths: RangeInclusive<usize>) -> Result<(), Broken> {
    if text.chars().any(char::is_control) {
        return Err(Broken::new(code::CHARACTER, wordings::control_characters()));
    }
    if text.chars().any(turns_direction) {
        return Err(Broken::new(code::CHARACTER, wordings::direction_characters()));
    }
    let length = if text.trim().is_empty() && *lengths.start() > 0 { 0 } else { text.chars().count() };
    if lengths.contains(&length) {
        return Ok(());
    }
    let (least, most) = lengths.into_inner();
    Err(Broken::new(code::LENGTH, wordings::wrong_length(least, most)))
}
