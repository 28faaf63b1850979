//! Errors with the standard's names, in the bank's format.

use serde_json::{Value, json};

use super::config::ErrorShape;
use crate::Response;

/// An error of the API: its name in the standard, its status, and a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: u16,
    kind: &'static str,
    detail: String,
}

impl Problem {
    pub(super) fn new(status: u16, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into() }
    }

    /// Returns an error that no rule of the standard requires.
    pub(super) fn of_status(status: u16) -> Self {
        let (kind, detail) = match status {
            400 => ("RequisicaoInvalida", "Requisição inválida."),
            401 => ("AcessoNegado", "Token ausente, vencido ou de outro certificado."),
            403 => ("AcessoNegado", "Acesso negado."),
            404 => ("NaoEncontrado", "Entidade não encontrada."),
            410 => ("PermanentementeRemovido", "A entidade foi removida."),
            503 => ("ServicoIndisponivel", "Serviço não está disponível no momento."),
            504 => ("IndisponibilidadePorTempoEsgotado", "O serviço demorou além do esperado."),
            _ => ("ErroInternoDoServidor", "Condição inesperada ao processar a requisição."),
        };
        Self::new(status, kind, detail)
    }

    pub(super) fn response(&self, shape: ErrorShape) -> Response {
        let Self { status, kind, detail } = self;
        let (body, media) = match shape {
            ErrorShape::Problem => (
                json!({
                    "type": format!("https://pix.bcb.gov.br/api/v2/error/{kind}"),
                    "title": kind, "status": status, "detail": detail,
                }),
                "application/problem+json",
            ),
            ErrorShape::Erros => (
                json!({"erros": [{"codigo": kind, "versao": "1", "mensagem": detail, "ocorrencia": "1"}]}),
                "application/json",
            ),
            ErrorShape::Nome => (json!({"nome": kind, "mensagem": detail}), "application/json"),
            ErrorShape::Wrapped => {
                (json!({"error": {"title": kind, "detail": detail, "violacoes": []}}), "application/json")
            }
            ErrorShape::Fault => {
                (json!({"fault": {"faultstring": detail, "detail": {"errorcode": kind}}}), "application/json")
            }
        };
        answer(*status, media, &body)
    }
}

pub(super) fn answer(status: u16, media: &str, body: &Value) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), media.to_owned())],
        body: body.to_string().into_bytes(),
    }
}
