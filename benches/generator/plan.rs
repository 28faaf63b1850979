//! Plan of the requests.

use std::collections::VecDeque;
use std::fs;

use anyhow::{Context, ensure};
use uuid::Uuid;

use crate::address::Target;
use crate::book;
use crate::load::LoadOptions;

/// Number of the most recent payments, of which one is read.
const RECENT: usize = 1_000;

/// The next request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// The creation with this index in the plan.
    Create(usize),
    /// The read of a payment.
    Read(Uuid),
}

/// The shares of requests, and the payments that may be read.
pub(crate) struct Plan {
    creations: Vec<(u32, Vec<u8>)>,
    read_recent: u32,
    total: u32,
    recent: VecDeque<Uuid>,
    listed: Vec<Uuid>,
    next_listed: usize,
    /// Payments that were created.
    pub(crate) created: Vec<Uuid>,
}

impl Plan {
    /// Reads the bodies and the ids that the options name.
    ///
    /// # Errors
    /// Fails if a file can't be read, or there is nothing to request.
    pub(crate) fn read(options: &LoadOptions) -> anyhow::Result<Self> {
        let creations = options
            .create
            .iter()
            .map(|creation| creation_of(creation, &options.target))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut listed = options.get.as_deref().map(book::read).transpose()?.unwrap_or_default();
        fastrand::shuffle(&mut listed);
        let read_recent = if creations.is_empty() { 0 } else { options.read_recent };
        let total = read_recent + creations.iter().map(|(weight, _)| weight).sum::<u32>();
        ensure!(total > 0 || !listed.is_empty(), "nothing to ask: name --create or --get");
        let recent = VecDeque::with_capacity(RECENT);
        let created = Vec::new();
        Ok(Self { creations, read_recent, total, recent, listed, next_listed: 0, created })
    }

    /// Returns the next request. Ids of a file come in random order, each equally often.
    pub(crate) fn next(&mut self) -> Step {
        if self.total == 0 {
            return Step::Read(self.next_listed());
        }
        let mut lot = fastrand::u32(..self.total);
        if lot < self.read_recent {
            return self.pick_recent().map_or(Step::Create(0), Step::Read);
        }
        lot -= self.read_recent;
        for (place, (weight, _)) in self.creations.iter().enumerate() {
            if lot < *weight {
                return Step::Create(place);
            }
            lot -= weight;
        }
        Step::Create(0)
    }

    /// Returns the bytes of a creation.
    pub(crate) fn creation(&self, place: usize) -> &[u8] {
        self.creations.get(place).map(|(_, request)| request.as_slice()).unwrap_or_default()
    }

    /// Records a created payment.
    pub(crate) fn created(&mut self, id: Uuid) {
        self.created.push(id);
        if self.read_recent > 0 {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(id);
        }
    }

    /// Returns how often the file of ids was passed through.
    pub(crate) fn passes(&self) -> usize {
        self.next_listed.div_ceil(self.listed.len().max(1))
    }

    fn next_listed(&mut self) -> Uuid {
        let place = self.next_listed % self.listed.len().max(1);
        self.next_listed += 1;
        self.listed.get(place).copied().unwrap_or_default()
    }

    fn pick_recent(&self) -> Option<Uuid> {
        fastrand::choice(self.recent.iter()).copied()
    }
}

/// Reads `WEIGHT=FILE`, or `FILE`.
fn creation_of(creation: &str, target: &Target) -> anyhow::Result<(u32, Vec<u8>)> {
    let (weight, path) = creation.split_once('=').unwrap_or(("1", creation));
    let weight = weight.parse().with_context(|| format!("no weight: {weight}"))?;
    let body = fs::read(path).with_context(|| format!("cannot read {path}"))?;
    Ok((weight, target.creation(&body)))
}
