import type { HTMLAttributes } from "preact";
import type { Language } from "../strings/language.ts";
import type { ViewState } from "./view-state.ts";

/** Everything that is rendered, and the visitor's actions. */
export interface WidgetProps {
  state: ViewState;
  language: Language;
  open: boolean;
  inline: boolean;
  /** The panel's code did not load. */
  hasFailed: boolean;
  hasLauncher: boolean;
  heading: string;
  /** The element's attribute of this name. */
  attribute: (name: string) => string | null;
  suggestions: readonly string[];
  /** Messages to choose from after the last reply. */
  followUps: readonly string[];
  /** The panel is as large as it can be. */
  isExpanded: boolean;
  maxChars: number;
  /** False if the page names no channel. */
  isSetUp: boolean;
  /** There may be conversations to choose from, and they can be shown. */
  hasThreads: boolean;
  actions: WidgetActions;
}

/** Of the panel's element. */
export type PanelAttributes = HTMLAttributes<HTMLDivElement> & { "data-drop": string };

export interface WidgetActions {
  toggle: () => void;
  /** The visitor is about to open the panel, or tries again to load what is in it. */
  approach: () => void;
  /** Makes the panel larger, or as it was. */
  expand: () => void;
  send: (text: string) => void;
  /** Sends it when the reply is over. */
  queue: (text: string) => void;
  stop: () => void;
  retry: (key: string) => void;
  /** A link of a reply was clicked; false if the page follows it itself. */
  follow: (href: string) => boolean;
  /** Loads the conversation again. */
  reload: () => void;
  newThread: () => void;
  /** These show the visitor's conversations, load more of them, and go back to the current one. */
  threads: () => void;
  moreThreads: () => void;
  closeThreads: () => void;
  enterThread: (threadId: string) => void;
  earlier: () => void;
  draft: (text: string) => void;
  addImages: (files: readonly File[]) => void;
  /** Position among the composer's images, from 0. */
  removeImage: (nth: number) => void;
}
