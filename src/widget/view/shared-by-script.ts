import { sharePreact } from "./preact-of-script.ts";
import type { ScriptsPreact } from "./preact-of-script.ts";

/** Loads a file beside `base`, and checks it; rejects if it is another one. */
export type Preload = (file: string, integrity: string, base: string) => Promise<unknown>;

/** The script's, if there is one: what a bundler has put together needs no check. */
export let preloaded: Preload = () => Promise.resolve();

/** Called by the script, once, before anything else of the second file. */
export function shareScript(script: ScriptsPreact & { preloaded: Preload }): void {
  sharePreact(script);
  preloaded = script.preloaded;
}
