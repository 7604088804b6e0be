import * as ar from "./ar.ts";
import * as de from "./de.ts";
import * as en from "./en.ts";
import * as es from "./es.ts";
import * as fr from "./fr.ts";
import * as it from "./it.ts";
import * as ja from "./ja.ts";
import * as nl from "./nl.ts";
import * as pl from "./pl.ts";
import * as pt from "./pt.ts";
import * as tr from "./tr.ts";
import * as zh from "./zh.ts";
import type { LauncherStrings, LoadedStrings } from "./strings.ts";

/*
 * All languages, in two lists: the script needs only the first, and what only the second names stays out of it.
 */

/** In the script. */
export const launchers: Readonly<Record<string, LauncherStrings>> = {
  ar: ar.launcher,
  de: de.launcher,
  en: en.inScript,
  es: es.launcher,
  fr: fr.launcher,
  it: it.launcher,
  ja: ja.launcher,
  nl: nl.launcher,
  pl: pl.launcher,
  pt: pt.launcher,
  tr: tr.launcher,
  zh: zh.launcher,
};

/** In the second file. */
export const translations: Readonly<Record<string, LoadedStrings>> = {
  ar: ar.loaded,
  de: de.loaded,
  en: en.loaded,
  es: es.loaded,
  fr: fr.loaded,
  it: it.loaded,
  ja: ja.loaded,
  nl: nl.loaded,
  pl: pl.loaded,
  pt: pt.loaded,
  tr: tr.loaded,
  zh: zh.loaded,
};
