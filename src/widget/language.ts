import { ar } from "./strings/ar.ts";
import { de } from "./strings/de.ts";
import { en } from "./strings/en.ts";
import { es } from "./strings/es.ts";
import { fr } from "./strings/fr.ts";
import { it } from "./strings/it.ts";
import { pt } from "./strings/pt.ts";
import type { Strings } from "./strings/strings.ts";

const LANGUAGES: ReadonlyMap<string, Strings> = new Map(Object.entries({ en, de, fr, es, it, pt, ar }));

export interface Language {
  /** Subtag of the language that is spoken: `en` where none of the wanted ones is known. */
  code: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}

/** The first of the wanted languages that there are words for: the element's, the page's, the browser's. */
export function languageOf(wanted: readonly string[], own: Partial<Strings>): Language {
  const code =
    wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "").find((tag) => LANGUAGES.has(tag)) ?? "en";
  return {
    code,
    dir: code === "ar" ? "rtl" : "ltr",
    strings: { ...(LANGUAGES.get(code) ?? en), ...own },
  };
}
