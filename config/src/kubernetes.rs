//! Variables that Kubernetes sets in every container for each Service of its namespace.
//!
//! A Service `quita-ops` has `QUITA_OPS_SERVICE_HOST`, `QUITA_OPS_SERVICE_PORT`, `QUITA_OPS_SERVICE_PORT_{NAME}`,
//! `QUITA_OPS_PORT`, `QUITA_OPS_PORT_9090_TCP` and `QUITA_OPS_PORT_9090_TCP_{PROTO|PORT|ADDR}`. Source: Kubernetes,
//! "Accessing Services from Pods: environment variables", `makeLinkVariables` in `pkg/kubelet/envvars`.

const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];

/// Returns true if Kubernetes sets a variable of this name for any Service.
pub(super) fn is_of_service(variable: &str) -> bool {
    let is_service = variable.ends_with("_SERVICE_HOST")
        || variable.ends_with("_SERVICE_PORT")
        || variable.contains("_SERVICE_PORT_");
    is_service
        || variable.ends_with("_PORT")
        || variable.split_once("_PORT_").is_some_and(|(_, rest)| is_port(rest))
}

/// Returns true for a port with its protocol, and perhaps a suffix: `9090_TCP`, `9090_TCP_ADDR`.
fn is_port(text: &str) -> bool {
    let mut parts = text.split('_');
    let is_number = |part: &str| part.parse::<u16>().is_ok();
    parts.next().is_some_and(is_number)
        && parts.next().is_some_and(|protocol| PROTOCOLS.contains(&protocol))
        && parts.next().is_none_or(|what| ["PROTO", "PORT", "ADDR"].contains(&what))
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_services_are_known_by_their_form() {
        for variable in [
            "QUITA_SERVICE_HOST",
            "QUITA_SERVICE_PORT",
            "QUITA_SERVICE_PORT_HTTP",
            "QUITA_PORT",
            "QUITA_PORT_8080_TCP",
            "QUITA_OPS_SERVICE_HOST",
            "QUITA_MONGODB_PORT_27017_TCP",
            "QUITA_MONGODB_PORT_27017_TCP_PROTO",
            "QUITA_MONGODB_PORT_27017_TCP_PORT",
            "QUITA_MONGODB_PORT_27017_TCP_ADDR",
            "QUITA_DNS_PORT_53_UDP_ADDR",
        ] {
            assert!(is_of_service(variable), "{variable}");
        }
    }

    #[test]
    fn other_variables_are_not() {
        for variable in [
            "QUITA_LISTEN",
            "QUITA_PORTAL",
            "QUITA_SERVICE",
            "QUITA_SERVICE_HOSTS",
            "QUITA_PORT_8080",
            "QUITA_PORT_8080_TCP_ADDR_X",
            "QUITA_PORT_99999_TCP",
            "QUITA_PORT_HTTP_TCP",
            "QUITA_PORT_8080_HTTP",
        ] {
            assert!(!is_of_service(variable), "{variable}");
        }
    }

    #[test]
    fn no_option_is_taken_for_one() {
        for option in crate::option::OPTIONS {
            assert!(!is_of_service(&option.variable()), "{}", option.name);
        }
    }
}
