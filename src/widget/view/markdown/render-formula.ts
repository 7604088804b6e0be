import temml from "temml";

/** The third file of the build, loaded when a reply has a formula and the page wants them shown. */
export interface FormulasChunk {
  renderFormula: typeof renderFormula;
}

/**
 * Shows LaTeX as MathML. Nothing in it can name an address or grow without end.
 * @returns false if it cannot be read as a formula; the element is empty then.
 */
export function renderFormula(into: HTMLElement, formula: string, isAlone: boolean): boolean {
  try {
    temml.render(formula, into, {
      displayMode: isAlone,
      throwOnError: true,
      trust: false,
      maxExpand: 200,
      maxSize: [20, 20],
    });
    return true;
  } catch {
    into.replaceChildren();
    return false;
  }
}
