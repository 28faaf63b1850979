//! temp
use crate::config::store_url::StoreUrl;
use quita_ports::Store;
use std::sync::Arc;
/// temp
pub async fn open_to_serve(url: &StoreUrl) -> Result<Arc<dyn Store>, anyhow::Error> {
    match url {
        StoreUrl::Embedded(p) => Ok(Arc::new(quita_adapters::embedded::EmbeddedStore::open_sole_writer(p)?)),
        StoreUrl::Mongo(_) => anyhow::bail!("x"),
    }
}
