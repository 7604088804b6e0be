import type { LauncherStrings } from "./strings.ts";

/** What is to be said before the panel is open, and the other texts are loaded. English has all of its texts at once. */
export const LAUNCHERS: Readonly<Record<string, LauncherStrings>> = {
  de: {
    title: "Chat",
    open: "Chat öffnen",
    close: "Chat schließen",
    unread: "{n} ungelesen",
    asks: "eine Frage wartet auf Sie",
  },
  fr: {
    title: "Discussion",
    open: "Ouvrir la discussion",
    close: "Fermer la discussion",
    unread: "{n} non lus",
    asks: "une question vous attend",
  },
  es: {
    title: "Chat",
    open: "Abrir el chat",
    close: "Cerrar el chat",
    unread: "{n} sin leer",
    asks: "una pregunta te espera",
  },
  it: {
    title: "Chat",
    open: "Apri la chat",
    close: "Chiudi la chat",
    unread: "{n} non letti",
    asks: "una domanda ti aspetta",
  },
  pt: {
    title: "Chat",
    open: "Abrir o chat",
    close: "Fechar o chat",
    unread: "{n} por ler",
    asks: "uma pergunta espera por si",
  },
  ar: {
    title: "محادثة",
    open: "افتح المحادثة",
    close: "أغلق المحادثة",
    unread: "{n} غير مقروءة",
    asks: "سؤال بانتظارك",
  },
};
