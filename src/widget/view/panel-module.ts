import type { addImages } from "../images/add-images.ts";
import type { VNode } from "preact";
import type { LoadedStrings } from "../strings/strings.ts";
import type { fitViewport } from "./fit-viewport.ts";
import type { shareScript } from "./shared-by-script.ts";
import type { PanelAttributes, WidgetProps } from "./widget-props.ts";

/** Code that is not needed before the panel opens: more than a half of the element's. */
export interface PanelModule {
  /** What the panel's element has besides. */
  panelAttributes(this: void, props: WidgetProps): PanelAttributes;
  /** Everything in the panel. */
  Panel(this: void, props: WidgetProps): VNode;
  /** What somebody has said while the panel was closed. */
  Teaser(this: void, props: WidgetProps): VNode | null;
  /** The text of a reply for a screen reader. */
  plainText(this: void, markdown: string): string;
  /** The styles of its components. */
  styles: string;
  fitViewport: typeof fitViewport;
  addImages: typeof addImages;
  /** Gives it what is the script's, if it was built without. */
  shareScript: typeof shareScript;
  translations: Readonly<Record<string, LoadedStrings>>;
}

/** Screen readers announce this much of a reply; the log has the rest. */
export const SPOKEN_CHARS = 600;

let loading: Promise<void> | null = null;
let loaded: PanelModule | null = null;
let hasFailed = false;

/** If it does not load, the panel says so and offers to try again; a run goes on without. */
export function loadPanel(load: () => Promise<PanelModule>): Promise<void> {
  if (loading === null) hasFailed = false;
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

/** It has failed to load, and is not tried again. */
export function hasPanelFailed(): boolean {
  return hasFailed;
}

/** It is loaded, or has failed to load. */
export function isPanelSettled(): boolean {
  return loaded !== null || hasFailed;
}
