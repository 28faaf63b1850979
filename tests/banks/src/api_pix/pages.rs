//! Lists by period, in pages.

use serde_json::{Map, Value, json};

use super::instants::{instant, read};
use super::rules;
use crate::query::Query;

/// From `inicio` to `fim`, both inclusive.
pub(super) struct Period {
    from_ms: i64,
    until_ms: i64,
}

impl Period {
    pub(super) fn read(query: &Query) -> Result<Self, &'static str> {
        let bound = |name, missing| query.get(name).and_then(read).ok_or(missing);
        let from_ms = bound("inicio", "O parâmetro inicio não respeita o schema.")?;
        let until_ms = bound("fim", "O parâmetro fim não respeita o schema.")?;
        if until_ms < from_ms {
            return Err("O parâmetro fim é anterior ao parâmetro inicio.");
        }
        let cpf = query.get("cpf");
        let cnpj = query.get("cnpj");
        if cpf.is_some() && cnpj.is_some() {
            return Err("Ambos os parâmetros cpf e cnpj estão preenchidos.");
        }
        if !cpf.is_none_or(rules::is_cpf) || !cnpj.is_none_or(rules::is_cnpj) {
            return Err("O parâmetro cpf ou cnpj não respeita o schema.");
        }
        Ok(Self { from_ms, until_ms })
    }

    pub(super) fn holds(&self, ms: i64) -> bool {
        (self.from_ms..=self.until_ms).contains(&ms)
    }
}

/// Returns the requested page, and the `parametros` that describe it.
pub(super) fn of_period<'a, T>(
    query: &Query,
    period: &Period,
    found: &'a [T],
) -> Result<(&'a [T], Map<String, Value>), &'static str> {
    let (page, pages) = page(query, found)?;
    let parameters = Map::from_iter([
        ("inicio".to_owned(), json!(instant(period.from_ms))),
        ("fim".to_owned(), json!(instant(period.until_ms))),
        ("paginacao".to_owned(), pages),
    ]);
    Ok((page, parameters))
}

/// Returns the requested page, and `paginacao`.
pub(super) fn page<'a, T>(query: &Query, found: &'a [T]) -> Result<(&'a [T], Value), &'static str> {
    let number = |name, default: usize| query.get(name).map_or(Ok(default), str::parse);
    let current =
        number("paginacao.paginaAtual", 0).map_err(|_| "O parâmetro paginacao.paginaAtual é inválido.")?;
    let size = number("paginacao.itensPorPagina", 100)
        .ok()
        .filter(|size| (1..=1000).contains(size))
        .ok_or("O parâmetro paginacao.itensPorPagina é inválido.")?;
    let page = found.chunks(size).nth(current).unwrap_or_default();
    let pages = json!({
        "paginaAtual": current, "itensPorPagina": size,
        "quantidadeDePaginas": found.len().div_ceil(size).max(1), "quantidadeTotalDeItens": found.len(),
    });
    Ok((page, pages))
}
