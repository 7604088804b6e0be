import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { enLoaded } from "./en-loaded.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { pt } from "./pt.ts";
import type { LoadedStrings, PanelStrings } from "./strings.ts";

/** Loaded with the panel. */
export const translations: Readonly<Record<string, PanelStrings | LoadedStrings>> = {
  ar,
  de,
  en: enLoaded,
  es,
  fr,
  it,
  pt,
};
