import type { PersonStrings } from "./strings.ts";

export const enPerson: PersonStrings = {
  askPerson: "Talk to a person",
  waiting: "Waiting for a person…",
  stopWaiting: "Stop waiting",
  personIsHere: "{name} answers you here.",
  personWrites: "{name} is writing…",
  assistantIsBack: "The assistant answers again.",
};

const translated: Readonly<Record<string, PersonStrings>> = {
  de: {
    askPerson: "Mit einem Menschen sprechen",
    waiting: "Warten auf einen Menschen…",
    stopWaiting: "Nicht mehr warten",
    personIsHere: "{name} antwortet Ihnen hier.",
    personWrites: "{name} schreibt…",
    assistantIsBack: "Der Assistent antwortet wieder.",
  },
  fr: {
    askPerson: "Parler à une personne",
    waiting: "En attente d’une personne…",
    stopWaiting: "Ne plus attendre",
    personIsHere: "{name} vous répond ici.",
    personWrites: "{name} écrit…",
    assistantIsBack: "L’assistant répond de nouveau.",
  },
  es: {
    askPerson: "Hablar con una persona",
    waiting: "Esperando a una persona…",
    stopWaiting: "Dejar de esperar",
    personIsHere: "{name} le responde aquí.",
    personWrites: "{name} está escribiendo…",
    assistantIsBack: "El asistente vuelve a responder.",
  },
  it: {
    askPerson: "Parla con una persona",
    waiting: "In attesa di una persona…",
    stopWaiting: "Non aspettare più",
    personIsHere: "{name} risponde qui.",
    personWrites: "{name} sta scrivendo…",
    assistantIsBack: "L’assistente risponde di nuovo.",
  },
  pt: {
    askPerson: "Falar com uma pessoa",
    waiting: "À espera de uma pessoa…",
    stopWaiting: "Parar de esperar",
    personIsHere: "{name} responde aqui.",
    personWrites: "{name} está a escrever…",
    assistantIsBack: "O assistente responde novamente.",
  },
  ar: {
    askPerson: "التحدث إلى شخص",
    waiting: "في انتظار شخص…",
    stopWaiting: "إيقاف الانتظار",
    personIsHere: "{name} يجيبك هنا.",
    personWrites: "{name} يكتب…",
    assistantIsBack: "المساعد يجيب من جديد.",
  },
};

/** In the language in use; the page's own ones stand in its other strings. */
export function personStrings(code: string): PersonStrings {
  return translated[code] ?? enPerson;
}
