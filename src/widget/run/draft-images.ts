import { withoutSource } from "../images/draft-image.ts";
import type { MessageImage } from "../images/message-image.ts";
import { panelModule } from "../view/panel-module.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** The images in the composer. They are gone with the page: files are not kept in a browser's storage. */
export class DraftImages {
  readonly #dependencies: Pick<ConversationDependencies, "view" | "host">;
  /** One call after the other: each needs to know what room the one before has left. */
  #adding: Promise<void> | undefined;

  constructor(dependencies: Pick<ConversationDependencies, "view" | "host">) {
    this.#dependencies = dependencies;
  }

  add(files: readonly File[]): void {
    const { view, host } = this.#dependencies;
    const add = () => panelModule()?.addImages(files, view, host.strings());
    this.#adding = this.#adding === undefined ? add() : this.#adding.then(add);
  }

  remove(nth: number): void {
    const { view } = this.#dependencies;
    view.change({ images: view.state.images.filter((_, at) => at !== nth), isQueued: false });
  }

  /** For a message; the composer has none then. */
  take(): MessageImage[] {
    const { view } = this.#dependencies;
    const images = view.state.images.map(withoutSource);
    view.change({ images: [] });
    return images;
  }
}
