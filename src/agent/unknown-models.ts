import type { Channel } from "../domain/channels/channel.ts";
import type { Model } from "../model.ts";

/**
 * One sentence for each model that a channel names and no provider has: its runs fail, and visitors learn only that. With one
 * provider any name may be one of its models, so none is known to be wrong.
 */
export function unknownModels(channels: readonly Channel[], model: Pick<Model, "knows">): string[] {
  const { knows } = model;
  if (!knows) return [];
  return channels.flatMap(({ slug, agent: { model: name, history } }) =>
    [
      [name, "its runs fail"] as const,
      [history?.summaryModel, "its conversations are not summarised"] as const,
    ].flatMap(([named, effect]) =>
      named === undefined || knows(named)
        ? []
        : [
            `The model ${JSON.stringify(named)} of channel ${slug} is no name of PROVIDERS_FILE, and its provider is not there: ${effect}`,
          ],
    ),
  );
}
