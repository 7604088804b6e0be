import { parentPort } from "node:worker_threads";
import { messageOf } from "../../errors.ts";
import type { IndexAnswer, IndexRequest } from "./index-thread.ts";
import { createPassageIndex } from "./passage-index.ts";
import type { PassageIndex } from "./passage-index.ts";

/** The indexes of all channels, in a thread of their own: to index a passage takes a millisecond. */

const indexes = new Map<string, PassageIndex>();

function answer(request: IndexRequest): IndexAnswer["found"] {
  const { slug } = request;
  const index = indexes.get(slug) ?? createPassageIndex();
  indexes.set(slug, index);
  switch (request.type) {
    case "change":
      index.remove(request.remove);
      index.add(request.add);
      return [];
    case "drop":
      indexes.delete(slug);
      return [];
    case "search":
      return index.search(request.question, request.most, request.vector);
  }
}

parentPort?.on("message", (request: IndexRequest & { nth: number }) => {
  const { nth } = request;
  try {
    const answered: IndexAnswer = { nth, found: answer(request) };
    parentPort?.postMessage(answered);
  } catch (error) {
    const failed: IndexAnswer = { nth, found: [], fault: messageOf(error) };
    parentPort?.postMessage(failed);
  }
});
