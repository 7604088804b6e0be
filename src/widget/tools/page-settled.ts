import { modelContext } from "./model-context.ts";

/** A page that registers no tool for this long counts as settled. */
const QUIET_MS = 150;

const MAX_WAIT_MS = 1_500;

/** Resolves when the page is loaded and has stopped registering tools: a result posted now describes this page. */
export async function pageSettled(): Promise<void> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  const context = modelContext();
  await new Promise<void>((resolve) => {
    let quiet = setTimeout(resolve, QUIET_MS);
    setTimeout(resolve, MAX_WAIT_MS);
    context?.addEventListener("toolchange", () => {
      clearTimeout(quiet);
      quiet = setTimeout(resolve, QUIET_MS);
    });
  });
}
