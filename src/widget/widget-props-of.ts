import type { Attributes } from "./attributes.ts";
import type { Language } from "./strings/language.ts";
import type { ViewState } from "./view/view-state.ts";
import type { WidgetActions, WidgetProps } from "./view/widget-props.ts";

/** The view's props, from the element's attributes, language and state. */
export function widgetPropsOf(options: {
  attributes: Attributes;
  language: Language;
  state: ViewState;
  suggestions: readonly string[];
  followUps: readonly string[];
  hasFailed: boolean;
  hasThreads: boolean;
  actions: WidgetActions;
}): WidgetProps {
  const { attributes, ...given } = options;
  const { strings } = given.language;
  return {
    ...given,
    open: attributes.open,
    inline: attributes.isInline,
    hasLauncher: attributes.hasLauncher,
    heading: attributes.text("heading") ?? strings.title,
    attribute: (name) => attributes.text(name),
    isExpanded: attributes.text("expanded") !== null,
    maxChars: attributes.maxChars,
    isSetUp: attributes.publishableKey !== null,
  };
}
