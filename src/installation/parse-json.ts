import { createRequire } from "node:module";

/**
 * A file's JSON. Throws an Error that says where it is not JSON, and quotes nothing of it: it may hold keys, which the
 * messages of JSON.parse and of other parsers repeat.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const place = placeOfFault(text);
    throw new Error(
      `it is not JSON${place === null ? "" : `: look at line ${place.line}, column ${place.column}`}`,
    );
  }
}

/** Loaded for a faulty file alone: JSON.parse tells the place of some faults only. */
function placeOfFault(text: string): { line: number; column: number } | null {
  const { transformSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  try {
    transformSync(text, { loader: "json", logLevel: "silent" });
    return null;
  } catch (error) {
    const [fault] = (error as import("esbuild").TransformFailure).errors;
    // Columns count from 0.
    return fault?.location ? { line: fault.location.line, column: fault.location.column + 1 } : null;
  }
}
