import type { addImages } from "../images/add-images.ts";
import type { imageIntake } from "../images/image-intake.ts";
import type { MessageImage } from "../images/message-image.ts";
import type { VNode } from "preact";
import type { jsx } from "preact/jsx-runtime";
import type { Language } from "../strings/language.ts";
import type { LoadedStrings, Strings } from "../strings/strings.ts";
import type { ConfirmationCard } from "./confirmation-card.tsx";
import type { fitViewport } from "./fit-viewport.ts";
import type { PeopleLines } from "./people/people-lines.tsx";
import type { ShownMessage } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Code that is not needed before the panel opens: more than a third of the element's. */
export interface PanelModule {
  /** Renders markdown into an element. Unchanged blocks keep their nodes. */
  renderMarkdown(into: HTMLElement, text: string, strings: Pick<Strings, "copy" | "copied">): void;
  /** The text of it for a screen reader. */
  plainText(this: void, markdown: string): string;
  /** The styles of its components. */
  styles: string;
  fitViewport: typeof fitViewport;
  addImages: typeof addImages;
  imageIntake: typeof imageIntake;
  /** The images of a message that has some. */
  MessageImages(this: void, props: { images: readonly MessageImage[]; strings: Strings }): VNode;
  DraftImageList(this: void, props: WidgetProps): VNode | null;
  /** Asks the visitor whether a tool may run. */
  ConfirmationCard: typeof ConfirmationCard;
  /** Shows who answers instead of the assistant, and offers to ask for a person. */
  PersonBar(this: void, props: WidgetProps): VNode | null;
  /** The changes of who answers, between the messages. */
  PeopleLines: typeof PeopleLines;
  ImageButton(this: void, props: WidgetProps): VNode;
  /** What the visitor can do with a message. */
  MessageTools(this: void, props: { message: ShownMessage; language: Language }): VNode | null;
  /** The documents that a reply rests on. */
  Sources(this: void, props: { message: ShownMessage; language: Language }): VNode | null;
  /** The visitor's conversations. */
  ThreadListView(this: void, props: WidgetProps): VNode | null;
  /** Gives it the script's JSX, if it was built without. */
  shareJsx(this: void, script: { jsx: typeof jsx; Fragment: unknown }): void;
  translations: Readonly<Record<string, LoadedStrings>>;
}

/** Screen readers announce this much of a reply; the log has the rest. */
export const SPOKEN_CHARS = 600;

let loading: Promise<void> | null = null;
let loaded: PanelModule | null = null;
let hasFailed = false;

/** If it does not load, replies are plain text, and the panel is in English. */
export function loadPanel(load: () => Promise<PanelModule>): Promise<void> {
  loading ??= load().then(
    (module) => {
      loaded = module;
    },
    (error: unknown) => {
      loading = null;
      hasFailed = true;
      console.warn("chat-agent: a part of the script did not load:", error);
    },
  );
  return loading;
}

/** null until it is loaded. */
export function panelModule(): PanelModule | null {
  return loaded;
}

/** The text of a reply for a screen reader. */
export function spokenText(markdown: string): string {
  return loaded?.plainText(markdown) ?? markdown.slice(0, SPOKEN_CHARS);
}

/** It is loaded, or has failed to load. */
export function isPanelSettled(): boolean {
  return loaded !== null || hasFailed;
}
