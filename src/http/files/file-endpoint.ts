import { z } from "zod";
import type { Directory } from "../../admission/directory.ts";
import { FILE_TYPES } from "../../domain/threads/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpAnswer } from "../../listener.ts";
import { messageFile } from "../../protocol/history.ts";
import type { Threads } from "../../threads/threads.ts";
import { mustTakeFiles } from "../fields.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { AnswerDocumentation } from "../route.ts";
import { fileAnswer, fileBody, shownName } from "./file-body.ts";
import type { SentFile } from "./file-body.ts";

const EXAMPLE: z.infer<typeof messageFile> = {
  id: "wq3Zt0nB4yT5mQm1c9Wv2A",
  name: "receipt.pdf",
  type: "application/pdf",
  bytes: 48_213,
};

/** What every endpoint declares that takes a file. */
export function takingFile(maxBytes: number) {
  return {
    method: "POST",
    summary: "Send a file for a message",
    description: `A form with one file, or its bytes as the body: ${FILE_TYPES.join(", ")}, by its content. A message of this thread then names it in \`files\`, within a day.`,
    body: fileBody(maxBytes),
    answers: { 201: documentedJson("The file", messageFile, EXAMPLE) },
  } as const;
}

export const fileNameField = {
  name: {
    description: "The file's name, where the body is the file itself; a form has its own",
    example: EXAMPLE.name,
  },
} as const;

export const TAKING_REFUSALS = {
  "too-large": "The file is longer than FILES_MAX_BYTES",
  invalid: "It is empty or of another type, or the channel's agent.files is false",
} as const;

const bytes: AnswerDocumentation = {
  description: "Its bytes",
  headers: { "content-disposition": "`attachment`, with its name" },
  body: {
    type: "*/*",
    schema: z.string().meta({ format: "binary" }),
    example: "Delivery takes two days",
  },
};

/** What every endpoint declares that answers one. */
export const ANSWERING_FILE = {
  method: "GET",
  summary: "Fetch a file of a message",
  description: "As it was sent; for a browser it is a download, never a page.",
  params: {
    fileId: {
      description: "As the answer to its sending, and `files` of the history, name it",
      schema: z.string(),
      required: true,
      example: EXAMPLE.id,
    },
  },
  answers: { 200: bytes },
} as const;

/** Keeps a file for the thread's next message. `name`: of the query; null: the form's. Refusal("invalid") if the channel takes none. */
export async function takeFile(
  { threads, directory }: { threads: Pick<Threads, "files">; directory: Pick<Directory, "channel"> },
  { uid, slug }: { uid: string; slug: string },
  sent: SentFile,
  name: string | null,
): Promise<HttpAnswer> {
  mustTakeFiles(directory.channel(slug));
  const upload = { uid, slug, name: shownName(name ?? sent.name), bytes: sent.bytes };
  return jsonAnswer(201, await threads.files.keep(upload));
}

/** Refusal("not-found") where no message of the thread has it. */
export async function answerFile(
  threads: Pick<Threads, "files">,
  uid: string,
  fileId: string,
): Promise<HttpAnswer> {
  const found = await threads.files.get(uid, fileId);
  if (!found) throw new Refusal("not-found", "No message of this thread has such a file");
  return fileAnswer(found);
}
