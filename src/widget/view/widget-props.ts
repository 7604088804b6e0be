import type { Language } from "../strings/language.ts";
import type { ViewState } from "./view-state.ts";

/** All that is drawn, and what the visitor can do with it. */
export interface WidgetProps {
  state: ViewState;
  language: Language;
  open: boolean;
  inline: boolean;
  /** What the panel is made of is loaded. */
  isReady: boolean;
  hasLauncher: boolean;
  heading: string;
  placeholder: string;
  welcome: string;
  suggestions: readonly string[];
  maxChars: number;
  /** False where the page names no channel. */
  isSetUp: boolean;
  /** There may be conversations to choose from, and they can be shown. */
  hasThreads: boolean;
  actions: WidgetActions;
}

export interface WidgetActions {
  toggle: () => void;
  send: (text: string) => void;
  /** Sends it when the reply is over. */
  queue: (text: string) => void;
  stop: () => void;
  retry: (key: string) => void;
  /** A link of a reply is pressed; false where the page follows it itself. */
  follow: (href: string) => boolean;
  /** Loads the conversation once more. */
  reload: () => void;
  newThread: () => void;
  /** Shows the visitor's conversations, more of them, and goes back to the present one. */
  threads: () => void;
  moreThreads: () => void;
  closeThreads: () => void;
  enterThread: (threadId: string) => void;
  earlier: () => void;
  draft: (text: string) => void;
  addImages: (files: readonly File[]) => void;
  /** Of those in the composer, counted from 0. */
  removeImage: (nth: number) => void;
}
