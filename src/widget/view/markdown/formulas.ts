import type { FormulasChunk } from "./render-formula.ts";
import type { RenderFormula } from "./render-markdown.ts";
import { preloaded } from "../shared-by-script.ts";

/** A longer one is shown as it is written. */
const MAX_CHARS = 2_000;

let loading: Promise<void> | null = null;
let render: RenderFormula | null = null;

/**
 * What shows formulas; null until the third file is there, or if it does not load. `onLoaded`: called when it is there, if
 * it has to be loaded for this text.
 */
export function formulasFor(text: string, onLoaded: () => void): RenderFormula | null {
  if (render === null && /[$\\]/.test(text)) {
    loading ??= load();
    void loading.then(() => {
      if (render !== null) onLoaded();
    });
  }
  return render;
}

async function load(): Promise<void> {
  try {
    await preloaded(__FORMULAS_FILE__, __FORMULAS_INTEGRITY__, import.meta.url);
    const { renderFormula } = (await import("chat-agent-formulas")) as FormulasChunk;
    render = (into, formula) => {
      const isAlone = formula.startsWith("$$") || formula.startsWith("\\[");
      const width = formula.startsWith("$") && !isAlone ? 1 : 2;
      return formula.length <= MAX_CHARS && renderFormula(into, formula.slice(width, -width), isAlone);
    };
  } catch (error) {
    console.warn("chat-agent: formulas are shown as they are written:", error);
  }
}
