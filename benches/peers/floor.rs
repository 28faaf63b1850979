//! The minimum of a service: reads the request, stores nothing, answers.
//!
//! No service on this HTTP server can be faster. `floor --listen 127.0.0.1:8081`

#[allow(dead_code, reason = "it reads the request and does nothing with it")]
mod request;

use std::net::SocketAddr;

use actix_web::http::header::LOCATION;
use actix_web::{App, HttpResponse, HttpServer, web};
use clap::Parser;
use serde::Serialize;
use uuid::Uuid;

use request::CreatePayment;

/// The same as in Quita, so that allocators are not compared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reads payments and forgets them.
#[derive(Parser)]
struct Options {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
    /// Threads that serve; as many as there are processors, if not given.
    #[arg(long)]
    workers: Option<usize>,
}

/// The answered payment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payment {
    transaction_id: Uuid,
    status: &'static str,
    amount: i64,
    currency: &'static str,
    payment_method: &'static str,
}

impl Payment {
    fn pending(transaction_id: Uuid, amount: i64) -> Self {
        Self { transaction_id, status: "pending", amount, currency: "BRL", payment_method: "PIX" }
    }
}

async fn create(request: web::Json<CreatePayment>) -> HttpResponse {
    let id = Uuid::now_v7();
    HttpResponse::Created()
        .insert_header((LOCATION, format!("/pay/payments/{id}")))
        .json(Payment::pending(id, request.amount))
}

async fn find(id: web::Path<Uuid>) -> HttpResponse {
    HttpResponse::Ok().json(Payment::pending(id.into_inner(), 10_027))
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let mut server = HttpServer::new(|| {
        App::new()
            .route("/pay/payments", web::post().to(create))
            .route("/pay/payments/{id}", web::get().to(find))
    });
    if let Some(workers) = options.workers {
        server = server.workers(workers);
    }
    server.bind(options.listen)?.run().await
}
