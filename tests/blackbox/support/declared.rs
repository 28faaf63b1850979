//! The addresses that a console's source declares.

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Method and pattern of every route, in the order in which they are declared: each pattern stands before what
/// answers it, `web::get().to(…)`.
pub(crate) fn declared(source: &'static str) -> Vec<(String, &'static str)> {
    let parts: Vec<_> = source.split('"').collect();
    let mut found = Vec::new();
    for literal in parts[1..].chunks(2) {
        let [pattern, after] = literal else { continue };
        let routes = after.split("web::").skip(1).filter_map(|route| route.split_once("().to("));
        let methods = routes.map(|(method, _)| method).filter(|method| METHODS.contains(method));
        found.extend(methods.map(|method| (method.to_uppercase(), *pattern)));
    }
    found
}
