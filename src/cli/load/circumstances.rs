//! Circumstances of a run (time, versions, machine), which must be equal for two reports to be comparable.

use quita_machine::SystemClock;
use quita_ports::Clock;
use serde::Serialize;

use super::super::output;
use super::machine::Machine;
use super::service_metrics::ServiceBuild;

/// Circumstances of a run: time, versions and machine.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Circumstances {
    /// Start of the run.
    pub(super) started_at: String,
    /// Version of the load tester.
    pub(super) version: &'static str,
    /// Version and store of the service, if its metrics contain them.
    pub(super) service: ServiceBuild,
    /// Machine of the load tester.
    pub(super) machine: Machine,
    /// Note of the tester.
    pub(super) note: Option<String>,
}

impl Circumstances {
    /// Describes a run that starts now.
    pub(super) fn now(service: ServiceBuild, note: Option<String>) -> Self {
        let started_at = SystemClock.now().to_string();
        Self { started_at, version: env!("CARGO_PKG_VERSION"), service, machine: Machine::this(), note }
    }

    /// Returns the lines of a report for people, each with its name.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let machine = &self.machine;
        let unknown = || String::from("unknown");
        let commit = self.service.commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
        let version = self.service.version.clone().unwrap_or_else(unknown);
        let cores = if machine.cores == 1 { "1 core".into() } else { format!("{} cores", machine.cores) };
        let parts = [
            Some(cores),
            machine.processor.clone(),
            machine.memory_mib.map(|mib| format!("{mib} MiB")),
            machine.system.clone(),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        let mut lines = vec![
            ("started", self.started_at.clone()),
            ("load tester", format!("quita {}", self.version)),
            ("service", format!("{version}{commit}")),
            ("store", self.service.store.clone().unwrap_or_else(unknown)),
            ("machine", parts.join(", ")),
        ];
        lines.extend(self.note.as_deref().map(|note| ("note", output::printable(note))));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        let lines = Circumstances::now(ServiceBuild::default(), Some("before\u{1b}[2J".into())).lines();
        let value = |name| lines.iter().find(|(line, _)| *line == name).map(|(_, value)| value.as_str());
        assert_eq!((value("store"), value("service")), (Some("unknown"), Some("unknown")));
        assert_eq!(value("note"), Some("before\\u{1b}[2J"), "it is shown and not obeyed");
        assert!(value("machine").unwrap().contains("core"));
        assert!(value("started").unwrap().starts_with("20"));
    }
}
