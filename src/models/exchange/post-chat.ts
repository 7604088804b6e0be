import OpenAI, { APIConnectionError } from "openai";
import type { ClientOptions } from "openai";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { ErrorAnswer } from "../refusals/error-answer.ts";
import type { Destination, PushFetch } from "./push-fetch.ts";
import { PushedResponse } from "./pushed-response.ts";
import type { Way } from "../way.ts";

/**
 * Sends a request for a chat completion. Rejects with an ErrorAnswer, or with the package's APIConnectionError where there
 * was no answer.
 */
export type PostChat = (
  body: ChatCompletionCreateParamsStreaming,
  options: { signal: AbortSignal; traceparent: string | null },
) => Promise<PushedResponse>;

/**
 * `wire`: the request as the server takes it. Address and headers are what the openai package makes of its options, once, as they are the same for all requests: built
 * and sent by the package, each would cost 35 µs more.
 */
export function createPostChat(
  http: PushFetch,
  { path, wire }: Pick<Way, "path" | "wire">,
  options: ClientOptions,
): PostChat {
  let destination: Promise<Destination> | null = null;

  return async function postChat(body, { signal, traceparent }) {
    const { headers, ...there } = await (destination ??= destinationOf(path, options));
    const traced = traceparent === null ? headers : [...headers, "traceparent", traceparent];
    const answer = await http
      .post({ ...there, headers: traced }, JSON.stringify(wire(body)), signal)
      .catch((error: unknown) => {
        throw new APIConnectionError({ cause: error instanceof Error ? error : new Error(String(error)) });
      });
    if (answer instanceof PushedResponse) return answer;
    throw new ErrorAnswer(answer, await answer.text());
  };
}

async function destinationOf(path: string, options: ClientOptions): Promise<Destination> {
  const client = new OpenAI(options);
  const { req, url } = await client.buildRequest({
    method: "post",
    path,
    body: {},
    stream: true,
  });
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search, headers: [...req.headers].flat() };
}
