import type { ConfirmTools } from "./page-host.ts";
import type { ToolSources } from "./tools.ts";

/** The element's attributes, read: what is absent or makes no sense is the default. */
export const OBSERVED = [
  "publishable-key",
  "base-url",
  "storage",
  "open",
  "display",
  "launcher",
  "lang",
  "heading",
  "placeholder",
  "welcome",
  "max-chars",
  "tools",
] as const;

/** A change of these makes it another conversation. */
export const IDENTITY: ReadonlySet<string> = new Set(["publishable-key", "base-url", "storage"]);

export function oneOf<Word extends string>(value: string | null, words: readonly [Word, ...Word[]]): Word {
  return words.find((word) => word === value) ?? words[0];
}

export function positive(value: string | null, otherwise: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : otherwise;
}

export const STORAGE: readonly ["local", "session", "memory"] = ["local", "session", "memory"];
export const SOURCES: readonly [ToolSources, ...ToolSources[]] = ["all", "page", "property", "none"];
export const CONFIRM: readonly [ConfirmTools, ...ConfirmTools[]] = ["consequential", "writes", "all", "none"];
