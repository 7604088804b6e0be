import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { pt } from "./pt.ts";
import type { Strings } from "./strings.ts";

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
