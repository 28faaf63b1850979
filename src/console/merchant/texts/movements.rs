//! Texts about refunds and disputes.

use crate::console::kit::texts::group;

group! {
    /// Lists of refunds and of disputes.
    Movements {
        refunds_lead: "O que voltou aos pagadores, ou está voltando, de todos os pagamentos.",
            "Refunds of all payments, including those in progress.";
        disputes_lead: "Contestações de todos os pagamentos: em aberto, ou ganhas.",
            "Chargebacks of all payments: open, or won.";
        processing: "Em andamento", "Processing";
        succeeded: "Concluídas", "Done";
        failed: "Não realizadas", "Failed";
        open: "Em aberto", "Open";
        won: "Ganhas", "Won";
        every: "Todas", "All";
        payment_from: "Pagamento criado de", "Payment created from";
        asked_at: "Pedida", "Requested";
        charged_back_at: "Contestado", "Charged back";
        won_at: "Ganha", "Won";
        empty: "Nada aqui", "Nothing here";
        no_refund: "Quando uma devolução estiver neste status, aparece aqui.", "Refunds in this status appear here.";
        no_dispute: "Quando uma contestação estiver neste status, aparece aqui.",
            "Disputes in this status appear here.";
    }
}
