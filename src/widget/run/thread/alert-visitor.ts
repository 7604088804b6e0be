import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";

/** What is shown of a message beside the launcher. */
const TEASER_CHARS = 160;

type AlertDependencies = Pick<ConversationDependencies, "view" | "host">;

/**
 * Tells a visitor who does not see the panel that somebody has spoken to them: beside the launcher, in the title of a
 * hidden tab, and for a person's message by a sound. `plainText`: of the message's markdown.
 */
export function alertVisitor({ view, host }: AlertDependencies, said: ShownMessage, plainText: string): void {
  const { author } = said;
  const text = plainText.slice(0, TEASER_CHARS);
  view.change({ teaser: { author, text, dismiss: () => view.change({ teaser: null }) } });
  if (!host.alerts()) return;
  if (author !== undefined) ring();
  if (document.visibilityState === "hidden") countInTitle(view.state.unread);
}

const COUNT = /^\(\d+\) /;

/** Until the page is visible again. */
function countInTitle(count: number): void {
  const bare = () => document.title.replace(COUNT, "");
  if (!COUNT.test(document.title)) {
    const restore = () => {
      if (document.visibilityState === "hidden") return;
      document.title = bare();
      document.removeEventListener("visibilitychange", restore);
    };
    document.addEventListener("visibilitychange", restore);
  }
  document.title = `(${count}) ${bare()}`;
}

/** Two short tones. A browser lets a page make no sound before the visitor has done something in it. */
function ring(): void {
  if (!navigator.userActivation?.hasBeenActive) return;
  const audio = new AudioContext();
  for (const [at, hertz] of [
    [0, 660],
    [0.12, 880],
  ] as const) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const from = audio.currentTime + at;
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0.06, from);
    volume.gain.exponentialRampToValueAtTime(0.0001, from + 0.25);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.25);
  }
  setTimeout(() => void audio.close(), 1_000);
}
