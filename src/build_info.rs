//! Identity of this build, for `--version`, health and metrics.

use std::fmt;
use std::sync::LazyLock;

use prometheus::{IntGaugeVec, Opts, Registry};

/// Identity of the running build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildInfo {
    /// Version of the program.
    pub version: &'static str,
    /// Commit of the build: 7 to 40 hexadecimal digits, with `-dirty` if sources were changed since. `None` for builds
    /// outside a repository.
    pub commit: Option<&'static str>,
    /// Version number of the stored form.
    pub stored_form: i64,
}

/// Returns the identity of this build.
pub fn build_info() -> BuildInfo {
    let commit = env!("BUILD_COMMIT");
    BuildInfo {
        version: env!("CARGO_PKG_VERSION"),
        commit: (!commit.is_empty()).then_some(commit),
        stored_form: quita_stored_form::form::known(),
    }
}

impl fmt::Display for BuildInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.unwrap_or("commit unknown");
        write!(f, "{} ({commit}, stored form {})", self.version, self.stored_form)
    }
}

/// Registers the metric of the build.
///
/// # Errors
/// Fails if another metric has its name.
pub(crate) fn register(registry: &Registry) -> Result<(), prometheus::Error> {
    let build = build_info();
    let help = "1 for the running build: its version, its commit if known, and the number of its stored form";
    let info = IntGaugeVec::new(Opts::new("quita_build_info", help), &["version", "commit", "stored_form"])?;
    let form = build.stored_form.to_string();
    info.with_label_values(&[build.version, build.commit.unwrap_or_default(), &form]).set(1);
    registry.register(Box::new(info))
}

/// Returns the identity as a line with static lifetime.
pub(crate) fn version_line() -> &'static str {
    static LINE: LazyLock<String> = LazyLock::new(|| build_info().to_string());
    &LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_told_with_its_commit_or_without() {
        let mut build = BuildInfo { version: "1.2.3", commit: Some("0123456789ab-dirty"), stored_form: 6 };
        assert_eq!(build.to_string(), "1.2.3 (0123456789ab-dirty, stored form 6)");
        build.commit = None;
        assert_eq!(build.to_string(), "1.2.3 (commit unknown, stored form 6)");
    }
}
