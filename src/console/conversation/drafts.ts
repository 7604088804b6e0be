import { useState } from "preact/hooks";

const NAME = "drafts";
/** Of conversations; the ones that were written in last. */
const KEPT = 50;

/**
 * What an operator has begun to write in a conversation: it stays, whoever comes by, until it is sent or the operator signs
 * out. In the tab's session storage, as the key is.
 */
export function useDraft(id: string): [text: string, write: (text: string) => void] {
  const [text, setText] = useState(() => draftsNow().get(id) ?? "");
  return [
    text,
    (written) => {
      setText(written);
      const drafts = draftsNow();
      drafts.delete(id);
      if (written !== "") drafts.set(id, written);
      sessionStorage.setItem(NAME, JSON.stringify([...drafts].slice(-KEPT)));
    },
  ];
}

export function forgetDrafts(): void {
  sessionStorage.removeItem(NAME);
}

function draftsNow(): Map<string, string> {
  try {
    // A cast: only this file writes it.
    return new Map(JSON.parse(sessionStorage.getItem(NAME) ?? "[]") as [string, string][]);
  } catch {
    return new Map();
  }
}
