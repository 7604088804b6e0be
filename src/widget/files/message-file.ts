/** Of one message (domain/threads/files.ts). */
export const MAX_FILES = 8;

/** For a browser's file dialog: what the service takes, besides images. */
export const FILE_ENDINGS = ".pdf,.docx,.txt,.md,.csv,.tsv,text/plain,text/csv,text/markdown,application/pdf";

/** A file of a visitor's message: the service has it under its id. */
export interface MessageFile {
  id: string;
  name: string;
  /** Its media type, by its content. */
  type: string;
  bytes: number;
}

/** A file in the composer. It is sent to the service as soon as it is chosen. */
export interface DraftFile {
  key: string;
  name: string;
  bytes: number;
  /** What the service has taken; null: it is still on its way. */
  taken: MessageFile | null;
}

export function isMessageFile(value: unknown): value is MessageFile {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, type, bytes }: { [Field in keyof MessageFile]?: unknown } = value;
  return [id, name, type].every((text) => typeof text === "string") && typeof bytes === "number";
}

/** The files of a message from outside; undefined if it has none. */
export function filesOf(value: unknown): MessageFile[] | undefined {
  const files = Array.isArray(value) ? value.filter(isMessageFile) : [];
  return files.length > 0 ? files : undefined;
}

/** What a message is sent with. */
export function takenFiles(files: readonly DraftFile[]): MessageFile[] {
  return files.flatMap(({ taken }) => taken ?? []);
}
