import { takenFiles } from "../files/message-file.ts";
import type { MessageFile } from "../files/message-file.ts";
import { withoutSource } from "../images/draft-image.ts";
import type { MessageImage } from "../images/message-image.ts";
import { panelModule } from "../view/panel-module.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** What a message has beside its text. */
export interface Attachments {
  images?: readonly MessageImage[] | undefined;
  files?: readonly MessageFile[] | undefined;
}

/** The images and files in the composer. They are lost with the page: neither is put into the browser's storage. */
export class DraftAttachments {
  readonly #dependencies: Pick<ConversationDependencies, "view" | "host">;
  /** Calls run one at a time: each needs to know how much room the previous one has left. */
  #adding: Promise<void> | undefined;

  constructor(dependencies: Pick<ConversationDependencies, "view" | "host">) {
    this.#dependencies = dependencies;
  }

  addImages(files: readonly File[]): void {
    const { view, host } = this.#dependencies;
    const add = () => panelModule()?.addImages(files, view, host.strings());
    this.#adding = this.#adding === undefined ? add() : this.#adding.then(add);
  }

  removeImage(nth: number): void {
    const { view } = this.#dependencies;
    view.change({ images: view.state.images.filter((_, at) => at !== nth), isQueued: false });
  }

  /** Returns what a message is sent with, and clears the composer. */
  take(): Attachments {
    const { view } = this.#dependencies;
    const { state } = view;
    view.change({ images: [], files: [] });
    return { images: state.images.map(withoutSource), files: takenFiles(state.files) };
  }
}
