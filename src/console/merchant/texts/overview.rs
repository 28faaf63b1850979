//! Texts of the overview.

use crate::console::kit::texts::group;

group! {
    /// Volume, approval, time to paid.
    Overview {
        ending_key: "Uma chave de API termina em menos de 30 dias.", "One API key expires within 30 days.";
        ending_keys: "{count} chaves de API terminam em menos de 30 dias.", "{count} API keys expire within 30 days.";
        ending_sentence: "Troque a tempo, ou o programa que usa a chave para de funcionar:",
            "Rotate in time, or the program that uses the key stops working:";
        failing_deliveries: "Entregas de webhooks com falha", "Failing webhook deliveries";
        failing_sentence: "{failing} falham e são tentadas de novo; {given_up} foram abandonadas nas últimas 24 horas.",
            "Failing, to be retried: {failing}. Given up in the last 24 hours: {given_up}.";
        volume_today: "Pago hoje", "Paid today";
        volume_month: "Pago em 30 dias", "Paid in 30 days";
        payments: "pagamentos", "payments";
        of_created: "de {count} criados", "of {count} created";
        approval: "Aprovação em 30 dias", "Approval in 30 days";
        approval_hint: "Dos que terminaram, quantos foram pagos ou autorizados.", "Share of finished payments that were paid or authorised.";
        time_to_paid: "Tempo até pagar", "Time to payment";
        median: "mediana", "median";
        volume_by_day: "Volume pago por dia", "Volume paid by day";
        approval_by_method: "Aprovação por método", "Approval by method";
        time_by_method: "Tempo até pagar, por método", "Time to payment, by method";
        days: "30 dias", "30 days";
        by_creation: "Pelo dia em que o pagamento foi criado, no horário de Brasília.",
            "By the day on which the payment was created, in Brasília time.";
        first_steps: "Primeiros passos", "First steps";
        first_steps_sentence: "Crie uma chave em Aplicações e faça um pagamento pela API.",
            "Create a key under Applications, then a payment through the API.";
    }
}
