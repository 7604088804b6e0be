import type { ConversationParts } from "./parts.ts";

type Draft = Pick<ConversationParts, "tab" | "board">;

/** What is in the composer, kept by the tab through reloads. */
export function writeDraft({ tab, board }: Draft, text: string): void {
  tab.write("draft", text === "" ? null : text);
  board.change({ draft: text });
}
