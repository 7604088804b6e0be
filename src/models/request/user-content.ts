import type {
  ChatCompletionContentPart,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import type { UserMessage } from "../../model.ts";
import type { Quirks } from "../refusals/quirks.ts";

/**
 * A user's message with its images, as a server takes it: a model that sees gets the images, others get their names in
 * the text. An image that is no longer shown is named to both.
 */
export function userContent(
  { content, images = [] }: UserMessage,
  { images: sees }: Pick<Quirks, "images">,
): ChatCompletionUserMessageParam["content"] {
  if (images.length === 0) return content;
  const shown = images.flatMap(({ url }) => (sees && url !== null ? [url] : []));
  const named = images
    .filter(({ url }) => !sees || url === null)
    .map(({ label, url }) =>
      url === null ? `[Image, not shown again: ${label}]` : `[Image that you cannot see: ${label}]`,
    );
  const text = [content, ...named].join("\n");
  if (shown.length === 0) return text;
  return [
    { type: "text", text },
    ...shown.map((url): ChatCompletionContentPart => ({ type: "image_url", image_url: { url } })),
  ];
}
