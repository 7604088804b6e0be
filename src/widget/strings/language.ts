import { inScript } from "./en.ts";
import { launchers } from "./languages.ts";
import type { LoadedStrings, Strings } from "./strings.ts";

/** What the service takes. A browser throws for some of them, `fr-FRA` and `en-US-UK` for instance. */
export const LANGUAGE_TAG = /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,5}$/i;

export interface Language {
  /** The subtag of the language in use. */
  code: string;
  /** As it was wanted, with its region: times are written by it. */
  tag: string;
  dir: "ltr" | "rtl";
  strings: Strings;
}

/**
 * The first of the wanted languages that has strings, otherwise English. `own` replaces some of them. `translations`:
 * null until they are loaded; the launcher speaks the language before.
 */
export function languageOf(
  wanted: readonly string[],
  own: Partial<Strings>,
  translations: Readonly<Record<string, LoadedStrings>> | null,
): Language {
  const codeOf = (tag: string) => (LANGUAGE_TAG.test(tag) ? (tag.toLowerCase().split("-")[0] ?? "") : "");
  const code = wanted.map(codeOf).find((one) => one in launchers) ?? "en";
  // A page that is in English, and a browser in British English: its times are British.
  const tag = wanted.find((one) => codeOf(one) === code && one.includes("-") && isLocale(one)) ?? code;
  return {
    code,
    tag,
    dir: code === "ar" ? "rtl" : "ltr",
    // A cast: without the second file nothing is shown that needs its texts.
    strings: { ...inScript, ...launchers[code], ...translations?.[code], ...own } as Strings,
  };
}

/** Does the browser write times by it? */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
