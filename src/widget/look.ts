import type { Attributes } from "./attributes.ts";
import type { Language } from "./strings/language.ts";
import type { Shown } from "./view/state.ts";
import type { Look } from "./view/widget.tsx";

/** How the element looks: what is said, by its attributes, in its language. */
export function lookOf(options: {
  attributes: Attributes;
  language: Language;
  shown: Shown;
  suggestions: readonly string[];
}): Look {
  const { attributes, language, shown, suggestions } = options;
  const { strings } = language;
  return {
    language,
    shown,
    suggestions,
    open: attributes.open,
    inline: attributes.display === "inline",
    hasLauncher: attributes.hasLauncher,
    heading: attributes.text("heading") ?? strings.title,
    placeholder: attributes.text("placeholder") ?? strings.placeholder,
    welcome: attributes.text("welcome") ?? strings.welcome,
    maxChars: attributes.maxChars,
  };
}
