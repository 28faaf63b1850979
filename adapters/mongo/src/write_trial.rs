//! A trial write that leaves nothing behind, and a check of the free space on the server's disk.

use bson::{Document, doc};
use quita_ports::StoreError;

use super::MongoStore;
use super::failure::within_time;
use super::indexes::STORED_FORM;

/// Minimum free space: MongoDB creates its next journal file of this size before it is needed.
///
/// Source: <https://www.mongodb.com/docs/manual/core/journaling/>, "approximately every 100 MB of data".
const ROOM: u64 = 100 * MEBIBYTE;
const MEBIBYTE: u64 = 1024 * 1024;

impl MongoStore {
    /// Checks that the store takes writes without leaving one: it updates a document that does not exist.
    ///
    /// # Errors
    /// [`StoreError::Full`] if its disk is almost full; otherwise the reason why nothing can be written.
    pub async fn try_write(&self) -> Result<(), StoreError> {
        // An update that matches nothing still needs a primary that takes writes, but leaves nothing in oplog or
        // journal.
        let nobody = doc! { "_id": "none" };
        let forms = self.collection(STORED_FORM);
        within_time(forms.update_one(nobody, doc! { "$set": { "tried": true } })).await?;
        // A user may lack the right to run this command. The update has already shown the more important fact.
        match within_time(self.database.run_command(doc! { "dbStats": 1 })).await {
            Ok(stats) => judge_room(&stats),
            Err(_) => Ok(()),
        }
    }
}

fn judge_room(stats: &Document) -> Result<(), StoreError> {
    // The server states bytes as floating-point numbers.
    let size = |name| format!("{:.0}", stats.get_f64(name).ok()?).parse::<u64>().ok();
    let (Some(total), Some(used)) = (size("fsTotalSize"), size("fsUsedSize")) else { return Ok(()) };
    let left = total.saturating_sub(used);
    // Servers whose storage hides the file system report zero.
    if total == 0 || left >= ROOM {
        return Ok(());
    }
    let left = left / MEBIBYTE;
    Err(StoreError::Full(format!("MongoDB has {left} MB of it left, and makes journal files of 100 MB")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_for_a_journal_file_is_full() {
        let mb = 1024.0 * 1024.0;
        let judge = |used: f64| judge_room(&doc! { "fsTotalSize": 1000.0 * mb, "fsUsedSize": used * mb });
        assert_eq!(judge(900.0), Ok(()));
        let Err(StoreError::Full(why)) = judge(901.0) else { panic!("it has room") };
        assert!(why.contains("99 MB"), "{why}");
        for unknown in [doc! {}, doc! { "fsTotalSize": 0.0, "fsUsedSize": 0.0 }] {
            assert_eq!(judge_room(&unknown), Ok(()));
        }
    }
}
