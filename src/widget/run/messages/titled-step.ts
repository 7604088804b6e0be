import type { ShownStep } from "../../view/view-state.ts";
import type { ConversationHost } from "../conversation-host.ts";

/**
 * A step as it is shown. If the agent gave no text, the text is the tool's name in words; the page's title of the tool,
 * if it has one, replaces that in the visitor's language.
 */
export function titled<Step extends ShownStep>(step: Step, host: Pick<ConversationHost, "titleOf">): Step {
  const tool = step.id.replace(/#\d+$/, "");
  const isName = step.text === "" || lettersOf(step.text) === lettersOf(tool);
  return isName ? { ...step, text: host.titleOf(tool) ?? (step.text || tool) } : step;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, "");
}
