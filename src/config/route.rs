//! `[[route]]`, `[[cost]]` and `[routing]`: which way new payments go.

use quita_domain::routing::{RoutingTable, Standing};

use super::acquirer::AcquirerConfig;
use super::settings::Settings;

/// Reads the table of routes among these acquirers.
pub(super) fn read(_: &mut Settings, acquirers: &[AcquirerConfig]) -> RoutingTable {
    let standing = |acquirer: &AcquirerConfig| {
        let spec = &acquirer.spec;
        (spec.name.clone(), Standing { priority: spec.priority, weight: spec.weight })
    };
    RoutingTable { standings: acquirers.iter().map(standing).collect(), ..RoutingTable::default() }
}
