import { modelContext } from "./model-context.ts";
import type { ResultBody } from "./tool-result.ts";

/** How long a page may go without registering a tool to count as settled, and how long it is waited for at most. */
const QUIET_MS = 150;
const LONGEST_MS = 1_500;

/** The answer for a tool that took the page away before it returned. */
export function openedPage(callId: string, tool: string): ResultBody {
  const text = `The tool opened a new page: ${document.title} (${location.pathname}). It returned no value.`;
  return { callId, tool, result: { content: [{ type: "text", text }] }, isError: false };
}

/** Resolves when the page is loaded and has stopped registering tools: what is answered next describes this page. */
export async function pageSettled(): Promise<void> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  const context = modelContext();
  await new Promise<void>((resolve) => {
    let quiet = setTimeout(resolve, QUIET_MS);
    setTimeout(resolve, LONGEST_MS);
    context?.addEventListener("toolchange", () => {
      clearTimeout(quiet);
      quiet = setTimeout(resolve, QUIET_MS);
    });
  });
}
