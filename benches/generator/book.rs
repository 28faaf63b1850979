//! Files of ids: 16 bytes each, one after the other.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use uuid::Uuid;

/// Reads a file of ids.
///
/// # Errors
/// Fails if it can't be read, or is not such a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Uuid>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (ids, rest) = bytes.as_chunks::<16>();
    ensure!(rest.is_empty(), "{} is no file of ids", path.display());
    Ok(ids.iter().copied().map(Uuid::from_bytes).collect())
}

/// Writes a file of ids.
///
/// # Errors
/// Fails if it can't be written.
pub(crate) fn write(path: &Path, ids: &[Uuid]) -> anyhow::Result<()> {
    let bytes: Vec<u8> = ids.iter().flat_map(|id| *id.as_bytes()).collect();
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
