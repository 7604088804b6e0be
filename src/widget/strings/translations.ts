import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { pt } from "./pt.ts";
import type { PanelStrings } from "./strings.ts";

/** Loaded with the panel. */
export const translations: Readonly<Record<string, PanelStrings>> = { ar, de, es, fr, it, pt };
