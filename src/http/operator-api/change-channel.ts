import type { ChannelVariables } from "../../config/channel-variables.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { isSame } from "../../domain/channels/channel-fields.ts";
import { isOnDisk, placeOf } from "../../domain/channels/knowledge.ts";
import { closedMcpAddress } from "../../domain/channels/mcp-addresses.ts";
import { API_URL } from "../../domain/channels/messenger.ts";
import { COMMAND_LINE } from "../../domain/people/operator.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { closedUrl } from "../../domain/public-address.ts";
import { Refusal } from "../../domain/refusal.ts";
import { note } from "../../operators/acting.ts";
import type { Acting } from "../../operators/acting.ts";
import { BadChannel, channelFrom, untilWritten, writeChannel } from "../../operators/channels.ts";
import { fieldsForAll } from "../../operators/fields-for-all.ts";
import type { Store } from "../../store.ts";
import { existingChannel } from "./admit.ts";
import type { OperatorApi } from "./operator-api.ts";

export type ChangingChannels = Pick<
  OperatorApi,
  "store" | "directory" | "config" | "channelVariables" | "clock" | "knowledge"
>;

/**
 * Changes a channel by what `fieldsOf` writes over it, again if another request was first. Throws a Refusal: it is unknown, the
 * fields are invalid, or the caller may not change one of them.
 */
export async function changeChannel(
  { store, directory, config, channelVariables, clock, knowledge }: ChangingChannels,
  { caller, acting, slug }: { caller: Operator; acting: Acting<Store>; slug: string },
  fieldsOf: (stored: Channel) => object,
): Promise<Channel> {
  const channel = await untilWritten(slug, async () => {
    const stored = await existingChannel(store, slug);
    const changed = orInvalid(() => channelFrom(slug, stored, fieldsOf(stored), clock.now()));
    mustReachWhatIsAllowed(changed, stored, { config, acting });
    if (caller.channels !== null) await mustBeItsOwn(acting, stored, changed);
    return (await write(acting, changed, stored, channelVariables)) ? changed : null;
  });
  await directory.renew();
  knowledge?.changed(slug);
  return channel;
}

/** False: the channel was written by another request since it was read. */
export async function write(
  acting: Acting<Store>,
  channel: Channel,
  stored: Channel | null,
  variables: ChannelVariables,
): Promise<boolean> {
  const wrote = await writeChannel(acting, channel, stored, variables);
  if (wrote.type === "refused") throw new Refusal("invalid", wrote.why);
  if (wrote.type === "shared") {
    // Who is limited to channels must not learn of others.
    const who = acting.operator === COMMAND_LINE ? `channel ${wrote.by}` : "Another channel";
    throw new Refusal("conflict", `${who} has or had that publishable key`);
  }
  return wrote.type === "written";
}

/** Refuses what only an admin without channel limits may change, and notes who tried it. */
async function mustBeItsOwn(acting: Acting<Store>, stored: Channel, changed: Channel): Promise<void> {
  const fields = fieldsForAll(stored, changed);
  if (fields.length === 0) return;
  const { slug } = stored;
  await note(acting, { action: "channels.refuse-fields", target: slug, slug, detail: { fields } });
  throw new Refusal("forbidden");
}

/** Throws a Refusal where a channel names what it may not reach. What it had before stays, since CHANNELS_FILE may have named it. */
export function mustReachWhatIsAllowed(
  channel: Channel,
  stored: Channel | null,
  { config, acting }: { config: OperatorApi["config"]; acting: Pick<Acting<Store>, "operator"> },
): void {
  if (!isSame(channel.webhooks, stored?.webhooks)) mustTellPublicAddresses(channel, config);
  mustReachPublicServers(channel, stored, config);
  mustReadPublicPlaces(channel, stored, { config, acting });
  mustReachThePlatform(channel, stored);
}

/** Checks literal addresses only; names are looked up at each delivery. */
function mustTellPublicAddresses(
  { webhooks = [] }: Channel,
  { webhooksPrivate }: OperatorApi["config"],
): void {
  const url = webhooksPrivate ? null : closedUrl(webhooks);
  if (url !== null) throw new Refusal("invalid", `Webhook ${url} has no public address`);
}

/** Who may change a channel need not read the disk of the service, nor its network; who uses its command line may. */
function mustReadPublicPlaces(
  { knowledge }: Channel,
  stored: Channel | null,
  { config, acting }: { config: OperatorApi["config"]; acting: Pick<Acting<Store>, "operator"> },
): void {
  if (config.knowledgePrivate) return;
  const known = new Set(stored?.knowledge?.sources.map(placeOf));
  for (const source of knowledge?.sources ?? []) {
    const { name, url = source.sitemap } = source;
    if (known.has(placeOf(source))) continue;
    if (isOnDisk(source) && acting.operator !== COMMAND_LINE)
      throw new Refusal(
        "invalid",
        `Source ${name} is on the disk: CHANNELS_FILE and the command line may name it, or set KNOWLEDGE_PRIVATE=on`,
      );
    if (url !== undefined && closedUrl([{ url }]) !== null)
      throw new Refusal("invalid", `Source ${name} has no public address, and KNOWLEDGE_PRIVATE is off`);
  }
}

/** As above: what the channel had before stays, since CHANNELS_FILE may have named it. */
function mustReachPublicServers(
  { agent }: Channel,
  stored: Channel | null,
  { mcpPrivate }: OperatorApi["config"],
): void {
  const url = mcpPrivate ? null : closedMcpAddress(agent, stored?.agent);
  if (url !== null) throw new Refusal("invalid", `MCP server ${url} has no public address`);
}

export function orInvalid(make: () => Channel): Channel {
  try {
    return make();
  } catch (error) {
    if (error instanceof BadChannel) throw new Refusal("invalid", error.message.replaceAll("\n", " "));
    throw error;
  }
}

/** Another address would be given the tokens, from inside the service's network. */
function mustReachThePlatform({ messenger }: Channel, stored: Channel | null): void {
  const url = messenger?.settings[API_URL];
  if (url === undefined || url === stored?.messenger?.settings[API_URL]) return;
  throw new Refusal("invalid", `messenger.settings.${API_URL} stands in CHANNELS_FILE alone`);
}
