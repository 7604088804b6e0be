import type { Attributes } from "./attributes.ts";
import type { Language } from "./strings/language.ts";
import type { Shown } from "./view/state.ts";
import type { WidgetActions, WidgetProps } from "./view/widget-props.ts";

/** What is drawn: the conversation, as the element's attributes and its language have it. */
export function widgetPropsOf(options: {
  attributes: Attributes;
  language: Language;
  shown: Shown;
  suggestions: readonly string[];
  actions: WidgetActions;
}): WidgetProps {
  const { attributes, ...given } = options;
  const { strings } = given.language;
  return {
    ...given,
    open: attributes.open,
    inline: attributes.display === "inline",
    hasLauncher: attributes.hasLauncher,
    heading: attributes.text("heading") ?? strings.title,
    placeholder: attributes.text("placeholder") ?? strings.placeholder,
    welcome: attributes.text("welcome") ?? strings.welcome,
    maxChars: attributes.maxChars,
  };
}
