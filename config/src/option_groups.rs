//! Options by topic, for the help.

/// Options that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionGroup {
    /// Heading above the options.
    pub heading: &'static str,
    /// Their names.
    pub options: &'static [&'static str],
}

/// Every group, in the order of the help.
pub const GROUPS: [OptionGroup; 8] = [
    group("Configuration", &["config", "environment"]),
    group("Addresses", &["listen", "ops-listen", "ops-hosts", "public-url", "behind-proxy"]),
    group("Store", &["store", "retain-personal-data", "archive-after"]),
    group(
        "Acquirers, routes and reconciliation",
        &[
            "acquirer",
            "route",
            "cost",
            "routing-prefer",
            "routing-sticky",
            "reconcile-at",
            "max-installments",
            "min-installment",
            "sandbox-settle-after",
            "sandbox-time-out",
        ],
    ),
    group(
        "Limits and times",
        &[
            "rate-limit",
            "checkout-tries-per-link",
            "checkout-tries-per-network",
            "shutdown-time",
            "idle-after",
            "session-idle",
        ],
    ),
    group("Logs and traces", &["log-format", "log-level", "log-refusals", "otlp-endpoint", "otlp-sample"]),
    group(
        "Messages by e-mail",
        &["mail-server", "mail-from", "mail-user", "mail-password-file", "mail-password"],
    ),
    group(
        "Secrets and operators",
        &[
            "secret-key-file",
            "secret-key",
            "operator-password-file",
            "operator-password",
            "operators-need-second-factor",
        ],
    ),
];

/// Returns the heading above an option; `None` if it is in no group.
pub fn heading_of(option: &str) -> Option<&'static str> {
    GROUPS.iter().find(|group| group.options.contains(&option)).map(|group| group.heading)
}

const fn group(heading: &'static str, options: &'static [&'static str]) -> OptionGroup {
    OptionGroup { heading, options }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::{CONFIG_FILE, OPTIONS};

    #[test]
    fn every_option_is_in_one_group_and_every_group_has_options_alone() {
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|group| group.options).copied().collect();
        let mut known: Vec<_> = OPTIONS.iter().chain([&CONFIG_FILE]).map(|option| option.name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }
}
