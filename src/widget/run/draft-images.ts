import { withoutSource } from "../images/draft-image.ts";
import type { MessageImage } from "../images/message-image.ts";
import { panelModule } from "../view/panel-module.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** The images in the composer. They are lost with the page: files are not put into the browser's storage. */
export class DraftImages {
  readonly #dependencies: Pick<ConversationDependencies, "view" | "host">;
  /** Calls run one at a time: each needs to know how much room the previous one has left. */
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

  /** Returns the images for a message, and clears the composer. */
  take(): MessageImage[] {
    const { view } = this.#dependencies;
    const images = view.state.images.map(withoutSource);
    view.change({ images: [] });
    return images;
  }
}
