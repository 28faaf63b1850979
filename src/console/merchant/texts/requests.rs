//! Texts about refused requests.

use crate::console::kit::texts::group;

group! {
    /// Refused requests.
    Requests {
        lead: "Chamadas da API que foram recusadas, e no modo de teste as que tinham nomes desconhecidos. As mais novas primeiro; nenhum valor enviado é guardado.",
            "API requests that were refused, and in test mode those with unknown names. Newest first; no value that was sent is kept.";
        of_node: "As últimas cem com chaves secretas e as últimas cem com chaves publicáveis, desde que o serviço começou.",
            "The last hundred with secret keys, and the last hundred with publishable keys, since the service started.";
        of_nodes: "As últimas cem com chaves secretas e as últimas cem com chaves publicáveis, no nó {node} desde que começou. Outros nós guardam as suas: recarregue a página para chegar a outro.",
            "The last hundred with secret keys, and the last hundred with publishable keys, on node {node} since it started. Other nodes keep their own: reload the page to reach another one.";
        when: "Quando", "When";
        request: "Chamada", "Request";
        answer: "Resposta", "Answer";
        ignored: "{name} é desconhecido e foi ignorado", "{name} is unknown and was ignored";
        ignored_but: "{name} é desconhecido e foi ignorado; seria {meant}?", "{name} is unknown and was ignored; did you mean {meant}?";
        key: "Chave", "Key";
        id: "requestId", "requestId";
        empty: "Nada foi recusado", "Nothing was refused";
        empty_on_node: "Nada foi recusado no nó {node}", "Nothing was refused on node {node}";
        empty_sentence: "Uma chamada com uma chave sua que for recusada aparece aqui, com o motivo.",
            "A refused request with one of your keys appears here, with the reason.";
    }
}
