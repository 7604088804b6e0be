import type { Way } from "../way.ts";
import { createEventReader } from "./events.ts";
import { chatPlace } from "./places.ts";
import { responsesRequest } from "./request.ts";

/**
 * OpenAI's Responses API: the newest models take tools by it alone. Nothing is kept there (`store: false`): what a model
 * thought comes encrypted, and goes back with its turn.
 * https://platform.openai.com/docs/api-reference/responses,
 * https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
 */
export const responsesWay: Way = {
  name: "responses",
  path: "/responses",
  fields: { store: false, include: ["reasoning.encrypted_content"] },
  wire: responsesRequest,
  reader: createEventReader,
  place: chatPlace,
};
