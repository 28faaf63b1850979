//! Texts about deliveries of webhooks.

use crate::console::kit::texts::group;

group! {
    /// Deliveries and receivers.
    Deliveries {
        lead: "Cada mudança de status é contada ao seu sistema, até que ele confirme.",
            "Every status change is sent to your system until it confirms receipt.";
        pending: "Pendentes", "Pending";
        failing: "Falhando", "Failing";
        exhausted: "Esgotadas", "Exhausted";
        delivered: "Entregues", "Delivered";
        state_pending: "Pendente", "Pending";
        state_failing: "Falhando", "Failing";
        state_exhausted: "Esgotada", "Exhausted";
        state_delivered: "Entregue", "Delivered";
        event: "Evento", "Event";
        state: "Estado", "State";
        receiver: "Destino", "Receiver";
        attempts: "Tentativas", "Attempts";
        last_attempt: "Última tentativa", "Last attempt";
        next_attempt: "Próxima", "Next";
        again: "reenvio", "redelivery";
        empty: "Nada aqui", "Nothing here";
        empty_sentence: "Quando uma entrega estiver neste estado, aparece aqui.",
            "Deliveries in this state appear here.";
        redeliver_all: "Reenviar tudo desde…", "Redeliver all since…";
        since: "Eventos desde", "Events since";
        redeliver_all_question: "Reenviar tudo?", "Redeliver all?";
        redeliver_all_sentence: "Cada evento esgotado desde então é enviado de novo, no máximo {most} de uma vez.",
            "Every exhausted event since then is sent again, at most {most} at once.";
        to_receiver: "Só para o destino", "To this receiver only";
        to_receiver_hint: "Servidor e porta, como em Saúde dos destinos. Vazio: todos.",
            "Host and port, as under Health of the receivers. Leave empty for all of them.";
        bad_receiver: "O destino não foi entendido; escreva como loja.example.",
            "The receiver could not be read; write it as shop.example.";
        redelivered: "Eventos reenviados: {count}.", "Events redelivered: {count}.";
        more_remain: "Pode haver mais: continue daqui.", "There may be more: continue from here.";
        bad_time: "O instante não foi entendido.", "The time could not be read.";
        receivers: "Saúde dos destinos", "Health of the receivers";
        receivers_lead: "Pelas últimas {count} entregas.", "Based on the last {count} deliveries.";
        share: "Confirma", "Confirmed";
        duration: "Duração", "Duration";
        last_failure: "Última falha", "Last failure";
        no_receivers: "Nenhuma entrega ainda", "No deliveries yet";
    }
}
