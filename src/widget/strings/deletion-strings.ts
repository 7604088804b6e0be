import type { DeletionStrings } from "./strings.ts";

export const enDeletion: DeletionStrings = {
  deleteChat: "Delete this conversation",
  deleteQuestion: "Delete this conversation for good?",
  deleteYes: "Delete",
  deleteNo: "Keep",
};

const translated: Readonly<Record<string, DeletionStrings>> = {
  de: {
    deleteChat: "Diese Unterhaltung löschen",
    deleteQuestion: "Diese Unterhaltung endgültig löschen?",
    deleteYes: "Löschen",
    deleteNo: "Behalten",
  },
  fr: {
    deleteChat: "Supprimer cette conversation",
    deleteQuestion: "Supprimer définitivement cette conversation ?",
    deleteYes: "Supprimer",
    deleteNo: "Conserver",
  },
  es: {
    deleteChat: "Eliminar esta conversación",
    deleteQuestion: "¿Eliminar esta conversación definitivamente?",
    deleteYes: "Eliminar",
    deleteNo: "Conservar",
  },
  it: {
    deleteChat: "Elimina questa conversazione",
    deleteQuestion: "Eliminare definitivamente questa conversazione?",
    deleteYes: "Elimina",
    deleteNo: "Conserva",
  },
  pt: {
    deleteChat: "Eliminar esta conversa",
    deleteQuestion: "Eliminar esta conversa definitivamente?",
    deleteYes: "Eliminar",
    deleteNo: "Manter",
  },
  ar: {
    deleteChat: "حذف هذه المحادثة",
    deleteQuestion: "هل تريد حذف هذه المحادثة نهائيًا؟",
    deleteYes: "حذف",
    deleteNo: "إبقاء",
  },
};

/** In the language in use; the page's own ones stand in its other strings. */
export function deletionStrings(code: string): DeletionStrings {
  return translated[code] ?? enDeletion;
}
