import type { Channel } from "../domain/channel.ts";
import type { Model } from "../model.ts";

/**
 * Channels whose `agent.model` nobody answers to, one sentence each: their runs fail, and visitors are told no more than
 * that. With one provider every name is one of its models, and none is known to be wrong.
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
