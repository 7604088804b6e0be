import { z } from "zod";
import { messageFile } from "../protocol/history.ts";
import type { AnswerDocumentation } from "./route.ts";

/** What is answered for a file that was sent. */
export const sentFile = messageFile;

export const EXAMPLE_FILE: z.infer<typeof sentFile> = {
  id: "wq3Zt0nB4yT5mQm1c9Wv2A",
  name: "receipt.pdf",
  type: "application/pdf",
  bytes: 48_213,
};

export const FILE_QUERY = {
  name: {
    description: "The file's name, where the body is the file itself; a form has its own",
    example: "receipt.pdf",
  },
} as const;

/** A file as the answer. */
export const fileDocumentation: AnswerDocumentation = {
  description: "Its bytes",
  headers: { "content-disposition": "`attachment`, with its name" },
  body: {
    type: "*/*",
    schema: z.string().meta({ format: "binary" }),
    example: "Delivery takes two days",
  },
};

export const fileField = {
  fileId: {
    description: "As the answer to its sending, and `files` of the history, name it",
    schema: z.string(),
    required: true,
    example: EXAMPLE_FILE.id,
  },
};
