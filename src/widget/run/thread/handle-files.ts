import { isMessageFile, MAX_FILES } from "../../files/message-file.ts";
import type { MessageFile } from "../../files/message-file.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { warnOwner } from "../warn-owner.ts";
import { refusedStatus } from "../../service/widget-api.ts";

type FileDependencies = Pick<ConversationDependencies, "api" | "visitor" | "view" | "host">;

/** Sends chosen files to the service, and saves those of the conversation to the visitor's disk. */
export function handleFiles(dependencies: FileDependencies): void {
  const { api, visitor, view, host } = dependencies;
  let count = 0;

  /** `text`: a string of ours. */
  const refuse = (text: string, name = "") =>
    view.notify(text.replace("{name}", name).replace("{n}", String(MAX_FILES)), true);

  async function add(file: File, key: string): Promise<void> {
    try {
      const { threadId, visitorToken } = await visitor.thread();
      const path = `${filesOf(threadId)}?name=${encodeURIComponent(file.name)}`;
      const answer = await api({ path, visitorToken, file });
      const taken: unknown = await answer.json();
      if (!isMessageFile(taken)) throw new Error("The service has taken a file and does not say which");
      view.change({ files: view.state.files.map((one) => (one.key === key ? { ...one, taken } : one)) });
    } catch (error) {
      remove(key);
      const strings = host.strings();
      const status = refusedStatus(error);
      const words = { 413: strings.fileTooLarge, 415: strings.fileNotTaken, 422: strings.fileNotTaken }[
        status
      ];
      refuse(words ?? strings.fileFailed, file.name);
      warnOwner(error);
    }
  }

  function remove(key: string): void {
    view.change({ files: view.state.files.filter((one) => one.key !== key), isQueued: false });
  }

  view.change({
    addFiles: (files) => {
      const { fileBytes = null } = view.state;
      const strings = host.strings();
      if (fileBytes === null) return;
      const room = MAX_FILES - view.state.files.length;
      if (files.length > room) refuse(strings.tooManyFiles);
      else view.change({ notice: null });
      for (const file of files.slice(0, room)) {
        if (file.size > fileBytes) {
          refuse(strings.fileTooLarge, file.name);
          continue;
        }
        count += 1;
        const key = `f${count}`;
        view.change({
          files: [...view.state.files, { key, name: file.name, bytes: file.size, taken: null }],
          isQueued: false,
          announcement: file.name,
        });
        void add(file, key);
      }
    },
    removeFile: remove,
    saveFile: (file) =>
      void save(file).catch((error: unknown) => (refuse(host.strings().failed), warnOwner(error))),
  });

  async function save(file: MessageFile): Promise<void> {
    const { threadId, visitorToken } = await visitor.thread();
    const path = `${filesOf(threadId)}/${encodeURIComponent(file.id)}`;
    const answer = await api({ path, visitorToken, method: "GET" });
    const url = URL.createObjectURL(await answer.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

function filesOf(threadId: string): string {
  return `/threads/${encodeURIComponent(threadId)}/files`;
}
