//! Texts about payments.

use crate::console::kit::texts::group;

group! {
    /// List of payments, page of one payment, and its operations.
    Payments {
        field_text: "busca", "search";
        field_amount: "valor", "amount";
        field_from: "criado de", "created from";
        field_to: "criado até", "created to";
        field_page: "página", "page";
        not_understood: "Não entendi, e deixei de fora:", "Ignored, because it could not be read:";
        not_exported: "Nada foi exportado, porque isto não foi entendido:", "Nothing was exported, because this could not be read:";
        search: "Id, referência, documento ou e-mail", "Id, reference, document or e-mail";
        created_from: "Criado de", "Created from";
        created_to: "até", "to";
        more_filters: "Mais filtros", "More filters";
        exact_amount: "Valor exato", "Exact amount";
        filter: "Filtrar", "Filter";
        clear: "Limpar", "Clear";
        export: "Exportar CSV", "Export CSV";
        result: "Resultado", "Result";
        payment: "Pagamento", "Payment";
        payer: "Pagador", "Payer";
        empty: "Nenhum pagamento", "No payments";
        empty_sentence: "Crie um pela API, ou mude o filtro.", "Create one through the API, or change the filter.";
        unreadable: "Guardados, mas ilegíveis; fale com quem opera o serviço:",
            "Stored, but unreadable; ask the operators of the service:";
        per_page: "20 por página", "20 per page";
        summary: "Resumo", "Summary";
        transaction_id: "Id da transação", "Transaction id";
        reference: "Referência", "Reference";
        paid: "Pago", "Paid";
        acquirer: "Adquirente", "Acquirer";
        application: "Aplicação", "Application";
        reason: "Motivo", "Reason";
        timeline: "Linha do tempo", "Timeline";
        no_receiver: "Ninguém é avisado deste pagamento: ele foi criado sem postbackUrl, e sua aplicação não tinha endpoint.",
            "No webhooks are sent for this payment: it was created without postbackUrl, and its application had no \
            endpoint.";
        event: "Evento", "Event";
        webhook: "Webhook", "Webhook";
        created_moment: "Criado", "Created";
        routing: "Por que esta rota", "Why this route";
        rule: "Regra que decidiu", "Deciding rule";
        no_rule: "nenhuma: vale a ordem geral", "none: the default order";
        routes_version: "Versão das rotas", "Version of the routes";
        tried_further: "recusa reversível: mais um adquirente foi tentado",
            "reversible decline: one further acquirer was tried";
        acquirers_in_order: "Adquirentes, na ordem", "Acquirers, in order";
        not_tried: "não tentado", "not tried";
        attempt: "tentativa", "attempt";
        answer_not_shown: "Só donos e desenvolvedores leem: a resposta pode repetir dados do pagador.",
            "Only owners and developers can read it: an answer may repeat the payer's data.";
        answer_of_receiver: "Resposta do destino", "The receiver's answer";
        waiting: "aguardando", "waiting";
        next_attempt: "Próxima tentativa", "Next attempt";
        amounts: "Valores", "Amounts";
        charged: "Cobrado", "Charged";
        shipping: "Frete", "Shipping";
        captured: "Recebido", "Received";
        refunded: "Devolvido", "Refunded";
        refund_moment: "Devolução de", "Refund of";
        left: "Restante", "Remaining";
        name: "Nome", "Name";
        phone: "Telefone", "Phone";
        address: "Endereço", "Address";
        unmask: "Ver o pagador", "Show the payer";
        unmask_sentence: "Documento, e-mail e telefone inteiros. Fica no registro de auditoria.",
            "Document, e-mail and phone in full. This is recorded in the audit log.";
        payer_shown: "Você viu estes dados; isso ficou no registro de auditoria.",
            "You have viewed these details; this is recorded in the audit log.";
        back_to_payment: "Voltar ao pagamento", "Back to the payment";
        pix_page: "Página de pagamento", "Payment page";
        end_to_end: "Fim a fim", "End to end";
        expires: "Expira", "Expires";
        line: "Linha digitável", "Digitable line";
        due_date: "Vencimento", "Due date";
        payable_until: "Pagável até", "Payable until";
        discount: "Desconto", "Discount";
        fine: "Multa", "Fine";
        interest_per_day: "Juros por dia", "Interest per day";
        interest_per_month: "Juros ao mês", "Interest per month";
        instruction: "Instrução", "Instruction";
        paid_amount: "Valor pago", "Amount paid";
        paid_on: "Pago em", "Paid on";
        card: "Cartão", "Card";
        card_number: "Número", "Number";
        holder: "Titular", "Holder";
        installments: "Parcelas", "Instalments";
        authorization: "Autorização", "Authorisation";
        decline_code: "Recusa", "Decline";
        items: "Itens", "Items";
        metadata: "Metadados", "Metadata";
        splits: "Divisão", "Splits";
        cancel: "Cancelar", "Cancel";
        capture: "Capturar", "Capture";
        refund: "Devolver", "Refund";
        redeliver: "Reenviar", "Redeliver";
        cancel_question: "Cancelar este pagamento?", "Cancel this payment?";
        cancel_sentence: "O pagador não poderá mais pagar; um cartão autorizado é liberado.",
            "The payer can no longer pay; an authorised card is released.";
        capture_question: "Capturar este cartão?", "Capture this card?";
        capture_sentence: "O valor é cobrado do cartão agora. O que não for capturado é liberado.",
            "The amount is charged to the card now. The rest is released.";
        refund_question: "Devolver ao pagador?", "Refund the payer?";
        refund_sentence: "O dinheiro volta ao pagador. Não há como desfazer.",
            "The money goes back to the payer. This can't be undone.";
        redeliver_question: "Reenviar este evento?", "Redeliver this event?";
        redeliver_sentence: "O mesmo evento, com o mesmo webhook-id, é enviado de novo agora.",
            "The same event, with the same webhook-id, is sent again now.";
        amount_to_refund: "Valor a devolver", "Amount to refund";
        amount_to_capture: "Valor a capturar", "Amount to capture";
        at_most: "No máximo", "At most";
        bad_amount: "O valor não foi entendido; escreva como 50,00.", "The amount could not be read; write it as 50.00.";
        test_payment: "Criar pagamento de teste", "Create test payment";
        no_test_acquirer: "Nenhum adquirente de teste aceita PIX; fale com quem opera o serviço.",
            "No test acquirer accepts PIX; ask the operators of the service.";
        sandbox_pay: "Pagar", "Pay";
        sandbox_expire: "Deixar expirar", "Let it expire";
        sandbox_chargeback: "Contestar", "Charge back";
        sandbox_win: "Ganhar a disputa", "Win the dispute";
        sandbox_question: "Fazer isto no lugar do pagador?", "Do this on behalf of the payer?";
        sandbox_sentence: "O sandbox avisa o serviço como um adquirente avisaria. Nenhum dinheiro se move.",
            "The sandbox notifies the service as an acquirer would. No money moves.";
        sandbox_not_possible: "O pagamento não permite isto agora, ou não é do sandbox.",
            "The payment does not allow this now, or it is not a sandbox payment.";
        notice_sandbox: "Feito no sandbox.", "Done in the sandbox.";
        notice_cancelled: "Cancelado.", "Cancelled.";
        notice_captured: "Capturado.", "Captured.";
        notice_refunded: "Devolvido.", "Refunded.";
        notice_redelivered: "O evento vai de novo, agora.", "The event is being redelivered.";
        notice_processing: "O adquirente ainda não respondeu; esta página mostra quando responder.",
            "The acquirer has not answered yet; this page updates when it does.";
        refused_by_acquirer: "O adquirente recusou: {why}", "The acquirer refused: {why}";
        not_cancelled: "O pagamento mudou enquanto era cancelado; veja o que ele é agora.",
            "The payment changed while it was being cancelled; check its current status.";
    }
}
