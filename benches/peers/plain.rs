//! The handler that one would write instead of Quita: a document for each payment, one insert, one find.
//!
//! `plain --listen 127.0.0.1:8082 --store mongodb://127.0.0.1:27017/plain?replicaSet=rs0`

mod request;

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use actix_web::http::header::LOCATION;
use actix_web::{App, HttpResponse, HttpServer, error, web};
use clap::Parser;
use mongodb::bson::doc;
use mongodb::options::{Acknowledgment, CollectionOptions, WriteConcern};
use mongodb::{Client, Collection};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use request::{CreatePayment, Item, Payer};

/// The same as in Quita, so that allocators are not compared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps payments in MongoDB.
#[derive(Parser)]
struct Options {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    /// The database: `mongodb://…/DATABASE?replicaSet=…`.
    #[arg(long)]
    store: String,
    /// Threads that serve; as many as there are processors, if not given.
    #[arg(long)]
    workers: Option<usize>,
}

/// The document, which is also the answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payment {
    #[serde(rename = "_id")]
    id: String,
    status: String,
    created_at: i64,
    payment_method: String,
    amount: i64,
    currency: String,
    payment_details: Payer,
    #[serde(skip_serializing_if = "Option::is_none")]
    installments: Option<i32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    postback_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_reference: Option<String>,
}

impl Payment {
    fn pending(request: CreatePayment, created_at: i64) -> Self {
        Self {
            id: Uuid::now_v7().to_string(),
            status: "pending".into(),
            created_at,
            payment_method: request.payment_method,
            amount: request.amount,
            currency: request.currency,
            payment_details: request.payment_details,
            installments: request.installments,
            items: request.items,
            postback_url: request.postback_url,
            external_reference: request.external_reference,
        }
    }
}

type Payments = web::Data<Collection<Payment>>;

async fn create(payments: Payments, request: web::Json<CreatePayment>) -> actix_web::Result<HttpResponse> {
    let payment = Payment::pending(request.into_inner(), now_ms()?);
    payments.insert_one(&payment).await.map_err(error::ErrorInternalServerError)?;
    let location = format!("/pay/payments/{}", payment.id);
    Ok(HttpResponse::Created().insert_header((LOCATION, location)).json(payment))
}

async fn find(payments: Payments, id: web::Path<String>) -> actix_web::Result<HttpResponse> {
    let found =
        payments.find_one(doc! { "_id": id.as_str() }).await.map_err(error::ErrorInternalServerError)?;
    Ok(match found {
        Some(payment) => HttpResponse::Ok().json(payment),
        None => HttpResponse::NotFound().finish(),
    })
}

#[allow(clippy::disallowed_methods, reason = "it has no clock that could be simulated")]
fn now_ms() -> actix_web::Result<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(error::ErrorInternalServerError)?;
    i64::try_from(now.as_millis()).map_err(error::ErrorInternalServerError)
}

#[actix_web::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let durable = WriteConcern::builder().w(Acknowledgment::Majority).journal(true).build();
    let payments: Collection<Payment> = Client::with_uri_str(&options.store)
        .await?
        .default_database()
        .ok_or_else(|| anyhow::anyhow!("--store names no database"))?
        .collection_with_options("payments", CollectionOptions::builder().write_concern(durable).build());
    let payments = web::Data::new(payments);
    let mut server = HttpServer::new(move || {
        App::new()
            .app_data(payments.clone())
            .route("/pay/payments", web::post().to(create))
            .route("/pay/payments/{id}", web::get().to(find))
    });
    if let Some(workers) = options.workers {
        server = server.workers(workers);
    }
    server.bind(options.listen)?.run().await?;
    Ok(())
}
