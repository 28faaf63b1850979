//! Answer of the service.

use serde_json::Value;

/// A whole answer: whatever its status, it is no error of the client.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The request, for messages.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The first header with this name, in any letter case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The text without ids and tokens, whose random digits may look like those of a card.
    pub(crate) fn text_without_ids(&self) -> String {
        without_ids(&self.text())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self}"))
    }

    /// The body, if the status is this one.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        assert_eq!(self.header("content-type"), Some("application/json"), "{self}");
        self.json()
    }

    /// The body, if this is an error with this status and code, in the one shape that errors have.
    #[track_caller]
    pub(crate) fn expect_error(&self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.json()["code"].as_str()), (status, Some(code)), "{self}");
        self.expect_error_shape()
    }

    /// The body, if it has the one shape of errors.
    #[track_caller]
    pub(crate) fn expect_error_shape(&self) -> Value {
        let error = self.expect(self.status);
        let reason = ureq::http::StatusCode::from_u16(self.status).unwrap().canonical_reason();
        assert_eq!(error["error"].as_str(), reason, "{self}");
        assert_eq!(error["statusCode"], self.status, "{self}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{self}");
        assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "{self}");
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()), "{self}");
        assert_eq!(error["requestId"].as_str(), self.header("x-request-id"), "{self}");
        for detail in error["details"].as_array().unwrap_or_else(|| panic!("no details: {self}")) {
            let names: Vec<_> = detail.as_object().unwrap().keys().collect();
            assert_eq!(names, ["code", "field", "message"], "{self}");
            assert!(detail.as_object().unwrap().values().all(Value::is_string), "{self}");
        }
        let page = format!("/docs/errors/{}", error["code"].as_str().unwrap());
        assert!(error["docUrl"].as_str().is_some_and(|url| url.ends_with(&page)), "{self}");
        assert_eq!(error.as_object().unwrap().len(), 7, "{self}");
        error
    }

    /// Field and code of every violation that is reported.
    #[track_caller]
    pub(crate) fn violations(&self) -> Vec<(String, String)> {
        let error = self.expect_error_shape();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let details = error["details"].as_array().unwrap().iter();
        details.map(|detail| (text(&detail["field"]), text(&detail["code"]))).collect()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { request, status, headers, .. } = self;
        write!(f, "{request} was answered with {status} {headers:?} {}", self.text())
    }
}

/// A text without ids and tokens: without each long word that is not a number.
pub(crate) fn without_ids(text: &str) -> String {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let is_random =
        |word: &str| word.len() >= 20 && word.contains(|letter: char| letter.is_ascii_alphabetic());
    let words = text.split(|letter| !is_of_word(letter));
    words.filter(|word| !is_random(word)).collect::<Vec<_>>().join(" ")
}
