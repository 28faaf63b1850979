//! Texts about refused requests.

use crate::console::kit::texts::group;

group! {
    /// Refused requests.
    Requests {
        lead: "Chamadas da API que foram recusadas, as mais novas primeiro. Nenhum valor enviado é guardado.",
            "Calls of the API that were refused, newest first. No value that was sent is kept.";
        node: "As últimas cem que este nó recusou desde que começou.", "The last hundred that this node refused since it started.";
        when: "Quando", "When";
        request: "Chamada", "Request";
        answer: "Resposta", "Answer";
        fields: "Campos", "Fields";
        key: "Chave", "Key";
        id: "requestId", "requestId";
        empty: "Nada foi recusado", "Nothing was refused";
        empty_sentence: "Uma chamada com uma chave sua que for recusada aparece aqui, com o motivo.",
            "A call with one of your keys that is refused shows up here, with the reason.";
    }
}
