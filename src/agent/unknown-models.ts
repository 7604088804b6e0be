import type { Channel } from "../domain/channels/channel.ts";
import type { Model } from "../model.ts";

/**
 * One sentence for each channel whose `agent.model` no provider has: its runs fail, and visitors learn only that. With one
 * provider any name may be one of its models, so none is known to be wrong.
 */
export function unknownModels(channels: readonly Channel[], model: Pick<Model, "knows">): string[] {
  const { knows } = model;
  if (!knows) return [];
  return channels.flatMap(({ slug, agent: { model: name } }) =>
    name === undefined || knows(name)
      ? []
      : [
          `The model ${JSON.stringify(name)} of channel ${slug} is no name of PROVIDERS_FILE, and its provider is not there: its runs fail`,
        ],
  );
}
