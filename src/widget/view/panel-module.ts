import type { addImages } from "../images/add-images.ts";
import type { imageIntake } from "../images/image-intake.ts";
import type { MessageImage } from "../images/message-image.ts";
import type { VNode } from "preact";
import type { jsx } from "preact/jsx-runtime";
import type { Language } from "../strings/language.ts";
import type { PanelStrings, Strings } from "../strings/strings.ts";
import type { ShownMessage } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** What is not needed before the panel opens: more than a third of the element's code. */
export interface PanelModule {
  /** Writes markdown into an element. Blocks that have not changed stay as they are. */
  renderMarkdown(into: HTMLElement, text: string, strings: Pick<Strings, "copy" | "copied">): void;
  /** What a screen reader says of it. */
  plainText(this: void, markdown: string): string;
  /** Of what it draws. */
  styles: string;
  addImages: typeof addImages;
  imageIntake: typeof imageIntake;
  /** Of a message that came with some. */
  MessageImages(this: void, props: { images: readonly MessageImage[]; strings: Strings }): VNode;
  DraftImageList(this: void, props: WidgetProps): VNode | null;
  /** Who answers instead of the assistant, and the way to ask for a person. */
  PersonBar(this: void, props: WidgetProps): VNode | null;
  ImageButton(this: void, props: WidgetProps): VNode;
  /** What the visitor thinks of a reply. */
  Thumbs(this: void, props: { message: ShownMessage; language: Language }): VNode | null;
  /** The visitor's conversations. */
  ThreadListView(this: void, props: WidgetProps): VNode | null;
  /** Gives it the script's JSX, where it was built without. */
  shareJsx(this: void, script: { jsx: typeof jsx; Fragment: unknown }): void;
  translations: Readonly<Record<string, PanelStrings>>;
}

/** Who wants to hear more reads it in the log. */
export const SPOKEN_CHARS = 600;

let loading: Promise<void> | null = null;
let loaded: PanelModule | null = null;
let hasFailed = false;

/** Where it does not load, replies are plain text, and the panel speaks English. */
export function loadPanel(load: () => Promise<PanelModule>): Promise<void> {
  loading ??= load().then(
    (module) => {
      loaded = module;
    },
    (error: unknown) => {
      loading = null;
      hasFailed = true;
      console.warn("chat-agent: answers stay plain text, a part of the script did not load:", error);
    },
  );
  return loading;
}

/** null until it is loaded. */
export function panelModule(): PanelModule | null {
  return loaded;
}

/** What a screen reader says of a reply. */
export function spokenText(markdown: string): string {
  return loaded?.plainText(markdown) ?? markdown.slice(0, SPOKEN_CHARS);
}

/** It is loaded, or did not load. */
export function isPanelSettled(): boolean {
  return loaded !== null || hasFailed;
}
