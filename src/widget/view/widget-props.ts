import type { Language } from "../strings/language.ts";
import type { ViewState } from "./view-state.ts";

/** All that is drawn, and what the visitor can do with it. */
export interface WidgetProps {
  state: ViewState;
  language: Language;
  open: boolean;
  inline: boolean;
  hasLauncher: boolean;
  heading: string;
  placeholder: string;
  welcome: string;
  suggestions: readonly string[];
  maxChars: number;
  actions: WidgetActions;
}

export interface WidgetActions {
  toggle: () => void;
  send: (text: string) => void;
  stop: () => void;
  retry: (key: string) => void;
  newThread: () => void;
  earlier: () => void;
  draft: (text: string) => void;
}
