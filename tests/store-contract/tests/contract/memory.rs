//! The store in memory, on which other tests rely: the contract.

macro_rules! run {
    ($($module:ident::$case:ident),* $(,)?) => {
        mod contract {
            $(
                #[tokio::test]
                async fn $case() {
                    let store = quita_memory_store::MemoryStore::default();
                    crate::$module::$case(std::sync::Arc::new(store)).await;
                }
            )*
        }
    };
}
crate::for_each_case!(run);

#[tokio::test]
async fn one_payment_that_cannot_be_read_hides_no_other_of_its_list() {
    use quita_memory_store::{Connection, Direct, MemoryStore};

    let records = std::sync::Arc::new(Direct::default());
    let store = std::sync::Arc::new(MemoryStore::over(std::sync::Arc::clone(&records)));
    let damage = async |id| {
        let damaged = records.change("damage", |records| {
            records.unreadable.insert(id);
            Ok(())
        });
        damaged.await.unwrap();
    };
    crate::listing::check_that_one_unreadable_hides_no_other(store, damage).await;
}

#[tokio::test]
async fn one_payment_that_cannot_be_read_is_counted_by_a_replay() {
    use quita_memory_store::{Connection, Direct, MemoryStore};

    let records = std::sync::Arc::new(Direct::default());
    let store = std::sync::Arc::new(MemoryStore::over(std::sync::Arc::clone(&records)));
    let damage = async |id| {
        let damaged = records.change("damage", |records| {
            records.unreadable.insert(id);
            Ok(())
        });
        damaged.await.unwrap();
    };
    crate::history::check_that_one_unreadable_is_counted(store, damage).await;
}
