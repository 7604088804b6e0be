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
  /** The subtag of the language in use. */
  code: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}

/** The first of the wanted languages that has strings, otherwise English. `own` replaces some of them. */
export function languageOf(wanted: readonly string[], own: Partial<Strings>): Language {
  const code =
    wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "").find((tag) => LANGUAGES.has(tag)) ?? "en";
  return {
    code,
    dir: code === "ar" ? "rtl" : "ltr",
    strings: { ...(LANGUAGES.get(code) ?? en), ...own },
  };
}
