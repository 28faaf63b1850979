//! Texts about refunds and disputes.

use crate::console::kit::texts::group;

group! {
    /// Lists of refunds and of disputes.
    Movements {
        refunds_lead: "O que voltou aos pagadores, ou está voltando, de todos os pagamentos.",
            "Money that went back to payers, or is on its way, of all payments.";
        disputes_lead: "Contestações de todos os pagamentos: em aberto, ou ganhas.",
            "Chargebacks of all payments: open, or won.";
        processing: "Em andamento", "On their way";
        succeeded: "Concluídas", "Done";
        failed: "Não realizadas", "Failed";
        open: "Em aberto", "Open";
        won: "Ganhas", "Won";
        every: "Todas", "All";
        payment_from: "Pagamento criado de", "Payment created from";
        asked_at: "Pedida", "Asked for";
        charged_back_at: "Contestado", "Charged back";
        won_at: "Ganha", "Won";
        empty: "Nada aqui", "Nothing here";
        no_refund: "Quando uma devolução estiver neste status, aparece aqui.", "A refund in this status shows up here.";
        no_dispute: "Quando uma contestação estiver neste status, aparece aqui.",
            "A dispute in this status shows up here.";
    }
}
