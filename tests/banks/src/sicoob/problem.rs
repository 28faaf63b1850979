//! Errors: `{"mensagens": [{"mensagem", "codigo"}]}`.

use serde_json::json;

use crate::Response;

/// An error of the API. Its codes are fictitious: the real ones are not published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    status: u16,
    text: String,
}

impl Problem {
    /// Returns the error of a request that violates the bank's rules.
    pub(super) fn business(text: impl Into<String>) -> Self {
        Self { status: 400, text: text.into() }
    }

    /// Returns the error of a missing or invalid field.
    pub(super) fn data(text: impl Into<String>) -> Self {
        Self { status: 406, text: text.into() }
    }

    pub(super) fn of_status(status: u16) -> Self {
        let text = match status {
            401 => "Acesso não autorizado.",
            403 => "Escopo insuficiente para o recurso.",
            404 => "Recurso não encontrado.",
            429 => "Muitas requisições.",
            _ => "Erro interno no servidor.",
        };
        Self { status, text: text.to_owned() }
    }

    pub(super) fn with_status(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(super) fn response(&self) -> Response {
        let code = format!("{}", 4_000 + u32::from(self.status));
        Response::json(self.status, &json!({"mensagens": [{"mensagem": self.text, "codigo": code}]}))
    }
}
