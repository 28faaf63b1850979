//! Machine of a run: its description, and how busy it was.

use std::fs;
use std::num::NonZero;
use std::thread::available_parallelism;

use serde::Serialize;

use super::own_cost::TICK_US;

/// Fields of `/proc/stat` with idle time and with time waiting for a disk.
const IDLE_FIELDS: [usize; 2] = [3, 4];

/// Field with the time that a hypervisor gave to other guests.
const STOLEN_FIELD: usize = 7;

/// Number of fields of `/proc/stat` that add up to the total time. Guest time follows them, and is already included in
/// the first two.
const FIELDS: usize = 8;

/// Description of a machine, so that two reports can be compared. Values that the system does not provide are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    /// Processors that this process may use.
    pub(super) cores: usize,
    /// Model of the processor.
    pub(super) processor: Option<String>,
    /// Memory in MiB.
    pub(super) memory_mib: Option<u64>,
    /// Kernel and its version.
    pub(super) system: Option<String>,
}

/// Processor time of the whole machine since it started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MachineTime {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl Machine {
    /// Describes this machine.
    pub(super) fn this() -> Self {
        let read = |path| fs::read_to_string(path).ok();
        let version = read("/proc/sys/kernel/osrelease").map(|version| version.trim().to_owned());
        Self {
            cores: available_parallelism().map_or(1, NonZero::get),
            processor: read("/proc/cpuinfo").and_then(|text| value_of(&text, "model name")),
            memory_mib: read("/proc/meminfo").and_then(|text| mib(&value_of(&text, "MemTotal")?)),
            system: version.map(|version| format!("Linux {version}")),
        }
    }
}

impl MachineTime {
    /// Reads the current times. `None` if the system does not provide them.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Returns the share of time since `earlier` in which a processor was busy, in percent.
    pub(super) fn busy_percent_since(self, earlier: Self) -> Option<u64> {
        let busy = self.busy.checked_sub(earlier.busy)?;
        busy.saturating_mul(100).checked_div(self.all.checked_sub(earlier.all)?)
    }

    /// Returns the share of time since `earlier` used by programs other than those with this processor time, in
    /// percent.
    pub(super) fn others_percent_since(self, earlier: Self, known_us: u64) -> Option<u64> {
        let used = |time: Self| time.busy.checked_sub(time.stolen);
        let used_us = used(self)?.checked_sub(used(earlier)?)?.saturating_mul(TICK_US);
        let all_us = self.all.checked_sub(earlier.all)?.saturating_mul(TICK_US);
        used_us.saturating_sub(known_us).saturating_mul(100).checked_div(all_us)
    }

    /// Returns the share of time since `earlier` that a hypervisor gave to other guests, in percent.
    pub(super) fn stolen_percent_since(self, earlier: Self) -> Option<u64> {
        let stolen = self.stolen.checked_sub(earlier.stolen)?;
        stolen.saturating_mul(100).checked_div(self.all.checked_sub(earlier.all)?)
    }

    /// Reads the first line of `/proc/stat`.
    pub(super) fn parse(stat: &str) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(FIELDS);
        let fields: Option<Vec<u64>> = fields.map(|field| field.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() == FIELDS)?;
        let idle: u64 = IDLE_FIELDS.iter().filter_map(|field| fields.get(*field)).sum();
        let all: u64 = fields.iter().sum();
        Some(Self { busy: all - idle, stolen: *fields.get(STOLEN_FIELD)?, all })
    }
}

/// Returns the value after a name and a colon, in the first line that starts with the name.
fn value_of(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn mib(memory: &str) -> Option<u64> {
    Some(memory.strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_share_is_that_between_two_looks() {
        let [before, after] = ["cpu  10 0 10 80 0 0 0 0 5 0\ncpu0 1", "cpu  40 0 40 110 10 0 0 0 9 0\n"]
            .map(|stat| MachineTime::parse(stat).unwrap());
        assert_eq!(after.busy_percent_since(before), Some(60), "60 of 100 ticks");
        assert_eq!(before.busy_percent_since(after), None);
        assert_eq!(after.busy_percent_since(after), None, "no time went by");
        for stat in ["", "cpu", "cpu  1 2", "cpu  1 2 3 x 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(MachineTime::parse(stat), None, "{stat}");
        }
    }

    #[test]
    fn other_programs_used_what_neither_side_did() {
        // 60 ticks of work, 30 stolen, 110 of idleness.
        let [before, after] = ["cpu  10 0 10 80 0 0 0 5\n", "cpu  40 0 40 180 10 0 0 35\n"]
            .map(|stat| MachineTime::parse(stat).unwrap());
        for (known_us, expected) in [(0, 30), (200_000, 20), (600_000, 0), (900_000, 0)] {
            assert_eq!(after.others_percent_since(before, known_us), Some(expected), "{known_us}");
        }
        assert_eq!(after.stolen_percent_since(before), Some(15));
        assert_eq!(after.others_percent_since(after, 0), None, "no time went by");
    }

    #[test]
    fn a_description_is_read_line_by_line() {
        let text = "processor\t: 0\nmodel name\t: Fast (R) CPU: v2\nmodel name\t: Other\n";
        assert_eq!(value_of(text, "model name").as_deref(), Some("Fast (R) CPU: v2"));
        assert_eq!(mib("25165824 kB"), Some(24_576));
        assert_eq!(mib("many kB"), None);
        assert!(Machine::this().cores > 0);
    }
}
