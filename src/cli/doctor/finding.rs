//! Findings of the doctor.

use std::fmt;

use serde::Serialize;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// Nothing is wrong.
    Ok,
    /// The service works, but this deserves attention.
    Warn,
    /// The service can't run like this.
    Fail,
}

/// Finding with its subject and advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) level: Level,
    pub(super) subject: &'static str,
    pub(super) text: String,
    #[serde(rename = "advice")]
    pub(super) mend: Option<String>,
}

impl Finding {
    pub(super) fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Ok, subject, text: text.into(), mend: None }
    }

    pub(super) fn warn(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { level: Level::Warn, subject, text: text.into(), mend: Some(mend.into()) }
    }

    pub(super) fn fail(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { level: Level::Fail, ..Self::warn(subject, text, mend) }
    }

    /// Creates a finding whose text already names its source and the allowed values.
    pub(super) fn refused(subject: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Fail, subject, text: text.into(), mend: None }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        write!(f, "{level:<4}  {:<13}  {}", self.subject, self.text.replace('\n', " "))?;
        self.mend.iter().try_for_each(|mend| write!(f, " — {}", mend.replace('\n', " ")))
    }
}
