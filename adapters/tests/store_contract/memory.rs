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
