//! The API's own documentation: `/openapi.json`, a page that shows it, and a page for every error code.

mod error_pages;
#[cfg(test)]
mod released;
mod violation_codes;

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use actix_web::web::{Data, Path};

use super::edge::Edge;

pub(crate) use error_pages::{all_errors, error};

const OPENAPI: &str = include_str!("docs/openapi.json");
const PAGE: &str = include_str!("docs/docs.html");
const SCRIPT: &str = include_str!("docs/docs.js");
const STYLE: &str = include_str!("docs/docs.css");
const FOR_PROGRAMS: &str = include_str!("docs/llms.txt");

/// Server entry of the OpenAPI description when the service is at the root of its host.
const AT_ROOT: &str = "\"url\": \"/\"";

/// `GET /openapi.json`
pub(crate) async fn openapi(edge: Data<Edge>) -> HttpResponse {
    if !edge.mount.is_below_a_path() {
        return answer("application/json", OPENAPI);
    }
    let server = format!("\"url\": \"{}\"", edge.mount);
    answer("application/json", OPENAPI.replacen(AT_ROOT, &server, 1))
}

/// `GET /docs`
pub(crate) async fn page() -> HttpResponse {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                  form-action 'none'; frame-ancestors 'none'";
    let mut response = answer("text/html; charset=utf-8", PAGE);
    let value = actix_web::http::header::HeaderValue::from_static(policy);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, value);
    response
}

/// `GET /docs/` and every documentation page with a trailing slash: redirects to the page.
pub(crate) async fn without_slash(edge: Data<Edge>, page: Path<String>) -> HttpResponse {
    let location = format!("{}/docs{page}", edge.mount);
    HttpResponse::PermanentRedirect().insert_header((LOCATION, location)).finish()
}

/// `GET /docs/{language}`: redirects to the first guide.
pub(crate) async fn first_guide(edge: Data<Edge>, language: Path<String>) -> HttpResponse {
    let location = format!("{}/docs/{language}/quickstart", edge.mount);
    HttpResponse::TemporaryRedirect().insert_header((LOCATION, location)).finish()
}

/// `GET /docs.js`
pub(crate) async fn script() -> HttpResponse {
    answer("text/javascript; charset=utf-8", SCRIPT)
}

/// `GET /llms.txt`: the documentation for language models (llmstxt.org).
pub(crate) async fn for_programs() -> HttpResponse {
    answer("text/plain; charset=utf-8", FOR_PROGRAMS)
}

/// `GET /docs.css`
pub(crate) async fn style() -> HttpResponse {
    answer("text/css; charset=utf-8", STYLE)
}

fn answer(kind: &'static str, content: impl MessageBody + 'static) -> HttpResponse {
    HttpResponse::Ok().content_type(kind).insert_header((CACHE_CONTROL, "max-age=300")).body(content)
}

#[cfg(test)]
mod tests {
    use quita_domain::request::code;
    use serde_json::Value;

    use super::*;
    use crate::http::ErrorCode;

    fn document() -> Value {
        serde_json::from_str(OPENAPI).unwrap()
    }

    /// Returns the values that a member of a schema can have.
    fn values<'d>(document: &'d Value, schema: &str, member: &str) -> Vec<&'d str> {
        let values = &document["components"]["schemas"][schema]["properties"][member]["enum"];
        values.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
    }

    #[test]
    fn the_description_lists_every_code() {
        let document = document();
        let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(values(&document, "Error", "code"), codes);
        assert_eq!(values(&document, "Violation", "code"), code::ALL);
    }

    #[test]
    fn errors_of_the_description_have_codes_of_their_status_and_lead_to_their_page() {
        let document = document();
        let responses = document["components"]["responses"].as_object().unwrap();
        let examples = responses.values().filter_map(|response| {
            response["content"]["application/json"]["examples"].as_object().map(|named| named.values())
        });
        let errors: Vec<_> = examples.flatten().map(|example| &example["value"]).collect();
        assert!(errors.len() > 15, "{errors:?}");
        for error in errors {
            let code = ErrorCode::parse(error["code"].as_str().unwrap()).unwrap();
            assert_eq!(error["statusCode"], code.status().as_u16(), "{error:#}");
            assert_eq!(error["error"].as_str(), code.status().canonical_reason(), "{error:#}");
            let page = format!("/docs/errors/{}", code.as_str());
            assert!(error["docUrl"].as_str().unwrap().ends_with(&page), "{error:#}");
        }
    }

    #[test]
    fn references_lead_to_whole_parts_that_exist() {
        fn check(document: &Value, node: &Value) {
            if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').unwrap();
                // Many generators follow a reference to a component, but no nested one.
                assert_eq!(pointer.matches('/').count(), 3, "{reference}");
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            let children: Vec<&Value> = match node {
                Value::Array(entries) => entries.iter().collect(),
                Value::Object(members) => members.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            };
            children.into_iter().for_each(|child| check(document, child));
        }
        let document = document();
        check(&document, &document);
    }

    #[test]
    fn bodies_have_no_defaults_which_generated_clients_would_send() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (name, schema) in schemas {
            assert!(!schema.to_string().contains("\"default\":"), "{name}");
        }
    }

    #[test]
    fn a_creation_is_one_of_the_methods_by_its_name() {
        let document = document();
        let schemas = &document["components"]["schemas"];
        for creation in ["CreatePayment", "EvaluateRouting"] {
            let schema = &schemas[creation];
            assert_eq!(schema["discriminator"]["propertyName"], "paymentMethod");
            let mapping = schema["discriminator"]["mapping"].as_object().unwrap();
            assert_eq!(mapping.len(), schema["oneOf"].as_array().unwrap().len());
            for (method, reference) in mapping {
                let name = reference.as_str().unwrap().rsplit('/').next().unwrap();
                let named = &schemas[name]["properties"]["paymentMethod"]["enum"];
                assert_eq!(named, &Value::from(vec![method.as_str()]), "{name}");
            }
        }
    }

    #[test]
    fn the_description_names_its_server_once() {
        assert_eq!(OPENAPI.matches(AT_ROOT).count(), 1);
    }
}
