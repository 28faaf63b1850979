//! Receivers of an application's events, for payments that name none.

use serde::{Deserialize, Serialize};

use crate::identity::Mode;

/// Endpoint of an application, one for each mode.
///
/// A payment created without `postbackUrl` takes the endpoint of its mode, and keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    live: Option<String>,
}

impl Endpoints {
    /// Returns the URL that receives the events of this mode.
    pub fn of(&self, mode: Mode) -> Option<&str> {
        match mode {
            Mode::Test => self.test.as_deref(),
            Mode::Live => self.live.as_deref(),
        }
    }

    /// Sets the URL of a mode, or none.
    pub fn set(&mut self, mode: Mode, url: Option<String>) {
        match mode {
            Mode::Test => self.test = url,
            Mode::Live => self.live = url,
        }
    }

    /// Returns true if neither mode has one.
    pub const fn is_empty(&self) -> bool {
        self.test.is_none() && self.live.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_an_endpoint_of_its_own() {
        let mut endpoints = Endpoints::default();
        endpoints.set(Mode::Test, Some("https://a.example/".into()));
        assert_eq!((endpoints.of(Mode::Test), endpoints.of(Mode::Live)), (Some("https://a.example/"), None));
        assert_eq!(serde_json::to_string(&endpoints).unwrap(), r#"{"test":"https://a.example/"}"#);
        endpoints.set(Mode::Live, Some("https://b.example/".into()));
        endpoints.set(Mode::Test, None);
        assert_eq!((endpoints.of(Mode::Test), endpoints.of(Mode::Live)), (None, Some("https://b.example/")));
        endpoints.set(Mode::Live, None);
        assert!(endpoints.is_empty());
    }
}
