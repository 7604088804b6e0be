import type { FeedbackStrings } from "./strings.ts";

export const enFeedback: FeedbackStrings = {
  rate: "Rate this reply",
  rateUp: "Good reply",
  rateDown: "Bad reply",
  whatWasWrong: "What was wrong? (optional)",
  sendFeedback: "Send",
  skipFeedback: "Skip",
  feedbackThanks: "Thank you for your feedback.",
};

const translated: Readonly<Record<string, FeedbackStrings>> = {
  de: {
    rate: "Diese Antwort bewerten",
    rateUp: "Gute Antwort",
    rateDown: "Schlechte Antwort",
    whatWasWrong: "Was war falsch? (freiwillig)",
    sendFeedback: "Senden",
    skipFeedback: "Überspringen",
    feedbackThanks: "Danke für Ihre Rückmeldung.",
  },
  fr: {
    rate: "Évaluer cette réponse",
    rateUp: "Bonne réponse",
    rateDown: "Mauvaise réponse",
    whatWasWrong: "Qu’est-ce qui n’allait pas ? (facultatif)",
    sendFeedback: "Envoyer",
    skipFeedback: "Passer",
    feedbackThanks: "Merci pour votre avis.",
  },
  es: {
    rate: "Valorar esta respuesta",
    rateUp: "Buena respuesta",
    rateDown: "Mala respuesta",
    whatWasWrong: "¿Qué estuvo mal? (opcional)",
    sendFeedback: "Enviar",
    skipFeedback: "Omitir",
    feedbackThanks: "Gracias por su opinión.",
  },
  it: {
    rate: "Valuta questa risposta",
    rateUp: "Buona risposta",
    rateDown: "Risposta non utile",
    whatWasWrong: "Che cosa non andava? (facoltativo)",
    sendFeedback: "Invia",
    skipFeedback: "Salta",
    feedbackThanks: "Grazie per il suo parere.",
  },
  pt: {
    rate: "Avaliar esta resposta",
    rateUp: "Boa resposta",
    rateDown: "Má resposta",
    whatWasWrong: "O que estava errado? (opcional)",
    sendFeedback: "Enviar",
    skipFeedback: "Ignorar",
    feedbackThanks: "Obrigado pela sua opinião.",
  },
  ar: {
    rate: "قيّم هذا الرد",
    rateUp: "رد جيد",
    rateDown: "رد سيئ",
    whatWasWrong: "ما الخطأ؟ (اختياري)",
    sendFeedback: "إرسال",
    skipFeedback: "تخطٍّ",
    feedbackThanks: "شكرًا على ملاحظاتك.",
  },
};

/** In the language in use; the page's own ones stand in its other strings. */
export function feedbackStrings(code: string): FeedbackStrings {
  return translated[code] ?? enFeedback;
}
